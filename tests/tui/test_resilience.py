"""Hostile text, odd terminals, slow machines, floods of events: the wizard stays usable."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import create_autospec

import pytest

from fswizard import drives, filesystems, results
from fswizard.errors import FswizardError, RunFailed
from fswizard.model.drive import Drive
from fswizard.model.events import CommandFinished, Step, StepProgressed, StepStarted
from fswizard.model.result import Result
from fswizard.tui.app import FswizardApp
from fswizard.tui.monitor import RunMonitor
from fswizard.tui.screens.run import RunScreen
from tests.fakes.wizard import (
    ARCHIVE,
    HOSTILE,
    SSD,
    FakeMachine,
    FakeSession,
    app,
    chosen,
    recording,
    running_state,
)
from tests.tui.driving import STEPS, at, at_step, footer, held, rows, screen_text, settled, shows, until, wizard


async def test_markup_in_names_is_text_and_clicking_it_does_nothing() -> None:
    async with at("drive", FakeMachine(drives=(HOSTILE, ARCHIVE)), drive=HOSTILE) as pilot:
        await shows(pilot, "[/b] [@click=app.quit]x")
        await shows(pilot, "sdd1 “[red]$(rebo")
        line = next(i for i, row in enumerate(screen_text(pilot.app).splitlines()) if "[/b]" in row)
        await pilot.click(offset=(25, line))
        await pilot.pause()
        assert pilot.app.is_running
        assert rows(pilot, "#drives").key == "sdd"


async def test_hostile_output_of_programs_does_not_reach_the_terminal() -> None:
    async with at("run") as pilot:
        running = wizard(pilot).running
        program = next(entry for entry in reversed(running.state.log) if isinstance(entry, CommandFinished))
        entry = replace(program, output="\x1b]52;c;aGk=\x07 [/b] \u202egpj\tend")
        running.state = replace(running.state, log=(*running.state.log, entry))
        await shows(pilot, "\\x1b]52;c;aGk=\\x07 [/b] \\u202egpj", "l")


async def test_no_size_breaks_a_screen_and_each_has_help() -> None:
    """One walk through all screens; back at 80 columns every line fits."""
    wizard_app = app("result")
    wizard_app.running = running_state()
    async with wizard_app.run_test(size=(80, 24)) as pilot:
        for step in STEPS:
            wizard_app.visit(step)
            await at_step(pilot, step)
            for size in ((20, 5), (1, 1), (200, 60), (80, 24)):
                await pilot.resize_terminal(*size)
            await settled(pilot)
            shown = screen_text(pilot.app).splitlines()
            assert len(shown) == 24 and all(len(line) <= 80 for line in shown)
            assert "F1 help" in footer(pilot.app)
            await shows(pilot, "╭─ Help ", "f1")
            await pilot.press("escape")


async def test_a_hanging_smartctl_keeps_nobody_and_what_it_finds_later_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    let_go = held(monkeypatch, drives, "details")
    async with app("drive").run_test() as pilot:
        await shows(pilot, "scratch image in ")
        await at_step(pilot, "filesystems", "enter")
        let_go.set()
        await until(pilot, lambda: all(d.details for d in wizard(pilot).machine.disks.values()), "the details")
        await at_step(pilot, "filesystems")
        await shows(pilot, "good, 36 °C", "escape")


async def test_quitting_does_not_wait_for_a_hanging_smartctl(monkeypatch: pytest.MonkeyPatch) -> None:
    let_go = held(monkeypatch, drives, "details")
    async with app("drive").run_test() as pilot:
        await shows(pilot, "sdb")
        await pilot.press("ctrl+q")
    let_go.set()


async def test_an_early_enter_takes_what_can_be_made(monkeypatch: pytest.MonkeyPatch) -> None:
    let_go = held(monkeypatch, filesystems, "availability")
    async with app("filesystems", candidates=("ext4", "f2fs")).run_test() as pilot:
        await at_step(pilot, "filesystems")
        await shows(pilot, "Checking what is available", "enter")
        let_go.set()
        await at_step(pilot, "workloads")
        assert wizard(pilot).choices.candidates == ("ext4",)


async def test_disks_come_and_go_and_a_smartctl_that_fails_is_told_beside_its_disk(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def details(drive: Drive) -> Drive:
        raise RunFailed("smartctl did not answer within 10 s.")

    monkeypatch.setattr(drives, "details", details)
    machine = FakeMachine(drives=(ARCHIVE,))
    async with app("drive", machine).run_test(size=(120, 36)) as pilot:
        await shows(pilot, "smartctl did not answer within 10 s.")
        machine.attach(ARCHIVE, SSD)
        await until(pilot, lambda: rows(pilot, "#drives").keys == ["sdb", "nvme0n1"], "two disks")


class Flood(FakeSession):
    """Ten thousand events a second."""

    async def events(self) -> Any:
        yield recording()[0]
        yield StepStarted(0.0, Step(1, "workload", "writing", 1, "ext4", self.plan.recipe.workloads[0].name))
        for number in range(1_000_000):
            if self.stopped:
                return
            yield StepProgressed(number / 1e4, 1, 0.5, "writing", float(number % 977))
            if number % 100 == 99:
                await asyncio.sleep(0.01)


async def test_a_flood_of_events_keeps_nobody_from_looking_around(monkeypatch: pytest.MonkeyPatch) -> None:
    draw = create_autospec(RunScreen._draw, side_effect=RunScreen._draw)
    monkeypatch.setattr(RunScreen, "_draw", draw)
    running = RunMonitor(Flood(recording()))
    wizard_app = FswizardApp(machine=FakeMachine(), choices=chosen(), start="run")
    wizard_app.running = running
    async with wizard_app.run_test(size=(120, 36)) as pilot:
        wizard_app.run_worker(running.follow(), group="run")
        await until(pilot, lambda: running.state.at_s > 0.2, "two thousand events")
        assert 0 < draw.call_count < 2000 / 10, "many events share one picture"
        wizard_app.visit("drive")
        await shows(pilot, "sdb")
        await at_step(pilot, "purpose", "escape")
        running.stop()
        await until(pilot, lambda: running.state.ended, "the end")


async def test_a_result_that_cannot_be_read_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def load(path: Path) -> Result:
        raise FswizardError("new.jsonl is no result.", "Choose another.")

    monkeypatch.setattr(results, "load", load)
    async with at() as pilot:
        await shows(pilot, "2025-12-31", "h")
        await shows(pilot, "new.jsonl is no result.", "enter")


@pytest.mark.parametrize("turns", range(4))
async def test_a_screen_that_goes_before_it_is_whole_breaks_nothing(turns: int) -> None:
    async with at("review", FakeMachine(event_s=0.01)) as pilot:
        await at_step(pilot, "run", "enter")
        wizard(pilot).leave_now()
        for _ in range(turns):
            await asyncio.sleep(0)
