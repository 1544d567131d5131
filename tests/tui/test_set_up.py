"""From the result to a disk that is set up for good: the form, the review, how it goes, and the end."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.widgets import Input

from fswizard.disks.set_up_plan import script
from fswizard.errors import RunFailed
from fswizard.tui.app import FswizardApp
from fswizard.tui.screens.set_up import SetUpScreen
from tests.fakes.setting_up import DONE, SettingUp
from tests.fakes.wizard import NEW, Clock, finished_result
from tests.tui.driving import at_step, footer, screen_text, shows, until

SERIAL = NEW.serial


@pytest.mark.parametrize("size", [(80, 24), (120, 36)])
async def test_a_disk_is_set_up_after_its_serial_number_was_typed(
    size: tuple[int, int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    machine = SettingUp(DONE)
    app = FswizardApp(machine, start="result", result=finished_result(machine), clock=Clock())
    async with app.run_test(size=size) as pilot:
        await at_step(pilot, "result")
        await shows(pilot, "set it up")
        await pilot.press("u")
        await shows(pilot, NEW.model)
        assert all(words in screen_text(app) for words in ("Label", "Mount point", "Owner"))
        await pilot.press("space")
        app.screen.query_one("#mount", Input).value = "/mnt/taken"
        await pilot.press("enter")
        await shows(pilot, "/etc/fstab has /mnt/taken already.")
        assert isinstance(app.screen, SetUpScreen)
        app.screen._changed()
        await pilot.pause()
        assert "/etc/fstab has /mnt/taken already." in screen_text(app), "an error stays when disks are looked at again"
        app.screen.query_one("#mount", Input).value = "/mnt/data"
        await pilot.press("enter")
        await shows(pilot, "To confirm, type its")
        await shows(pilot, "-L")
        await pilot.press("ctrl+s")
        await shows(pilot, "Saved as")
        (saved,) = tmp_path.iterdir()
        assert saved.read_text().startswith("#!/bin/sh\n")
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
        (plan,) = machine.asked
        assert saved.read_text() == script(plan)
        for words in ("/mnt/data/fswizard-test.txt", "/etc/fstab.fswizard-1", "umount /mnt/data"):
            assert words in screen_text(app)
        await pilot.press("escape")
        await at_step(pilot, "result")


async def test_without_a_disk_to_set_up_no_review_is_offered() -> None:
    machine = SettingUp(DONE, drives=())
    app = FswizardApp(machine, start="result", result=finished_result(machine), clock=Clock())
    async with app.run_test(size=(80, 24)) as pilot:
        await at_step(pilot, "result")
        await shows(pilot, "set it up")
        await pilot.press("u")
        await shows(pilot, "No disk here can be set up so far")
        assert "review" not in footer(app)
        await pilot.press("tab", "enter")
        await pilot.pause()
        assert "No disk here can be set up so far" in screen_text(app)


async def test_a_failure_says_what_was_taken_back() -> None:
    machine = SettingUp(RunFailed("mount failed: wrong fs type.", "Taken back: /etc/fstab is as it was."))
    app = FswizardApp(machine, start="result", result=finished_result(machine), clock=Clock())
    async with app.run_test(size=(80, 24)) as pilot:
        await at_step(pilot, "result")
        await shows(pilot, "set it up")
        await pilot.press("u")
        await shows(pilot, NEW.model)
        await pilot.press("enter")  # which means the disk that is highlighted
        await shows(pilot, "To confirm, type its")
        app.screen.query_one("#serial", Input).value = SERIAL
        await pilot.press("enter")
        await shows(pilot, "Taken back: /etc/fstab is as it was.")
        assert "✗ making the filesystem" in screen_text(app)
        await pilot.press("escape")
        await until(pilot, lambda: bool(app.screen.query("#fields")), "the form")
