"""A partition or a whole disk as target: what is offered, what is refused, and what has to be typed."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from fswizard.disks.rights import missing
from fswizard.tui.app import FswizardApp
from fswizard.tui.drives import DEVICE
from fswizard.tui.widgets.choice_list import ChoiceList
from tests.fakes.desktop import mounted, twin
from tests.fakes.wizard import ARCHIVE, NEW, OLD, SSD, FakeMachine, app
from tests.tui.driving import at_step, click_key, footer, keys_of, screen_text, shows, until, wizard

SIZE = (100, 32)
WIDE = (160, 36)
PARTITION = OLD.partitions[0].stable_name


def at_review(machine: FakeMachine, **changes: Any) -> FswizardApp:
    """The wizard before a run on the new disk."""
    return app("review", machine, **{"drive": NEW, "device": NEW.stable_name, **changes})


async def typed(pilot: Pilot[Any], words: str) -> None:
    """Type into the box for the serial number, and wait until it stands there."""
    box = pilot.app.screen.query_one("#serial", Input)
    await until(pilot, lambda: box.has_focus, "the box for the serial number")
    await pilot.press(*words)
    await until(pilot, lambda: box.value == words, "what was typed")


async def measures(pilot: Pilot[Any], machine: FakeMachine) -> None:
    """Wait until the run has begun, and end it."""
    await until(pilot, lambda: bool(machine.sessions), "the run")
    wizard(pilot).leave_now()
    await until(pilot, lambda: machine.sessions[0].left, "clean-up")


async def to_the_targets(pilot: Pilot[Any], key: str) -> ChoiceList:
    """The list of targets with one of them highlighted."""
    await at_step(pilot, "drive")
    await until(pilot, lambda: key in keys_of(pilot.app, "#targets"), f"the target {key}")
    rows = pilot.app.screen.query_one("#targets", ChoiceList)
    rows.focus()
    await until(pilot, lambda: rows.has_focus, "the targets to have the focus")
    rows.highlight(key)
    await until(pilot, lambda: rows.key == key, f"{key} to be highlighted")
    return rows


async def test_a_new_disk_is_measured_on_itself_by_keyboard_alone_after_its_serial_number_was_typed() -> None:
    machine = FakeMachine(drives=(NEW, SSD), event_s=0.01)
    async with app(machine=machine).run_test(size=SIZE) as pilot:
        await at_step(pilot, "purpose")
        await pilot.press("enter")
        await at_step(pilot, "drive")
        await shows(pilot, "Nothing was found on sde.")
        await pilot.press("tab")
        rows = pilot.app.screen.query_one("#targets", ChoiceList)
        await until(pilot, lambda: rows.has_focus, "the targets")
        await pilot.press("end")
        await shows(pilot, "nothing is lost. It is formatted for the test")
        await pilot.press("enter")
        for step in ("filesystems", "workloads"):
            await at_step(pilot, step)
            await pilot.press("enter")
        await at_step(pilot, "review")
        await shows(pilot, "nothing was found on it")
        await shows(pilot, "Where      the device")
        await typed(pilot, NEW.serial)
        await pilot.press("enter")
        await at_step(pilot, "run")
        (plan,) = machine.started
        assert plan.target.kind == "device"
        assert plan.target.path == NEW.stable_name
        assert plan.target.identifier == NEW.serial
        await measures(pilot, machine)


async def test_enter_alone_never_erases_anything() -> None:
    machine = FakeMachine(drives=(NEW, SSD))
    async with at_review(machine).run_test(size=SIZE) as pilot:
        await at_step(pilot, "review")
        await shows(pilot, "type its serial number")
        for key in ("enter", "enter", "space", "enter"):
            await pilot.press(key)
            await pilot.pause()
        await shows(pilot, "type its serial number")
        pilot.app.screen.set_focus(None)
        await pilot.press("enter")
        await click_key(pilot, "⏎")
        await pilot.pause()
        await at_step(pilot, "review")
        await pilot.press("escape")
        await at_step(pilot, "workloads")
        assert wizard(pilot).choices.device == NEW.stable_name
    assert not machine.sessions


async def test_a_wrong_serial_number_is_refused_and_can_be_mended() -> None:
    machine = FakeMachine(drives=(NEW, SSD))
    async with at_review(machine).run_test(size=SIZE) as pilot:
        await shows(pilot, "type its serial number")
        for wrong in (NEW.serial.lower(), NEW.serial[:-1], NEW.serial + "0", SSD.serial, NEW.model):
            pilot.app.screen.query_one("#serial", Input).value = wrong
            await pilot.press("enter")
            await shows(pilot, f"✗ '{wrong}' is not the serial number of sde. Look again")
            assert NEW.serial in screen_text(pilot.app)
            await at_step(pilot, "review")
        assert not machine.sessions
        pilot.app.screen.query_one("#serial", Input).value = NEW.serial
        await pilot.press("enter")
        await measures(pilot, machine)


async def test_a_disk_whose_serial_number_another_has_is_confirmed_by_its_lasting_name() -> None:
    machine, name = FakeMachine(drives=(NEW, SSD), event_s=0.01), NEW.stable_name.rpartition("/")[2]
    with twin("sde"):
        async with at_review(machine).run_test(size=WIDE) as pilot:
            await shows(pilot, f"type its name in /dev/disk/by-id {name} and press")
            await typed(pilot, NEW.serial)
            await pilot.press("enter")
            await shows(pilot, f"✗ '{NEW.serial}' is not the name in /dev/disk/by-id of sde. Look again")
            assert not machine.sessions
            pilot.app.screen.query_one("#serial", Input).value = name
            await pilot.press("enter")
            await measures(pilot, machine)
            assert machine.started[0].target.identifier == name


async def test_what_would_be_lost_stands_on_the_way_and_on_the_review() -> None:
    machine = FakeMachine(drives=(OLD, SSD))
    async with app("drive", machine, drive=OLD).run_test(size=SIZE) as pilot:
        await to_the_targets(pilot, DEVICE + PARTITION)
        await shows(pilot, '⚠ You would lose: sdf1: ext4 "photos", 4.00 TB')
        await pilot.press("space")
        await until(pilot, lambda: wizard(pilot).choices.device == PARTITION, "the partition")
        await pilot.press("enter")
        for step in ("filesystems", "workloads"):
            await at_step(pilot, step)
            await pilot.press("enter")
        await at_step(pilot, "review")
        await shows(pilot, "it is erased")
        await shows(pilot, 'You lose   sdf1: ext4 "photos", 4.00 TB')
        assert "none of your disks or partitions is formatted" not in screen_text(pilot.app)
        assert "⏎ erase and start" in footer(pilot.app)


async def test_the_scratch_image_is_the_default_and_can_be_returned_to_but_a_disk_in_use_is_not_taken() -> None:
    machine = FakeMachine(drives=(NEW, ARCHIVE))
    async with app("drive", machine, drive=NEW).run_test(size=SIZE) as pilot:
        await shows(pilot, "(•) a scratch image")
        rows = await to_the_targets(pilot, DEVICE + NEW.stable_name)
        assert "(•) a scratch image" in screen_text(pilot.app), "highlighting chooses nothing"
        await pilot.press("space")
        await shows(pilot, "(•) the whole disk sde")
        rows.highlight("default")
        await pilot.press("space")
        await shows(pilot, "(•) a scratch image")
        assert wizard(pilot).choices.device == ""
        pilot.app.screen.query_one("#drives", ChoiceList).highlight("sdb")
        await to_the_targets(pilot, DEVICE + "/dev/sdb1")
        await shows(pilot, "✗ sdb1 is mounted on /mnt/archive. Unmount it first: umount /mnt/archive")
        for key in ("space", "enter"):
            await pilot.press(key)
            await pilot.pause()
            assert wizard(pilot).choices.device == ""
            await at_step(pilot, "drive")


async def test_a_device_is_chosen_with_the_mouse_and_another_disk_does_not_inherit_the_choice() -> None:
    machine = FakeMachine(drives=(NEW, SSD))
    async with app("drive", machine, drive=NEW).run_test(size=SIZE) as pilot:
        await shows(pilot, "the whole disk sde")
        rows = screen_text(pilot.app).splitlines()
        line = next(number for number, row in enumerate(rows) if "the whole disk sde" in row)
        await pilot.click(offset=(rows[line].index("the whole"), line))
        await until(pilot, lambda: wizard(pilot).choices.device == NEW.stable_name, "the disk")
        await shows(pilot, "(•) the whole disk sde")
        pilot.app.screen.query_one("#drives", ChoiceList).focus()
        await pilot.press("down")
        await shows(pilot, "(•) a scratch image")
        await click_key(pilot, "⏎")
        await at_step(pilot, "filesystems")
        assert wizard(pilot).choices.device == ""


async def test_a_disk_that_is_mounted_meanwhile_is_not_the_target_any_more() -> None:
    machine = FakeMachine(drives=(OLD, SSD))
    async with app("drive", machine, drive=OLD, device=PARTITION).run_test(size=SIZE) as pilot:
        await shows(pilot, "(•) the partition sdf1")
        with mounted("sdf1", "/mnt/photos"):
            part = replace(OLD.partitions[0], mount_point="/mnt/photos")
            machine.drives = (replace(OLD, partitions=(part,)), SSD)
            await shows(pilot, "sdf1 is mounted on /mnt/photos.")
            await shows(pilot, "(•) a scratch image")


async def test_a_wrong_password_leads_back_to_the_review(monkeypatch: pytest.MonkeyPatch) -> None:
    machine = FakeMachine(drives=(NEW, SSD), rights="sudo-asks", event_s=0.01)
    answers = iter([missing("sudo-asks"), None])

    def authorise() -> None:
        if (refused := next(answers)) is not None:
            raise refused

    monkeypatch.setattr(machine, "authorise", authorise)
    monkeypatch.setattr(FswizardApp, "suspend", nullcontext)
    async with at_review(machine).run_test(size=SIZE) as pilot:
        await shows(pilot, "type its serial number")
        await typed(pilot, NEW.serial)
        await pilot.press("enter")
        await shows(pilot, "✗ sudo refused: the password was wrong")
        await at_step(pilot, "review")
        assert not machine.sessions
        await pilot.press("enter")
        await measures(pilot, machine)
