"""The whole wizard with a real run: a small image, real filesystems, real workloads."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from fswizard.model.recipe import Recipe
from fswizard.model.units import size_text
from fswizard.tui.app import FswizardApp
from fswizard.tui.backend import ThisMachine
from fswizard.tui.places import PlaceRows
from fswizard.tui.screens.leave import LeaveScreen
from fswizard.tui.widgets.canvas import Canvas
from tests.loop.runs import SHORT
from tests.tui.driving import at_step, question, screen_text, shows, until, wizard

pytestmark = [pytest.mark.root, pytest.mark.loop, pytest.mark.fio]

RUN_S = 90.0


class SmallMachine(ThisMachine):
    """This machine, with one recipe that is over soon."""

    def recipes(self) -> tuple[Recipe, ...]:
        return (replace(SHORT, name="quick", minutes=0.2, candidates=("ext4", "ext2")),)


def left_behind(directory: Path) -> list[str]:
    """Mounts, loop devices and files below `directory`: others may come and go on the same machine."""
    mounts = Path("/proc/mounts").read_text().splitlines()
    backing = [path.read_text() for path in Path("/sys/block").glob("loop*/loop/backing_file")]
    return [line for line in (*mounts, *backing) if str(directory) in line]


async def to_the_review(pilot: Pilot[Any], tmp_path: Path) -> None:
    await at_step(pilot, "purpose")
    await pilot.press("enter")
    await at_step(pilot, "drive")
    await until(pilot, lambda: bool(wizard(pilot).known.places), "a place for the image", patience_s=20)
    await pilot.press("d", *str(tmp_path), "enter")
    await until(pilot, lambda: wizard(pilot).wishes.directory == str(tmp_path), "the directory")
    for step in ("filesystems", "workloads", "review"):
        await pilot.press("enter")
        await at_step(pilot, step)
    await shows(pilot, "starts the run")


async def test_enter_gets_to_a_recommendation_measured_here(tmp_path: Path) -> None:
    async with FswizardApp(SmallMachine()).run_test(size=(120, 36)) as pilot:
        await to_the_review(pilot, tmp_path)
        assert tmp_path.name[:12] in screen_text(pilot.app)
        await pilot.press("enter")
        await at_step(pilot, "run")
        await shows(pilot, "Round 1", patience_s=RUN_S)
        await at_step(pilot, "result", patience_s=RUN_S)
        await until(pilot, lambda: "Looking" not in question(pilot.app), "a headline")
        await shows(pilot, "Random writes")
        result = wizard(pilot).result
        assert result is not None
        assert result.outcome in ("finished", "time-up")
        rounds = {sample.round for sample in result.samples if sample.primary and sample.candidate}
        assert 1 in rounds, "how many more there are is up to how busy the machine is"
        await pilot.press("enter")
        await shows(pilot, "Ratios to ext4")
    assert not left_behind(tmp_path)
    assert not list(tmp_path.iterdir())


@pytest.mark.btrfs
async def test_an_array_over_two_images_is_measured_beside_one_disk_alone(tmp_path: Path) -> None:
    async with FswizardApp(SmallMachine()).run_test(size=(120, 36)) as pilot:
        await at_step(pilot, "purpose")
        await pilot.press("enter")
        await at_step(pilot, "drive")
        await until(pilot, lambda: bool(wizard(pilot).known.places), "a place for the images", patience_s=20)
        await pilot.press("d", *str(tmp_path), "enter")
        await until(pilot, lambda: wizard(pilot).wishes.directory == str(tmp_path), "the directory")
        await pilot.press("a", "left", "left", "enter")
        await shows(pilot, "(•) 2 scratch images")
        await pilot.press("enter")
        await at_step(pilot, "filesystems")
        await until(pilot, lambda: wizard(pilot).known.looked, "what can be made here", patience_s=20)
        wizard(pilot).wish(candidates=("ext4", "btrfs:raid1"))
        await pilot.press("enter", "enter")
        await shows(pilot, "starts the run", patience_s=20)
        await pilot.press("enter")
        await at_step(pilot, "result", patience_s=2 * RUN_S)
        result = wizard(pilot).result
        assert result is not None
        assert result.outcome in ("finished", "time-up")
        assert {s.candidate for s in result.samples if s.primary and s.round} == {"ext4", "btrfs:raid1"}
        await until(pilot, lambda: "Looking" not in question(pilot.app), "a headline")
        report = pilot.app.screen.query_one("#report", Canvas).render().plain
        size = result.plan.target.size_bytes
    told = f"btrfs:raid1: {size_text(size)} of {size_text(2 * size)}, any 1 disk may fail"
    assert told in " ".join(report.split())
    assert not left_behind(tmp_path)
    assert not list(tmp_path.iterdir())


async def test_stopping_in_the_middle_leaves_nothing_behind(tmp_path: Path) -> None:
    async with FswizardApp(SmallMachine()).run_test(size=(80, 24)) as pilot:
        await to_the_review(pilot, tmp_path)
        await pilot.press("enter")
        await at_step(pilot, "run")
        await shows(pilot, "Round 1", patience_s=RUN_S)
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(pilot.app.screen, LeaveScreen), "the question")
        await pilot.press("down", "enter")
        await until(pilot, lambda: not wizard(pilot).measuring, "the end", patience_s=30)
        running = wizard(pilot).running
        assert running is not None
        assert running.state.outcome == "stopped"
        assert running.run.path.exists()
    assert not left_behind(tmp_path)
    assert not list(tmp_path.iterdir())


async def test_comparing_two_directories_needs_no_root_and_formats_nothing(tmp_path: Path) -> None:
    places = tuple(str(tmp_path / name) for name in ("one", "two"))
    for place in places:
        os.mkdir(place)
    async with FswizardApp(SmallMachine()).run_test(size=(120, 36)) as pilot:
        await at_step(pilot, "purpose")
        await pilot.press("down", "down", "enter")
        await at_step(pilot, "drive")
        await shows(pilot, "Place")
        for place in places:
            await pilot.press("d", *place, "enter")
            await shows(pilot, place[-9:])
        rows = pilot.app.screen.query_one(PlaceRows)
        for other in [name for name in rows.chosen if name not in places]:
            rows.highlight(other)
            await pilot.press("space")
        await pilot.press("enter", "enter")
        await shows(pilot, "is not needed", patience_s=20)
        await pilot.press("enter")
        await at_step(pilot, "result", patience_s=RUN_S)
    assert not left_behind(tmp_path)
    assert [list(Path(place).iterdir()) for place in places] == [[], []]
