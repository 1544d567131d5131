"""Several disks or scratch images: ticked, compared as layouts, given up one by one."""

from __future__ import annotations

from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from fswizard.filesystems import layout_candidates, parse_candidate
from fswizard.tui.candidates import best_first, short_name
from fswizard.tui.drives import DEVICE
from fswizard.tui.screens.options import OptionsScreen
from fswizard.tui.widgets.table import Table
from tests.fakes.wizard import ARCHIVE, NEW, OLD, RECIPES, SSD, TWIN, FakeMachine, app
from tests.tui.driving import at_step, footer, shows, until, wizard
from tests.tui.test_device_targets import targets_of

SIZE = (100, 32)
PAIR = (NEW.stable_name, TWIN.stable_name)


IMAGES_CHOSEN: dict[str, Any] = {"drive": ARCHIVE, "images": 4, "candidates": ()}


def machine() -> FakeMachine:
    return FakeMachine(drives=(ARCHIVE, SSD, NEW, TWIN, OLD), event_s=0.01)


async def tick(pilot: Pilot[Any], disk: str, path: str) -> None:
    """Tick a device for an array."""
    pilot.app.screen.query_one("#drives", Table).highlight(disk)
    await until(pilot, lambda: DEVICE + path in targets_of(pilot).keys, f"{path} among the targets")
    targets_of(pilot).focus()
    targets_of(pilot).highlight(DEVICE + path)
    await pilot.press("space")


def ticks(pilot: Pilot[Any]) -> dict[str, bool | None]:
    return {row.key: row.ticked for row in targets_of(pilot)._displayed_rows}


async def test_each_disk_is_given_up_by_its_own_serial_number() -> None:
    fake = machine()
    async with app("drive", fake, drive=NEW, candidates=()).run_test(size=SIZE) as pilot:
        await at_step(pilot, "drive")
        await tick(pilot, "sde", PAIR[0])
        await tick(pilot, "sdg", PAIR[1])
        await shows(pilot, "2 disks: ")
        await pilot.press("enter")
        await at_step(pilot, "filesystems")
        assert wizard(pilot).choices.devices == PAIR
        await pilot.press("escape")
        await at_step(pilot, "drive")
        await until(pilot, lambda: ticks(pilot).get(DEVICE + PAIR[0]) is True, "the ticks of before")
        for step in ("drive", "filesystems", "workloads"):
            await at_step(pilot, step)
            await pilot.press("enter")
        await at_step(pilot, "review")
        await shows(pilot, "1 of 2")
        assert "next disk" in footer(pilot.app) and "erase and start" not in footer(pilot.app)
        for typed, told in ((TWIN.serial, "is not the serial number of sde"), (NEW.serial, "2 of 2")):
            pilot.app.screen.query_one("#serial", Input).value = typed
            await pilot.press("enter")
            await shows(pilot, told)
        assert not fake.sessions, "half of the disks are not enough"
        assert "erase and start" in footer(pilot.app)
        await pilot.press("enter")
        await shows(pilot, "2 of 2")
        pilot.app.screen.query_one("#serial", Input).value = TWIN.serial
        await pilot.press("enter")
        await at_step(pilot, "run")
        target = fake.started[0].target
        assert [(m.path, m.identifier) for m in target.members] == [(PAIR[0], NEW.serial), (PAIR[1], TWIN.serial)]
        wizard(pilot).leave_now()
        await until(pilot, lambda: fake.sessions[0].left, "clean-up")


async def test_what_is_in_use_cannot_be_ticked_and_one_alone_is_no_array() -> None:
    async with app("drive", machine(), drive=NEW).run_test(size=SIZE) as pilot:
        await at_step(pilot, "drive")
        await tick(pilot, "sde", PAIR[0])
        await shows(pilot, "An array needs two disks")
        await pilot.press("enter")
        await at_step(pilot, "drive")
        await tick(pilot, "sdb", "/dev/sdb1")
        assert set(ticks(pilot).values()) == {None}
        await tick(pilot, "sde", PAIR[0])
        assert ticks(pilot)[DEVICE + PAIR[0]] is False
        assert wizard(pilot).choices.across == 1


async def test_a_thirteenth_disk_is_refused_and_one_that_goes_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("fswizard.disks.choice.MOST_MEMBERS", 2)
    fake, part = machine(), OLD.partitions[0].stable_name
    async with app("drive", fake, drive=NEW).run_test(size=SIZE) as pilot:
        await at_step(pilot, "drive")
        await tick(pilot, "sdf", part)
        await tick(pilot, "sde", PAIR[0])
        await tick(pilot, "sdg", PAIR[1])
        await shows(pilot, "An array takes 2 disks at most")
        assert ticks(pilot)[DEVICE + PAIR[1]] is False
        fake.attach(SSD, NEW, TWIN)
        await shows(pilot, f"! {part.rpartition('/')[2]} is not attached any more.")
        await tick(pilot, "sdg", PAIR[1])
        await shows(pilot, "2 disks: ")


async def test_options_of_an_array_and_of_the_filesystem_on_it_make_one_name() -> None:
    async with app("filesystems", machine(), **IMAGES_CHOSEN).run_test(size=SIZE) as pilot:
        await at_step(pilot, "filesystems")
        await until(pilot, lambda: "md:raid5+ext4" in wizard(pilot).choices.candidates, "a proposal")
        pilot.app.screen.query_one("#candidates", Table).highlight("md:raid5+ext4")
        await pilot.press("o")
        await until(pilot, lambda: isinstance(pilot.app.screen, OptionsScreen), "the options")
        options = pilot.app.screen.query_one("#options", Table)
        for token in ("chunk=16K", "chunk=64K", "noatime"):
            options.highlight(token)
            await pilot.press("space")
        await shows(pilot, "md:raid5,chunk=64K+ext4:noatime")
        await pilot.press("enter")
        await at_step(pilot, "filesystems")
        assert "md:raid5,chunk=64K+ext4:noatime" in wizard(pilot).choices.candidates


async def test_another_target_puts_the_array_away_and_a_layout_that_needs_more_disks_cannot_be_added() -> None:
    async with app("drive", machine(), drive=ARCHIVE, candidates=()).run_test(size=SIZE) as pilot:
        await at_step(pilot, "drive")
        await shows(pilot, "scratch image in ")
        targets_of(pilot).highlight("several")
        await shows(pilot, "4 images: ")
        await pilot.press("left", "left", "enter")
        await at_step(pilot, "filesystems")
        assert wizard(pilot).choices.images == 2
        await pilot.press("a", *"md:raid5+xfs", "enter")
        await shows(pilot, "needs at least 3 devices")
        await pilot.press("escape", "escape")
        await at_step(pilot, "drive")
        await until(pilot, lambda: targets_of(pilot).key == "several", "several images")
        await pilot.press("tab", "home", "enter")
        await at_step(pilot, "filesystems")
        assert wizard(pilot).choices.across == 1
        await until(pilot, lambda: len(wizard(pilot).choices.candidates) > 2, "candidates for one disk")
        assert not any("md:" in name for name in wizard(pilot).choices.candidates)


def test_what_is_proposed_leaves_the_most_room_of_each_maker() -> None:
    for members, expected in (
        (2, ["ext4", "md:raid1+ext4", "zfs:mirror", "btrfs:raid1"]),
        (3, ["ext4", "md:raid5+ext4", "zfs:raidz", "btrfs:raid1"]),
        (4, ["ext4", "md:raid5+ext4", "zfs:raidz", "btrfs:raid1"]),
    ):
        candidates = [parse_candidate(name) for name in layout_candidates(RECIPES[0].array_candidates, members)]
        assert best_first(candidates, members, 10**9) == expected


@pytest.mark.parametrize("name", ["md:raid6,chunk=64K+xfs:noatime", "zfs:raidz2"])
def test_a_short_name_is_put_together_as_it_is_typed(name: str) -> None:
    candidate = parse_candidate(name)
    assert candidate.array is not None
    assert short_name(candidate.filesystem.name, candidate.array.name.split(","), candidate.mount_options) == name
