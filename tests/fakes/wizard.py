"""A machine for the wizard: well-known disks, a clock that stands still, and a recorded run that happens again."""

from __future__ import annotations

import itertools
import math
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from fswizard import results, session
from fswizard.demo.replay import Replay
from fswizard.errors import UsageError
from fswizard.model.drive import Drive
from fswizard.model.events import Event, RunEnded, StepProgressed, StepStarted, fold
from fswizard.model.plan import Plan
from fswizard.model.recipe import TITLES, Recipe
from fswizard.model.result import Result
from fswizard.recipes import SHIPPED, load, shipped_directory
from fswizard.results import Entry, Header
from fswizard.session import Resumption
from fswizard.session.resuming import COMPLETE
from fswizard.tui.app import FswizardApp
from fswizard.tui.choices import WizardChoices
from fswizard.tui.machine import MachineCache
from fswizard.tui.monitor import RunMonitor
from tests.fakes.desktop import drives
from tests.recording import recorded

RUN = "quick-again"
"""The recorded run: ext4, XFS and Btrfs in three rounds, after the first of which Btrfs is dropped."""
ROUNDS = 3
EVENT_S = 0.05
"""Seconds between two events of it, on average."""

ARCHIVE, SSD, BRIDGED, HOSTILE = (drives()[name] for name in ("sdb", "nvme0n1", "sdc", "sdd"))
NEW, TWIN = drives()["sde"], drives()["sdg"]
"""Two disks fresh from the shop: nothing is on them."""
OLD = drives()["sdf"]
"""The same, with something on it that nobody uses."""

RECIPES = tuple(
    replace(load(shipped_directory() / f"{name}.toml"), source=SHIPPED)
    for name in ("archive-disk", "desktop-ssd", "quick")
)


@cache
def recording(rounds: int = ROUNDS) -> tuple[Event, ...]:
    """The recorded run, as if that had been its last round."""
    *events, end = recorded(RUN)
    kept = itertools.takewhile(lambda event: not isinstance(event, StepStarted) or event.step.round <= rounds, events)
    return (*kept, end)


class FakeSession(Replay):
    """A recorded run as fast as it is read, or at a pace (`event_s`): then it goes on until the test stops it."""

    outlives = True

    def __init__(self, events: Sequence[Event], *, event_s: float = 0.0) -> None:
        if event_s:
            *events, end = events
            events = (*events, replace(end, at_s=math.inf))
        speed = EVENT_S / event_s if event_s else math.inf
        super().__init__(events, speed=speed)
        self.path = Path("/results/run.jsonl")
        self.left = False
        """Nobody follows it any more."""

    async def events(self) -> AsyncGenerator[Event, None]:
        try:
            async with aclosing(super().events()) as events:
                async for event in events:
                    yield event
        finally:
            self.left = True


class FakeMachine(MachineCache):
    """Disks of the recorded machine, which a test attaches, and recorded runs in place of those that are started."""

    def __init__(
        self,
        *,
        drives: tuple[Drive, ...] = (ARCHIVE, SSD, BRIDGED),
        event_s: float = 0.0,
        rounds: int = ROUNDS,
        recipes: tuple[Recipe, ...] = RECIPES,
        end: RunEnded | None = None,
    ) -> None:
        """`end`: how runs end, where not as it was recorded."""
        super().__init__()
        self.recipes = tuple(sorted(recipes, key=lambda recipe: [*TITLES].index(recipe.group)))
        self.attached = drives
        self.event_s = event_s
        self.rounds = rounds
        self.end = end
        self.started: list[Plan] = []
        """What was to be measured by each of `sessions`."""
        self.sessions: list[FakeSession] = []

    def watch(self, changed: Callable[[], object], stopped: Callable[[], bool]) -> None:
        self._changed = changed
        self.attach(*self.attached)

    def attach(self, *drives: Drive) -> None:
        """From here on exactly these disks are attached; what smartctl says of them is not known yet."""
        self.attached = drives
        self.take([replace(drive, health="", temperature_c=None, power_on_hours=None) for drive in drives])

    def start(self, plan: Plan, path: Path | None) -> FakeSession:
        events = recording(self.rounds)
        if self.end:
            events = (*events[:-1], self.end)
        run = FakeSession(events, event_s=self.event_s)
        run.path = path or run.path
        self.started.append(plan)
        self.sessions.append(run)
        return run


def keep_results(patch: pytest.MonkeyPatch, *entries: Entry) -> None:
    """The results that are kept; all but the first can be resumed."""
    patch.setattr(results, "all_results", lambda: iter(entries))
    patch.setattr(results, "load", lambda path: finished_result())
    patch.setattr(session, "resumable", lambda: entries[1:])

    def take_up(path: Path) -> Resumption:
        if path.name == "new.jsonl":
            raise UsageError(COMPLETE)
        return Resumption(path, finished_result().plan, finished_result())

    patch.setattr(session, "take_up", take_up)


def two_results() -> tuple[Entry, Entry]:
    """One that is complete, and one of a run that can be resumed."""
    return entry("new", "2025-12-31T18:20:00Z"), replace(entry("old", "2025-11-02T09:41:00Z"), ending=None)


def chosen(**changes: Any) -> WizardChoices:
    """Wishes as they stand before the review."""
    choices = WizardChoices(drive=ARCHIVE, recipe=RECIPES[0], candidates=("ext4", "xfs", "btrfs", "ext4:noatime"))
    return replace(choices, **changes)


def monitor(events: Sequence[Event], share: float = 0.55) -> RunMonitor:
    """A run after that share of its events, while a workload is being measured."""
    running = RunMonitor(FakeSession(events))
    lively = [n for n, event in enumerate(events) if isinstance(event, StepProgressed) and event.rate]
    for event in events[: max((n for n in lively if n < share * len(events)), default=0) + 1]:
        running.take(event)
    return running


def running_state(rounds: int = ROUNDS) -> RunMonitor:
    """The recorded run, under way."""
    return monitor(recording(rounds))


def finished_result(rounds: int = ROUNDS) -> Result:
    """The result of the recorded run."""
    events = recording(rounds)
    return fold(FakeSession(events).result(), events)


def entry(name: str, started: str) -> Entry:
    """The recorded run in the history, as if it had been of the archive disk, and at another time."""
    run, end = FakeSession(recording()), recording()[-1]
    assert isinstance(end, RunEnded)
    header = replace(Header.of(run.plan, run.result().environment), started=started, drive=ARCHIVE.model)
    return Entry(Path(f"/results/{name}.jsonl"), header, end)


def app(step: str = "purpose", machine: FakeMachine | None = None, **changes: Any) -> FswizardApp:
    """The wizard at a step, as if everything before had been chosen."""
    machine = machine or FakeMachine()
    choices = chosen(**changes) if step != "purpose" else None
    wizard = FswizardApp(machine=machine, choices=choices, start=step, start_run=machine.start)
    if step == "run":
        wizard.running = running_state(machine.rounds)
    if step == "result":
        wizard.result = finished_result(machine.rounds)
    return wizard
