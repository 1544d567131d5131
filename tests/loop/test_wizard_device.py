"""The wizard on a device of the user's: a loop device stands for a disk, and passes the same checks as one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from fswizard.drives.devices import find_device
from fswizard.model.plan import Plan
from fswizard.session import FollowedRun
from fswizard.tui.app import FswizardApp
from fswizard.tui.choices import WizardChoices
from fswizard.tui.machine import MachineCache
from fswizard.tui.monitor import start_run
from tests.loop.devices import Bench, digest, run, signatures
from tests.loop.runs import WRITES
from tests.loop.test_device_target import DISK_BYTES
from tests.tui.driving import at_step, shows, wizard

pytestmark = [pytest.mark.root, pytest.mark.loop, pytest.mark.fio]

SIZE = (180, 40)
QUICK = replace(WRITES, name="quick", title="Quick")


def one_round(plan: Plan, path: Path | None) -> FollowedRun:
    """No time limit decides how much is measured."""
    return start_run(replace(plan, minimum_rounds=1, maximum_rounds=1), path)


async def answer(pilot: Pilot[Any], words: str) -> None:
    await shows(pilot, "erase and start")
    pilot.app.screen.query_one("#serial", Input).value = words
    await pilot.press("enter")


async def test_a_device_is_erased_only_as_it_was_shown_and_after_what_it_stands_for_was_typed(bench: Bench) -> None:
    case = bench.disk(DISK_BYTES)
    found = find_device(case.path)
    choices = WizardChoices(
        drive=found.drive, devices=(found.path,), device_bytes=DISK_BYTES, recipe=QUICK, candidates=("ext4", "ext2")
    )
    machine = MachineCache()
    machine.recipes = (QUICK,)
    app = FswizardApp(machine=machine, start_run=one_round, choices=choices, start="review")
    async with app.run_test(size=SIZE) as pilot:
        await shows(pilot, "nothing was found on it")
        run("mkfs.ext4", "-q", "-L", "archive", case.path)
        before = digest(case.file)
        await answer(pilot, str(case.file))
        await shows(pilot, "have changed since the plan was made")
        assert wizard(pilot).running is None
        await pilot.press("escape")
        await at_step(pilot, "workloads")
        await pilot.press("enter")
        await shows(pilot, 'ext4 "archive"')
        await answer(pilot, f"{case.file}x")
        await shows(pilot, "is not the file's path of")
        assert digest(case.file) == before
        await answer(pilot, str(case.file))
        await at_step(pilot, "result")
        result = wizard(pilot).result
        assert result is not None
        assert (result.plan.target.kind, result.outcome) == ("device", "finished")
        measured = {(sample.round, sample.candidate) for sample in result.samples if sample.primary}
        assert {(1, "ext4"), (1, "ext2")} <= measured
    assert signatures(case) == ""
