"""Every way back, and every key that is shown: nothing traps, and nothing that will be refused can be passed."""

from __future__ import annotations

import pytest
from textual import events

from fswizard.disks.locations import Location
from tests.fakes.wizard import ARCHIVE, BRIDGED, NEW, SSD, FakeMachine
from tests.tui.driving import at, at_step, box, footer, held, rows, settled, shows, until, wizard


async def test_escape_leads_from_a_result_back_to_its_plan_and_enter_measures_again() -> None:
    machine = FakeMachine()
    async with at("review", machine) as pilot:
        assert "result" not in footer(pilot.app)
        for runs in (1, 2):
            await shows(pilot, "starts the run")
            await at_step(pilot, "result", "enter")
            await settled(pilot)
            assert len(machine.sessions) == runs
            await at_step(pilot, "run", "escape")
            await shows(pilot, "The run has ended")
            await at_step(pilot, "result", "enter")
            await at_step(pilot, "review", "escape", "escape")
            await at_step(pilot, "result", "f5")
            wizard(pilot).visit("review")


async def test_after_a_run_on_a_disk_a_new_one_asks_for_its_serial_number_again() -> None:
    machine = FakeMachine(drives=(NEW, SSD))
    async with at("review", machine, drive=NEW, devices=(NEW.stable_name,)) as pilot:
        serial = box(pilot, "#serial")
        await until(pilot, lambda: serial.has_focus, "the question")
        serial.value = NEW.serial
        await at_step(pilot, "result", "enter")
        await settled(pilot)
        wizard(pilot).visit("review")
        await until(pilot, lambda: footer(pilot.app).startswith("⏎ erase and start"), "the question")
        await pilot.press("enter", "enter")
        await settled(pilot)
        assert len(machine.sessions) == 1
        await at_step(pilot, "review")


async def test_a_directory_is_named_and_what_was_wrong_with_it_goes_with_the_box() -> None:
    async with at("drive", FakeMachine(drives=()), drive=None) as pilot:
        await shows(pilot, "No disks found")
        await shows(pilot, "✗ /nowhere is not a directory", "d", *"/nowhere", "enter")
        directory = box(pilot, "#directory")
        await pilot.press("escape")
        await until(pilot, lambda: not directory.display, "the box to go")
        assert "nowhere" not in str(pilot.app.screen.query_one("#remark").render())
        await pilot.press("d")
        directory.value = "/mnt/archive"
        await shows(pilot, "A scratch image in /mnt/archive", "enter")
        await at_step(pilot, "filesystems", "enter")
        await shows(pilot, "/mnt/archive")


async def test_a_directory_on_another_disk_leads_to_that_disk() -> None:
    async with at("drive", FakeMachine(drives=(BRIDGED, SSD)), drive=BRIDGED) as pilot:
        await shows(pilot, "✗ There is no mounted filesystem on sdc", "enter")
        await shows(pilot, "A scratch image in /home/ada", "d", *"/home/ada", "enter")
        assert rows(pilot, "#drives").key == "nvme0n1"
        await at_step(pilot, "filesystems", "enter")
        choices = wizard(pilot).choices
        assert (choices.drive.name, choices.directory) == ("nvme0n1", "/home/ada")
        await at_step(pilot, "drive", "escape")
        await shows(pilot, "A scratch image in /home/ada")


async def test_an_image_of_which_the_disk_is_unknown_is_told_in_amber() -> None:
    async with at("drive", FakeMachine(drives=(SSD, ARCHIVE)), drive=ARCHIVE) as pilot:
        wizard(pilot).machine.disks["sdb"].location = Location("/mnt/archive", "", 1 << 40)
        pilot.app.screen._refill()
        await shows(pilot, "! /mnt/archive is not on sdb, or not on it alone.")
        await at_step(pilot, "filesystems", "enter")
        choices = wizard(pilot).choices
        assert (choices.drive, choices.directory) == (None, "/mnt/archive")
        await shows(pilot, "/mnt/archive")


async def test_without_root_nothing_is_chosen_that_needs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fswizard.disks.rights.state", lambda: "none")
    async with at("drive") as pilot:
        await shows(pilot, "neither sudo nor doas is installed", "enter")
        await at_step(pilot, "drive")


async def test_a_run_that_was_started_is_shown_although_escape_came_before_it_began(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    machine, let_go = FakeMachine(event_s=0.01), held(monkeypatch, FakeMachine, "start")
    async with at("review", machine) as pilot:
        await pilot.press("enter")
        await at_step(pilot, "workloads", "escape")
        let_go.set()
        await at_step(pilot, "run")
        wizard(pilot).leave_now()
        await until(pilot, lambda: machine.sessions[0].left, "clean-up")


@pytest.mark.parametrize("step", ["purpose", "drive"])
async def test_enter_takes_what_the_keys_typed_before_it_chose(step: str) -> None:
    async with at(step) as pilot:
        listed = rows(pilot, "#purposes" if step == "purpose" else "#drives")
        listed.highlight(listed.keys[0])
        await pilot.pause()
        for key in ("down", "enter"):  # at once, as a slow connection delivers them
            pilot.app.post_message(events.Key(key, None))
        await at_step(pilot, "drive" if step == "purpose" else "filesystems")
        choices = wizard(pilot).choices
        assert listed.keys[1] == (choices.purpose if step == "purpose" else choices.drive.name)


async def test_a_window_without_help_opens_the_menu_instead_and_interrupting_there_quits() -> None:
    async with at("purpose") as pilot:
        await pilot.press("h")
        await shows(pilot, "Earlier results")
        await pilot.press("question_mark")
        await shows(pilot, "Colours of the wizard")
        await pilot.press("escape", "ctrl+c")
        await until(pilot, lambda: pilot.app._exit, "the end")
