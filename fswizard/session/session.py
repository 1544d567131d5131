"""One run of a plan, as events."""

from __future__ import annotations

import asyncio
import contextlib
import random
import socket
import statistics
import traceback
from collections.abc import AsyncGenerator, Callable
from contextlib import AsyncExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path

from fswizard.advice import conclude
from fswizard.disks.as_root import ROOT_PATH, WORKLOAD_PATH
from fswizard.disks.directory import open_directories
from fswizard.disks.image import open_devices, open_images
from fswizard.disks.journal import Journal
from fswizard.disks.prepared import PreparedTarget
from fswizard.engines import WorkloadDisturbed
from fswizard.errors import FswizardError, RunFailed
from fswizard.language import N_, _, in_english
from fswizard.model.estimates import BARE_SHARE, affordable_rounds, another_round_fits
from fswizard.model.events import ON_REQUEST, AmountsChosen, Event, PauseChanged, RunEnded, RunStarted, fold
from fswizard.model.metrics import BARE_WRITTEN, DIRECT_CACHED, TRIAL_WRITTEN, Metric
from fswizard.model.plan import Plan, Trial
from fswizard.model.result import Doubt, Outcome, Result
from fswizard.progress.emitter import BEFORE_ROUNDS, Emitter
from fswizard.results import ResultWriter
from fswizard.session import doubts, resuming
from fswizard.session.amounts import choose_amounts, first_look
from fswizard.session.harness_ceiling import measure_limits
from fswizard.session.idle_wait import (
    LONGEST_WAIT_S,
    MOST_DISTURBED,
    Clocks,
    Heartbeat,
    disturbed_by,
    disturbed_too_often,
    wait_until_quiet,
)
from fswizard.session.ongoing_runs import entered
from fswizard.session.order import trial_order
from fswizard.session.rest import let_rest
from fswizard.session.trial import run_bare, run_trial
from fswizard.stats import analyse, decide, forecast
from fswizard.system.host import environment

LONGEST_ORDER_BYTES = 64
WHY_STOPPED = {
    "one-left": N_("One candidate is proven ahead of all others."),
    "alone": N_("Only one candidate is left, with nothing to compare it with."),
    "all-tie": N_("The remaining candidates are proven equal."),
    "rounds": N_("The maximum number of rounds is reached."),
    "none-left": N_("No candidate is left: each one failed or was skipped."),
}


class Session:
    """One run of a plan. Iterate `events()`; leaving the loop undoes everything."""

    def __init__(
        self, plan: Plan, path: Path, *, idle_wait_s: float | None = None, earlier: Result | None = None
    ) -> None:
        """`idle_wait_s` is how long the run waits in all for a busy machine: a minute or a tenth of its time.

        `earlier` is what the file at `path` holds of a run that this one resumes (see `resuming`).
        """
        self.plan = plan
        self.path = path
        """The result file; it must not exist yet, unless the run is resumed."""
        self.error: FswizardError | None = None
        """Why the run failed, where it did."""
        self._idle_wait_s = min(LONGEST_WAIT_S, plan.time_limit_s / 10) if idle_wait_s is None else idle_wait_s
        self._took_s: list[float] = []
        """By trials so far, for what every round measures."""
        self._queue: asyncio.Queue[Event | None] = asyncio.Queue()
        self.earlier = earlier
        """What the file holds of the run that this one resumes."""
        self._before_bytes = earlier.counted_bytes if earlier else 0.0
        known_doubts = [doubt.code for doubt in earlier.doubts] if earlier else []
        self._emitter = Emitter(self._emit, known_doubts, earlier.elapsed_s if earlier else 0.0)
        self._environment = environment(plan, root_path=ROOT_PATH, workload_path=WORKLOAD_PATH)
        self.result = earlier or Result(self._environment, plan)
        """What has been measured so far."""
        self._writer: ResultWriter | None = None
        self._main: asyncio.Task[None] | None = None
        self._ended_by: Outcome | None = None
        self._going = asyncio.Event()
        self._going.set()
        self._skipped: set[str] = set()
        self._out: set[str] = set()
        """These, and what failed."""
        self._trial: asyncio.Task[bool] | None = None

    def _trial_s(self, number: int) -> float:
        """What a trial of a round takes, as it looks now."""
        took_s = statistics.fmean(self._took_s) if self._took_s else self.plan.seconds_per_trial
        return took_s + self.plan.recipe.occasional_s(number)

    def pause(self) -> None:
        """Stop before the next trial; a trial that runs is finished, as a measurement cannot be halted."""
        if not self.paused:
            self._going.clear()
            self._emit(PauseChanged(self._emitter.at_s, True))

    def resume(self) -> None:
        if self.paused:
            self._going.set()
            self._emit(PauseChanged(self._emitter.at_s, False))

    @property
    def paused(self) -> bool:
        return not self._going.is_set()

    def skip(self) -> None:
        """Leave the candidate that is being tried out of the rest of the run."""
        if self._trial is not None and self._emitter.trial.candidate:
            self._skipped.add(self._emitter.trial.candidate)
            self._trial.cancel()

    def stop(self, outcome: Outcome = "stopped") -> None:
        """End the run now, undo everything, and keep what was measured."""
        self._ended_by = self._ended_by or outcome
        if self._main is not None:
            self._main.cancel()

    async def events(self) -> AsyncGenerator[Event, None]:
        """Carry out the plan, an event for each step. The last one is RunEnded, unless the loop is left before."""
        async with AsyncExitStack() as undo:
            orders = undo.enter_context(entered(self.plan, self.path))
            self._writer = ResultWriter(self.path, resumed=self.earlier is not None)
            undo.callback(self._writer.close)
            loop = asyncio.get_running_loop()
            loop.add_reader(orders, self._take_order, orders)
            undo.callback(loop.remove_reader, orders)
            with in_english():  # what a task says is in the language of its beginning
                self._main = asyncio.create_task(self._run())
            undo.push_async_callback(self._end)
            while (event := await self._queue.get()) is not None:
                yield event
            await self._main

    def _take_order(self, orders: socket.socket) -> None:
        cancel = partial(self.stop, "cancelled")
        known: dict[bytes, Callable[[], None]] = {
            b"pause": self.pause, b"resume": self.resume, b"skip": self.skip, b"stop": self.stop, b"cancel": cancel,
        }  # fmt: skip
        with contextlib.suppress(BlockingIOError):
            known.get(orders.recv(LONGEST_ORDER_BYTES), lambda: None)()

    async def _end(self) -> None:
        assert self._main is not None
        self.stop("cancelled")
        with contextlib.suppress(asyncio.CancelledError):
            await self._main

    def _emit(self, event: Event) -> None:
        """Write an event into the result file first, then pass it on."""
        assert self._writer is not None
        self._writer.write(event)
        self.result = fold(self.result, (event,))
        self._queue.put_nowait(event)

    async def _run(self) -> None:
        outcome: Outcome = "failed"
        text, hint, details = _("It ended because of a bug in fswizard."), "", ""
        try:
            self._emit(RunStarted(self._emitter.at_s, self.plan, self._environment))
            async with AsyncExitStack() as undo:
                prepared = await self._prepare(undo)
                for doubt in doubts.fits_in_memory(self.plan, limited=prepared.limits_memory):
                    self._emitter.doubt(doubt)
                if not (self.result.finished_rounds or self.plan.aged):
                    await self._choose_amounts(prepared)
                outcome, text = await self._rounds(prepared, undo.enter_context(Heartbeat()))
        except asyncio.CancelledError:
            outcome = self._ended_by or "cancelled"
            text = ended_text(self.result)
        except FswizardError as error:
            self.error = error
            outcome, text, hint, details = "failed", error.message, error.hint, error.details
        except OSError as error:
            self.error = RunFailed(
                _("The machine stopped the run: {error}.", error=error), _("Its disk may be full or failing.")
            )
            outcome, text, hint = "failed", self.error.message, self.error.hint
        except BaseException:
            details = traceback.format_exc()
            raise
        finally:
            with contextlib.suppress(FswizardError):  # the result file's disk may be the one that failed
                ended = RunEnded(self._emitter.at_s, outcome, text, hint=hint, details=details)
                findings = conclude(fold(self.result, (ended,)))
                analysis, verdict = findings.analysis, findings.advice.card.verdict
                self._emit(replace(ended, leaders=analysis.leaders, rounds=analysis.rounds, verdict=verdict))
            self._queue.put_nowait(None)

    async def _prepare(self, undo: AsyncExitStack) -> PreparedTarget:
        for doubt in doubts.before(self.plan):
            self._emitter.doubt(doubt)
        journal = Journal(self.path)
        undo.callback(self._tidy_up, journal)
        if self.earlier is None:
            await measure_limits(self.plan, self._emitter, journal)
        if self.plan.target.kind == "directory":
            return await undo.enter_async_context(open_directories(self.plan, self._emitter, journal))
        if self.plan.target.kind == "device":
            return await undo.enter_async_context(open_devices(self.plan, self._emitter, journal))
        look = first_look(self.plan, self._emitter) if self.plan.looks_first else None
        return await undo.enter_async_context(open_images(self.plan, self._emitter, journal, look))

    async def _choose_amounts(self, prepared: PreparedTarget) -> None:
        """As much of the work as fits into the boxes of time on this disk, when nobody else uses it."""
        if not any(workload.box_s for workload in self.plan.recipe.workloads):
            return
        self._idle_wait_s -= await wait_until_quiet(self.plan.drive, self._emitter, longest_s=self._idle_wait_s)
        amounts = await choose_amounts(self.plan, prepared, self._emitter)
        self._emit(AmountsChosen(self._emitter.at_s, amounts))
        self.plan = self.plan.with_amounts(amounts)

    def _tidy_up(self, journal: Journal) -> None:
        if left := journal.close():
            self._emitter.doubt(Doubt("not-removed", _("{left} `fswizard clean` removes what is left.", left=left)))

    async def _rounds(self, prepared: PreparedTarget, heartbeat: Heartbeat) -> tuple[Outcome, str]:
        plan, idle_wait_s = self.plan, self._idle_wait_s
        number, survivors = self._take_up()
        last, disturbed_in_a_row = "", 0
        while True:
            taking_part = [name for name in plan.with_new(survivors) if name not in self._out]
            trials_s = len(taking_part) * self._trial_s(number + 1)
            done = number - len(self.result.discarded_rounds)
            if not another_round_fits(plan, done, self._emitter.now_s, trials_s):
                return "time-up", _("The time is up.")
            affordable = affordable_rounds(plan, self.result, taking_part, before_bytes=self._before_bytes)
            if affordable == 0:
                return "budget-used", _("Another round would exceed the write budget.")
            number += 1
            idle_wait_s -= await wait_until_quiet(plan.drive, self._emitter, longest_s=max(idle_wait_s, 0.0))
            clocks = Clocks(heartbeat)
            trials = trial_order(plan, number, taking_part, self.result.trials, last)
            bare_after = random.Random(f"{plan.seed}/bare/{number}").choice(trials)
            disturbed: WorkloadDisturbed | None = None
            for trial in trials:
                await self._going.wait()
                await let_rest(plan, prepared.devices, self._emitter)
                self._emitter.trial, last = trial, trial.candidate
                try:
                    if not await self._try(prepared):
                        self._out.add(trial.candidate)
                    if trial == bare_after:
                        await self._try_bare(prepared, number, BARE_SHARE * trials_s)
                except WorkloadDisturbed as by:
                    disturbed = by
                self._emitter.trial = BEFORE_ROUNDS
                if disturbed:
                    break  # what is left of the round would not count
            disturbed_in_a_row = disturbed_in_a_row + 1 if disturbed else 0
            if doubt := disturbed_by(disturbed) if disturbed else clocks.jumped():
                self._emitter.doubt(doubt)
                self._emitter.discarded(number, doubt.text)
                self._out = set(self._skipped)
            if disturbed and disturbed_in_a_row == MOST_DISTURBED:
                raise disturbed_too_often(disturbed)
            analysis = analyse(self.result)
            decision = decide(analysis, plan, survivors - self._out)
            survivors &= set(decision.survivors)
            outlook = (
                None if decision.stop else forecast(self.result, analysis, survivors, trial_s=self._trial_s(number))
            )
            self._emitter.ratios(analysis, outlook)
            self._emitter.round_finished(number, survivors)
            if decision.stop:
                return "finished", WHY_STOPPED[decision.stop]

    def _take_up(self) -> tuple[int, set[str]]:
        """The last round that was begun, and who takes part in the next one.

        Of a resumed run: a round that was interrupted counts for nobody and against nobody, as its later half
        would be measured on another machine than its first: warmer, emptier, or with another kernel.
        """
        earlier = self.earlier
        if earlier is None:
            return 0, {candidate.name for candidate in self.plan.candidates}
        if doubt := doubts.since(earlier.environment, self._environment):
            self._emitter.doubt(doubt)
        for number in resuming.interrupted_rounds(earlier):
            self._emitter.discarded(number, _("the run was interrupted in it"))
        self._emitter.ratios(analyse(self.result))
        return resuming.last_round(earlier), set(earlier.candidates_left)

    async def _try(self, prepared: PreparedTarget) -> bool:
        """Carry out a trial; False when the candidate is out of the run."""
        trial = self._emitter.trial
        written = partial(prepared.written_bytes, self.plan.candidate(trial.candidate))
        before = written()
        began_s = self._emitter.now_s
        looked_at = {sample.candidate for sample in self.result.samples if sample.metric == DIRECT_CACHED.name}
        first = trial.candidate not in looked_at
        self._trial = asyncio.create_task(run_trial(self.plan, trial, prepared, self._emitter, first=first))
        try:
            stays = await self._trial
            self._took_s.append(self._emitter.now_s - began_s - self.plan.recipe.occasional_s(trial.round))
            self._emit_written(TRIAL_WRITTEN, before, written())
            return stays
        except WorkloadDisturbed:
            self._emit_written(TRIAL_WRITTEN, before, written())
            raise
        except asyncio.CancelledError:
            if trial.candidate not in self._skipped or self._ended_by:
                self._trial.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await self._trial
                raise
            self._emitter.skipped(ON_REQUEST)
            return False
        finally:
            self._trial = None

    async def _try_bare(self, prepared: PreparedTarget, number: int, seconds: float) -> None:
        """A sample of the device without a filesystem, in round `number`."""
        self._emitter.trial = Trial(number, "")
        before = prepared.written_bytes()
        try:
            await run_bare(self.plan, number, prepared, self._emitter, seconds=seconds, samples=self.result.samples)
        finally:
            if (after := prepared.written_bytes()) != before:
                self._emit_written(BARE_WRITTEN, before, after)

    def _emit_written(self, metric: Metric, before: int | None, after: int | None) -> None:
        if before is not None and after is not None:
            self._emitter.sample(metric, after - before)


def ended_text(result: Result) -> str:
    """What there is of a run that the user ended."""
    if any(sample.round and sample.primary for sample in result.samples):
        return _("The run was stopped early; the results so far are kept.")
    return _("The run was stopped before anything was measured.")
