"""Pictures of every screen, compared with those that were looked at and found good."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from fswizard.bench.journal import Leftover
from fswizard.drives.probe import ProbeProgress, ProbeResult
from fswizard.model.drive import Drive
from fswizard.tui.theme import LIGHT
from tests.fakes.two_runs import TwoRuns
from tests.fakes.wizard import ARCHIVE, BRIDGED, HOSTILE, NEW, OLD, SSD, STALLS, FakeMachine, app, probe_progress
from tests.tui.driving import at_step, screen_text, shows, until, wizard

SIZES = [(80, 24), (120, 36)]
ROOM = (200, 60)
LOOKS = {"80x24": ((80, 24), False), "120x36": ((120, 36), False), "200x60": (ROOM, False), "light": ((120, 36), True)}
"""Size, and whether in the light."""
STEPS = ("purpose", "drive", "filesystems", "workloads", "review", "run", "result")


def name(size: tuple[int, int]) -> str:
    return f"{size[0]}x{size[1]}"


async def settled(pilot: Pilot[Any]) -> None:
    """Everything that comes from threads has come."""
    screen = pilot.app.screen
    known = wizard(pilot).known
    await pilot.pause()
    if screen.id == "_default" or not hasattr(screen, "STEP"):
        return
    waits: dict[str, Callable[[], bool]] = {
        "purpose": lambda: "↻ go on" in _text(pilot),
        "drive": lambda: bool(known.drives and known.offers) and not any(drive.pending for drive in known.drives or ()),
        "filesystems": lambda: known.looked,
        "review": lambda: any(words in _text(pilot) for words in ("starts the run", "not needed", "To confirm")),
        "result": lambda: "Looking" not in _text(pilot),
    }
    wait = waits.get(screen.STEP)
    if wait is not None:
        await until(pilot, wait, "the screen to settle")
    await pilot.app.workers.wait_for_complete()
    await still(pilot)


async def still(pilot: Pilot[Any]) -> None:
    """Nothing changes on the screen any more, however slow the machine is."""
    seen: list[str] = []
    while len(seen) < 6 or len(set(seen[-6:])) > 1:
        await pilot.pause(0.05)
        seen.append(_text(pilot))
        assert len(seen) < 200, "the screen never stands still"


def _text(pilot: Pilot[Any]) -> str:
    return screen_text(pilot.app)


def after(*keys: str, light: bool = False, words: str = "") -> Callable[[Pilot[Any]], Awaitable[None]]:
    """What is done before a picture: keys one by one, until `words` stand on the screen and nothing moves."""

    async def bring(pilot: Pilot[Any]) -> None:
        await settled(pilot)
        for key in keys:
            await pilot.press(key)
            await pilot.app.workers.wait_for_complete()
            await pilot.pause()
        if words:
            await shows(pilot, words)
        if light:
            pilot.app.theme = LIGHT.name
        await still(pilot)

    return bring


@pytest.mark.parametrize("size", [*SIZES, ROOM], ids=name)
@pytest.mark.parametrize("step", STEPS)
def test_each_step(snap_compare: Any, step: Any, size: tuple[int, int]) -> None:
    assert snap_compare(app(step), terminal_size=size, run_before=settled)


@pytest.mark.parametrize("size", [*SIZES, ROOM], ids=name)
@pytest.mark.parametrize("step", STEPS)
def test_each_step_in_the_light(snap_compare: Any, step: Any, size: tuple[int, int]) -> None:
    assert snap_compare(app(step), terminal_size=size, run_before=after(light=True))


@pytest.mark.parametrize("step", ("drive", "run", "result"))
def test_without_colour_the_meaning_is_still_there(
    snap_compare: Any, monkeypatch: pytest.MonkeyPatch, step: Any
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    assert snap_compare(app(step), terminal_size=(80, 24), run_before=settled)


WINDOWS = {
    "help": ("purpose", ["f1"]),
    "history": ("purpose", ["h"]),
    "comparison": ("purpose", ["h", "space", "down", "space", "c"]),
    "options": ("filesystems", ["o", "down", "space"]),
    "own": ("filesystems", ["a"]),
    "leave": ("run", ["escape"]),
    "log": ("run", ["l"]),
    "export": ("result", ["enter", "down"]),
    "tuning": ("result", ["w", "right"]),
}


@pytest.mark.parametrize("theme", ["dark", "light"])
@pytest.mark.parametrize("size", [*SIZES, ROOM], ids=name)
@pytest.mark.parametrize("window", WINDOWS)
def test_each_window(snap_compare: Any, window: str, size: tuple[int, int], theme: str) -> None:
    step, keys = WINDOWS[window]

    machine = TwoRuns() if window == "comparison" else None
    bring = after(*keys, light=theme == "light")
    assert snap_compare(app(step, machine), terminal_size=size, run_before=bring)  # type: ignore[arg-type]


@pytest.mark.parametrize("size", SIZES, ids=name)
def test_places_to_compare(snap_compare: Any, size: tuple[int, int]) -> None:
    async def looked(pilot: Pilot[Any]) -> None:
        await shows(pilot, "/home/ada")
        await pilot.app.workers.wait_for_complete()
        await pilot.pause()

    assert snap_compare(app("drive", purpose="compare"), terminal_size=size, run_before=looked)


@pytest.mark.parametrize("size", SIZES, ids=name)
def test_a_disk_that_cannot_be_written_to(snap_compare: Any, size: tuple[int, int]) -> None:
    machine = FakeMachine(drives=(BRIDGED, SSD))
    assert snap_compare(app("drive", machine, drive=BRIDGED), terminal_size=size, run_before=settled)


@pytest.mark.parametrize("size", SIZES, ids=name)
def test_hostile_names_are_shown_escaped(snap_compare: Any, size: tuple[int, int]) -> None:
    machine = FakeMachine(drives=(HOSTILE,))
    assert snap_compare(app("drive", machine, drive=HOSTILE), terminal_size=size, run_before=settled)


@pytest.mark.parametrize("size", SIZES, ids=name)
def test_what_a_killed_run_left_behind(snap_compare: Any, size: tuple[int, int]) -> None:
    left = Leftover(Path("/state/run-1.json"), (Path("/mnt/archive/fswizard-1"),), None)
    assert snap_compare(app("purpose", FakeMachine(leftovers=(left,))), terminal_size=size, run_before=settled)


DEVICES = {
    "drive-new": ("drive", NEW, NEW.stable_name, []),
    "drive-old": ("drive", OLD, "", ["tab", "end", "up"]),
    "review-new": ("review", NEW, NEW.stable_name, []),
    "review-old": ("review", OLD, OLD.partitions[0].stable_name, [*"WD-1234", "enter"]),
}


@pytest.mark.parametrize("look", LOOKS)
@pytest.mark.parametrize("state", DEVICES)
def test_a_device_as_target(snap_compare: Any, state: str, look: str) -> None:
    step, drive, device, keys = DEVICES[state]
    machine = FakeMachine(drives=(drive, SSD))

    size, light = LOOKS[look]
    wizard_app = app(step, machine, drive=drive, device=device)  # type: ignore[arg-type]
    assert snap_compare(wizard_app, terminal_size=size, run_before=after(*keys, light=light))


PROBES: dict[str, tuple[Drive, tuple[ProbeProgress | ProbeResult, ...], list[str], str]] = {
    "asks": (ARCHIVE, (), ["p"], "At most"),
    "runs": (ARCHIVE, probe_progress(190), ["p", "enter"], "5.67 GB of"),
    "finds": (ARCHIVE, (*probe_progress(), STALLS), ["p", "enter"], "◆ Shingled"),
    "device": (NEW, (), ["p"], "To confirm, type"),
}


@pytest.mark.parametrize("look", LOOKS)
@pytest.mark.parametrize("state", PROBES)
def test_the_probe(snap_compare: Any, state: str, look: str) -> None:
    drive, told, keys, words = PROBES[state]
    machine = FakeMachine(drives=(drive, SSD))
    machine.probe_script = told

    size, light = LOOKS[look]
    bring = after(*keys, light=light, words=words)
    assert snap_compare(app("drive", machine, drive=drive), terminal_size=size, run_before=bring)


async def test_the_steps_of_the_pictures_are_the_steps_there_are() -> None:
    for step in STEPS:
        async with app(step).run_test(size=(80, 24)) as pilot:  # type: ignore[arg-type]
            await at_step(pilot, step)
