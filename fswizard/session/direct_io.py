"""Check whether direct I/O is direct on a candidate, before the first workload that relies on it."""

from __future__ import annotations

from fswizard.engines import WorkloadContext, cached_share
from fswizard.language import _, joined
from fswizard.model.filesystem import Candidate
from fswizard.model.metrics import DIRECT_CACHED, MOST_CACHED
from fswizard.model.plan import Plan
from fswizard.model.result import Doubt
from fswizard.model.units import share_text
from fswizard.progress.emitter import Emitter


async def check(plan: Plan, candidate: Candidate, context: WorkloadContext, emitter: Emitter) -> None:
    """Record how much of a direct write was in memory, and raise a doubt if necessary."""
    emitter.begin("check", _("checking whether direct I/O really is direct"))
    try:
        share = await cached_share(context)
    except OSError as error:  # of the scratch directory, which belongs to no candidate
        emitter.skipped(_("Couldn't check: {error}.", error=error))
        return
    if share is None:  # it refuses direct I/O, so the workload will fail
        return
    emitter.sample(DIRECT_CACHED, share)
    if share > MOST_CACHED:
        text = _(
            "{candidate} kept {share} of a direct write (O_DIRECT) in memory: its figures for {titles} say less about "
            "the disk, and nothing about programs that write normally, as most do.",
            candidate=candidate.name,
            share=share_text(share),
            titles=joined([_(workload.title) for workload in plan.recipe.workloads if workload.job.direct], ", "),
        )
        emitter.doubt(Doubt(f"{candidate.filesystem.name}-not-direct".lower(), text))
