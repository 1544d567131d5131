"""Check whether direct I/O is direct on a candidate, before the first workload that relies on it."""

from __future__ import annotations

from fswizard.engines import WorkloadContext, cached_share
from fswizard.language import _, joined, number
from fswizard.model.filesystem import Candidate
from fswizard.model.metrics import DIRECT_CACHED, MOST_CACHED
from fswizard.model.plan import Plan
from fswizard.model.result import Doubt
from fswizard.progress.emitter import Emitter


async def check(plan: Plan, candidate: Candidate, context: WorkloadContext, emitter: Emitter) -> None:
    """Record how much of a direct write was in memory, and raise a doubt if necessary."""
    emitter.begin("check", _("checking whether direct I/O really is direct"))
    try:
        share = await cached_share(context)
    except OSError as error:  # of the scratch directory, which belongs to no candidate
        emitter.skipped(_("Couldn't check: {error}.", error=error))
        return
    titles = joined([_(workload.title) for workload in plan.recipe.workloads if workload.job.direct], ", ")
    text = ""
    if share is None:
        text = _("{candidate} refuses direct I/O (O_DIRECT), so it cannot do {titles}.",
                 candidate=candidate.name, titles=titles)  # fmt: skip
    else:
        emitter.sample(DIRECT_CACHED, share)
    if share is not None and share > MOST_CACHED:
        text = _(
            "{candidate} kept {share} of a direct write (O_DIRECT) in memory: its figures for {titles} say less about "
            "the disk, and nothing about programs that write normally, as most do.",
            candidate=candidate.name,
            share=number(f"{share:.0%}"),
            titles=titles,
        )
    if text:
        emitter.doubt(Doubt(f"{candidate.filesystem.name}-not-direct".lower(), text))
