"""A run without a disk, for measuring what watching it costs.

python -m tests.long.bench.paced wizard|run EVENTS_A_SECOND      on a terminal, until it is killed
python -m tests.long.bench.paced wizard|run --flood EVENTS       as fast as it goes; tells how much memory it takes
"""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
import time
from collections.abc import AsyncGenerator
from pathlib import Path

import psutil

from fswizard.cli.narration import Narration
from fswizard.model.events import Event, RunEnded, RunStarted
from fswizard.model.metrics import THROUGHPUT
from fswizard.model.plan import Plan, Trial
from fswizard.model.run_state import RunState
from fswizard.progress.emitter import Emitter
from fswizard.progress.workload_events import Progress
from fswizard.results import ResultWriter
from fswizard.system.process import Finished
from fswizard.tui.monitor import RunMonitor
from tests.builders import make_plan, make_result, make_workload

STEP_EVENTS = 1000
"""So many words of progress belong to a step, as in a workload of 100 seconds."""
FIGURES_EVERY = 10
"""Steps between those that end with a figure, so that there are as many as in a run of ten hours."""
FIGURE = THROUGHPUT
LOOKS = (10, 25, 50, 75, 100)
"""Percent of the events after which memory is looked at."""


class Run:
    """A run that tells of nothing but progress, through the same emitter and result file as a real one."""

    outlives = True

    def __init__(self, plan: Plan, path: Path, events: int, pause_s: float) -> None:
        self.plan = plan
        self.path = path
        self.resident_bytes: list[int] = []
        """After each of LOOKS."""
        self._events = events
        self._pause_s = pause_s
        self._told: list[Event] = []
        self._writer = ResultWriter(path)
        self._emitter = Emitter(self._emit)

    def order(self, order: str) -> None: ...

    def _emit(self, event: Event) -> None:
        self._writer.write(event)
        self._told.append(event)

    async def events(self) -> AsyncGenerator[Event, None]:
        emitter, names = self._emitter, [candidate.name for candidate in self.plan.candidates]
        looks = {self._events * percent // 100 for percent in LOOKS}
        self._emit(RunStarted(0.0, self.plan, make_result().environment))
        for number in range(self._events):
            step, place = divmod(number, STEP_EVENTS)
            if place == 0:
                emitter.trial = Trial(step // len(names) + 1, names[step % len(names)])
                emitter.begin("workload", "writing", workload="write", expected_s=100.0)
            emitter.progress("writing blocks", Progress(place / STEP_EVENTS, 1e8 + place * 1e5, "B/s", 0.003, 0.31))
            if place == STEP_EVENTS - 1:
                emitter.command_ended(Finished(("fio", "--name=write"), 0, b"done", b"", 100.0))
                if step % FIGURES_EVERY == 0:
                    emitter.sample(FIGURE, 1e8 + number, workload="write", primary=True)
            told, self._told = self._told, []
            for event in told:
                yield event
            if number + 1 in looks:
                self.resident_bytes.append(psutil.Process().memory_info().rss)
            if self._pause_s:
                await asyncio.sleep(self._pause_s)
        yield RunEnded(emitter.now_s, "finished", "All is told.")


async def watch(what: str, run: Run) -> None:
    """As the wizard does without drawing, or as `fswizard run` does."""
    if what == "wizard":
        await RunMonitor(run, time.monotonic).follow()
        return
    narration = Narration(sys.stderr)
    state = RunState.of(run.plan)
    async for event in run.events():
        state = state.after(event)
        narration.show(event, state)


def _wizard(run: Run) -> None:
    """The wizard before it; enter begins it."""
    from fswizard.tui.app import FswizardApp
    from tests.fakes.desktop import at_the_desktop
    from tests.fakes.wizard import FakeMachine, chosen

    class Machine(FakeMachine):
        def start(self, plan: Plan, path: Path | None = None) -> Run:  # type: ignore[override]
            return run

    with at_the_desktop():
        FswizardApp(Machine(), choices=chosen(), start="review").run()


def main(what: str, how: str, *more: str) -> None:
    plan = make_plan(("ext4", "xfs", "btrfs"), [make_workload()])
    with tempfile.TemporaryDirectory(prefix="fswizard-bench-") as folder:
        file = Path(folder, "result.jsonl")
        if how == "--flood":
            run = Run(plan, file, int(more[0]), 0.0)
            asyncio.run(watch(what, run))
            print(json.dumps(run.resident_bytes))
            return
        run = Run(plan, file, 1 << 30, 1 / float(how))
        if what == "wizard":
            _wizard(run)
        else:
            asyncio.run(watch(what, run))


if __name__ == "__main__":
    main(*sys.argv[1:])
