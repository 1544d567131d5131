"""The whole wizard with a real run: a small image, real filesystems, real workloads."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from fswizard.model.units import size_text
from fswizard.tui.screens.dialogs import LeaveScreen
from tests.fakes.host import ModelHost, idle_runs, use
from tests.loop.machine_state import left_of_a_run
from tests.loop.small_machine import LASTING, QUICK, small_wizard
from tests.tui.driving import at_step, screen_text, settled, shows, until, wizard

pytestmark = [pytest.mark.root, pytest.mark.loop, pytest.mark.fio]


@pytest.fixture(autouse=True)
def recorded_machine() -> Iterator[None]:
    """Not here: this machine is asked, with room enough."""
    with use(ModelHost()), idle_runs():
        yield


async def to_the_review(pilot: Pilot[Any], tmp_path: Path) -> None:
    await at_step(pilot, "purpose")
    await pilot.press("enter")
    await at_step(pilot, "drive")
    await until(pilot, lambda: bool(wizard(pilot).machine.disks), "the disks")
    await pilot.press("d", *str(tmp_path), "enter")
    await until(pilot, lambda: wizard(pilot).choices.directory == str(tmp_path), "the directory")
    for step in ("filesystems", "workloads", "review"):
        await pilot.press("enter")
        await at_step(pilot, step)
    await shows(pilot, "starts the run")


@pytest.mark.btrfs
async def test_an_array_over_two_images_is_measured_beside_one_disk_alone(tmp_path: Path) -> None:
    async with small_wizard(replace(QUICK, image_bytes=128 << 20)).run_test(size=(120, 36)) as pilot:
        await at_step(pilot, "purpose")
        await pilot.press("enter")
        await at_step(pilot, "drive")
        await until(pilot, lambda: bool(wizard(pilot).machine.disks), "the disks")
        await pilot.press("d", *str(tmp_path), "enter")
        await until(pilot, lambda: wizard(pilot).choices.directory == str(tmp_path), "the directory")
        await pilot.press("tab", "down", "left", "left", "enter")
        await until(pilot, lambda: wizard(pilot).choices.images == 2, "two images")
        await at_step(pilot, "filesystems")
        await until(pilot, lambda: wizard(pilot).machine.availability_known, "what can be made here")
        wizard(pilot).choose(candidates=("ext4", "btrfs:raid1"))
        await pilot.press("enter", "enter")
        await shows(pilot, "starts the run")
        await pilot.press("enter")
        await at_step(pilot, "result")
        result = wizard(pilot).result
        assert result is not None
        assert result.outcome == "finished"
        assert {s.candidate for s in result.samples if s.primary and s.round} == {"ext4", "btrfs:raid1"}
        await shows(pilot, "Random writes")
        await pilot.press("d")
        details = pilot.app.screen.query_one("#report")
        await pilot.resize_terminal(120, 400)
        await settled(pilot)
        report = screen_text(pilot.app)
        assert details.display
        size = result.plan.target.size_bytes
        await pilot.press("enter")
        await shows(pilot, "save to a file")
    told = f"btrfs:raid1: {size_text(size)} of {size_text(2 * size)}, any 1 disk may fail"
    assert told in " ".join(report.split())
    assert not left_of_a_run(tmp_path)
    assert not list(tmp_path.iterdir())


async def test_stopping_in_the_middle_leaves_nothing_behind(tmp_path: Path) -> None:
    async with small_wizard(LASTING).run_test(size=(80, 24)) as pilot:
        await to_the_review(pilot, tmp_path)
        await pilot.press("enter")
        await at_step(pilot, "run")
        await shows(pilot, "Round 1")
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(pilot.app.screen, LeaveScreen), "the question")
        await pilot.press("down", "enter")
        await until(pilot, lambda: not wizard(pilot).measuring, "the end")
        running = wizard(pilot).running
        assert running is not None
        assert running.state.outcome == "stopped"
        assert running.run.path.exists()
    assert not left_of_a_run(tmp_path)
    assert not list(tmp_path.iterdir())
