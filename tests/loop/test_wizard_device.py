"""The wizard on a device of the user's: a loop device stands for a disk, and passes the same checks as one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from fswizard.system.host import Host
from fswizard.tui.app import FswizardApp
from fswizard.tui.drives import DEVICE
from fswizard.tui.widgets.choice_list import ChoiceList
from tests.fakes.host import use
from tests.loop.devices import Bench, Case, digest, run, signatures
from tests.loop.small_machine import SmallMachine
from tests.loop.test_device_target import DISK_BYTES
from tests.tui.driving import at_step, keys_of, screen_text, shows, until, wizard

pytestmark = [pytest.mark.root, pytest.mark.loop, pytest.mark.fio]

SIZE = (180, 40)
PROBED_BYTES = 640 << 20
"""Less is not enough for a probe; it stays sparse but for what is written until the probe is stopped."""
TIMEOUT_S = 120.0
"""A last resort: each of these waits ends with what it waits for."""


async def to_the_targets(pilot: Pilot[Any], case: Case) -> str:
    """The loop device highlighted on the drive screen; returns the key of the whole of it as target."""
    await at_step(pilot, "purpose")
    await pilot.press("end", "enter")
    await at_step(pilot, "drive")
    name = Path(case.path).name
    drives = pilot.app.screen.query_one("#drives", ChoiceList)
    await until(pilot, lambda: name in keys_of(pilot.app, "#drives"), f"{name} in the list", timeout_s=TIMEOUT_S)
    drives.highlight(name)
    await until(
        pilot,
        lambda: drives.key == name and DEVICE + case.path in keys_of(pilot.app, "#targets"),
        f"{case.path} as a target",
        timeout_s=TIMEOUT_S,
    )
    return DEVICE + case.path


async def highlight_the_device(pilot: Pilot[Any], case: Case) -> None:
    key = await to_the_targets(pilot, case)
    targets = pilot.app.screen.query_one("#targets", ChoiceList)
    targets.focus()
    await until(pilot, lambda: targets.has_focus, "the targets to have the focus")
    targets.highlight(key)
    await until(pilot, lambda: targets.key == key, "the device to be highlighted")


async def to_the_question(pilot: Pilot[Any], case: Case) -> None:
    """The review of a run on the loop device."""
    await highlight_the_device(pilot, case)
    await pilot.press("enter")
    for step in ("filesystems", "workloads"):
        await at_step(pilot, step)
        await pilot.press("enter")
    await at_step(pilot, "review")
    await shows(pilot, "erase and start", timeout_s=TIMEOUT_S)


async def answer(pilot: Pilot[Any], words: str) -> None:
    pilot.app.screen.query_one("#serial", Input).value = words
    await pilot.press("enter")


async def test_a_device_is_measured_and_left_wiped_after_what_it_stands_for_was_typed(bench: Bench) -> None:
    case = bench.made("mkfs.ext4", "-q", "-L", "archive", size_bytes=DISK_BYTES)
    async with FswizardApp(SmallMachine()).run_test(size=SIZE) as pilot:
        await to_the_question(pilot, case)
        assert 'ext4 "archive"' in screen_text(pilot.app)
        await answer(pilot, str(case.file))
        await at_step(pilot, "result", timeout_s=TIMEOUT_S)
        result = wizard(pilot).result
        assert result is not None
        assert result.plan.target.kind == "device"
        assert result.outcome in ("finished", "time-up")
        measured = {(sample.round, sample.candidate) for sample in result.samples if sample.primary}
        assert {(1, "ext4"), (1, "ext2")} <= measured
    assert signatures(case) == ""


async def test_with_the_wrong_words_no_byte_of_the_device_changes(bench: Bench) -> None:
    case = bench.made("mkfs.ext4", "-q", "-L", "archive", size_bytes=DISK_BYTES)
    before = digest(case.file)
    async with FswizardApp(SmallMachine()).run_test(size=SIZE) as pilot:
        await to_the_question(pilot, case)
        await answer(pilot, "")
        await shows(pilot, "To confirm, type", timeout_s=TIMEOUT_S)
        await answer(pilot, f"{case.file}x")
        await shows(pilot, "is not the file's path of", timeout_s=TIMEOUT_S)
        await pilot.press("enter", "enter")
        await at_step(pilot, "review")
        assert wizard(pilot).running is None
    assert digest(case.file) == before


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


async def test_a_mounted_device_is_refused_in_the_words_of_the_command_line(bench: Bench) -> None:
    case = bench.made("mkfs.ext4", "-q", size_bytes=DISK_BYTES)
    point = bench.mount(case.path)
    async with FswizardApp(SmallMachine()).run_test(size=SIZE) as pilot:
        await highlight_the_device(pilot, case)
        await shows(pilot, f"is mounted on {point}"[:40])
        await pilot.press("enter")
        await at_step(pilot, "drive")
        (offer,) = [o for o in wizard(pilot).machine.offers[Path(case.path).name] if o.path == case.path]
        assert offer.refused is not None
        assert offer.refused.message == f"{Path(case.path).name} is mounted on {point}."
        assert offer.refused.hint == f"Unmount it first: umount {point}"
        assert wizard(pilot).choices.device == ""


@pytest.mark.slow
async def test_the_probe_writes_to_a_scratch_file_until_it_is_stopped_and_leaves_nothing(bench: Bench) -> None:
    """Slow, as it may take all the room of its disk."""
    case = bench.made("mkfs.ext4", "-q", size_bytes=PROBED_BYTES)
    point = bench.mount(case.path)
    with use(Host()):
        await _probe(point, case)
    assert list(point.iterdir()) == [point / "lost+found"]


async def _probe(point: Path, case: Case) -> None:
    async with FswizardApp(SmallMachine()).run_test(size=SIZE) as pilot:
        await to_the_targets(pilot, case)
        places = wizard(pilot).machine.places
        await until(pilot, lambda: any(place.directory == str(point) for place in places.values()), "a place on it")
        await pilot.press("p")
        await shows(pilot, "up to", timeout_s=TIMEOUT_S)
        assert list(point.iterdir()) == [point / "lost+found"]
        await pilot.press("enter")
        await shows(pilot, "longest write", timeout_s=TIMEOUT_S)
        await pilot.press("escape")
        await shows(pilot, "? Inconclusive", timeout_s=TIMEOUT_S)
        await pilot.press("enter")
        await at_step(pilot, "drive")
        await shows(pilot, "GB written in", timeout_s=TIMEOUT_S)
