"""How much of each workload fits into its box of time on this disk.

The amount is the same for all candidates and rounds, so that their ratios compare the same work, and it is found on
the baseline alone: a little is done, and what fits follows from how long that took until it was on the disk.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fswizard.disks.prepared import CandidateFailed, PreparedTarget
from fswizard.engines import WorkloadContext, WorkloadDisturbed, WorkloadFailed, engine
from fswizard.language import _
from fswizard.model.metrics import DURATION
from fswizard.model.plan import Plan, Trial
from fswizard.model.recipe import Amount, Workload
from fswizard.progress.emitter import BEFORE_ROUNDS, Emitter
from fswizard.progress.workload_events import Measured, Progress, Ran, WorkloadEvent


async def choose_amounts(plan: Plan, prepared: PreparedTarget, emitter: Emitter) -> Mapping[str, Amount]:
    """By the name of each workload that has a box; the least of all of them where the baseline fails here."""
    boxed = [workload for workload in plan.recipe.workloads if workload.box_s]
    done = {workload.name: Amount(workload.least, workload.box_s) for workload in boxed}
    emitter.trial = Trial(0, plan.baseline)
    try:
        async with prepared.open(plan.candidate(plan.baseline)) as context:
            for workload in boxed:
                least = await _measured(plan, workload, workload.least, context, emitter)
                done[workload.name] = least
                alone = len(_on_one_tree(workload, boxed)) == 1
                if alone and least.seconds < workload.box_s / 2:  # starting a program is a large part of so little
                    units = min(workload.job.units or 1, _fitting(workload, least))
                    done[workload.name] = await _measured(plan, workload, units, context, emitter)
    except (WorkloadFailed, CandidateFailed, WorkloadDisturbed) as problem:
        emitter.skipped(str(problem))
    emitter.trial = BEFORE_ROUNDS
    amounts = {}
    for workload in boxed:
        same = _on_one_tree(workload, boxed)
        fitting = min(_fitting(other, done[other.name]) for other in same)
        units = min(workload.job.units or 1, max(fitting, *(other.least for other in same), 1))
        own = done[workload.name]
        amounts[workload.name] = Amount(units, round(own.seconds * units / own.units, 3))
    copies = [amounts[workload.name] for workload in boxed if workload.job.strain == "stream"]
    for workload in plan.recipe.workloads:
        job = workload.job
        if copies and job.seconds and job.units:  # what goes on for a given time does so at the pace of the copy
            fitting = int(job.seconds * copies[0].units / copies[0].seconds)
            amounts[workload.name] = Amount(max(1, min(job.units, fitting)), job.seconds)
    return amounts


def _on_one_tree(workload: Workload, boxed: Sequence[Workload]) -> list[Workload]:
    """What is done with one tree is done with all of it: what fits into each box, and is enough for each."""
    return [other for other in boxed if other.job.works_on == workload.job.works_on]


def _fitting(workload: Workload, done: Amount) -> int:
    return int(done.units * workload.box_s / done.seconds)


async def _measured(
    plan: Plan, workload: Workload, units: int, context: WorkloadContext, emitter: Emitter
) -> Amount:  # fmt: skip
    """What so much of a workload takes, until it is on the disk."""
    title = _("how fast this disk is: {workload}", workload=workload.title)
    emitter.begin("workload", title, workload=workload.name, expected_s=workload.box_s)
    took_s = workload.box_s

    def emit(event: WorkloadEvent) -> None:
        nonlocal took_s
        if isinstance(event, Progress):
            emitter.progress(title, event)
        elif isinstance(event, Measured) and event.metric == DURATION:
            took_s = event.value
        elif isinstance(event, Ran):
            emitter.command_ended(event.finished)

    await engine(workload.job.scaled(units)).run(context, emit, seed=plan.seed, cut_s=workload.cut_s)
    return Amount(units, took_s)
