"""Ways of measuring on real filesystems: what a filesystem cannot do is a failure."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest

from fswizard.engines import WorkloadFailed
from fswizard.engines.backup import BackupJob
from fswizard.engines.fileserver import FileServerJob
from fswizard.engines.fio import FioJob
from fswizard.engines.overflow import OverflowJob
from fswizard.engines.rsync import RsyncJob
from fswizard.engines.sqlite import SqliteJob
from fswizard.engines.tree import TreeJob
from fswizard.model.recipe import Job
from tests.fakes.local_context import figures_of
from tests.loop.devices import run
from tests.loop.loop_context import LoopContext, loop_context

pytestmark = [pytest.mark.root, pytest.mark.loop]

MIB = 1 << 20
IMAGE_SIZES = {"ext4": 64 * MIB, "xfs": 320 * MIB, "btrfs": 384 * MIB}
WRITING: dict[str, Job] = {
    "random-write": FioJob("randwrite", 4096, 4 * MIB, seconds=0.1, depth=8),
    "copy": TreeJob("copy", "small-files", 100, MIB),
}
READING = FioJob("read", MIB, 16 * MIB, seconds=0.1, depth=4)

Open = Callable[[str, int], LoopContext]


@pytest.fixture
def open_site(tmp_path: Path) -> Iterator[Open]:
    """Opens a fresh filesystem of a size; it is gone after the test."""
    with ExitStack() as undo:

        def open_(filesystem: str, size_bytes: int) -> LoopContext:
            return undo.enter_context(loop_context(tmp_path, filesystem, size_bytes))

        yield open_


async def failure_of(job: Job, context: LoopContext) -> WorkloadFailed:
    with pytest.raises(WorkloadFailed) as caught:
        await figures_of(job, context)
    return caught.value


def fill(context: LoopContext) -> None:
    """Leave no room at all: one file as large as it can be, then ever smaller writes to its end."""
    with suppress(OSError), open(f"{context.directory}/filling", "ab", buffering=0) as file:
        for size in (MIB, 4096):
            with suppress(OSError):
                while True:
                    file.write(b"x" * size)
        os.fsync(file.fileno())


MARKS = {"install": "dpkg", "repository": "git", "backup": "borg", "rsync": "rsync", "sqlite": "sqlite3"}
OTHERS = ("xfs", "btrfs")
JOBS = ("large-file", "laid-out", "tree", "archive", "file-server", "nearly-full", "overflow", *MARKS)
CASES = [pytest.param(job, "ext4", marks=[getattr(pytest.mark, MARKS[job])] if job in MARKS else []) for job in JOBS]
CASES += [pytest.param("install", name, marks=[pytest.mark.dpkg, getattr(pytest.mark, name)]) for name in OTHERS]
"""All on ext4, and one that syncs each of its files on the others."""


@pytest.mark.fio
@pytest.mark.parametrize(("job", "filesystem"), CASES)
async def test_a_full_filesystem_is_a_failure_and_leaves_no_half_made_files(
    job: str, filesystem: str, open_site: Open
) -> None:
    size_bytes = IMAGE_SIZES[filesystem]
    most, half = size_bytes * 7 // 5, size_bytes * 3 // 4
    """More than there is room for, and what can be laid out once but not written twice."""
    too_much: dict[str, Job] = {
        "large-file": FioJob("write", MIB, most, depth=4),
        "laid-out": FioJob("randread", 4096, most, seconds=1),
        "tree": TreeJob("copy", "mixed", 20, half),
        "archive": TreeJob("tar", "mixed", 20, half),
        "install": TreeJob("install", "mixed", 20, most),
        "repository": TreeJob("git-status", "mixed", 20, half),
        "file-server": FileServerJob(2, 100, size_bytes // 50, 4096, 1),
        "nearly-full": FileServerJob(2, 20, MIB, 16 * MIB, 3, fill_percent=95),
        "overflow": OverflowJob(most, seconds=1),
        "backup": BackupJob("first", 20, 3 * size_bytes),
        "rsync": RsyncJob("onto", "mixed", 20, most),
        "sqlite": SqliteJob("wal", 100),
    }
    context = open_site(filesystem, size_bytes)
    if job == "sqlite":
        fill(context)
    failed = await failure_of(too_much[job], context)
    assert failed.kind == "ENOSPC"
    assert "No space left on device" in failed.text
    assert [path.name for path in Path(context.directory).iterdir() if path.name.endswith(".part")] == []


async def test_a_filesystem_is_filled_as_far_as_asked_and_worked_on(open_site: Open) -> None:
    context = open_site("ext4", IMAGE_SIZES["ext4"])
    shares = []
    for percent in (60, 85):
        measured = await figures_of(FileServerJob(3, 60, 32_000, 4_000, 0.1, fill_percent=percent), context)
        assert measured["operation_rate"] > 0
        assert measured["preallocation_time"] > 0
        room = os.statvfs(context.directory)
        used = room.f_blocks - room.f_bfree
        shares.append(100 * used / (used + room.f_bavail))
    assert 59 < shares[0] < 68, "the work itself takes a little room, too"
    assert 84 < shares[1] < 97


@pytest.mark.fio
@pytest.mark.parametrize("job", WRITING)
async def test_a_filesystem_that_turned_read_only_is_a_failure(job: str, open_site: Open) -> None:
    context = open_site("ext4", IMAGE_SIZES["ext4"])
    await figures_of(WRITING[job], context)
    run("mount", "-o", "remount,ro", context.directory)
    context.remounting = False
    assert (await failure_of(WRITING[job], context)).kind == "EROFS"


@pytest.mark.fio
async def test_a_disk_that_cannot_be_read_is_a_failure(open_site: Open, tmp_path: Path) -> None:
    context = open_site("ext4", IMAGE_SIZES["ext4"])
    await figures_of(READING, context)
    context.remounting = False
    os.truncate(tmp_path / "image", 8 * MIB)
    assert (await failure_of(READING, context)).kind == "EIO"
