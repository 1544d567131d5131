"""A partition or a whole disk as target: what is offered, what is refused, and what has to be typed."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import replace
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import Input, Static

from fswizard import drives
from fswizard.disks import choice, rights
from fswizard.disks.choice import Offer
from fswizard.disks.rights import missing
from fswizard.model.drive import Drive
from fswizard.tui.app import FswizardApp
from fswizard.tui.drives import DEVICE
from fswizard.tui.machine import DiskFacts, MachineCache
from fswizard.tui.screens.drive import DriveScreen
from fswizard.tui.widgets.table import Table
from tests.fakes.desktop import mounted, twin
from tests.fakes.wizard import ARCHIVE, NEW, OLD, SSD, FakeMachine, app
from tests.tui.driving import at_step, click_key, footer, screen_text, settled, shows, until, wizard

SIZE = (100, 32)
WIDE = (160, 36)
PARTITION = OLD.partitions[0].stable_name


def at_review(machine: FakeMachine, **changes: Any) -> FswizardApp:
    """The wizard before a run on the new disk."""
    return app("review", machine, **{"drive": NEW, "devices": (NEW.stable_name,), **changes})


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


def drives_of(pilot: Pilot[Any]) -> Table:
    return pilot.app.screen.query_one("#drives", Table)


def targets_of(pilot: Pilot[Any]) -> Table:
    return pilot.app.screen.query_one("#targets", Table)


def facts_of(pilot: Pilot[Any], name: str) -> DiskFacts:
    return (wizard(pilot).machine.disks or {}).get(name) or DiskFacts(NEW)


def target(pilot: Pilot[Any]) -> str:
    """Key of what Enter takes; it is the highlighted row."""
    screen = pilot.app.screen
    assert isinstance(screen, DriveScreen)
    return screen._target.key if screen._target.key == targets_of(pilot).key else "another row is highlighted"


async def to_the_targets(pilot: Pilot[Any], key: str) -> None:
    """The list of targets with one of them highlighted."""
    await at_step(pilot, "drive")
    await until(pilot, lambda: key in targets_of(pilot).keys, f"the target {key}")
    targets_of(pilot).focus()
    await until(pilot, lambda: targets_of(pilot).has_focus, "the targets to have the focus")
    targets_of(pilot).highlight(key)
    await until(pilot, lambda: target(pilot) == key, f"{key} to be highlighted")


async def test_a_new_disk_is_measured_on_itself_by_enter_alone_after_its_serial_number_was_typed() -> None:
    machine = FakeMachine(drives=(NEW, SSD), event_s=0.01)
    async with app(machine=machine).run_test(size=SIZE) as pilot:
        await at_step(pilot, "purpose")
        await pilot.press("enter")
        await at_step(pilot, "drive")
        await until(pilot, lambda: target(pilot) == DEVICE + NEW.stable_name, "the disk itself to be proposed")
        await shows(pilot, "Nothing was found on sde: nothing is lost. It is formatted for the test")
        await pilot.press("enter")
        for step in ("filesystems", "workloads"):
            await at_step(pilot, step)
            await pilot.press("enter")
        await at_step(pilot, "review")
        await shows(pilot, "nothing was found on it")
        await shows(pilot, "the device itself")
        await typed(pilot, NEW.serial)
        await pilot.press("enter")
        await at_step(pilot, "run")
        (plan,) = machine.started
        assert plan.target.kind == "device"
        assert plan.target.path == NEW.stable_name
        assert plan.target.identifier == NEW.serial
        await measures(pilot, machine)


async def test_enter_takes_nothing_until_it_is_known_whether_a_disk_is_empty(monkeypatch: pytest.MonkeyPatch) -> None:
    let_go, found = threading.Event(), choice.offers

    def offers(drive: Drive, least_bytes: int) -> tuple[Offer, ...]:
        let_go.wait(600)
        return found(drive, least_bytes)

    monkeypatch.setattr(choice, "offers", offers)
    machine = FakeMachine(drives=(NEW, SSD))
    async with app("drive", machine, drive=NEW).run_test(size=SIZE) as pilot:
        await until(pilot, lambda: facts_of(pilot, NEW.name).location is not None, "where an image would go")
        await pilot.press("enter")
        await shows(pilot, "Looking for free space")
        let_go.set()
        await until(pilot, lambda: target(pilot) == DEVICE + NEW.stable_name, "the disk itself to be proposed")
        await at_step(pilot, "drive")
        await pilot.press("enter")
        await at_step(pilot, "filesystems")
        assert wizard(pilot).choices.devices == (NEW.stable_name,)


async def test_on_another_disk_than_the_highlighted_one_enter_measures_only_after_an_amber_line() -> None:
    async with app("drive", FakeMachine(drives=(NEW, SSD)), drive=NEW).run_test(size=(60, 15)) as pilot:
        await settled(pilot)
        await to_the_targets(pilot, "default")
        remark = pilot.app.screen.query_one("#remark", Static)
        assert remark.display
        assert str(remark.render()).startswith("! ")
        await pilot.press("enter")
        await at_step(pilot, "filesystems")
        assert wizard(pilot).choices.elsewhere == "sdb"
        wizard(pilot).visit("drive")
        await at_step(pilot, "drive")
        await until(pilot, lambda: target(pilot) == "default", "the same choice as before")


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
        assert wizard(pilot).choices.devices == (NEW.stable_name,)
    assert not machine.sessions


async def test_a_wrong_serial_number_is_refused_and_can_be_mended() -> None:
    machine = FakeMachine(drives=(NEW, SSD))
    async with at_review(machine).run_test(size=SIZE) as pilot:
        await shows(pilot, "type its serial number")
        for wrong in (NEW.serial.lower(), NEW.serial[:-1], NEW.serial + "0", SSD.serial, NEW.model):
            pilot.app.screen.query_one("#serial", Input).value = wrong
            await pilot.press("enter")
            await shows(pilot, f"✗ '{wrong}' is not the serial number of sde (")
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
            await shows(pilot, f"✗ '{NEW.serial}' is not the name in /dev/disk/by-id of sde (")
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
        await pilot.press("enter")
        for step in ("filesystems", "workloads"):
            await at_step(pilot, step)
            assert wizard(pilot).choices.devices == (PARTITION,)
            await pilot.press("enter")
        await at_step(pilot, "review")
        await shows(pilot, "it is erased")
        await shows(pilot, 'You lose  sdf1: ext4 "photos", 4.00 TB')
        assert "none of your disks or partitions is formatted" not in screen_text(pilot.app)
        assert "⏎ erase and start" in footer(pilot.app)


async def test_where_something_is_on_a_disk_the_image_is_proposed_and_what_is_in_use_is_not_taken() -> None:
    machine = FakeMachine(drives=(OLD, ARCHIVE))
    async with app("drive", machine, drive=OLD).run_test(size=SIZE) as pilot:
        await settled(pilot)
        assert target(pilot) == "default"
        drives_of(pilot).highlight("sdb")
        await to_the_targets(pilot, DEVICE + "/dev/sdb1")
        await shows(pilot, "✗ sdb1 is mounted on /mnt/archive. Unmount it first: umount /mnt/archive")
        await pilot.press("enter")
        await pilot.pause()
        await at_step(pilot, "drive")
        assert wizard(pilot).choices.devices == ()


async def test_enter_right_after_another_disk_is_highlighted_never_takes_a_device_of_the_one_before() -> None:
    async with app("drive", FakeMachine(drives=(NEW, SSD)), drive=NEW).run_test(size=SIZE) as pilot:
        await until(pilot, lambda: target(pilot) == DEVICE + NEW.stable_name, "the disk itself to be proposed")
        screen = pilot.app.screen
        assert isinstance(screen, DriveScreen)
        drives_of(pilot).highlight(SSD.name)
        screen.action_forward()
        await at_step(pilot, "filesystems")
        choices = wizard(pilot).choices
        assert choices.drive is not None
        assert (choices.drive.name, choices.devices) == (SSD.name, ())


async def test_the_highlight_stays_where_it_was_moved_when_a_late_answer_comes_at_once() -> None:
    async with app("drive", FakeMachine(drives=(NEW, SSD)), drive=NEW).run_test(size=SIZE) as pilot:
        await settled(pilot)
        screen = pilot.app.screen
        assert isinstance(screen, DriveScreen)
        assert target(pilot) == DEVICE + NEW.stable_name
        targets_of(pilot).highlight("default")
        screen._refill()
        screen.action_forward()
        await at_step(pilot, "filesystems")
        assert wizard(pilot).choices.devices == ()


async def test_a_disk_that_is_mounted_meanwhile_is_refused_and_nothing_takes_its_place() -> None:
    machine = FakeMachine(drives=(OLD, SSD))
    async with app("drive", machine, drive=OLD, devices=(PARTITION,)).run_test(size=SIZE) as pilot:
        await until(pilot, lambda: target(pilot) == DEVICE + PARTITION, "the partition")
        await shows(pilot, "You would lose")
        with mounted("sdf1", "/mnt/photos"):
            part = replace(OLD.partitions[0], mount_point="/mnt/photos")
            machine.attach(replace(OLD, partitions=(part,)), SSD)
            await shows(pilot, "sdf1 is mounted on /mnt/photos.")
            await pilot.press("enter")
            await pilot.pause()
            await at_step(pilot, "drive")
            assert target(pilot) == DEVICE + PARTITION


async def test_a_disk_that_goes_away_is_never_replaced_by_a_scratch_image_unasked() -> None:
    async with app("drive", FakeMachine(drives=(NEW, SSD)), drive=NEW).run_test(size=SIZE) as pilot:
        await until(pilot, lambda: target(pilot) == DEVICE + NEW.stable_name, "the disk itself to be proposed")
        await settled(pilot)
        facts_of(pilot, "sde").offers = ()
        screen = pilot.app.screen
        assert isinstance(screen, DriveScreen)
        screen._refill()
        await shows(pilot, "can't be used any more")
        await pilot.press("enter")
        await pilot.pause()
        await at_step(pilot, "drive")
        await to_the_targets(pilot, "default")
        await pilot.press("enter")
        await at_step(pilot, "filesystems")


async def test_another_disk_that_is_highlighted_as_one_is_unplugged_is_not_taken_before_that_was_seen() -> None:
    machine = FakeMachine(drives=(SSD, NEW, OLD))
    async with app("drive", machine, drive=NEW).run_test(size=SIZE) as pilot:
        await until(pilot, lambda: target(pilot) == DEVICE + NEW.stable_name, "the disk itself to be proposed")
        machine.attach(SSD, OLD)
        await shows(pilot, "! sde is not attached any more.")
        await settled(pilot)
        await pilot.press("enter")
        await at_step(pilot, "drive")
        await shows(pilot, "A scratch image in ")
        machine.attach()
        await shows(pilot, "No disks found.")
        assert targets_of(pilot).keys == []
        await pilot.press("enter")
        await at_step(pilot, "drive")
        machine.attach(OLD, SSD)
        await until(pilot, lambda: drives_of(pilot).keys == ["sdf", "nvme0n1"], "both disks")
        drives_of(pilot).highlight("nvme0n1")
        await shows(pilot, "A scratch image in ")
        await pilot.press("enter")
        await at_step(pilot, "filesystems")
        assert wizard(pilot).choices.drive.name == "nvme0n1"


def test_an_answer_about_an_unplugged_disk_is_not_taken_for_another_of_its_name(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    other, asked, let_go = replace(OLD, name=NEW.name, model="Another"), threading.Event(), threading.Event()

    def watch(stopped: Callable[[], bool]) -> Iterator[tuple[Drive, ...]]:
        yield (NEW,)
        asked.wait(60)
        yield ()
        yield (other,)

    def details(drive: Drive) -> Drive:
        if drive.model == other.model:
            return drive
        asked.set()
        let_go.wait(60)
        return replace(drive, model="Late")

    monkeypatch.setattr(drives, "watch", watch)
    monkeypatch.setattr(drives, "details", details)
    machine = MachineCache()
    machine.watch(lambda: None)
    for thread in threading.enumerate():
        if thread.name.endswith("(_watch)"):
            thread.join(60)
    let_go.set()
    for thread in threading.enumerate():
        if thread.name.endswith("(_ask)"):
            thread.join(60)
    assert [drive.model for drive in machine.drives] == ["Another"]


async def test_a_wrong_password_leads_back_to_the_review(monkeypatch: pytest.MonkeyPatch) -> None:
    machine = FakeMachine(drives=(NEW, SSD), event_s=0.01)
    monkeypatch.setattr(rights, "state", lambda: "sudo-asks")
    answers = iter([missing("sudo-asks"), None])

    def authorise() -> None:
        if (refused := next(answers)) is not None:
            raise refused

    monkeypatch.setattr(rights, "authorise", authorise)
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


async def test_a_low_terminal_shows_what_to_type_and_what_was_wrong() -> None:
    async with at_review(FakeMachine(drives=(NEW, SSD))).run_test(size=(60, 15)) as pilot:
        await shows(pilot, f"type its serial number {NEW.serial}")
        await typed(pilot, "wrong")
        await pilot.press("enter")
        await shows(pilot, "✗ 'wrong' is not the serial number")


async def test_the_next_disk_has_its_own_targets_where_a_directory_was_named_before() -> None:
    async with app("drive", FakeMachine(drives=(ARCHIVE, NEW, OLD)), drive=NEW).run_test(size=SIZE) as pilot:
        await settled(pilot)
        await pilot.press("d", *"/mnt/archive", "enter")
        await settled(pilot)
        await to_the_targets(pilot, DEVICE + NEW.stable_name)
        await pilot.press("shift+tab", "down")
        await settled(pilot)
        assert drives_of(pilot).key == OLD.name
        assert target(pilot) == "default"
        assert DEVICE + NEW.stable_name not in targets_of(pilot).keys
