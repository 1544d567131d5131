"""One run of a plan, told as events."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path

from fswizard.bench import doubts, resuming, schedule
from fswizard.bench.directory import open_directories
from fswizard.bench.given_up import open_disk
from fswizard.bench.image import make_images, open_images
from fswizard.bench.journal import Journal
from fswizard.bench.limits import measure_limits
from fswizard.bench.narrator import BEFORE_ROUNDS, Narrator
from fswizard.bench.pace import Pace
from fswizard.bench.quiet import LONGEST_WAIT_S, Clocks, Heartbeat, let_rest, wait_until_quiet
from fswizard.bench.trial import run_bare, run_trial
from fswizard.bench.venue import Venue
from fswizard.errors import FswizardError, RunFailed
from fswizard.model.events import (
    CourseTaken,
    DoubtRaised,
    Event,
    RoundDiscarded,
    RunEnded,
    RunStarted,
    SampleTaken,
    StepFailed,
)
from fswizard.model.metrics import RATE_IN_MEMORY
from fswizard.model.plan import Plan
from fswizard.model.result import Outcome, Result
from fswizard.results import ResultWriter, state_directory
from fswizard.stats import decide, judge, likely_trials
from fswizard.system.host import environment

WHY_STOPPED = {
    "one-left": "One candidate is proven ahead of all others.",
    "all-tie": "All that are left are proven equal.",
    "rounds": "The greatest number of rounds is reached.",
    "none-left": "No candidate is left: each one failed or was skipped.",
}


class Session:
    """One run of a plan. Iterate `events()`; leaving the loop undoes everything."""

    def __init__(
        self, plan: Plan, path: Path, *, patience_s: float | None = None, earlier: Result | None = None
    ) -> None:
        """`patience_s` is how long the run waits in all for a busy machine: a minute or a tenth of its time.

        `earlier` is what the file at `path` holds of a run that this one goes on with (see `bench.resuming`).
        """
        self.plan = plan
        self.path = path
        """The result file; it must not exist yet, unless the run is resumed."""
        self.error: FswizardError | None = None
        """Why the run failed, where it did."""
        self._patience_s = min(LONGEST_WAIT_S, plan.time_limit_s / 10) if patience_s is None else patience_s
        self._pace = Pace(plan)
        self._queue: asyncio.Queue[Event | None] = asyncio.Queue()
        self._earlier = earlier
        known_doubts = [doubt.code for doubt in earlier.doubts] if earlier else []
        self._narrator = Narrator(self._tell, self._pace, known_doubts)
        self._environment = environment(plan)
        self._result = earlier or Result(self._environment, plan)
        self._writer: ResultWriter | None = None
        self._main: asyncio.Task[None] | None = None
        self._ended_by: Outcome | None = None
        self._going = asyncio.Event()
        self._going.set()
        self._skipped: set[str] = set()
        self._trial: asyncio.Task[bool] | None = None

    @property
    def result(self) -> Result:
        """What has been measured so far."""
        return self._result

    def pause(self) -> None:
        """Stop before the next trial; a trial that runs is finished, as a measurement cannot be halted."""
        self._going.clear()

    def resume(self) -> None:
        self._going.set()

    @property
    def paused(self) -> bool:
        return not self._going.is_set()

    def skip(self) -> None:
        """Leave the candidate that is being tried out of the rest of the run."""
        if self._trial is not None and self._narrator.trial.candidate:
            self._skipped.add(self._narrator.trial.candidate)
            self._trial.cancel()

    def stop(self, outcome: Outcome = "stopped") -> None:
        """End the run now, undo everything, and keep what was measured."""
        self._ended_by = self._ended_by or outcome
        if self._main is not None:
            self._main.cancel()

    async def events(self) -> AsyncGenerator[Event, None]:
        """Carry out the plan and tell what happens. The last event is RunEnded, unless the loop is left before."""
        self._writer = ResultWriter(self.path, resumed_after_s=self._earlier.elapsed_s if self._earlier else None)
        self._main = asyncio.create_task(self._run())
        try:
            while (event := await self._queue.get()) is not None:
                yield event
            await self._main
        finally:
            self.stop("cancelled")
            with contextlib.suppress(asyncio.CancelledError):
                await self._main
            self._writer.close()

    def _tell(self, event: Event) -> None:
        """Keep what is worth keeping, on disk first, then pass the event on."""
        assert self._writer is not None
        self._writer.write(event)
        result = self._result
        if isinstance(event, SampleTaken):
            self._result = replace(result, samples=(*result.samples, event.sample))
        elif isinstance(event, CourseTaken):
            self._result = replace(result, courses=(*result.courses, event.course))
        elif isinstance(event, StepFailed):
            self._result = replace(result, failures=(*result.failures, event.failure))
        elif isinstance(event, DoubtRaised):
            self._result = replace(result, doubts=(*result.doubts, event.doubt))
        elif isinstance(event, RoundDiscarded):
            self._result = replace(result, discarded_rounds=(*result.discarded_rounds, event.round))
        self._queue.put_nowait(event)

    async def _run(self) -> None:
        outcome: Outcome = "failed"
        text = "It ended by a fault of this program."
        try:
            self._tell(RunStarted(self._narrator.now_s, self.plan, self._environment))
            async with AsyncExitStack() as undo:
                venue = await self._prepare(undo)
                outcome, text = await self._rounds(venue, undo.enter_context(Heartbeat()))
        except asyncio.CancelledError:
            outcome = self._ended_by or "cancelled"
            text = "It was ended before it was complete; what was measured is kept."
        except FswizardError as error:
            self.error = error
            outcome, text = "failed", error.message
        except OSError as error:
            self.error = RunFailed(
                f"The machine did not let the run go on: {error}.", "Its disk may be full or failing."
            )
            outcome, text = "failed", self.error.message
        finally:
            with contextlib.suppress(FswizardError):  # the result file's disk may be the one that failed
                self._tell(RunEnded(self._narrator.now_s, outcome, text))
            self._queue.put_nowait(None)

    async def _prepare(self, undo: AsyncExitStack) -> Venue:
        for doubt in doubts.before(self.plan):
            self._narrator.doubt(doubt)
        journal = Journal(self.path)
        undo.callback(journal.close)
        if self._earlier is None:
            await measure_limits(self.plan, self._narrator, journal)
        if self.plan.target.kind == "directory":
            return await undo.enter_async_context(open_directories(self._narrator, journal, state_directory()))
        if self.plan.target.kind == "device":
            return await undo.enter_async_context(open_disk(self.plan, self._narrator, journal))
        images = await make_images(self.plan, self._narrator, journal)
        if not any(s.round == 0 and s.metric != RATE_IN_MEMORY.name for s in self._result.samples):
            await run_bare(self.plan, images, self._narrator)
        return await undo.enter_async_context(open_images(self.plan, self._narrator, journal, images))

    async def _rounds(self, venue: Venue, heartbeat: Heartbeat) -> tuple[Outcome, str]:
        plan, patience_s = self.plan, self._patience_s
        number, survivors = self._take_up()
        likely: int | None = None
        while True:
            round_s = len(survivors) * self._pace.trial_s
            done = number - len(self._result.discarded_rounds)
            if not schedule.another_round_fits(plan, done, self._narrator.now_s, round_s):
                return "time-up", "The time is up."
            number += 1
            self._pace.trials_ahead(max(1, plan.minimum_rounds - done) * len(survivors), likely)
            in_the_round = frozenset(survivors)
            patience_s -= await wait_until_quiet(self._narrator, longest_s=max(patience_s, 0.0))
            clocks = Clocks(heartbeat)
            for trial in schedule.order(plan, number, survivors):
                await self._going.wait()
                await let_rest(plan, venue.devices, self._narrator)
                self._narrator.trial = trial
                if not await self._try(venue):
                    survivors.discard(trial.candidate)
                self._narrator.trial = BEFORE_ROUNDS
            if doubt := clocks.jumped():
                self._narrator.doubt(doubt)
                self._narrator.discarded(number, doubt.text)
                survivors = set(in_the_round - self._skipped)
            judgement = judge(self._result)
            self._narrator.ratios(judgement)
            decision = decide(judgement, plan, survivors)
            survivors &= set(decision.survivors)
            self._narrator.round_finished(number, survivors)
            likely = likely_trials(judgement, plan, survivors)
            if decision.stop:
                return "finished", WHY_STOPPED[decision.stop]

    def _take_up(self) -> tuple[int, set[str]]:
        """The last round that was begun, and who takes part in the next one.

        Of a resumed run: a round that was interrupted counts for nobody and against nobody, as its later half
        would be measured on another machine than its first: warmer, emptier, or with another kernel.
        """
        earlier = self._earlier
        if earlier is None:
            return 0, {candidate.name for candidate in self.plan.candidates}
        if doubt := doubts.since(earlier.environment, self._environment):
            self._narrator.doubt(doubt)
        for number in resuming.interrupted_rounds(earlier):
            self._narrator.discarded(number, "the run was interrupted in it")
        self._narrator.ratios(judge(self._result))
        return resuming.last_round(earlier), resuming.candidates_left(earlier)

    async def _try(self, venue: Venue) -> bool:
        """Carry out a trial; False when the candidate is out of the run."""
        trial = self._narrator.trial
        self._pace.trial_begins(self._narrator.now_s)
        self._trial = asyncio.create_task(run_trial(self.plan, trial, venue, self._narrator))
        try:
            return await self._trial
        except asyncio.CancelledError:
            if trial.candidate not in self._skipped or self._ended_by:
                self._trial.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await self._trial
                raise
            self._narrator.skipped("skipped on request")
            return False
        finally:
            self._trial = None
            self._pace.trial_ends(self._narrator.now_s)
