"""Hostile text, odd terminals, slow machines, floods of events: the wizard stays usable."""

from __future__ import annotations

import asyncio
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fswizard import drives
from fswizard.disks import locations
from fswizard.disks.locations import Location
from fswizard.errors import FswizardError, RunFailed
from fswizard.filesystems import Availability
from fswizard.model.drive import Drive
from fswizard.model.events import CommandFinished, Event, Step, StepProgressed, StepStarted
from fswizard.model.filesystem import Filesystem
from fswizard.model.result import Result
from fswizard.tui.app import FswizardApp
from fswizard.tui.monitor import RunMonitor
from fswizard.tui.screens.run import RunScreen
from fswizard.tui.widgets.table import Table
from tests.fakes.wizard import (
    ARCHIVE,
    BRIDGED,
    HOSTILE,
    SSD,
    FakeMachine,
    FakeSession,
    app,
    chosen,
    keep_results,
    recording,
    running_state,
    two_results,
)
from tests.tui.driving import STEPS, at_step, footer, keys_of, screen_text, settled, shows, until, wizard

HANG_S = 600.0
"""Far longer than a busy machine takes for anything that does not wait for it; each test lets go before."""


async def test_markup_in_names_is_text_and_clicking_it_does_nothing() -> None:
    async with app("drive", FakeMachine(drives=(HOSTILE, ARCHIVE)), drive=HOSTILE).run_test(size=(120, 36)) as pilot:
        await shows(pilot, "[/b] [@click=app.quit]x")
        await shows(pilot, "sdd1 “[red]$(rebo")
        line = next(i for i, row in enumerate(screen_text(pilot.app).splitlines()) if "[/b]" in row)
        await pilot.click(offset=(25, line))
        await pilot.pause()
        assert pilot.app.is_running
        assert pilot.app.screen.query_one("#drives", Table).key == "sdd"


async def test_hostile_output_of_programs_does_not_reach_the_terminal() -> None:
    async with app("run").run_test(size=(120, 36)) as pilot:
        running = wizard(pilot).running
        assert running is not None
        program = next(entry for entry in reversed(running.state.log) if isinstance(entry, CommandFinished))
        entry = replace(program, output="\x1b]52;c;aGk=\x07 [/b] \u202egpj\tend")
        running.state = replace(running.state, log=(*running.state.log, entry))
        await pilot.press("l")
        await shows(pilot, "\\x1b]52;c;aGk=\\x07 [/b] \\u202egpj")


async def test_no_size_breaks_a_screen_and_each_has_help_and_shows_its_keys() -> None:
    """One walk through all screens; back at 80 columns every line fits."""
    wizard_app = app("result")
    wizard_app.running = running_state()
    async with wizard_app.run_test(size=(80, 24)) as pilot:
        for step in STEPS:
            wizard_app.visit(step)
            await at_step(pilot, step)
            await settled(pilot)
            calm = screen_text(pilot.app).splitlines()
            assert len(calm) == 24
            assert all(len(line) <= 80 for line in calm)
            assert "F1 help" in footer(pilot.app)
            assert "^p more" in calm[-1]
            for size in ((20, 5), (1, 1), (200, 60)):
                await pilot.resize_terminal(*size)
            await pilot.press("f1")
            await shows(pilot, "╭─ Help ")
            await pilot.press("escape")
            await pilot.resize_terminal(80, 24)
            await settled(pilot)
            assert screen_text(pilot.app).splitlines()[1] == calm[1]


class Hanging:
    """smartctl hangs, and so does looking for room on one disk."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.let_go = threading.Event()
        self.answered = False
        self._details, self._location = drives.details, locations.location
        patch.setattr(drives, "details", self.details)
        patch.setattr(locations, "location", self.location)

    def details(self, drive: Drive) -> Drive:
        self.let_go.wait(HANG_S)
        self.answered = True
        return self._details(drive)

    def location(self, drive: Drive) -> Location:
        if drive.name == "sdc":
            self.let_go.wait(HANG_S)
        return self._location(drive)


async def test_a_hanging_smartctl_keeps_nobody_and_what_it_finds_later_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    machine = Hanging(monkeypatch)
    async with app("drive").run_test(size=(120, 36)) as pilot:
        await shows(pilot, "sdb")
        await shows(pilot, "scratch image in ")
        await pilot.press("enter")
        await at_step(pilot, "filesystems")
        machine.let_go.set()
        disks = wizard(pilot).machine.disks or {}
        await until(pilot, lambda: all(facts.details for facts in disks.values()), "the details")
        await at_step(pilot, "filesystems")
        await pilot.press("escape")
        await shows(pilot, "good, 36 °C")


async def test_quitting_does_not_wait_for_a_hanging_smartctl(monkeypatch: pytest.MonkeyPatch) -> None:
    machine = Hanging(monkeypatch)
    async with app("drive").run_test(size=(120, 36)) as pilot:
        await shows(pilot, "sdb")
        await pilot.press("ctrl+q")
    assert not machine.answered, "it went on hanging"
    machine.let_go.set()


async def test_somebody_in_a_hurry_gets_only_filesystems_that_can_be_made(monkeypatch: pytest.MonkeyPatch) -> None:
    let_go = threading.Event()

    def availability(made: Filesystem) -> Availability:
        let_go.wait(HANG_S)
        return Availability(made.name == "ext4", "not here")

    monkeypatch.setattr("fswizard.filesystems.availability", availability)
    async with app("filesystems", candidates=("ext4", "xfs")).run_test(size=(120, 36)) as pilot:
        await at_step(pilot, "filesystems")
        await pilot.press("enter")
        await shows(pilot, "Checking what is available")
        let_go.set()
        await at_step(pilot, "workloads")
        assert wizard(pilot).choices.candidates == ("ext4",)


async def test_an_enter_that_waits_is_forgotten_once_a_window_opens(monkeypatch: pytest.MonkeyPatch) -> None:
    let_go = threading.Event()

    def availability(made: Filesystem) -> Availability:
        let_go.wait(HANG_S)
        return Availability(True)

    monkeypatch.setattr("fswizard.filesystems.availability", availability)
    async with app("filesystems").run_test(size=(120, 36)) as pilot:
        await at_step(pilot, "filesystems")
        await pilot.press("enter")
        await shows(pilot, "Checking what is available")
        await pilot.press("f1", "escape")
        let_go.set()
        await settled(pilot)
        await at_step(pilot, "filesystems")


async def test_somebody_in_a_hurry_reads_first_that_another_disk_is_tested(monkeypatch: pytest.MonkeyPatch) -> None:
    let_go, found = threading.Event(), locations.location

    def location(drive: Drive) -> Location:
        let_go.wait(HANG_S)
        return replace(found(drive), remark="Nothing on this one is mounted.")

    monkeypatch.setattr(locations, "location", location)
    async with app("drive").run_test(size=(120, 36)) as pilot:
        await shows(pilot, "ooking for free space")
        await pilot.press("enter")
        await shows(pilot, "names a directory instead")
        let_go.set()
        await shows(pilot, "Nothing on this one is mounted.")
        await at_step(pilot, "drive")
        await pilot.press("enter")
        await at_step(pilot, "filesystems")
        assert wizard(pilot).choices.elsewhere, "it is known that the image would lie on another disk"


async def test_disks_come_and_go_and_a_smartctl_that_fails_is_told_beside_its_disk(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def details(drive: Drive) -> Drive:
        raise RunFailed("smartctl did not answer within 10 s.")

    monkeypatch.setattr(drives, "details", details)
    machine = FakeMachine(drives=(ARCHIVE,))
    async with app("drive", machine).run_test(size=(120, 36)) as pilot:
        await until(pilot, lambda: keys_of(pilot.app, "#drives") == ["sdb"], "one disk")
        await shows(pilot, "smartctl did not answer within 10 s.")
        machine.attach(ARCHIVE, SSD)
        await until(pilot, lambda: keys_of(pilot.app, "#drives") == ["sdb", "nvme0n1"], "two disks")


class Flood(FakeSession):
    """Ten thousand events a second."""

    async def events(self) -> Any:
        yield recording()[0]
        yield StepStarted(0.0, Step(1, "workload", "writing", 1, "ext4", self.plan.recipe.workloads[0].name))
        for number in range(1_000_000):
            if self.stopped:
                return
            told: Event = StepProgressed(number / 1e4, 1, 0.5, "writing", float(number % 977))
            yield told
            if number % 100 == 99:
                await asyncio.sleep(0.01)


async def test_a_flood_of_events_and_a_hanging_smartctl_keep_nobody_from_looking_around(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pictures = 0
    draw = RunScreen._draw

    def counted(*arguments: Any) -> None:
        nonlocal pictures
        pictures += 1
        draw(*arguments)

    monkeypatch.setattr(RunScreen, "_draw", counted)
    machine = Hanging(monkeypatch)
    running = RunMonitor(Flood(recording()), time.monotonic)
    app_ = FswizardApp(machine=FakeMachine(), choices=chosen(drive=BRIDGED), start="run", running=running)
    async with app_.run_test(size=(120, 36)) as pilot:
        app_.run_worker(running.follow(), group="run")
        await until(pilot, lambda: running.state.at_s > 0.2, "two thousand events")
        assert 0 < pictures < 2000 / 10, "many events share one picture"
        app_.visit("drive")
        await shows(pilot, "sdb")
        before_s = running.state.at_s
        await until(pilot, lambda: running.state.at_s > before_s, "the events to go on")
        await pilot.press("escape")
        await at_step(pilot, "purpose")
        assert not machine.answered, "all of this went on beside it"
        machine.let_go.set()
        running.stop()
        await until(pilot, lambda: running.state.ended, "the end")


async def test_a_result_that_cannot_be_read_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def load(path: Path) -> Result:
        raise FswizardError("new.jsonl is no result.", "Choose another.")

    keep_results(monkeypatch, *two_results(), load=load)
    async with app().run_test(size=(120, 36)) as pilot:
        await at_step(pilot, "purpose")
        await pilot.press("h")
        await shows(pilot, "2025-12-31")
        await pilot.press("enter")
        await shows(pilot, "new.jsonl is no result.")


@pytest.mark.parametrize("turns", range(4))
async def test_a_screen_that_goes_before_it_is_whole_breaks_nothing(turns: int) -> None:
    async with app("review", FakeMachine(event_s=0.01)).run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        await pilot.press("enter")
        await at_step(pilot, "run")
        wizard(pilot).leave_now()
        for _ in range(turns):
            await asyncio.sleep(0)


async def test_a_step_that_is_left_before_it_is_filled_breaks_nothing() -> None:
    async with app("workloads").run_test(size=(100, 32)) as pilot:
        await settled(pilot)
        wizard(pilot).visit("drive")
        wizard(pilot).visit("workloads")
        await at_step(pilot, "workloads")
        await settled(pilot)
