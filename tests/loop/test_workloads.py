"""Ways of measuring on real filesystems: what a filesystem cannot do is a failure."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from fswizard.engines import WorkloadFailed
from fswizard.engines.fileserver import FileServerJob
from fswizard.engines.fio import FioJob
from fswizard.engines.sqlite import SqliteJob
from fswizard.engines.tree import TreeJob
from fswizard.model.recipe import Job
from tests.fakes.local_context import figures_of
from tests.loop.devices import run
from tests.loop.failing_host import fill
from tests.loop.loop_context import LoopContext, loop_context

pytestmark = [pytest.mark.root, pytest.mark.loop]

MIB = 1 << 20
IMAGE_SIZES = {"ext4": 64 * MIB, "xfs": 320 * MIB, "btrfs": 384 * MIB}
WRITING: dict[str, Job] = {
    "random-write": FioJob("randwrite", 4096, 4 * MIB, seconds=0.1, depth=8),
    "copy": TreeJob("copy", "small-files", 100, MIB),
}
READING = FioJob("read", MIB, 16 * MIB, seconds=0.1, depth=4)


@pytest.fixture
def context(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[LoopContext]:
    """A fresh filesystem."""
    filesystem = getattr(request, "param", "ext4")
    with loop_context(tmp_path, filesystem, IMAGE_SIZES[filesystem]) as opened:
        yield opened


async def failure_of(job: Job, context: LoopContext) -> WorkloadFailed:
    with pytest.raises(WorkloadFailed) as caught:
        await figures_of(job, context)
    return caught.value


MARKS = {"install": "dpkg", "backup": "borg", "rsync": "rsync", "sqlite": "sqlite3"}
OTHERS = ("xfs", "btrfs")
JOBS = ("large-file", "laid-out", "tree", "file-server", "nearly-full", *MARKS)
CASES = [pytest.param(job, "ext4", marks=[getattr(pytest.mark, MARKS[job])] if job in MARKS else []) for job in JOBS]
CASES += [
    pytest.param("install", name, marks=[pytest.mark.slow, pytest.mark.dpkg, getattr(pytest.mark, name)])
    for name in OTHERS
]
"""All on ext4, and one that syncs each of its files on the others."""


@pytest.mark.fio
@pytest.mark.parametrize(("job", "context"), CASES, indirect=["context"])
async def test_a_full_filesystem_is_a_failure_and_leaves_no_half_made_files(job: str, context: LoopContext) -> None:
    size_bytes = IMAGE_SIZES[context.filesystem]
    most, half = size_bytes * 7 // 5, size_bytes * 3 // 4
    """More than there is room for, and what can be laid out once but not written twice."""
    too_much: dict[str, Job] = {
        "large-file": FioJob("write", MIB, most, depth=4),
        "laid-out": FioJob("randread", 4096, most, seconds=1),
        "tree": TreeJob("copy", "mixed", 20, half),
        "install": TreeJob("install", "mixed", 20, most),
        "file-server": FileServerJob(2, 100, size_bytes // 50, 4096, 1),
        "nearly-full": TreeJob("copy-onto", "mixed", 20, size_bytes // 8, fill_percent=95),
        "backup": TreeJob("backup", "mixed", 20, 3 * size_bytes),
        "rsync": TreeJob("rsync-onto", "mixed", 20, most),
        "sqlite": SqliteJob("wal", 100),
    }
    if job == "sqlite":
        fill(Path(context.directory))
    failed = await failure_of(too_much[job], context)
    assert failed.kind == "ENOSPC"
    assert "No space left on device" in failed.text
    assert [path.name for path in Path(context.directory).iterdir() if path.name.endswith(".part")] == []


async def test_a_filesystem_is_filled_as_far_as_asked_and_worked_on(context: LoopContext) -> None:
    shares = []
    for percent in (60, 85):
        job = TreeJob("copy-onto", "mixed", 60, MIB, fill_percent=percent)
        assert (await figures_of(job, context))["bytes_written"] == MIB
        room = os.statvfs(context.directory)
        used = room.f_blocks - room.f_bfree
        shares.append(100 * used / (used + room.f_bavail))
    assert 59 < shares[0] < 68, "the work itself takes a little room, too"
    assert 84 < shares[1] < 97


@pytest.mark.fio
@pytest.mark.parametrize("job", WRITING)
async def test_a_filesystem_that_turned_read_only_is_a_failure(job: str, context: LoopContext) -> None:
    await figures_of(WRITING[job], context)
    run("mount", "-o", "remount,ro", context.directory)
    context.remounting = False
    assert (await failure_of(WRITING[job], context)).kind == "EROFS"


@pytest.mark.fio
async def test_a_disk_that_cannot_be_read_is_a_failure(context: LoopContext, tmp_path: Path) -> None:
    await figures_of(READING, context)
    context.remounting = False
    os.truncate(tmp_path / "image", 8 * MIB)
    assert (await failure_of(READING, context)).kind == "EIO"
