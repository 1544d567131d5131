"""Trials before the rounds: a first look at each candidate, and the amount of each workload that fits its time box.

The first look is taken before the scratch image is written from end to end, which takes a minute on a slow disk: a
small part of a workload on a small image. Its figures are not part of the result.

The amount of a workload is the same for all candidates and rounds. It is determined on the baseline alone: a small
amount is measured, until it is on the disk, and extrapolated to the time box.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from fswizard.disks.image import PreparedTarget
from fswizard.engines import WorkloadContext, WorkloadDisturbed, WorkloadFailed, engine
from fswizard.language import N_, _
from fswizard.model.metrics import BYTES_WRITTEN, DURATION, FIRST_LOOK_RATE, Metric
from fswizard.model.plan import Plan, Trial
from fswizard.model.recipe import Amount, Workload
from fswizard.progress.emitter import BEFORE_ROUNDS, Emitter
from fswizard.progress.workload_events import Measured, Progress, Ran, WorkloadEvent

PROBLEMS = (WorkloadFailed, WorkloadDisturbed)


async def take_look(plan: Plan, emitter: Emitter, workload: Workload, prepared: PreparedTarget) -> None:
    """Take the first look, with the plan's workload for it."""
    title = N_("first look: {workload}")
    for candidate in plan.candidates:
        emitter.trial = Trial(0, candidate.name)
        try:
            async with prepared.open(candidate) as context:
                figures = await _measured(plan, workload, 0, context, emitter, title=title)
            rate = figures[BYTES_WRITTEN] / figures[DURATION]
            emitter.sample(FIRST_LOOK_RATE, rate, workload=workload.name)
        except PROBLEMS as problem:
            emitter.skipped(str(problem))
    emitter.trial = BEFORE_ROUNDS


async def choose_amounts(plan: Plan, prepared: PreparedTarget, emitter: Emitter) -> Mapping[str, Amount]:
    """Determine the amount of each workload with a time box, by name; the minimum amounts if the baseline fails."""
    trees: defaultdict[str, list[Workload]] = defaultdict(list)
    """Workloads by the tree that they work on."""
    amounts = {}
    for workload in plan.recipe.workloads:
        if workload.box_s:
            trees[workload.job.works_on].append(workload)
            amounts[workload.name] = Amount(workload.least, workload.box_s)
    emitter.trial = Trial(0, plan.baseline)
    try:
        async with prepared.open(plan.candidate(plan.baseline)) as context:
            for tree in trees.values():
                amounts.update(await _fitting(plan, tree, context, emitter))
    except PROBLEMS as problem:
        emitter.skipped(str(problem))
    emitter.trial = BEFORE_ROUNDS
    streams = [each for each in plan.recipe.workloads if each.box_s and each.job.strain == "stream"]
    for workload in plan.recipe.workloads:
        job = workload.job
        if streams and job.seconds and job.units:  # what goes on for a given time does so at the pace of the copy
            pace = amounts[streams[0].name].units / amounts[streams[0].name].seconds
            amounts[workload.name] = Amount(max(1, min(job.units, int(job.seconds * pace))), job.seconds)
    return amounts


async def _fitting(
    plan: Plan, tree: Sequence[Workload], context: WorkloadContext, emitter: Emitter
) -> Mapping[str, Amount]:  # fmt: skip
    """The amounts of workloads on one tree: the same for all, which fits each box and reaches each minimum."""
    least, units = max(each.least for each in tree), min(each.job.units or 1 for each in tree)
    unit_s: dict[str, float] = {}
    for workload in tree:
        tried, box_s = least, workload.box_s
        took_s = (await _measured(plan, workload, tried, context, emitter))[DURATION]
        if len(tree) == 1 and took_s < box_s / 2:  # much of so little is a program's start
            tried = min(units, int(tried * box_s / took_s))
            took_s = (await _measured(plan, workload, tried, context, emitter))[DURATION]
        unit_s[workload.name] = took_s / tried
        units = max(least, min(units, int(tried * box_s / took_s)))
        if units == least:  # the others would not change that, and are taken for as slow
            break
    slowest_s = max(unit_s.values())
    return {each.name: Amount(units, round(unit_s.get(each.name, slowest_s) * units, 3)) for each in tree}


async def _measured(
    plan: Plan, workload: Workload, units: int, context: WorkloadContext, emitter: Emitter, *,
    title: str = N_("how fast this disk is: {workload}"),
) -> Mapping[Metric, float]:  # fmt: skip
    """The figures of `units` of a workload, or of all of it without a limit for `units` = 0."""
    emitter.begin("workload", _(title, workload=_(workload.title)), workload=workload.name)
    job, cut_s = (workload.job.scaled(units), workload.cut_s) if units else (workload.job, 0.0)
    figures: dict[Metric, float] = {}

    def emit(event: WorkloadEvent) -> None:
        if isinstance(event, Progress):
            emitter.progress(emitter.step.title, event)
        elif isinstance(event, Measured):
            figures[event.metric] = event.value
        elif isinstance(event, Ran):
            emitter.command_ended(event.finished)

    await engine(job).run(context, emit, seed=plan.seed, cut_s=cut_s)
    return figures
