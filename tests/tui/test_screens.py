"""Pictures of every screen, compared with those that were looked at and found good."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from fswizard.demo import Story, stories
from fswizard.demo.app import DemoApp
from fswizard.disks.journal import Leftover
from fswizard.tui.app import FswizardApp
from fswizard.tui.theme import THEMES
from tests.fakes.setting_up import DONE, SettingUp
from tests.fakes.two_runs import TwoRuns
from tests.fakes.wizard import (
    ARCHIVE,
    BRIDGED,
    HOSTILE,
    NEW,
    OLD,
    SSD,
    TWIN,
    AllRecipes,
    Clock,
    FakeMachine,
    app,
    finished_result,
)
from tests.tui.conftest import Compare
from tests.tui.driving import STEPS, at_step, settled, shows
from tests.tui.screenshots import running

DARK, LIGHT = THEMES[:2]
LOOKS = {"80x24": DARK, "120x36": DARK, "light": LIGHT, "200x60": DARK}
"""Each size in the dark, and the middle one in the light as well."""
RACE = {"80x24": DARK, "80x24 light": LIGHT, "120x36": DARK, "light": LIGHT, "200x50": DARK, "200x50 light": LIGHT}
"""Of a run."""
PAIR = (NEW.stable_name, TWIN.stable_name)
ARRAY: dict[str, Any] = {"drive": NEW, "images": 4, "member_bytes": 5 << 30, "candidates": ()}
DISKS: dict[str, Any] = {"drive": NEW, "members": PAIR, "member_bytes": NEW.size_bytes}


@dataclass(frozen=True)
class State:
    """What is done before the pictures are taken: `keys` one by one, until `words` stand on the screen."""

    make: Callable[[], FswizardApp]
    keys: tuple[str, ...] = ()
    words: str = ""
    looks: tuple[str, ...] = tuple(LOOKS)


Make = Callable[[], FakeMachine]


def at(
    step: Any, *keys: str, words: str = "", machine: Callable[[], FakeMachine] = FakeMachine, **choices: Any
) -> State:
    return State(lambda: app(step, machine(), **choices), keys, words)


def disks(*drives: Any) -> Make:
    return lambda: FakeMachine(drives=drives)


def setting_up() -> FswizardApp:
    machine = SettingUp(DONE)
    return FswizardApp(machine, start="result", result=finished_result(machine), clock=Clock())


def told(story: Story) -> DemoApp:
    return DemoApp(story, start="result", result=story.result, clock=lambda: 0.0)


LEFT = Leftover(Path("/state/run-1.json"), {Path("/mnt/archive/fswizard-1"): None}, None)
ARRAYS = disks(ARCHIVE, SSD, NEW, TWIN, OLD)
ON_TWO = ("ext4", "md:raid1+ext4", "btrfs:raid1")
WINDOWS: dict[str, State] = {
    "own": at("filesystems", "a"),
    "must-have": at("filesystems", "m", "right", "space", "left", "space"),
    "leave": at("run", "escape"),
    "log": at("run", "l"),
    "places": at("places", words="/home/ada", purpose="compare"),
    "no-place": at("drive", machine=disks(BRIDGED, SSD), drive=BRIDGED),
    "hostile": at("drive", machine=disks(HOSTILE), drive=HOSTILE),
    "left-behind": at("purpose", machine=lambda: FakeMachine(leftovers=(LEFT,))),
    "drive-new": at("drive", machine=disks(NEW, SSD), drive=NEW, device=NEW.stable_name),
    "drive-old": at("drive", "tab", "end", "up", machine=disks(OLD, SSD), drive=OLD),
    "review-new": at("review", machine=disks(NEW, SSD), drive=NEW, device=NEW.stable_name),
    "review-old": at(
        "review", *"WD-1234", "enter", machine=disks(OLD, SSD), drive=OLD, device=OLD.partitions[0].stable_name
    ),
    "array-window": at("drive", "a", words="✗ sdb1 is mounted", machine=ARRAYS, drive=NEW),
    "array-filesystems": at("filesystems", "down", words="RAID 5", machine=ARRAYS, **ARRAY),
    "array-review": at(
        "review", *NEW.serial, "enter", words="2 of 2", machine=ARRAYS, candidates=ON_TWO, **DISKS
    ),
    "set-up": State(setting_up, ("u",), words="On which disk?"),
    "set-up-review": State(setting_up, ("u", "space", "enter"), words="To confirm, type its"),
    **{f"demo-{name}-result": State(partial(told, story)) for name, story in stories().items()},
}  # fmt: skip
"""Seen at the two sizes that matter."""
STATES: dict[str, State] = {
    **{step: at(step) for step in STEPS},
    "help": at("purpose", "f1"),
    "history": at("purpose", "h", words="2025-06-30", machine=TwoRuns),
    "comparison": replace(
        at("purpose", "h", "space", "down", "space", "c", machine=TwoRuns), looks=("80x24", "200x60")
    ),
    "options": at("filesystems", "o", "down", "space"),
    "recipes": at("workloads", "r", machine=AllRecipes),
    "export": at("result", "enter", "down"),
    "tuning": at("result", "w", "right"),
    "recorded-run": State(running, looks=tuple(RACE)),
    **{name: replace(state, looks=("80x24", "120x36")) for name, state in WINDOWS.items()},
}  # fmt: skip


@pytest.mark.parametrize("state", [pytest.param(s, marks=pytest.mark.smoke) if s in STEPS else s for s in STATES])
async def test_each_state_looks_as_it_did_at_each_size_and_in_the_light(state: str, picture: Compare) -> None:
    """Four pictures of one wizard that is resized, as starting it costs as much as two of them."""
    drawn = STATES[state]
    wizard = drawn.make()
    differing = ""
    async with wizard.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        for key in drawn.keys:
            await pilot.press(key)
            await settled(pilot)
        if drawn.words:
            await shows(pilot, drawn.words)
        for look in drawn.looks:
            if look[0].isdigit():
                await pilot.resize_terminal(*map(int, look.split()[0].split("x")))
            wizard.theme = (LOOKS | RACE)[look]
            await settled(pilot)
            differing += picture(wizard, look)
    if differing:
        pytest.fail(differing)  # an assertion would tell a part of it alone


@pytest.mark.parametrize("step", ("drive", "run", "result"))
async def test_without_colour_the_meaning_is_still_there(
    step: Any, picture: Compare, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    wizard = app(step)
    async with wizard.run_test(size=(80, 24)) as pilot:
        await at_step(pilot, step)
        await settled(pilot)
        assert not picture(wizard, "80x24")
