"""Execution of a plan as a sequence of events."""

from __future__ import annotations

import asyncio
import contextlib
import os
import random
import statistics
import traceback
from collections.abc import AsyncGenerator, Callable, Collection, Iterator
from contextlib import AsyncExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path

from fswizard.advice import conclude
from fswizard.disks.as_root import ROOT_PATH, WORKLOAD_PATH
from fswizard.disks.directory import open_directories
from fswizard.disks.image import PreparedTarget, open_devices, open_image
from fswizard.disks.journal import Journal
from fswizard.engines import WorkloadDisturbed
from fswizard.errors import FswizardError, RunFailed
from fswizard.language import N_, _, in_english
from fswizard.model.estimates import BARE_SHARE, affordable_rounds, another_round_fits, round_bytes
from fswizard.model.events import AmountsChosen, Event, RunEnded, RunStarted, fold
from fswizard.model.metrics import BARE_WRITTEN, DIRECT_CACHED, TRIAL_WRITTEN, Metric
from fswizard.model.plan import Plan, Trial
from fswizard.model.result import Doubt, Outcome, Result
from fswizard.progress.emitter import BEFORE_ROUNDS, Emitter
from fswizard.results import ResultWriter
from fswizard.session import doubts, resuming
from fswizard.session.amounts import choose_amounts, take_look
from fswizard.session.idle_wait import LONGEST_WAIT_S, Clocks, IdleWait, disturbed_by
from fswizard.session.ongoing_runs import entered
from fswizard.session.order import trial_order
from fswizard.session.rest import let_rest
from fswizard.session.trial import run_bare, run_trial
from fswizard.stats import analyse, decide, more_time
from fswizard.system.host import environment

MOST_ORDER_BYTES = 4096
MOST_DISTURBED = 3
"""Number of consecutive disturbed rounds (a program was killed or stopped) after which the run ends."""
STOPPED = N_("The run was stopped early; what was measured so far is kept.")
WHY_STOPPED = {
    "one-left": N_("One candidate is proven faster than all others."),
    "alone": N_("Only one candidate is left, with nothing to compare it with."),
    "all-alike": N_("The remaining candidates are alike."),
    "rounds": N_("The maximum number of rounds is reached."),
    "none-left": N_("No candidate is left: each one failed or was skipped."),
}


class Session:
    """One run of a plan. Iterate `events()`; leaving the loop undoes everything."""

    def __init__(self, plan: Plan, path: Path, *, earlier: Result | None = None) -> None:
        """`path` is the result file. It must not exist yet, unless this run resumes `earlier`, the run in that file."""
        self.plan = plan
        self.path = path
        self.earlier = earlier
        self.error: FswizardError | None = None
        """Why the run failed; None unless it did."""
        self._environment = environment(plan, root_path=ROOT_PATH, workload_path=WORKLOAD_PATH)
        self.result = earlier or Result(self._environment, plan)
        """All measured values so far."""
        self._before_bytes = self.result.counted_bytes
        self._emitter = Emitter(self._emit, [doubt.code for doubt in self.result.doubts], self.result.elapsed_s)
        self._idle = IdleWait(plan.drive, self._emitter, min(LONGEST_WAIT_S, plan.time_limit_s / 10))
        self._queue: asyncio.Queue[Event | None] = asyncio.Queue()
        self._writer: ResultWriter | None = None
        self._main: asyncio.Task[None] | None = None
        self._ended_by: Outcome | None = None
        self._trials_s: list[float] = []
        """Durations of the trials so far, without the workloads that are not measured in every round."""
        self._out: set[str] = set()
        """Candidates that failed in a round that counts."""
        self._last = ""
        """The candidate that was measured last."""

    def stop(self, outcome: Outcome = "stopped") -> None:
        """End the run now, undo everything, and keep the measured values."""
        self._ended_by = self._ended_by or outcome
        if self._main is not None:
            self._main.cancel()

    async def events(self) -> AsyncGenerator[Event, None]:
        """Execute the plan, yielding its events. The last one is RunEnded, unless the loop is left early."""
        with contextlib.ExitStack() as undo:
            orders = undo.enter_context(entered(self.plan, self.path, partial(self._begin, undo)))
            loop = asyncio.get_running_loop()
            loop.add_reader(orders, self._take_orders, orders)
            undo.callback(loop.remove_reader, orders)
            with in_english():  # what a task says is in the language of its beginning
                self._main = asyncio.create_task(self._run())
            try:
                await asyncio.sleep(0)  # cancelled before it has begun, it would not write its end
                while (event := await self._queue.get()) is not None:
                    yield event
                await self._main
            finally:
                self.stop("cancelled")
                with contextlib.suppress(asyncio.CancelledError):
                    await self._main

    def _take_orders(self, orders: int) -> None:
        outcomes: dict[bytes, Outcome] = {b"stop": "stopped", b"cancel": "cancelled"}
        for order in os.read(orders, MOST_ORDER_BYTES).splitlines():
            if order in outcomes:
                self.stop(outcomes[order])

    def _begin(self, undo: contextlib.ExitStack) -> None:
        """Lock the result file, and write the plan to it."""
        self._writer = ResultWriter(self.path, resumed=self.earlier is not None)
        undo.callback(self._writer.close)
        self._emit(RunStarted(self._emitter.at_s, self.plan, self._environment))

    def _emit(self, event: Event) -> None:
        """Append an event to the result file, then pass it on."""
        assert self._writer is not None
        self._writer.write(event)
        self.result = fold(self.result, (event,))
        self._queue.put_nowait(event)

    async def _run(self) -> None:
        ended = RunEnded(0.0, "failed", _("It ended because of a bug in fswizard."))
        try:
            async with AsyncExitStack() as undo:
                prepared = await self._prepare(undo)
                ended = RunEnded(0.0, *await self._rounds(prepared))
        except asyncio.CancelledError:
            ended = RunEnded(0.0, self._ended_by or "cancelled", _(STOPPED))
        except (FswizardError, OSError) as error:
            if isinstance(error, OSError):
                text = _("The machine stopped the run: {error}.", error=error)
                error = RunFailed(text, _("Its disk may be full or failing."))
            self.error = error
            ended = RunEnded(0.0, "failed", error.message, hint=error.hint, details=error.details)
        except BaseException:
            ended = replace(ended, outcome="failed", details=traceback.format_exc())
            raise
        finally:
            with contextlib.suppress(FswizardError):  # the result file's disk may be the one that failed
                ended = replace(ended, at_s=self._emitter.at_s)
                findings = conclude(fold(self.result, (ended,)))
                ended = replace(ended, leaders=findings.analysis.leaders, rounds=findings.analysis.rounds)
                self._emit(replace(ended, verdict=findings.answer.verdict, answer=findings.answer.kind))
            self._queue.put_nowait(None)

    async def _prepare(self, undo: AsyncExitStack) -> PreparedTarget:
        """Do everything before the first round."""
        plan, emitter, journal = self.plan, self._emitter, Journal(self.path)
        for doubt in doubts.before(plan):
            emitter.doubt(doubt)
        undo.callback(self._tidy_up, journal)
        prepared: PreparedTarget
        if plan.target.kind == "directory":
            prepared = await undo.enter_async_context(open_directories(plan, emitter, journal))
        elif plan.target.kind == "device":
            prepared = await undo.enter_async_context(open_devices(plan, emitter, journal))
        else:
            looks = plan.first_look if plan.looks_first else None
            look = partial(take_look, plan, emitter, looks) if looks else None
            prepared = await undo.enter_async_context(open_image(plan, emitter, journal, look))
        for doubt in doubts.fits_in_memory(plan, limited=prepared.limits_memory):
            emitter.doubt(doubt)
        boxed = any(workload.box_s for workload in plan.recipe.workloads)
        if boxed and not (self.result.finished_rounds or plan.aged):
            # As much of the work as fits into the boxes of time on this disk, when nobody else uses it.
            await self._idle.wait()
            amounts = await choose_amounts(plan, prepared, emitter)
            self._emit(AmountsChosen(emitter.at_s, amounts))
            self.plan = plan.with_amounts(amounts)
        return prepared

    def _tidy_up(self, journal: Journal) -> None:
        if left := journal.close():
            self._emitter.doubt(Doubt("not-removed", _("{left} `fswizard clean` removes what is left.", left=left)))

    async def _rounds(self, prepared: PreparedTarget) -> tuple[Outcome, str]:
        """Run rounds until the run ends; returns its outcome and the reason."""
        if self.earlier is not None:
            # The second half of an interrupted round would be measured on a machine in a different state: warmer,
            # emptier, or with another kernel.
            for number in resuming.interrupted_rounds(self.earlier):
                self._emitter.discarded(number, _("the run was interrupted in it"))
            self._emitter.ratios(analyse(self.result))
        number, survivors = resuming.last_round(self.result), self.result.candidates_left
        disturbed = 0  # rounds in a row
        while True:
            number += 1
            names = [name for name in survivors if name not in self._out]
            begun = number - 1 - len(self.result.discarded_rounds)
            if not another_round_fits(self.plan, begun, self._emitter.now_s, len(names) * self._trial_s(number)):
                return "time-up", _("The time is up.")
            written_bytes = self.result.written_bytes - self._before_bytes
            if affordable_rounds(self.plan, round_bytes(self.plan, self.result, names), written_bytes) == 0:
                return "budget-used", _("Another round would exceed the write budget.")
            await self._idle.wait()
            try:
                with Clocks() as clocks:
                    await self._round(prepared, number, names)
                disturbed = 0
                self._discard(number, clocks.jumped())
            except WorkloadDisturbed as by:  # what is left of the round would not count
                disturbed += 1
                self._discard(number, disturbed_by(by))
                if disturbed == MOST_DISTURBED:
                    text = _(
                        "The program that measures was killed or stopped in {count} rounds in a row.", count=disturbed
                    )
                    hint = _(
                        "Something on this machine kills or stops programs, such as a memory guard or a batch system: "
                        "keep it from doing so and run again. The figures so far are kept."
                    )
                    raise RunFailed(text, hint) from by
            left = [name for name in survivors if name not in self._out]
            whole = replace(self.result, finished_rounds=number)
            analysis = analyse(whole)
            decision = decide(analysis, self.plan, left)
            survivors = decision.survivors
            more = None if decision.stop else more_time(whole, survivors)
            self._emitter.ratios(analysis, more)
            self._emitter.round_finished(number, survivors)
            if decision.stop:
                return "finished", WHY_STOPPED[decision.stop]

    def _discard(self, number: int, why: Doubt | None) -> None:
        """Discard a round that was disturbed, including its failures."""
        if why:
            self._emitter.doubt(why)
            self._emitter.discarded(number, why.text)
            self._out.clear()

    def _trial_s(self, number: int) -> float:
        """Expected duration of a trial in a round, from the trials so far."""
        took_s = statistics.fmean(self._trials_s) if self._trials_s else self.plan.seconds_per_trial
        return took_s + self.plan.recipe.occasional_s(number)

    async def _round(self, prepared: PreparedTarget, number: int, names: Collection[str]) -> None:
        """Measure each candidate once, and after a random one of them the device without a filesystem."""
        plan, emitter = self.plan, self._emitter
        bare_s = BARE_SHARE * len(names) * self._trial_s(number)
        trials = trial_order(plan, number, names, self.result.trials, self._last)
        bare_after = random.Random(f"{plan.seed}/bare/{number}").choice(trials)
        for trial in trials:
            await let_rest(plan, prepared.devices, emitter)
            emitter.trial, self._last = trial, trial.candidate
            try:
                if not await self._try(prepared, trial):
                    self._out.add(trial.candidate)
                if trial == bare_after:
                    emitter.trial = Trial(number, "")
                    with self._counting(BARE_WRITTEN, prepared.written_bytes):
                        await run_bare(plan, number, prepared, emitter, seconds=bare_s, samples=self.result.samples)
            finally:
                emitter.trial = BEFORE_ROUNDS

    async def _try(self, prepared: PreparedTarget, trial: Trial) -> bool:
        """Run a trial; False if the candidate is out of the run."""
        checked = any(s.metric == DIRECT_CACHED.name and s.candidate == trial.candidate for s in self.result.samples)
        began_s = self._emitter.now_s
        with self._counting(TRIAL_WRITTEN, partial(prepared.written_bytes, self.plan.candidate(trial.candidate))):
            stays = await run_trial(self.plan, trial, prepared, self._emitter, first=not checked)
        self._trials_s.append(self._emitter.now_s - began_s - self.plan.recipe.occasional_s(trial.round))
        return stays

    @contextlib.contextmanager
    def _counting(self, metric: Metric, written: Callable[[], int | None]) -> Iterator[None]:
        """Emit the number of bytes counted by the devices, which use up the budget."""
        before = written()
        try:
            yield
        except asyncio.CancelledError:  # of a trial that was broken off nothing is kept
            before = None
            raise
        finally:
            after = written()
            if before is not None and after is not None and (after > before or metric is TRIAL_WRITTEN):
                self._emitter.sample(metric, after - before)
