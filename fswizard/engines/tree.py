"""Everyday programs on a directory tree: `cp`, `rm`, `tar`, `find`, `du`, `git status`, an installation, a start."""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from contextlib import aclosing, suppress
from dataclasses import replace
from pathlib import Path

from fswizard.engines import programs, timed
from fswizard.engines.context import WorkloadContext
from fswizard.engines.timed import LaidOut, Timed, Work, reading, writing
from fswizard.model.codec import to_json
from fswizard.model.metrics import BYTES_WRITTEN, CPU, DURATION, FILE_RATE
from fswizard.model.plan import PlannedCommand
from fswizard.model.recipe import TreeJob
from fswizard.model.units import size_text
from fswizard.progress.workload_events import Measured, WorkloadEvent
from fswizard.system.process import Finished

WORKER = "tree_worker.py"
FOUND_BYTES = 16
"""What `find` writes for each file."""

GIT = ("git", "-c", "user.name=fswizard", "-c", "user.email=fswizard@localhost", "-c", "core.hooksPath=/dev/null")


async def run(job: TreeJob, context: WorkloadContext, *, seed: int) -> AsyncGenerator[WorkloadEvent, None]:
    """Make the tree unless it is there (the same one whatever the seed), empty the caches, and work on it."""
    programs.put(WORKER, context)
    if job.own is not None:
        Path(_shape(job, context.scratch)).write_text(json.dumps(to_json(job.own)))

    def figures(finished: Sequence[Finished]) -> Iterator[Measured]:
        duration_s = timed.duration_s(finished)
        yield Measured(DURATION, duration_s)
        yield Measured(FILE_RATE, job.files / duration_s)
        yield Measured(BYTES_WRITTEN, job.total_bytes if job.writes else 0)
        yield Measured(CPU, timed.cpu_s(finished))

    async with aclosing(
        timed.run(_timed(job, context.directory, context.scratch, str(seed)), job, context, figures)
    ) as told:
        async for what in told:
            yield what


def commands(job: TreeJob) -> tuple[PlannedCommand, ...]:
    """The programs of a job; what an earlier workload left in place is not made again."""
    return timed.commands(_timed(job, "MOUNT", "SCRATCH", "SEED"))


def source(job: TreeJob, directory: str, scratch: str) -> LaidOut:
    """The tree itself, below `directory`."""
    path = _path(job, directory)
    return LaidOut(path, (_worker("make", job, path, scratch),))


def _timed(job: TreeJob, directory: str, scratch: str, seed: str) -> Timed:
    tree = source(job, directory, scratch)
    if job.operation in ("copy", "delete", "tar", "untar"):
        return _changing(job, tree)
    if job.operation == "git-status":
        repository = _repository(job, directory, scratch)
        status = replace(
            _git(repository.path, scratch, "asking git what has changed", "status", "--short"),
            share_done=_share_walked(repository.path, begins=0.5),  # it asks for every known file before it walks
        )
        return Timed(f"asking git what has changed among {_words(job)}", (status,), (repository,))
    if job.operation == "install":
        path = f"{tree.path}-installed"
        works = (_worker("install", job, path, scratch),)
        return Timed(f"installing {_words(job)}", works, makes=path, writes_bytes=job.total_bytes)
    if job.operation == "read":
        return Timed(f"reading {_words(job)}", (_worker("read", job, tree.path, scratch, seed),), (tree,))
    text = f"looking at {_words(job)}"
    adding_up = Work(("du", "--summarize", tree.path), text, _share_walked(tree.path))
    return Timed(text, (adding_up if job.operation == "du" else _finding(job, tree.path, text),), (tree,))


def _changing(job: TreeJob, tree: LaidOut) -> Timed:
    copying, packing = _copying(job, tree.path, f"{tree.path}-copy"), _packing(job, tree.path, f"{tree.path}.tar")
    copy, archive = LaidOut(f"{tree.path}-copy", (copying,)), LaidOut(f"{tree.path}.tar", (packing,))
    if job.operation == "delete":
        works = (_deleting(job, copy.path),)
        return Timed(f"deleting {_words(job)}", works, (tree, copy), takes_away=copy.path)
    if job.operation == "untar":
        unpacked = f"{tree.path}-unpacked"
        unpacking = _unpacking(job, archive.path, unpacked)
        return Timed(unpacking.text, (unpacking,), (tree, archive), makes=unpacked, writes_bytes=job.total_bytes)
    made = copy if job.operation == "copy" else archive
    return Timed(made.works[0].text, made.works, (tree,), makes=made.path, writes_bytes=job.total_bytes)


def _finding(job: TreeJob, tree: str, text: str) -> Work:
    """It asks for every file's size, and by what it has written into nothing it is told how far it is."""
    argv = ("find", tree, "-type", "f", "-size", "-1000000G", "-fprintf", "/dev/null", f"%{FOUND_BYTES - 1}s\\n")
    return Work(argv, text, timed.share_of("wchar", job.files * FOUND_BYTES), job.files, "1/s")


def _share_walked(tree: str, *, begins: float = 0.0) -> Callable[[int], float]:
    """By the directory that a process has open: those at the top of a tree are walked in the order of their listing.

    The walk begins when `begins` of the whole is done.
    """
    name = os.path.basename(tree)
    order: dict[str, int] = {}

    def share_done(pid: int) -> float:
        if not order:
            order.update((top, number) for number, top in enumerate(os.listdir(f"/proc/{pid}/cwd/{name}")))
        for descriptor in os.listdir(f"/proc/{pid}/fd"):
            with suppress(FileNotFoundError):  # closed meanwhile
                _, _, below = os.readlink(f"/proc/{pid}/fd/{descriptor}").partition(f"/{name}/")
                if (top := below.split("/")[0]) in order:
                    return begins + (1 - begins) * order[top] / len(order)
        return 0.0

    return share_done


def _copying(job: TreeJob, tree: str, copy: str) -> Work:
    """Without reflinks: sharing blocks would be no copy, and only some candidates can."""
    return writing(("cp", "-a", "--reflink=never", tree, copy), f"copying {_words(job)}", job.total_bytes)


def _packing(job: TreeJob, tree: str, archive: str) -> Work:
    argv = ("tar", "--create", f"--file={archive}", f"--directory={tree}", ".")
    return writing(argv, f"packing {_words(job)}", job.total_bytes)


def _unpacking(job: TreeJob, archive: str, directory: str) -> Work:
    argv = ("tar", "--extract", f"--file={archive}", f"--one-top-level={directory}")
    return writing(argv, f"unpacking {_words(job)}", job.total_bytes)


def _deleting(job: TreeJob, copy: str) -> Work:
    """Its share is that of the tree's top directories that are gone, seen through its own eyes."""
    at_first = 0

    def share_done(pid: int) -> float:
        nonlocal at_first
        left = len(os.listdir(f"/proc/{pid}/cwd/{os.path.basename(copy)}"))
        at_first = max(at_first, left)
        return 1 - left / at_first if at_first else 1.0

    return Work(("rm", "-rf", copy), f"deleting {_words(job)}", share_done, job.files, "1/s")


def _repository(job: TreeJob, directory: str, scratch: str) -> LaidOut:
    path = f"{_path(job, directory)}-repository"
    adding = _git(path, scratch, "adding its files", "add", "--all")
    works = (
        _worker("make", job, path, scratch),
        _git(path, scratch, "making it a repository", "init", "--quiet"),
        replace(adding, share_done=timed.share_of("rchar", job.total_bytes)),
        _git(path, scratch, "committing them", "commit", "--quiet", "--message=all"),
    )
    return LaidOut(path, works)


def _git(repository: str, scratch: str, text: str, *arguments: str) -> Work:
    """Without the user's own settings, which may sign, or start programs."""
    return Work((*GIT, "-C", repository, *arguments), text, env={"HOME": scratch, "XDG_CONFIG_HOME": scratch})


def _worker(what: str, job: TreeJob, directory: str, scratch: str, *more: str) -> Work:
    arguments = (what, _shape(job, scratch), str(job.files), str(job.total_bytes), directory, *more)
    argv = programs.command(WORKER, *arguments, scratch=scratch)
    if what == "read":
        return reading(argv, f"reading {_words(job)}", job.total_bytes)
    text = f"making a tree of {job.files:,} files, {size_text(job.total_bytes)}"
    return writing(argv, text if what == "make" else f"installing {_words(job)}", job.total_bytes)


def _shape(job: TreeJob, scratch: str) -> str:
    """What the worker is told of the shape: its name, or a file that describes it."""
    return job.shape if job.own is None else f"{scratch}/{_name(job)}.json"


def _path(job: TreeJob, directory: str) -> str:
    return f"{directory}/{_name(job)}"


def _name(job: TreeJob) -> str:
    """The same for all jobs on the same tree, and for no others."""
    which = f"-{zlib.crc32(repr(job.own).encode()):08x}" if job.own else ""
    return f"{job.shape}{which}-{job.files}-{job.total_bytes}"


def _words(job: TreeJob) -> str:
    kind = {"source": "source files", "mixed": "mixed files", "own": "files like your own"}.get(
        job.shape, "small files"
    )
    return f"{job.files:,} {kind}"
