"""Whether direct I/O is direct on a candidate, asked before the first workload that relies on it."""

from __future__ import annotations

from fswizard.engines import WorkloadContext, cached_share
from fswizard.model.filesystem import Candidate
from fswizard.model.metrics import DIRECT_CACHED, MOST_CACHED
from fswizard.model.plan import Plan
from fswizard.model.result import Doubt
from fswizard.progress.emitter import Emitter
from fswizard.system import host

BUFFERED_SINCE = (6, 15)
"""The version of Linux that has Btrfs write checksummed files through memory."""


def is_buffered(candidate: Candidate) -> bool:
    """Whether its direct writes are expected to go through memory, as those of Btrfs with checksums do."""
    if candidate.encrypts_directories:
        return True
    unchecked = {"nodatasum", "nodatacow"} & set(candidate.mount_options)
    return candidate.filesystem.name == "btrfs" and not unchecked and host.this.kernel() >= BUFFERED_SINCE


async def check(plan: Plan, candidate: Candidate, context: WorkloadContext, emitter: Emitter) -> None:
    """Record how much of a direct write is in memory, and raise the doubt that follows from it."""
    emitter.begin("check", "checking whether direct I/O really is direct")
    try:
        share = await cached_share(context)
    except OSError as error:  # of the scratch directory, which belongs to no candidate
        emitter.skipped(f"Couldn't check: {error}.")
        return
    if share is not None:
        emitter.sample(DIRECT_CACHED, share)
    if share is None or share > MOST_CACHED:
        emitter.doubt(_doubt(plan, candidate, share))


def _doubt(plan: Plan, candidate: Candidate, share: float | None) -> Doubt:
    titles = ", ".join(workload.title for workload in plan.recipe.workloads if workload.job.direct)
    code = f"{candidate.filesystem.name}-not-direct".lower()
    if share is None:
        return Doubt(code, f"{candidate.name} refuses direct I/O (O_DIRECT), so it cannot do {titles}.")
    why = ", as Btrfs does with checksummed files since Linux 6.15" if candidate.filesystem.name == "btrfs" else ""
    if candidate.encrypts_directories:
        why = ", as it does with encrypted files"
    return Doubt(
        code,
        f"{candidate.name} kept {share:.0%} of a direct write (O_DIRECT) in memory{why}: its figures for {titles} say "
        "less about the disk, and nothing about programs that write normally, as most do.",
    )
