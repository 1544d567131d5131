"""From the result to a disk that is set up for good: the form, the review, how it goes, and the end."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest
from textual import events
from textual.pilot import Pilot

from fswizard.disks import rights
from fswizard.errors import RunFailed
from fswizard.model.plan import Target
from fswizard.tui.screens.set_up import SetUpReview, SetUpScreen
from tests.fakes.setting_up import SettingUp, at_result
from tests.fakes.wizard import ARCHIVE, NEW, OLD, FakeMachine, finished_result
from tests.tui.driving import at_step, box, footer, held, rows, screen_text, settled, shows, until

SERIAL = NEW.serial


@asynccontextmanager
async def form(machine: FakeMachine | None = None) -> AsyncIterator[Pilot[Any]]:
    """The form for setting a disk up, that was opened from a result."""
    async with at_result(machine).run_test(size=(80, 24)) as pilot:
        await at_step(pilot, "result")
        await shows(pilot, "u set up")
        await pilot.press("u")
        await until(pilot, lambda: isinstance(pilot.app.screen, SetUpScreen), "the form")
        yield pilot


async def to_the_serial_number(pilot: Pilot[Any]) -> None:
    """From the form to the review, which asks for the serial number."""
    await shows(pilot, "⏎ shows the exact commands")
    await shows(pilot, "To confirm, type its", "enter")


async def test_a_disk_is_set_up_after_its_serial_number_was_typed(monkeypatch: pytest.MonkeyPatch) -> None:
    machine = SettingUp(monkeypatch)
    async with form() as pilot:
        await until(pilot, lambda: rows(pilot, "#spare").key == NEW.stable_name, "the empty disk to be proposed")
        box(pilot, "#mount").value = "/mnt/taken"
        await shows(pilot, "/etc/fstab has /mnt/taken already.", "enter")
        pilot.app.screen._list()
        await pilot.pause()
        assert "/etc/fstab has /mnt/taken already." in screen_text(pilot.app), (
            "an error stays when disks are looked at again"
        )
        box(pilot, "#mount").value = "/mnt/data"
        await shows(pilot, "To confirm, type its", "enter")
        await shows(pilot, "-L")
        for wrong in ("", "Z84", NEW.model):
            box(pilot, "#serial").value = wrong
            await pilot.press("enter")
            await pilot.pause()
        await shows(pilot, f"'{NEW.model}' is not the serial number")
        assert machine.asked == []
        box(pilot, "#serial").value = SERIAL
        await shows(pilot, "Your disk is at /mnt/data.", "enter")
        assert len(machine.asked) == 1
        for words in ("/etc/fstab.fswizard-1", "umount /mnt/data"):
            assert words in screen_text(pilot.app)
        await at_step(pilot, "result", "escape")


async def test_enter_pressed_again_before_it_begins_sets_a_disk_up_once(monkeypatch: pytest.MonkeyPatch) -> None:
    known = held(monkeypatch, rights, "state")
    known.set()
    machine = SettingUp(monkeypatch)
    async with form() as pilot:
        await to_the_serial_number(pilot)
        known.clear()
        box(pilot, "#serial").value = SERIAL
        for _ in range(3):
            await pilot.press("enter")
            await until(pilot, lambda: all(w.is_finished for w in pilot.app.workers if w.group == "ask"), "the check")
        known.set()
        await shows(pilot, "Your disk is at /mnt/data.")
        assert len(machine.asked) == 1


async def test_a_failure_says_what_was_taken_back(monkeypatch: pytest.MonkeyPatch) -> None:
    SettingUp(monkeypatch, RunFailed("mount failed: wrong fs type.", "Taken back: /etc/fstab is as it was."))
    async with form() as pilot:
        await to_the_serial_number(pilot)
        box(pilot, "#serial").value = SERIAL
        await shows(pilot, "Taken back: /etc/fstab is as it was.", "enter")
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(pilot.app.screen, SetUpScreen), "the form")


async def test_the_measured_disk_is_proposed_and_what_stands_against_a_disk_is_said_before_enter(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    SettingUp(monkeypatch)
    plan = finished_result().plan
    measured = replace(plan, target=Target("device", OLD.partitions[0].stable_name), drive=OLD)
    async with at_result(FakeMachine(drives=(ARCHIVE, NEW, OLD))).run_test() as pilot:
        await at_step(pilot, "result")
        pilot.app.push_screen(SetUpScreen(plan.candidate("xfs"), measured))
        await until(pilot, lambda: isinstance(pilot.app.screen, SetUpScreen), "the form")
        table = rows(pilot, "#spare")
        await until(pilot, lambda: table.key == measured.target.path, "the measured one, though another is empty")
        await until(pilot, lambda: len(table.keys) == 3, "all disks")
        await shows(pilot, "✗ sdb1 is mounted on /mnt/archive.", "home")
        assert "review" not in footer(pilot.app)
        await pilot.press("enter")
        assert isinstance(pilot.app.screen, SetUpScreen)


async def test_without_a_disk_to_set_up_no_review_is_offered() -> None:
    async with form(FakeMachine(drives=())) as pilot:
        await shows(pilot, "No disk here can be set up so far")
        assert "review" not in footer(pilot.app)
        await shows(pilot, "No disk here can be set up so far", "tab", "enter")


async def test_the_review_is_opened_once_for_the_disk_that_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    SettingUp(monkeypatch)
    machine = FakeMachine(drives=(NEW, OLD))
    async with form(machine) as pilot:
        await shows(pilot, "⏎ shows the exact commands")
        machine.attach(OLD)
        await until(pilot, lambda: rows(pilot, "#spare").key == OLD.partitions[0].stable_name, "the other disk")
        for _ in range(3):  # at once, as a slow connection delivers them
            pilot.app.post_message(events.Key("enter", None))
        await shows(pilot, "To confirm, type its")
        await settled(pilot)
        assert sum(isinstance(screen, SetUpReview) for screen in pilot.app.screen_stack) == 1
