"""A machine for the wizard: well-known disks, a clock that stands still, and a recorded run that happens again."""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from contextlib import aclosing
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from fswizard.demo.replay import Replay
from fswizard.disks.journal import Leftover
from fswizard.disks.rights import State, missing
from fswizard.errors import FswizardError, UsageError
from fswizard.model.analysis import MoreTime
from fswizard.model.drive import Drive
from fswizard.model.events import Event, RunEnded, StepProgressed, StepStarted, fold
from fswizard.model.plan import Plan
from fswizard.model.recipe import Recipe
from fswizard.model.result import Result
from fswizard.recipes import SHIPPED, load, shipped_directory
from fswizard.results import Entry, Header
from fswizard.session import OngoingRun, Resumption
from fswizard.session.resuming import COMPLETE
from fswizard.tui.app import FswizardApp
from fswizard.tui.backend import Backend
from fswizard.tui.choices import WizardChoices
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


class Clock:
    """Time that a test moves on."""

    def __init__(self) -> None:
        self.now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


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


class FakeMachine(Backend):
    """Disks of the recorded machine, about which the real code answers; rights, results and runs are the test's.

    What was chosen is planned in earnest, and what is measured then is the recorded run.
    """

    def __init__(
        self,
        *,
        drives: tuple[Drive, ...] = (ARCHIVE, SSD, BRIDGED),
        rights: State = "root",
        earlier: bool = True,
        leftovers: tuple[Leftover, ...] = (),
        event_s: float = 0.0,
        fails: FswizardError | None = None,
        rounds: int = ROUNDS,
    ) -> None:
        self.drives = drives
        self.state = rights
        self.because = ""
        self.earlier = earlier
        self.left = list(leftovers)
        self.elsewhere: tuple[OngoingRun, ...] = ()
        self.event_s = event_s
        self.fails = fails
        self.rounds = rounds
        self.end: RunEnded | None = None
        """How runs end, where not as it was recorded."""
        self.plans: list[Plan] = []
        self.started: list[Plan] = []
        """What was to be measured by each of `sessions`."""
        self.sessions: list[FakeSession] = []

    def watch(self, stopped: Callable[[], bool]) -> Iterator[tuple[Drive, ...]]:
        shown = None
        while not stopped():
            if self.drives is not shown:
                shown = self.drives
                yield tuple(replace(d, health="", temperature_c=None, power_on_hours=None) for d in shown)
            time.sleep(0.02)

    def details(self, drive: Drive) -> Drive:
        return next(known for known in self.drives if known.name == drive.name)

    def recipes(self) -> tuple[Recipe, ...]:
        return RECIPES

    def make_plan(self, choices: WizardChoices) -> Plan:
        if self.fails is not None:
            raise self.fails
        plan = replace(super().make_plan(choices), seed=7)
        self.plans.append(plan)
        return plan

    def rights(self) -> State:
        return self.state

    def image_rights(self) -> State:
        return self.state

    def why_root(self, plan: Plan) -> str:
        return self.because

    def authorise(self) -> None:
        if self.state == "none":
            raise missing("none")
        self.state = "sudo"

    def start(self, plan: Plan, path: Path | None) -> FakeSession:
        events = recording(self.rounds)
        if self.end:
            events = (*events[:-1], self.end)
        session = FakeSession(events, event_s=self.event_s)
        session.path = path or session.path
        self.started.append(plan)
        self.sessions.append(session)
        return session

    def ongoing(self) -> tuple[OngoingRun, ...]:
        return self.elsewhere

    def resumable(self) -> tuple[Entry, ...]:
        return self.history()[1:]

    def why_not_resumed(self, path: Path) -> str:
        return COMPLETE if path.name == "new.jsonl" else ""

    def take_up(self, path: Path, more: MoreTime | None = None) -> Resumption:
        if problem := self.why_not_resumed(path):
            raise UsageError(problem)
        result = self.load(path)
        return Resumption(path, result.plan, result)

    def history(self) -> tuple[Entry, ...]:
        if not self.earlier:
            return ()
        return entry("new", "2025-12-31T18:20:00Z"), replace(entry("old", "2025-11-02T09:41:00Z"), ending=None)

    def load(self, path: Path) -> Result:
        return finished_result(self)

    def leftovers(self) -> tuple[Leftover, ...]:
        return tuple(self.left)


class AllRecipes(FakeMachine):
    """The same with every shipped recipe, and those of the user."""

    def recipes(self) -> tuple[Recipe, ...]:
        return Backend.recipes(self)


def chosen(**changes: Any) -> WizardChoices:
    """Wishes as they stand before the review."""
    choices = WizardChoices(drive=ARCHIVE, recipe=RECIPES[0], candidates=("ext4", "xfs", "btrfs", "ext4:noatime"))
    return replace(choices, **changes)


def monitor(events: Sequence[Event], share: float = 0.55) -> RunMonitor:
    """A run after that share of its events, while a workload is being measured."""
    running = RunMonitor(FakeSession(events), lambda: 0.0)
    lively = [n for n, event in enumerate(events) if isinstance(event, StepProgressed) and event.rate]
    for event in events[: max((n for n in lively if n < share * len(events)), default=0) + 1]:
        running.take(event)
    return running


def running_state(machine: FakeMachine) -> RunMonitor:
    """A run of the machine's that is under way."""
    return monitor(recording(machine.rounds))


def finished_result(machine: FakeMachine) -> Result:
    """The result of a run of the machine's."""
    events = recording(machine.rounds)
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
    running = running_state(machine) if step == "run" else None
    result = finished_result(machine) if step == "result" else None
    return FswizardApp(
        machine,
        choices=choices,
        start=step,
        running=running,
        result=result,
        start_run=machine.start,
        clock=Clock(),
    )
