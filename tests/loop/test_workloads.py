"""Every way of measuring on real filesystems: its figures are sane, and what a filesystem cannot do is a failure."""

from __future__ import annotations

import json
import math
import os
import statistics
from collections.abc import Callable, Iterator
from contextlib import ExitStack, aclosing, suppress
from pathlib import Path

import pytest

from fswizard.bench import workloads
from fswizard.bench.device import counters
from fswizard.bench.workloads import Measured, WorkloadFailed
from fswizard.model.recipe import (
    BackupJob,
    FileServerJob,
    FioJob,
    Job,
    OverflowJob,
    RsyncJob,
    SqliteJob,
    TreeJob,
    TreeShape,
)
from tests.loop.loop_site import LoopSite, loop_site, run

pytestmark = [pytest.mark.root, pytest.mark.loop]

MIB = 1 << 20
FILESYSTEMS = ["ext4", pytest.param("xfs", marks=pytest.mark.xfs), pytest.param("btrfs", marks=pytest.mark.btrfs)]
IMAGE_SIZES = {"ext4": "320M", "xfs": "320M", "btrfs": "384M"}
WRITING: dict[str, Job] = {
    "new-file": FioJob("write", MIB, 48 * MIB, depth=4),
    "random-write": FioJob("randwrite", 4096, 32 * MIB, seconds=0.4, depth=8),
    "sixteen-jobs": FioJob("randwrite", 4096, 32 * MIB, seconds=0.4, jobs=16, io_engine="psync"),
    "fsync": FioJob("randwrite", 4096, 32 * MIB, seconds=0.4, direct=False, fsync=8),
    "copy": TreeJob("copy", "small-files", 500, 4 * MIB),
    "own": TreeJob("copy", "own", 300, 4 * MIB, TreeShape((0, 900, 90_000), (100, 200), (1, 40), 0.3)),
    "tar": TreeJob("tar", "small-files", 500, 4 * MIB),
    "untar": TreeJob("untar", "small-files", 500, 4 * MIB),
    "install": TreeJob("install", "small-files", 500, 4 * MIB),
    "rsync-onto": RsyncJob("onto", "mixed", 100, 8 * MIB),
    "file-server": FileServerJob(3, 120, 64_000, 4_000, 0.5),
}
WRITING_ONCE = ("new-file", "copy", "own", "tar", "untar", "install", "rsync-onto")
"""The others write the same place twice before the disk sees it."""
READING: dict[str, Job] = {
    "read": FioJob("read", MIB, 32 * MIB, seconds=0.4, depth=4),
    "mixed": FioJob("randrw", 4096, 32 * MIB, seconds=0.4, depth=4),
    "delete": TreeJob("delete", "mixed", 100, 8 * MIB),
    "find": TreeJob("find", "small-files", 500, 4 * MIB),
    "du": TreeJob("du", "small-files", 500, 4 * MIB),
    "git-status": TreeJob("git-status", "small-files", 500, 4 * MIB),
    "start": TreeJob("read", "small-files", 500, 4 * MIB),
    "first-backup": BackupJob("first", 100, 8 * MIB),
    "second-backup": BackupJob("second", 100, 8 * MIB),
    "rsync-from": RsyncJob("from", "small-files", 500, 4 * MIB),
    "sqlite-wal": SqliteJob("wal", 100),
    "sqlite-journal": SqliteJob("delete", 100),
    "overflow": OverflowJob(32 * MIB, seconds=2.5),
}
WITHIN_A_TICK = ("delete", "find", "du")
"""So short that the kernel may count no processor time at all."""
PRIMARY = {
    FioJob: "throughput",
    TreeJob: "duration",
    FileServerJob: "operation_rate",
    BackupJob: "duration",
    RsyncJob: "duration",
    SqliteJob: "operation_rate",
    OverflowJob: "sustained_rate",
}

Open = Callable[[str, str], LoopSite]


@pytest.fixture
def open_site(tmp_path: Path) -> Iterator[Open]:
    """Opens a fresh filesystem of a size; it is gone after the test."""
    with ExitStack() as undo:

        def open_(filesystem: str, size: str) -> LoopSite:
            return undo.enter_context(loop_site(tmp_path, filesystem, size))

        yield open_


async def figures_of(job: Job, site: LoopSite, seed: int = 7) -> dict[str, float]:
    async with aclosing(workloads.run(job, site, seed=seed)) as told:
        return {what.metric.name: what.value async for what in told if isinstance(what, Measured)}


async def failure_of(job: Job, site: LoopSite) -> WorkloadFailed:
    with pytest.raises(WorkloadFailed) as caught:
        await figures_of(job, site)
    return caught.value


def fill(site: LoopSite) -> None:
    """Leave no room at all: one file as large as it can be, then ever smaller writes to its end."""
    with suppress(OSError), open(f"{site.directory}/filling", "ab", buffering=0) as file:
        for size in (MIB, 4096):
            with suppress(OSError):
                while True:
                    file.write(b"x" * size)
        os.fsync(file.fileno())


@pytest.mark.fio
@pytest.mark.borg
@pytest.mark.rsync
@pytest.mark.git
@pytest.mark.sqlite3
@pytest.mark.parametrize("filesystem", FILESYSTEMS)
async def test_all_figures_of_all_engines_are_sane(filesystem: str, open_site: Open) -> None:
    site = open_site(filesystem, IMAGE_SIZES[filesystem])
    for name, job in {**WRITING, **READING}.items():
        before = counters(site.device)
        measured = await figures_of(job, site)
        run("sync", "--file-system", site.directory)
        after = counters(site.device)
        assert before and after
        assert all(math.isfinite(value) and value >= 0 for value in measured.values()), name
        assert measured["cpu"] > 0 or name in WITHIN_A_TICK, name
        for prefix in {metric.removesuffix("median_latency") for metric in measured if "median_latency" in metric}:
            three = [measured[f"{prefix}{which}_latency"] for which in ("median", "p99", "worst")]
            assert 0 < three[0] <= three[1] <= three[2], (name, prefix)
        if name in WRITING_ONCE:
            assert after.written_bytes - before.written_bytes >= measured["bytes_written"] > 0, name
        if name in WRITING:
            assert measured["bytes_written"] > 0, name
        assert measured[PRIMARY[type(job)]] > 0, name


@pytest.mark.fio
@pytest.mark.parametrize("filesystem", FILESYSTEMS)
@pytest.mark.parametrize(
    "job",
    [
        *("large-file", "laid-out", "tree", "archive", "install", "file-server", "nearly-full", "overflow"),
        pytest.param("repository", marks=pytest.mark.git),
        pytest.param("backup", marks=pytest.mark.borg),
        pytest.param("rsync", marks=pytest.mark.rsync),
        pytest.param("sqlite", marks=pytest.mark.sqlite3),
    ],
)
async def test_a_full_filesystem_is_a_failure_and_leaves_no_half_made_files(
    job: str, filesystem: str, open_site: Open
) -> None:
    too_much: dict[str, Job] = {
        "large-file": FioJob("write", MIB, 600 * MIB, depth=4),
        "laid-out": FioJob("randread", 4096, 600 * MIB, seconds=1),
        "tree": TreeJob("copy", "mixed", 20, 250 * MIB),
        "archive": TreeJob("tar", "mixed", 20, 250 * MIB),
        "install": TreeJob("install", "mixed", 20, 450 * MIB),
        "repository": TreeJob("git-status", "mixed", 20, 250 * MIB),
        "file-server": FileServerJob(2, 100, 6 * MIB, 4096, 1),
        "nearly-full": FileServerJob(2, 20, MIB, 16 * MIB, 3, fill_percent=95),
        "overflow": OverflowJob(600 * MIB, seconds=1),
        "backup": BackupJob("first", 20, 260 * MIB),
        "rsync": RsyncJob("onto", "mixed", 20, 450 * MIB),
        "sqlite": SqliteJob("wal", 100),
    }
    site = open_site(filesystem, IMAGE_SIZES[filesystem])
    if job == "sqlite":
        fill(site)
    failed = await failure_of(too_much[job], site)
    assert failed.kind == "ENOSPC"
    assert "No space left on device" in failed.text
    assert [path.name for path in Path(site.directory).iterdir() if path.name.endswith(".part")] == []


@pytest.mark.parametrize("filesystem", FILESYSTEMS)
async def test_a_filesystem_is_filled_as_far_as_asked_and_worked_on(filesystem: str, open_site: Open) -> None:
    site = open_site(filesystem, IMAGE_SIZES[filesystem])
    shares = []
    for percent in (60, 85):
        measured = await figures_of(FileServerJob(3, 60, 32_000, 4_000, 0.4, fill_percent=percent), site)
        assert measured["operation_rate"] > 0
        room = os.statvfs(site.directory)
        used = room.f_blocks - room.f_bfree
        shares.append(100 * used / (used + room.f_bavail))
    assert 59 < shares[0] < 68, "the work itself takes a little room, too"
    assert 84 < shares[1] < 97


@pytest.mark.fio
@pytest.mark.parametrize("job", ["random-write", "copy", "file-server"])
async def test_a_filesystem_that_turned_read_only_is_a_failure(job: str, open_site: Open) -> None:
    site = open_site("ext4", IMAGE_SIZES["ext4"])
    await figures_of(WRITING[job], site)
    run("mount", "-o", "remount,ro", site.directory)
    site.remounting = False
    assert (await failure_of(WRITING[job], site)).kind == "EROFS"


@pytest.mark.fio
async def test_a_disk_that_cannot_be_read_is_a_failure(open_site: Open, tmp_path: Path) -> None:
    site = open_site("ext4", IMAGE_SIZES["ext4"])
    await figures_of(READING["read"], site)
    site.remounting = False
    os.truncate(tmp_path / "image", 8 * MIB)
    assert (await failure_of(READING["read"], site)).kind == "EIO"


@pytest.mark.fio
async def test_the_same_seed_touches_the_same_blocks(open_site: Open) -> None:
    site = open_site("ext4", IMAGE_SIZES["ext4"])
    once = FioJob("randwrite", 4096, 4 * MIB, io_engine="psync")
    await figures_of(once, site, seed=3)
    seeds = []
    for number, seed in enumerate((3, 3, 4)):
        log = f"{site.scratch}/blocks-{number}"
        command = workloads.commands(once)[1].argv
        argv = [word.replace("MOUNT", site.directory).replace("SEED", str(seed)) for word in command]
        run(*argv, f"--write_iolog={log}")
        seeds.append([line.split()[-2:] for line in Path(log).read_text().splitlines() if " write " in line])
    assert len(seeds[0]) == 1024
    assert seeds[0] == seeds[1] != seeds[2]


@pytest.mark.fio
@pytest.mark.slow
async def test_fio_run_by_hand_agrees(open_site: Open) -> None:
    """Measured in pairs on the same file: the mean of the log ratios lies within its own noise."""
    site = open_site("ext4", IMAGE_SIZES["ext4"])
    job = FioJob("randread", 4096, 64 * MIB, seconds=1.0, depth=16)
    ours, by_hand = [], []
    for _ in range(6):
        ours.append((await figures_of(job, site))["iops"])
        argv = ["fio", "--name=x", f"--filename={site.directory}/fio-64M", "--rw=randread", "--bs=4k", "--direct=1"]
        argv += ["--size=64M", "--ioengine=libaio", "--iodepth=16", "--time_based", "--runtime=1"]
        by_hand.append(json.loads(run(*argv, "--output-format=json"))["jobs"][0]["read"]["iops"])
    logs = [math.log(one / other) for one, other in zip(ours, by_hand)]
    noise = 2.6 * max(statistics.stdev(logs), 0.02) / math.sqrt(len(logs))
    assert abs(statistics.mean(logs)) < noise
