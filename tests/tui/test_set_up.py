"""From the result to a disk that is set up for good: the form, the review, how it goes, and the end."""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import Any

import pytest
from textual import events
from textual.pilot import Pilot
from textual.widgets import Input

from fswizard.disks import choice, rights
from fswizard.disks.choice import Offer
from fswizard.disks.rights import State
from fswizard.errors import RunFailed
from fswizard.model.drive import Drive
from fswizard.model.plan import Target
from fswizard.tui.screens.set_up import SetUpReview, SetUpScreen
from fswizard.tui.widgets.table import Table
from tests.fakes.setting_up import SettingUp, at_result
from tests.fakes.wizard import ARCHIVE, NEW, OLD, FakeMachine, finished_result
from tests.tui.driving import TIMEOUT_S, at_step, footer, screen_text, settled, shows, until

SERIAL = NEW.serial


async def to_the_serial_number(pilot: Pilot[Any]) -> None:
    """From the result to the review of setting its disk up, which asks for the serial number."""
    await at_step(pilot, "result")
    await shows(pilot, "u set up")
    await pilot.press("u")
    await shows(pilot, "⏎ shows the exact commands")
    await pilot.press("enter")
    await shows(pilot, "To confirm, type its")


@pytest.mark.parametrize("size", [(80, 24), (120, 36)])
async def test_a_disk_is_set_up_after_its_serial_number_was_typed(
    size: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    machine, app = SettingUp(monkeypatch), at_result()
    async with app.run_test(size=size) as pilot:
        await at_step(pilot, "result")
        await shows(pilot, "u set up")
        await pilot.press("u")
        await shows(pilot, NEW.model)
        assert all(words in screen_text(app) for words in ("Label", "Mount point", "Owner"))
        table = app.screen.query_one("#spare", Table)
        await until(pilot, lambda: table.key == NEW.stable_name, "the empty disk to be proposed")
        app.screen.query_one("#mount", Input).value = "/mnt/taken"
        await pilot.press("enter")
        await shows(pilot, "/etc/fstab has /mnt/taken already.")
        assert isinstance(app.screen, SetUpScreen)
        app.screen._list()
        await pilot.pause()
        assert "/etc/fstab has /mnt/taken already." in screen_text(app), "an error stays when disks are looked at again"
        app.screen.query_one("#mount", Input).value = "/mnt/data"
        await pilot.press("enter")
        await shows(pilot, "To confirm, type its")
        await shows(pilot, "-L")
        box = app.screen.query_one("#serial", Input)
        for wrong in ("", "Z84", NEW.model):
            box.value = wrong
            await pilot.press("enter")
            await pilot.pause()
        await shows(pilot, f"'{NEW.model}' is not the serial number")
        assert machine.asked == []
        box.value = SERIAL
        await pilot.press("enter")
        await shows(pilot, "Your disk is at /mnt/data.")
        assert len(machine.asked) == 1
        for words in ("/mnt/data/fswizard-test.txt", "/etc/fstab.fswizard-1", "umount /mnt/data"):
            assert words in screen_text(app)
        await pilot.press("escape")
        await at_step(pilot, "result")


async def test_enter_pressed_again_before_it_begins_sets_a_disk_up_once(monkeypatch: pytest.MonkeyPatch) -> None:
    held = threading.Event()
    held.set()

    def state() -> State:
        held.wait(TIMEOUT_S)
        return "root"

    machine, app = SettingUp(monkeypatch), at_result()
    monkeypatch.setattr(rights, "state", state)
    async with app.run_test(size=(80, 24)) as pilot:
        await to_the_serial_number(pilot)
        held.clear()
        app.screen.query_one("#serial", Input).value = SERIAL
        for _ in range(3):
            await pilot.press("enter")
            await until(pilot, lambda: all(w.is_finished for w in app.workers if w.group == "ask"), "the check")
        held.set()
        await shows(pilot, "Your disk is at /mnt/data.")
        assert len(machine.asked) == 1


async def test_without_a_disk_to_set_up_no_review_is_offered(monkeypatch: pytest.MonkeyPatch) -> None:
    SettingUp(monkeypatch)
    app = at_result(FakeMachine(drives=()))
    async with app.run_test(size=(80, 24)) as pilot:
        await at_step(pilot, "result")
        await shows(pilot, "u set up")
        await pilot.press("u")
        await shows(pilot, "No disk here can be set up so far")
        assert "review" not in footer(app)
        await pilot.press("tab", "enter")
        await pilot.pause()
        assert "No disk here can be set up so far" in screen_text(app)


async def test_a_failure_says_what_was_taken_back(monkeypatch: pytest.MonkeyPatch) -> None:
    SettingUp(monkeypatch, RunFailed("mount failed: wrong fs type.", "Taken back: /etc/fstab is as it was."))
    app = at_result()
    async with app.run_test(size=(80, 24)) as pilot:
        await to_the_serial_number(pilot)
        app.screen.query_one("#serial", Input).value = SERIAL
        await pilot.press("enter")
        await shows(pilot, "Taken back: /etc/fstab is as it was.")
        assert "✗ making the filesystem" in screen_text(app)
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(app.screen, SetUpScreen), "the form")


async def test_the_measured_disk_is_proposed_and_what_stands_against_a_disk_is_said_before_enter(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    SettingUp(monkeypatch)
    result = finished_result()
    measured = replace(result.plan, target=Target("device", OLD.partitions[0].stable_name), drive=OLD)
    async with at_result(FakeMachine(drives=(ARCHIVE, NEW, OLD))).run_test() as pilot:
        await at_step(pilot, "result")
        pilot.app.push_screen(SetUpScreen(result.plan.candidate("xfs"), measured))
        await until(pilot, lambda: isinstance(pilot.app.screen, SetUpScreen), "the form")
        table = pilot.app.screen.query_one("#spare", Table)
        await until(pilot, lambda: table.key == measured.target.path, "the measured one, though another is empty")
        await until(pilot, lambda: len(table.keys) == 3, "all disks")
        assert not pilot.app.screen.query_one("#partition").display, "a partition gets no table"
        await pilot.press("home")
        await shows(pilot, "✗ sdb1 is mounted on /mnt/archive.")
        assert "review" not in footer(pilot.app)
        await pilot.press("enter")
        assert isinstance(pilot.app.screen, SetUpScreen)
        pilot.app.screen.query_one("#mount", Input).value = "/mnt/taken"
        await pilot.press("down")
        await shows(pilot, "/etc/fstab has /mnt/taken already.")


async def test_it_says_that_it_is_looking_until_it_is_known_that_no_disk_can_be_set_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    known, found = threading.Event(), choice.offers

    def offers(drive: Drive, least_bytes: int) -> tuple[Offer, ...]:
        known.wait(TIMEOUT_S)
        return found(drive, least_bytes)

    monkeypatch.setattr(choice, "offers", offers)
    app = at_result(FakeMachine(drives=(ARCHIVE,)))
    async with app.run_test(size=(80, 24)) as pilot:
        await at_step(pilot, "result")
        await shows(pilot, "u set up")
        await pilot.press("u")
        await shows(pilot, "Looking for disks …")
        screen = app.screen
        assert isinstance(screen, SetUpScreen)
        await until(pilot, lambda: screen._machine.disks is not None, "the disks")
        assert "Looking for disks …" in screen_text(app)
        known.set()
        await shows(pilot, "✗ sdb1 is mounted on /mnt/archive.")


async def test_a_disk_that_vanishes_gives_way_to_another_only_after_that_was_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    SettingUp(monkeypatch)
    machine = FakeMachine(drives=(NEW, OLD))
    app = at_result(machine)
    async with app.run_test(size=(80, 24)) as pilot:
        await at_step(pilot, "result")
        await shows(pilot, "u set up")
        await pilot.press("u")
        await shows(pilot, "⏎ shows the exact commands")
        machine.attach(OLD)
        await shows(pilot, f"! {NEW.name} is not attached any more.")
        await pilot.press("enter")
        await shows(pilot, "Nothing has happened yet")
        for _ in range(3):  # at once, as a slow connection delivers them
            app.post_message(events.Key("enter", None))
        await shows(pilot, "To confirm, type its")
        await settled(pilot)
        assert sum(isinstance(screen, SetUpReview) for screen in app.screen_stack) == 1
