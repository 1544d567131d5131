"""A machine for the wizard: well-known disks, a clock that stands still, and runs that follow a script."""

from __future__ import annotations

import asyncio
import errno
import itertools
import math
import os
import random
import time
from collections.abc import AsyncGenerator, Callable, Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from fswizard.advice import conclude
from fswizard.disks import exact_commands
from fswizard.disks.exact_commands import MOUNT
from fswizard.disks.journal import Leftover
from fswizard.disks.rights import State, missing
from fswizard.engines import engine
from fswizard.engines.shared.programs import failure
from fswizard.errors import FswizardError, UsageError
from fswizard.filesystems import parse_candidates
from fswizard.model.analysis import MoreTime
from fswizard.model.drive import Drive
from fswizard.model.events import (
    CommandFinished,
    CommandStarted,
    DoubtRaised,
    Event,
    PauseChanged,
    RatioUpdated,
    RunEnded,
    RunStarted,
    SampleTaken,
    Stage,
    Step,
    StepFailed,
    StepProgressed,
    StepStarted,
    fold,
)
from fswizard.model.filesystem import Candidate
from fswizard.model.plan import FORMAT, Plan
from fswizard.model.recipe import PlannedCommand, Recipe, Workload
from fswizard.model.result import Environment, Failure, Result, Sample
from fswizard.recipes import SHIPPED, load, shipped_directory
from fswizard.results import Entry, Header
from fswizard.session import OngoingRun, Resumption, doubts
from fswizard.session.resuming import COMPLETE
from fswizard.session.session import WHY_STOPPED, ended_text
from fswizard.stats import analyse, decide
from fswizard.system.process import Finished
from fswizard.tui.app import FswizardApp
from fswizard.tui.backend import Backend, Place
from fswizard.tui.choices import WizardChoices
from fswizard.tui.monitor import RunMonitor
from tests.fakes.desktop import at_the_desktop, drives

ENVIRONMENT = Environment(
    "0.1.0",
    "2026-01-02T03:04:05Z",
    "6.1.0-18-amd64",
    "Debian GNU/Linux 12 (bookworm)",
    "box",
    "Example CPU",
    16 << 30,
    {"fio": "3.33", "mkfs.xfs": "6.1.0"},
)

ARCHIVE, SSD, BRIDGED, HOSTILE = (drives()[name] for name in ("sdb", "nvme0n1", "sdc", "sdd"))
NEW, TWIN = drives()["sde"], drives()["sdg"]
"""Two disks fresh from the shop: nothing is on them."""
OLD = drives()["sdf"]
"""The same, with something on it that nobody uses."""
with at_the_desktop():
    PLACES = {drive.name if drive else "": Backend().place(drive) for drive in (None, *drives().values())}
    MOUNTED = Backend().mounted()

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


class FakeMachine(Backend):
    """Disks of the recorded machine, of which the real code tells everything but rights and results; runs are scripted.

    A run at a pace (`event_s`) goes on until the test stops it, however slow the machine is.
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
        rounds: int = 4,
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
        self.plans: list[Plan] = []
        self.sessions: list[FakeSession] = []
        self.cleaned: list[Leftover] = []

    def watch(self, stopped: Callable[[], bool]) -> Iterator[tuple[Drive, ...]]:
        shown = None
        while not stopped():
            if self.drives is not shown:
                shown = self.drives
                yield tuple(replace(d, health="", temperature_c=None, power_on_hours=None) for d in shown)
            time.sleep(0.02)

    def details(self, drive: Drive) -> Drive:
        return next(known for known in self.drives if known.name == drive.name)

    def place(self, drive: Drive | None) -> Place:
        return PLACES[drive.name if drive else ""]

    def recipes(self) -> tuple[Recipe, ...]:
        return RECIPES

    def mounted(self) -> tuple[Place, ...]:
        return MOUNTED

    def make_plan(self, choices: WizardChoices) -> Plan:
        if self.fails is not None:
            raise self.fails
        plan = plan_for(self, choices)
        self.plans.append(plan)
        return plan

    def rights(self) -> State:
        return self.state

    def way(self) -> State:
        return self.state

    def why_root(self, plan: Plan) -> str:
        return self.because

    def authorise(self) -> None:
        if self.state == "none":
            raise missing("none")
        self.state = "sudo"

    def start(self, plan: Plan, path: Path | None = None) -> FakeSession:
        session = FakeSession(plan, self.rounds, self.event_s)
        session.path = path or session.path
        self.sessions.append(session)
        return session

    def ongoing(self) -> tuple[OngoingRun, ...]:
        return self.elsewhere

    def follow(self, run: OngoingRun) -> FakeSession:
        return self.start(plan_for(self, chosen()))

    def resumable(self) -> tuple[Entry, ...]:
        return self.history()[1:]

    def why_not_resumed(self, path: Path) -> str:
        return COMPLETE if path.name == "new.jsonl" else ""

    def take_up(self, path: Path, more: MoreTime | None = None) -> Resumption:
        if problem := self.why_not_resumed(path):
            raise UsageError(problem)
        result = self.load(path)
        analysis = analyse(result)
        earlier = replace(result, finished_rounds=analysis.rounds, survivors=analysis.leaders)
        return Resumption(path, plan_for(self, chosen()), earlier)

    def history(self) -> tuple[Entry, ...]:
        if not self.earlier:
            return ()
        header = Header(1, "2025-12-31T18:20:00Z", "quick", "image", ("ext4", "xfs", "btrfs"), "Samsung SSD 990 PRO")
        older = replace(header, started="2025-11-02T09:41:00Z", recipe="archive-disk", drive="ST8000AS0002-1NA17Z")
        return (
            Entry(
                Path("/results/new.jsonl"),
                header,
                RunEnded(171.0, "finished", WHY_STOPPED["one-left"], ("xfs",), 6, verdict(), "winner"),
            ),
            Entry(Path("/results/old.jsonl"), older, None),
        )

    def load(self, path: Path) -> Result:
        for session in self.sessions:
            if session.path == path:
                return session.result
        return finished_result(self)

    def leftovers(self) -> tuple[Leftover, ...]:
        return tuple(self.left)

    def clean(self, leftover: Leftover) -> tuple[str, ...]:
        self.left.remove(leftover)
        self.cleaned.append(leftover)
        return super().clean(leftover)


class AllRecipes(FakeMachine):
    """The same with every shipped recipe, and those of the user."""

    def recipes(self) -> tuple[Recipe, ...]:
        return Backend.recipes(self)


@cache
def verdict() -> str:
    """What the card of a whole script says."""
    return conclude(finished_result(FakeMachine(earlier=False))).answer.verdict


class FakeSession:
    """Tells the events of a script."""

    outlives = True

    def __init__(self, plan: Plan, rounds: int, event_s: float) -> None:
        self.plan = plan
        self.path = Path(f"/results/{plan.recipe.name}.jsonl")
        self.result = Result(ENVIRONMENT, plan)
        self.paused = False
        self.stopped = False
        self.left = False
        """Nobody follows it any more."""
        self.skipped = 0
        self.error: FswizardError | None = None
        """Why it fails as soon as it is stopped."""
        self._rounds = rounds
        self._event_s = event_s

    def order(self, order: str) -> None:
        if order == "skip":
            self.skipped += 1
        self.stopped = self.stopped or order == "stop"
        self.paused = order == "pause" or (self.paused and order not in ("resume", "stop"))

    async def events(self) -> AsyncGenerator[Event, None]:
        self.result = Result(ENVIRONMENT, self.plan)  # a resumed one measures everything again
        try:
            async for event in self._events():
                self.result = fold(self.result, (event,))
                yield event
        finally:
            self.left = True

    async def _events(self) -> AsyncGenerator[Event, None]:
        at_s = 0.0
        for event in script(self.plan, self._rounds, endless=self._event_s > 0):
            if self.paused:
                yield PauseChanged(at_s, True)
                while self.paused:  # noqa: ASYNC110
                    await asyncio.sleep(0.01)
                yield PauseChanged(at_s, False)
            await asyncio.sleep(self._event_s)
            if self.stopped:
                break
            at_s = event.at_s
            yield event
        else:
            return
        yield StepStarted(at_s + 0.1, Step(9999, "clean", "unmounting, and removing the scratch image"))
        await asyncio.sleep(self._event_s)
        if self.error:
            yield RunEnded(at_s + 0.4, "failed", self.error.message, hint=self.error.hint)
        else:
            yield RunEnded(at_s + 0.4, "stopped", ended_text(self.result))


FAILS = "nilfs2"
"""The filesystem that runs out of room in a script."""
TILT = {"xfs": (1.2, 1.15, 1.9, 1.01, 0.72, 0.8), "btrfs": (1.03, 1.0, 0.74, 0.97, 0.95, 1.08)}


def figure(candidate: Candidate, workload: Workload, number: int, chance: random.Random) -> float:
    """A value that repeats: what the filesystem is like at this workload, with 2 % of noise."""
    known = TILT.get(candidate.filesystem.name, (1.0,))
    tilt = known[number % len(known)] * (1.01 if "noatime" in candidate.mount_options else 1.0)
    base = {"B/s": 188e6, "1/s": 2_300.0, "s": 4.2}.get(workload.metric.unit, 1.0) * (1 + 0.4 * number)
    value = base * (tilt if workload.metric.better == "higher" else 1 / tilt)
    return value * math.exp(chance.gauss(0, 0.02))


def script(plan: Plan, rounds: int = 4, *, endless: bool = False) -> Iterator[Event]:
    """The events of a run that goes well, except that NILFS2 runs out of room; an endless one settles nothing."""
    return _Script(plan, rounds, endless).events()


def _main(workload: Workload) -> PlannedCommand:
    """The command that does the work, of those that prepare it and that wait for the disk."""
    return next(command for command in reversed(engine(workload.job).commands()) if command.argv[0] != "sync")


class _Script:
    def __init__(self, plan: Plan, rounds: int, endless: bool) -> None:
        self.plan = plan
        self.endless = endless
        self.rounds = rounds
        self.chance = random.Random(plan.seed)
        self.at_s = 0.0
        self.steps = 0
        self.result = Result(ENVIRONMENT, plan)
        self.step = Step(0, "prepare", "")

    def events(self) -> Iterator[Event]:
        for event in self._events():
            self.result = fold(self.result, (event,))
            yield event

    def _events(self) -> Iterator[Event]:
        yield RunStarted(0.0, self.plan, ENVIRONMENT)
        if self.plan.target.kind == "image":
            yield from self._simple("fill", "writing the whole scratch image once", ("fallocate", "IMAGE"), 6.0)
            for workload in self.plan.recipe.workloads:
                if workload.engine == "fio":
                    yield self._begin("raw", f"{workload.title} without a filesystem", 0, "", workload.name)
                    value = (188e6 if workload.metric.unit == "B/s" else 2_400.0) * 1.3
                    yield self._sample("", 0, workload, value)
        for doubt in doubts.before(self.plan):
            yield DoubtRaised(self.at_s, doubt)
        survivors = {candidate.name for candidate in self.plan.candidates}
        why = "rounds"
        for number in itertools.count(1) if self.endless else range(1, self.rounds + 1):
            for candidate in self.plan.candidates:
                if candidate.name in survivors:
                    yield from self._trial(candidate, number)
                    if candidate.filesystem.name == FAILS:
                        survivors.discard(candidate.name)
            analysis = analyse(self.result)
            yield RatioUpdated(self.at_s, analysis)
            if self.endless:
                continue
            decision = decide(analysis, self.plan, survivors)
            survivors &= set(decision.survivors)
            why = decision.stop or why
            if decision.stop:
                break
        yield RunEnded(self.at_s, "finished", WHY_STOPPED[why])

    def _trial(self, candidate: Candidate, number: int) -> Iterator[Event]:
        if not candidate.directory:
            made = [*exact_commands.making(candidate, ("/dev/loop0",))]
            argv = next(command.argv for command in made if command.text == FORMAT)
            title = f"formatting with {candidate.filesystem.mkfs_program}"
            yield from self._simple("format", title, argv, 0.4, number=number, candidate=candidate.name)
            argv = tuple(word.replace(MOUNT, "/run/fswizard/1") for word in made[-1].argv)
            yield from self._simple(
                "mount", f"mounting {candidate.name}", argv, 0.1, number=number, candidate=candidate.name
            )
        for position, workload in enumerate(self.plan.recipe.workloads):
            if not workload.is_in(number):
                continue
            yield from self._work(candidate, number, position, workload)
            if candidate.filesystem.name == FAILS:
                argv = _main(workload).argv
                full = failure(Finished(argv, 1, b"", os.strerror(errno.ENOSPC).encode(), 1.0))
                told = Failure(number, candidate.name, workload.name, full.kind, full.text, full.details)
                yield StepFailed(self.at_s, self.step, told)
                return

    def _work(self, candidate: Candidate, number: int, position: int, workload: Workload) -> Iterator[Event]:
        yield self._begin("workload", workload.title, number, candidate.name, workload.name)
        value = figure(candidate, workload, position, self.chance)
        rate = value if workload.metric.unit != "s" else 90e6
        work = _main(workload)
        unit = "1/s" if workload.metric.unit == "1/s" else "B/s"
        for tenth in range(1, 11):
            self.at_s += workload.seconds / 10
            swing = rate * (0.75 + 0.25 * math.sin(tenth * 0.9 + position) + 0.05 * self.chance.random())
            yield StepProgressed(
                self.at_s, self.step.number, tenth / 10, work.text,
                swing, unit, 0.0031, 0.31 + 0.02 * tenth,  # type: ignore[arg-type]
            )  # fmt: skip
        argv = tuple(word.replace("MOUNT", "/run/fswizard") for word in work.argv)
        yield CommandStarted(self.at_s, self.step.number, argv)
        said = '{"fio version": "fio-3.33"}' if argv[0] == "fio" else ""
        yield CommandFinished(self.at_s, self.step.number, argv, 0, workload.seconds, said)
        yield self._sample(candidate.name, number, workload, value)
        stall = {"ext4": 0.62, "xfs": 0.31, "btrfs": 1.4}.get(candidate.filesystem.name, 0.5)
        yield SampleTaken(
            self.at_s, Sample(number, candidate.name, workload.name, "worst_latency", stall, "s", "lower")
        )

    def _simple(
        self, stage: Stage, title: str, argv: tuple[str, ...], seconds: float, *, number: int = 0, candidate: str = ""
    ) -> Iterator[Event]:
        yield self._begin(stage, title, number, candidate, "")
        yield CommandStarted(self.at_s, self.step.number, argv, True)
        self.at_s += seconds
        yield CommandFinished(self.at_s, self.step.number, argv, 0, seconds, f"{argv[0]} 1.0\ndone", True)

    def _begin(self, stage: Stage, title: str, number: int, candidate: str, workload: str) -> Event:
        self.steps += 1
        self.step = Step(self.steps, stage, title, number, candidate, workload, 4.0)
        return StepStarted(self.at_s, self.step)

    def _sample(self, candidate: str, number: int, workload: Workload, value: float) -> SampleTaken:
        metric = workload.metric
        return SampleTaken(
            self.at_s,
            Sample(number, candidate, workload.name, metric.name, value, metric.unit, metric.better, primary=True),
        )


def plan_for(machine: Backend, choices: WizardChoices) -> Plan:
    """The plan of the real planning; the same again each time."""
    return replace(Backend.make_plan(machine, choices), seed=7)


def chosen(**changes: Any) -> WizardChoices:
    """Wishes as they stand before the review."""
    choices = WizardChoices(drive=ARCHIVE, recipe=RECIPES[0], candidates=("ext4", "xfs", "btrfs", "ext4:noatime"))
    return replace(choices, **changes)


def running_state(machine: FakeMachine, fraction: float = 0.55, **changes: Any) -> RunMonitor:
    """A run in the middle of its script."""
    plan = plan_for(machine, chosen(**changes))
    if fraction < 1:
        plan = replace(plan, candidates=(*plan.candidates, *nilfs2()))
    running = RunMonitor(FakeSession(plan, machine.rounds, 0.0), lambda: 0.0)
    events = list(script(plan, machine.rounds))
    for event in events[: max(1, int(len(events) * fraction))]:
        running.take(event)
    return running


def nilfs2() -> tuple[Candidate, ...]:
    """A candidate that the script lets fail."""
    return parse_candidates("nilfs2")


def finished_result(machine: FakeMachine, **changes: Any) -> Result:
    """The result of a whole script."""
    plan = plan_for(machine, chosen(**changes))
    plan = replace(plan, candidates=(*plan.candidates, *nilfs2()), minimum_rounds=6)
    return fold(Result(ENVIRONMENT, plan), script(plan, 6))


def app(step: str = "purpose", machine: FakeMachine | None = None, **changes: Any) -> FswizardApp:
    """The wizard at a step, as if everything before had been chosen."""
    machine = machine or FakeMachine()
    choices = chosen(**changes) if step != "purpose" else None
    running = running_state(machine) if step == "run" else None
    result = finished_result(machine) if step == "result" else None
    return FswizardApp(machine, choices=choices, start=step, running=running, result=result, clock=Clock())
