"""A first look at each candidate, seconds after the start: a small part of a workload on a small image.

The scratch image is written from end to end before anything counts, which takes a minute on a slow disk. Meanwhile
there is something to see. Its figures stay out of the result, as disk and image are not yet what the rounds find.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping

from fswizard.disks.prepared import CandidateFailed, PreparedTarget
from fswizard.engines import WorkloadContext, WorkloadDisturbed, WorkloadFailed, engine
from fswizard.language import _
from fswizard.model.estimates import first_look_s
from fswizard.model.metrics import BYTES_WRITTEN, DURATION, FIRST_LOOK_RATE, Metric
from fswizard.model.plan import Plan, Trial
from fswizard.model.recipe import Job
from fswizard.progress.emitter import BEFORE_ROUNDS, Emitter
from fswizard.progress.workload_events import Measured, Progress, Ran, WorkloadEvent


def first_look(plan: Plan, emitter: Emitter) -> Callable[[PreparedTarget], Awaitable[None]] | None:
    """What looks at the candidates on a prepared target; None where the plan has nothing to look with."""
    workload = plan.first_look
    if workload is None:
        return None
    job, title = workload.job, _("first look: {workload}", workload=workload.title)
    expected_s = first_look_s(plan.drive.kind if plan.drive else "unknown")

    async def look(prepared: PreparedTarget) -> None:
        for candidate in plan.measured:
            emitter.trial = Trial(0, candidate.name)
            try:
                async with prepared.open(candidate) as context:
                    emitter.begin("workload", title, workload=workload.name, expected_s=expected_s)
                    figures = await _figures(job, context, emitter, plan.seed)
                rate = figures[BYTES_WRITTEN] / figures[DURATION]
                emitter.sample(FIRST_LOOK_RATE, rate, workload=workload.name)
            except (WorkloadFailed, CandidateFailed, WorkloadDisturbed) as problem:
                emitter.skipped(str(problem))
        emitter.trial = BEFORE_ROUNDS

    return look


async def _figures(job: Job, context: WorkloadContext, emitter: Emitter, seed: int) -> Mapping[Metric, float]:
    figures: dict[Metric, float] = {}

    def emit(event: WorkloadEvent) -> None:
        if isinstance(event, Progress):
            emitter.progress(emitter.step.title, event)
        elif isinstance(event, Measured):
            figures[event.metric] = event.value
        elif isinstance(event, Ran):
            emitter.command_ended(event.finished)

    await engine(job).run(context, emit, seed=seed)
    return figures
