"""Backups with borg: the first one of a tree, then one of a second, mostly equal copy."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import aclosing

from fswizard.engines import WorkloadFailed, programs, timed
from fswizard.engines.context import WorkloadContext
from fswizard.engines.timed import LaidOut, Timed, Work, reading, writing
from fswizard.model.metrics import BYTES_WRITTEN, CPU, DURATION, FILE_RATE
from fswizard.model.plan import PlannedCommand
from fswizard.model.recipe import BackupJob
from fswizard.progress.workload_events import Measured, WorkloadEvent
from fswizard.system.process import Finished

WORKER = "tree_worker.py"
CHANGED_EVERY = 20
"""Of so many files one has other content in the second copy."""


async def run(job: BackupJob, context: WorkloadContext, *, seed: int) -> AsyncGenerator[WorkloadEvent, None]:
    """Lay out the source and the repository, empty the caches, and make an archive; the seed counts for nothing."""
    programs.put(WORKER, context)

    def figures(finished: Sequence[Finished]) -> Iterator[Measured]:
        duration_s = timed.duration_s(finished)
        yield Measured(DURATION, duration_s)
        yield Measured(FILE_RATE, job.files / duration_s)
        yield Measured(BYTES_WRITTEN, _stored_bytes(finished[0]))
        yield Measured(CPU, timed.cpu_s(finished))

    async with aclosing(timed.run(_timed(job, context.directory, context.scratch), job, context, figures)) as told:
        async for what in told:
            yield what


def commands(job: BackupJob) -> tuple[PlannedCommand, ...]:
    """The programs of a job; what an earlier workload left in place is not made again."""
    return timed.commands(_timed(job, "MOUNT", "SCRATCH"))


def _timed(job: BackupJob, directory: str, scratch: str) -> Timed:
    """The source lies on the candidate, too: what is read and what is written are both its own."""
    base = f"{directory}/backup-{job.files}-{job.total_bytes}"
    source, again, repository = f"{base}-source", f"{base}-source-again", f"{base}-repository"
    first = _archive(job, source, repository, scratch)

    def tree(path: str, *changed: str) -> LaidOut:
        return LaidOut(path, (_making(job, path, scratch, *changed),))

    forget = Work(("rm", "-rf", f"{scratch}/borg"), "forgetting earlier repositories")
    argv = ("borg", "init", "--encryption=none", repository)
    make = (forget, Work(argv, "making a repository", env=_environment(scratch)))
    if job.archive == "first":
        return Timed(first.text, (first,), (tree(source), LaidOut(repository, make, anew=True)))
    begun = LaidOut(repository, (*make, first))
    second = _archive(job, again, repository, scratch)
    return Timed(second.text, (second,), (tree(source), begun, tree(again, str(CHANGED_EVERY))))


def _archive(job: BackupJob, source: str, repository: str, scratch: str) -> Work:
    which, name = ("second copy", "second-{now:%s%f}") if source.endswith("again") else ("source", "first")
    argv = ("borg", "create", "--json", f"{repository}::{name}", source)
    return reading(argv, f"backing up the {which}, {job.files:,} files", job.total_bytes, _environment(scratch))


def _stored_bytes(created: Finished) -> int:
    """What borg has put into its repository, by its own account."""
    try:
        return int(json.loads(created.stdout)["archive"]["stats"]["deduplicated_size"])
    except (ValueError, KeyError, TypeError) as error:
        raise WorkloadFailed("program", "borg does not say what it has stored.", created.output) from error


def _environment(scratch: str) -> dict[str, str]:
    """Borg's settings, cache and list of known repositories are the run's own."""
    return {"BORG_BASE_DIR": f"{scratch}/borg"}


def _making(job: BackupJob, directory: str, scratch: str, *changed: str) -> Work:
    arguments = ("make", "mixed", str(job.files), str(job.total_bytes), directory, *changed)
    argv = programs.command(WORKER, *arguments, scratch=scratch)
    return writing(argv, f"making {'the second copy' if changed else 'the source'}", job.total_bytes)
