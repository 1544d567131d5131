"""rsync of a tree onto the candidate, or from it, where reading may write access times."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import aclosing

from fswizard.engines import programs, timed
from fswizard.engines.context import WorkloadContext
from fswizard.engines.timed import LaidOut, Timed, Work, reading, writing
from fswizard.model.metrics import BYTES_WRITTEN, CPU, DURATION, FILE_RATE
from fswizard.model.plan import PlannedCommand
from fswizard.model.recipe import RsyncJob
from fswizard.progress.workload_events import Measured, WorkloadEvent
from fswizard.system.process import Finished

WORKER = "tree_worker.py"


async def run(job: RsyncJob, context: WorkloadContext, *, seed: int) -> AsyncGenerator[WorkloadEvent, None]:
    """Lay out the tree, empty the candidate's caches, and copy; the seed counts for nothing.

    The other side is the scratch directory. Its tree is read into memory beforehand, and what comes out
    of the candidate is not synced there, so that its own disk hardly counts.
    """
    programs.put(WORKER, context)

    def figures(finished: Sequence[Finished]) -> Iterator[Measured]:
        duration_s = timed.duration_s(finished)
        yield Measured(DURATION, duration_s)
        yield Measured(FILE_RATE, job.files / duration_s)
        yield Measured(BYTES_WRITTEN, job.total_bytes if job.direction == "onto" else 0)
        yield Measured(CPU, timed.cpu_s(finished))

    async with aclosing(timed.run(_timed(job, context.directory, context.scratch), job, context, figures)) as told:
        async for what in told:
            yield what


def commands(job: RsyncJob) -> tuple[PlannedCommand, ...]:
    """The programs of a job; what an earlier one left in place is not made again."""
    return timed.commands(_timed(job, "MOUNT", "SCRATCH"))


def _timed(job: RsyncJob, directory: str, scratch: str) -> Timed:
    """Nobody else reads the tree on the candidate: by default only the first access writes a time."""
    name = f"rsync-{job.shape}-{job.files}-{job.total_bytes}"
    here, elsewhere = f"{directory}/{name}", f"{scratch}/{name}"
    if job.direction == "from":
        tree = LaidOut(f"{here}-source", (_making(job, f"{here}-source", scratch),), anew=True)
        copying = _copying(job, tree.path, f"{elsewhere}-copy", "from")
        return Timed(copying.text, (copying,), (tree,), removes=(f"{elsewhere}-copy",))
    tree = LaidOut(elsewhere, (_making(job, elsewhere, scratch),))
    argv = ("tar", "--create", "--file=/dev/zero", f"--directory={elsewhere}", ".")  # for /dev/null it would not read
    copying = _copying(job, elsewhere, here, "onto")
    warm_up = (reading(argv, "reading the source into memory", job.total_bytes),)
    return Timed(copying.text, (copying,), (tree,), warm_up, makes=here, writes_bytes=job.total_bytes)


def _copying(job: RsyncJob, source: str, target: str, preposition: str) -> Work:
    text = f"rsync of {job.files:,} files {preposition} the candidate"
    return writing(("rsync", "--archive", f"{source}/", target), text, job.total_bytes)


def _making(job: RsyncJob, directory: str, scratch: str) -> Work:
    arguments = ("make", job.shape, str(job.files), str(job.total_bytes), directory)
    return writing(programs.command(WORKER, *arguments, scratch=scratch), "making the source", job.total_bytes)
