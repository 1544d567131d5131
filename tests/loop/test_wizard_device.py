"""The wizard on a device of the user's: a loop device stands for a disk, and passes the same checks as one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from fswizard.tui.app import FswizardApp
from fswizard.tui.drives import DEVICE
from fswizard.tui.widgets.table import Table
from tests.loop.devices import Bench, Case, digest, run, signatures
from tests.loop.small_machine import SmallMachine
from tests.loop.test_device_target import DISK_BYTES
from tests.tui.driving import at_step, keys_of, screen_text, shows, until, wizard

pytestmark = [pytest.mark.root, pytest.mark.loop, pytest.mark.fio]

SIZE = (180, 40)
TIMEOUT_S = 120.0
"""A last resort: each of these waits ends with what it waits for."""


async def to_the_question(pilot: Pilot[Any], case: Case) -> None:
    """The review of a run on the loop device."""
    await at_step(pilot, "purpose")
    await pilot.press("end", "enter")
    await at_step(pilot, "drive")
    name, key = Path(case.path).name, DEVICE + case.path
    drives, targets = (pilot.app.screen.query_one(f"#{each}", Table) for each in ("drives", "targets"))
    await until(pilot, lambda: name in keys_of(pilot.app, "#drives"), f"{name} in the list", timeout_s=TIMEOUT_S)
    drives.highlight(name)
    await until(
        pilot,
        lambda: drives.key == name and key in keys_of(pilot.app, "#targets"),
        f"{case.path} as a target",
        timeout_s=TIMEOUT_S,
    )
    targets.focus()
    await until(pilot, lambda: targets.has_focus, "the targets to have the focus")
    targets.highlight(key)
    await until(pilot, lambda: targets.key == key, "the device to be highlighted")
    await pilot.press("enter")
    for step in ("filesystems", "workloads"):
        await at_step(pilot, step)
        await pilot.press("enter")
    await at_step(pilot, "review")
    await shows(pilot, "erase and start", timeout_s=TIMEOUT_S)


async def answer(pilot: Pilot[Any], words: str) -> None:
    pilot.app.screen.query_one("#serial", Input).value = words
    await pilot.press("enter")


async def test_a_device_is_measured_and_left_wiped_only_after_what_it_stands_for_was_typed(bench: Bench) -> None:
    case = bench.made("mkfs.ext4", "-q", "-L", "archive", size_bytes=DISK_BYTES)
    before = digest(case.file)
    async with FswizardApp(SmallMachine()).run_test(size=SIZE) as pilot:
        await to_the_question(pilot, case)
        assert 'ext4 "archive"' in screen_text(pilot.app)
        for wrong, words in (("", "To confirm, type"), (f"{case.file}x", "is not the file's path of")):
            await answer(pilot, wrong)
            await shows(pilot, words, timeout_s=TIMEOUT_S)
        await pilot.press("enter", "enter")
        await at_step(pilot, "review")
        assert wizard(pilot).running is None
        assert digest(case.file) == before
        await answer(pilot, str(case.file))
        await at_step(pilot, "result", timeout_s=TIMEOUT_S)
        result = wizard(pilot).result
        assert result is not None
        assert result.plan.target.kind == "device"
        assert result.outcome in ("finished", "time-up")
        measured = {(sample.round, sample.candidate) for sample in result.samples if sample.primary}
        assert {(1, "ext4"), (1, "ext2")} <= measured
    assert signatures(case) == ""


async def test_a_filesystem_made_after_the_review_is_not_overwritten(bench: Bench) -> None:
    case = bench.disk(DISK_BYTES)
    async with FswizardApp(SmallMachine()).run_test(size=SIZE) as pilot:
        await to_the_question(pilot, case)
        await shows(pilot, "nothing was found on it")
        run("mkfs.ext4", "-q", case.path)
        before = digest(case.file)
        await answer(pilot, str(case.file))
        await shows(pilot, "have changed since the plan was made", timeout_s=TIMEOUT_S)
        assert wizard(pilot).running is None
    assert digest(case.file) == before
