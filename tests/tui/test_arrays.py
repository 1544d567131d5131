"""Several disks: ticked, compared as layouts, given up one by one."""

from __future__ import annotations

from typing import Any

from textual.pilot import Pilot

from fswizard.tui.targets import DEVICE
from tests.fakes.wizard import ARCHIVE, NEW, OLD, SSD, TWIN, FakeMachine
from tests.tui.driving import at, at_step, box, footer, rows, settled, shows, until, wizard

PAIR = (NEW.stable_name, TWIN.stable_name)


def machine() -> FakeMachine:
    return FakeMachine(drives=(ARCHIVE, SSD, NEW, TWIN, OLD), event_s=0.01)


async def tick(pilot: Pilot[Any], disk: str, path: str) -> None:
    """Tick a device for an array."""
    targets = rows(pilot, "#targets")
    rows(pilot, "#drives").highlight(disk)
    await until(pilot, lambda: DEVICE + path in targets.keys, f"{path} among the targets")
    targets.focus()
    targets.highlight(DEVICE + path)
    await pilot.press("space")


def ticks(pilot: Pilot[Any]) -> dict[str, bool | None]:
    return {row.key: row.ticked for row in rows(pilot, "#targets")._displayed_rows}


async def test_each_disk_is_given_up_by_its_own_serial_number() -> None:
    fake = machine()
    async with at("drive", fake, drive=NEW, candidates=()) as pilot:
        await tick(pilot, "sde", PAIR[0])
        await tick(pilot, "sdg", PAIR[1])
        await shows(pilot, "2 disks: ")
        await at_step(pilot, "filesystems", "enter")
        assert wizard(pilot).choices.devices == PAIR
        await at_step(pilot, "workloads", "enter")
        await at_step(pilot, "review", "enter")
        await shows(pilot, "1 of 2")
        assert "erase and start" not in footer(pilot.app)
        for typed, answer in ((TWIN.serial, "is not the serial number of sde"), (NEW.serial, "2 of 2")):
            box(pilot, "#serial").value = typed
            await shows(pilot, answer, "enter")
        assert not fake.sessions, "half of the disks are not enough"
        box(pilot, "#serial").value = TWIN.serial
        await at_step(pilot, "run", "enter")
        target = fake.started[0].target
        assert [(m.path, m.identifier) for m in target.members] == [(PAIR[0], NEW.serial), (PAIR[1], TWIN.serial)]
        wizard(pilot).leave_now()
        await until(pilot, lambda: fake.sessions[0].left, "clean-up")


async def test_one_alone_is_no_array_and_what_is_in_use_or_goes_is_not_ticked() -> None:
    fake = machine()
    async with at("drive", fake, drive=NEW) as pilot:
        await tick(pilot, "sdb", "/dev/sdb1")
        assert set(ticks(pilot).values()) == {None}
        await tick(pilot, "sde", PAIR[0])
        await shows(pilot, "An array needs two disks")
        await at_step(pilot, "drive", "enter")
        await tick(pilot, "sdg", PAIR[1])
        await shows(pilot, "2 disks: ")
        fake.attach(SSD, TWIN)
        await shows(pilot, f"! {PAIR[0].rpartition('/')[2]} is not attached any more.")
        await shows(pilot, "An array needs two disks", "enter")
        await at_step(pilot, "drive")


async def test_layouts_are_proposed_with_options_of_both_until_another_target_is_chosen() -> None:
    async with at("drive", machine(), drive=NEW, candidates=()) as pilot:
        await tick(pilot, "sde", PAIR[0])
        await tick(pilot, "sdg", PAIR[1])
        await at_step(pilot, "filesystems", "enter")
        await until(pilot, lambda: "md:raid1+ext4" in wizard(pilot).choices.candidates, "a proposal")
        rows(pilot, "#candidates").highlight("md:raid1+ext4")
        await pilot.press("o")
        for token in ("bitmap=none", "noatime"):
            rows(pilot, "#options").highlight(token)
            await pilot.press("space")
        await shows(pilot, "md:raid1,bitmap=none+ext4:noatime")
        await at_step(pilot, "filesystems", "enter")
        rows(pilot, "#candidates").highlight("btrfs:raid1")
        await pilot.press("o")
        rows(pilot, "#options").highlight("noatime")
        await shows(pilot, "btrfs:raid1,noatime", "space")
        await at_step(pilot, "drive", "enter", "escape")
        await settled(pilot)
        rows(pilot, "#drives").highlight("sdb")
        await settled(pilot)
        await at_step(pilot, "filesystems", "enter")
        await settled(pilot)
        assert wizard(pilot).choices.across == 1
        assert not any("md:" in name for name in wizard(pilot).choices.candidates)
