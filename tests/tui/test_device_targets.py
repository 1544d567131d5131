"""A partition or a whole disk as target: what is offered, what is refused, and what has to be typed."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import replace
from typing import Any

import pytest
from textual.pilot import Pilot

from fswizard import drives
from fswizard.disks import choice, rights
from fswizard.disks.rights import missing
from fswizard.tui.app import FswizardApp
from fswizard.tui.targets import DEVICE, IMAGE
from tests.fakes.desktop import mounted, twin
from tests.fakes.wizard import ARCHIVE, NEW, OLD, SSD, FakeMachine, app
from tests.tui.driving import (
    at,
    at_step,
    box,
    click_key,
    footer,
    held,
    rows,
    screen_text,
    settled,
    shows,
    until,
    wizard,
)

PARTITION = OLD.partitions[0].stable_name
ON_ITSELF, ON_PART = DEVICE + NEW.stable_name, DEVICE + PARTITION
"""Keys of the new disk and of the partition among the targets."""
ON_NEW: dict[str, Any] = {"drive": NEW, "devices": (NEW.stable_name,)}
"""Before a run on the new disk."""


def on_new_disk(**more: Any) -> AbstractAsyncContextManager[Pilot[Any]]:
    """The wizard at the choice of a disk, with the new one highlighted."""
    return at("drive", FakeMachine(drives=(NEW, SSD)), drive=NEW, **more)


async def typed(pilot: Pilot[Any], words: str) -> None:
    """Type into the box for the serial number, and wait until it stands there."""
    serial = box(pilot, "#serial")
    await until(pilot, lambda: serial.has_focus, "the box for the serial number")
    await pilot.press(*words)
    await until(pilot, lambda: serial.value == words, "what was typed")


async def measures(pilot: Pilot[Any], machine: FakeMachine) -> None:
    """Wait until the run has begun, and end it."""
    await until(pilot, lambda: bool(machine.sessions), "the run")
    wizard(pilot).leave_now()
    await until(pilot, lambda: machine.sessions[0].left, "clean-up")


def target(pilot: Pilot[Any]) -> str:
    """Key of what Enter takes; it is the highlighted row."""
    taken = pilot.app.screen._target.key
    return taken if taken == rows(pilot, "#targets").key else "another row is highlighted"


async def proposed(pilot: Pilot[Any], key: str) -> None:
    await until(pilot, lambda: target(pilot) == key, f"{key} to be highlighted")


async def to_the_targets(pilot: Pilot[Any], key: str) -> None:
    """The list of targets with one of them highlighted."""
    await at_step(pilot, "drive")
    targets = rows(pilot, "#targets")
    await until(pilot, lambda: key in targets.keys, f"the target {key}")
    targets.focus()
    await until(pilot, lambda: targets.has_focus, "the targets to have the focus")
    targets.highlight(key)
    await proposed(pilot, key)


async def test_a_new_disk_is_measured_on_itself_by_enter_alone_after_its_serial_number_was_typed() -> None:
    machine = FakeMachine(drives=(NEW, SSD), event_s=0.01)
    async with at("purpose", machine) as pilot:
        await at_step(pilot, "drive", "enter")
        await proposed(pilot, ON_ITSELF)
        await shows(pilot, "Nothing was found on sde: nothing is lost. It is formatted for the test")
        for step in ("filesystems", "workloads", "review"):
            await at_step(pilot, step, "enter")
        await shows(pilot, "nothing was found on it")
        await shows(pilot, "the device itself")
        await typed(pilot, NEW.serial)
        await at_step(pilot, "run", "enter")
        found = machine.started[0].target
        assert (found.kind, found.path, found.identifier) == ("device", NEW.stable_name, NEW.serial)
        await measures(pilot, machine)


async def test_enter_takes_nothing_until_it_is_known_whether_a_disk_is_empty(monkeypatch: pytest.MonkeyPatch) -> None:
    let_go = held(monkeypatch, choice, "offers")
    async with app("drive", FakeMachine(drives=(NEW, SSD)), drive=NEW).run_test() as pilot:
        await shows(pilot, "There is no mounted filesystem", "enter")
        await at_step(pilot, "drive")
        let_go.set()
        await proposed(pilot, ON_ITSELF)
        await at_step(pilot, "drive")
        await at_step(pilot, "filesystems", "enter")
        assert wizard(pilot).choices.devices == (NEW.stable_name,)


async def test_enter_alone_never_erases_anything() -> None:
    machine = FakeMachine(drives=(NEW, SSD))
    async with at("review", machine, **ON_NEW) as pilot:
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
        await at_step(pilot, "workloads", "escape")
        assert wizard(pilot).choices.devices == (NEW.stable_name,)
    assert not machine.sessions


async def test_a_wrong_serial_number_is_refused_and_can_be_mended_also_on_a_low_terminal() -> None:
    machine = FakeMachine(drives=(NEW, SSD))
    async with at("review", machine, size=(60, 15), **ON_NEW) as pilot:
        await shows(pilot, f"type its serial number {NEW.serial}")
        for wrong in (NEW.serial.lower(), NEW.serial[:-1], NEW.serial + "0", SSD.serial, NEW.model):
            box(pilot, "#serial").value = wrong
            await shows(pilot, f"✗ '{wrong}' is not the serial number", "enter")
            assert NEW.serial in screen_text(pilot.app)
            await at_step(pilot, "review")
        assert not machine.sessions
        box(pilot, "#serial").value = NEW.serial
        await pilot.press("enter")
        await measures(pilot, machine)


async def test_a_disk_whose_serial_number_another_has_is_confirmed_by_its_lasting_name() -> None:
    machine, name = FakeMachine(drives=(NEW, SSD), event_s=0.01), NEW.stable_name.rpartition("/")[2]
    with twin("sde"):
        async with at("review", machine, size=(160, 36), **ON_NEW) as pilot:
            await shows(pilot, f"type its name in /dev/disk/by-id {name} and press")
            await typed(pilot, NEW.serial)
            await shows(pilot, f"✗ '{NEW.serial}' is not the name in /dev/disk/by-id of sde (", "enter")
            assert not machine.sessions
            box(pilot, "#serial").value = name
            await pilot.press("enter")
            await measures(pilot, machine)
            assert machine.started[0].target.identifier == name


async def test_what_would_be_lost_stands_on_the_way_and_on_the_review() -> None:
    async with at("drive", FakeMachine(drives=(OLD, SSD)), drive=OLD) as pilot:
        await to_the_targets(pilot, ON_PART)
        await shows(pilot, '⚠ You would lose: sdf1: ext4 "photos", 4.00 TB')
        for step in ("filesystems", "workloads", "review"):
            await at_step(pilot, step, "enter")
            assert wizard(pilot).choices.devices == (PARTITION,)
        await shows(pilot, "it is erased")
        await shows(pilot, 'You lose  sdf1: ext4 "photos", 4.00 TB')
        assert "none of your disks or partitions is formatted" not in screen_text(pilot.app)
        assert "⏎ erase and start" in footer(pilot.app)


async def test_where_something_is_on_a_disk_the_image_is_proposed_and_what_is_in_use_is_not_taken() -> None:
    async with at("drive", FakeMachine(drives=(OLD, ARCHIVE)), drive=OLD) as pilot:
        assert target(pilot) == IMAGE
        rows(pilot, "#drives").highlight("sdb")
        await to_the_targets(pilot, DEVICE + "/dev/sdb1")
        await shows(pilot, "✗ sdb1 is mounted on /mnt/archive. Unmount it first: umount /mnt/archive")
        await pilot.press("enter")
        await pilot.pause()
        await at_step(pilot, "drive")
        assert wizard(pilot).choices.devices == ()


async def test_enter_right_after_another_disk_is_highlighted_never_takes_a_device_of_the_one_before() -> None:
    async with on_new_disk() as pilot:
        await proposed(pilot, ON_ITSELF)
        rows(pilot, "#drives").highlight(SSD.name)
        pilot.app.screen.action_forward()
        await at_step(pilot, "filesystems")
        choices = wizard(pilot).choices
        assert (choices.drive.name, choices.devices) == (SSD.name, ())


async def test_the_highlight_stays_where_it_was_moved_when_a_late_answer_comes_at_once() -> None:
    async with on_new_disk() as pilot:
        assert target(pilot) == ON_ITSELF
        rows(pilot, "#targets").highlight(IMAGE)
        pilot.app.screen._refill()
        pilot.app.screen.action_forward()
        await at_step(pilot, "drive")
        assert target(pilot) == IMAGE


async def test_a_disk_that_is_mounted_meanwhile_is_refused_and_nothing_takes_its_place() -> None:
    machine = FakeMachine(drives=(OLD, SSD))
    async with at("drive", machine, drive=OLD, devices=(PARTITION,)) as pilot:
        await proposed(pilot, ON_PART)
        await shows(pilot, "You would lose")
        with mounted("sdf1", "/mnt/photos"):
            part = replace(OLD.partitions[0], mount_point="/mnt/photos")
            machine.attach(replace(OLD, partitions=(part,)), SSD)
            await shows(pilot, "sdf1 is mounted on /mnt/photos.")
            await pilot.press("enter")
            await pilot.pause()
            await at_step(pilot, "drive")
            assert target(pilot) == ON_PART


async def test_a_disk_that_goes_away_is_never_replaced_by_a_scratch_image_unasked() -> None:
    async with on_new_disk() as pilot:
        await proposed(pilot, ON_ITSELF)
        wizard(pilot).machine.disks["sde"].offers = ()
        pilot.app.screen._refill()
        await shows(pilot, "can't be used any more")
        await pilot.press("enter")
        await pilot.pause()
        await at_step(pilot, "drive")
        assert wizard(pilot).choices.devices == ()


async def test_another_disk_that_is_highlighted_as_one_is_unplugged_is_not_taken_before_that_was_seen() -> None:
    machine = FakeMachine(drives=(SSD, NEW, OLD))
    async with at("drive", machine, drive=NEW) as pilot:
        await proposed(pilot, ON_ITSELF)
        machine.attach(SSD, OLD)
        await shows(pilot, "! sde is not attached any more.")
        await settled(pilot)
        await at_step(pilot, "drive", "enter")
        await shows(pilot, "A scratch image in ")
        machine.attach()
        await shows(pilot, "No disks found.")
        assert rows(pilot, "#targets").keys == []
        await at_step(pilot, "drive", "enter")
        machine.attach(OLD, SSD)
        await until(pilot, lambda: rows(pilot, "#drives").keys == ["sdf", "nvme0n1"], "both disks")
        rows(pilot, "#drives").highlight("nvme0n1")
        await shows(pilot, "A scratch image in ")
        await at_step(pilot, "filesystems", "enter")
        assert wizard(pilot).choices.drive.name == "nvme0n1"


async def test_an_answer_about_an_unplugged_disk_is_not_taken_for_another_of_its_name(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(drives, "details", lambda drive: replace(drive, model=f"{drive.model}, asked"))
    let_go, machine = held(monkeypatch, drives, "details"), FakeMachine(drives=(NEW,))
    async with app("drive", machine, drive=NEW).run_test() as pilot:
        await until(pilot, lambda: rows(pilot, "#drives").keys == ["sde"], "the disk")
        machine.attach()
        machine.attach(replace(OLD, name="sde", model="Another"))
        let_go.set()
        await settled(pilot)
        assert [drive.model for drive in machine.drives] == ["Another, asked"]


async def test_a_wrong_password_leads_back_to_the_review(monkeypatch: pytest.MonkeyPatch) -> None:
    machine = FakeMachine(drives=(NEW, SSD), event_s=0.01)
    monkeypatch.setattr(rights, "state", lambda: "sudo-asks")
    answers = iter([missing("sudo-asks"), None])

    def authorise() -> None:
        if (refused := next(answers)) is not None:
            raise refused

    monkeypatch.setattr(rights, "authorise", authorise)
    monkeypatch.setattr(FswizardApp, "suspend", nullcontext)
    async with at("review", machine, **ON_NEW) as pilot:
        await typed(pilot, NEW.serial)
        await shows(pilot, "✗ This needs root", "enter")
        await at_step(pilot, "review")
        assert not machine.sessions
        await pilot.press("enter")
        await measures(pilot, machine)
