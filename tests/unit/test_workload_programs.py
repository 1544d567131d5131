"""The programs that do a workload's work: the tree is the same every time, and no program outlives its workload."""

from __future__ import annotations

import asyncio
import gzip
import hashlib
import json
import math
import os
import signal
import sqlite3
import statistics
import subprocess
import zlib
from collections import Counter
from collections.abc import Callable, Coroutine, Mapping
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import psutil
import pytest

from fswizard import engines
from fswizard.engines import WorkloadDisturbed, WorkloadFailed, sqlite
from fswizard.engines.backup import BackupJob
from fswizard.engines.fileserver import FileServerJob
from fswizard.engines.fio import FioJob
from fswizard.engines.overflow import OverflowJob
from fswizard.engines.rsync import RsyncJob
from fswizard.engines.shared import tree_worker
from fswizard.engines.shared.engine import Timed, making
from fswizard.engines.shared.fileserver_worker import BUCKETS_IN_OCTAVE, summary
from fswizard.engines.shared.programs import failure, succeed, watch
from fswizard.engines.shared.trees import LEFT_BY_COMPRESSION, TreeShape, shipped_shapes
from fswizard.engines.sqlite import SqliteJob
from fswizard.engines.tree import TreeJob
from fswizard.errors import OutOfMemory, Refused
from fswizard.model.codec import from_json, to_json
from fswizard.model.recipe import Job
from fswizard.progress.workload_events import Doing, Measured, Progress, WorkloadEvent
from fswizard.system.process import Finished, is_stopped
from tests.fakes.clock import SimulatedClock
from tests.fakes.local_context import LocalContext, figures_of
from tests.loop.machine_state import wait_until

T = TypeVar("T")
MIB = 1 << 20
COPY = TreeJob("copy", "small-files", 200, MIB)
PROGRAM = {"fio": "fio", "overflow": "fio", "backup": "borg", "rsync": "rsync", "sqlite": "sqlite3"}
"""The markers of tests that need a program for an engine."""
JOBS: Mapping[str, Job] = {
    "fio": FioJob("randwrite", 4096, 8 * MIB, seconds=0.5, depth=4, direct=False, fsync=8),
    "tree": COPY,
    "fileserver": FileServerJob(threads=3, files=60, mean_file_bytes=20_000, mean_append_bytes=1000, seconds=0.5),
    "backup": BackupJob("second", 60, 3 * MIB),
    "rsync": RsyncJob("onto", "mixed", 60, MIB),
    "sqlite": SqliteJob("wal", 50),
    "overflow": OverflowJob(8 * MIB, seconds=2.5),
}
ENGINES = [
    pytest.param(engine, marks=getattr(pytest.mark, PROGRAM[engine])) if engine in PROGRAM else engine
    for engine in JOBS
]


@pytest.fixture
def context(tmp_path: Path) -> LocalContext:
    (tmp_path / "there").mkdir()
    (tmp_path / "scratch").mkdir()
    return LocalContext(str(tmp_path / "there"), str(tmp_path / "scratch"))


def checksums(directory: Path) -> dict[str, str]:
    files = (path for path in directory.rglob("*") if path.is_file())
    return {str(path.relative_to(directory)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def living(group: int) -> list[psutil.Process]:
    """The processes in a process group that have not ended."""
    found = []
    for process in psutil.process_iter(["name", "status"]):
        with suppress(ProcessLookupError):
            if process.info["status"] != psutil.STATUS_ZOMBIE and os.getpgid(process.pid) == group:
                found.append(process)
    return found


@pytest.mark.parametrize("shape", ["small-files", "mixed", *shipped_shapes()])
def test_a_tree_made_twice_is_identical_and_of_the_size_asked_for(tmp_path: Path, shape: str) -> None:
    job = from_json(TreeJob, {"operation": "copy", "shape": shape, "files": 400, "total_bytes": 3 * MIB})
    argument = shape
    if job.described is not None:
        argument = str(tmp_path / "shape.json")
        Path(argument).write_text(json.dumps(to_json(job.described)))
    for name in ("one", "two"):
        tree_worker.Tree(argument, 400, 3 * MIB).make(str(tmp_path / name))
    assert checksums(tmp_path / "one") == checksums(tmp_path / "two")
    sizes = [path.stat().st_size for path in (tmp_path / "one").rglob("*") if path.is_file()]
    assert (len(sizes), sum(sizes)) == (400, 3 * MIB)


@pytest.mark.parametrize("shape", ["small-files", "mixed"])
def test_of_what_is_generated_as_much_is_left_by_compression_as_is_stated(shape: str, tmp_path: Path) -> None:
    # By the kernel's pages, as filesystems compress at the least, and as a whole.
    tree_worker.Tree(shape, 40, 4 * MIB).make(str(tmp_path / "tree"))
    content = b"".join(path.read_bytes() for path in sorted((tmp_path / "tree").rglob("*")) if path.is_file())
    pages = [content[at : at + 4096] for at in range(0, len(content), 4096)]
    for left in (len(zlib.compress(content)), sum(len(zlib.compress(page)) for page in pages)):
        assert left / len(content) == pytest.approx(LEFT_BY_COMPRESSION, abs=0.03)
    assert len(gzip.compress(content)) / len(content) == pytest.approx(LEFT_BY_COMPRESSION, abs=0.03)


def test_sizes_of_files_and_percentiles_of_latencies_are_distributed_as_stated() -> None:
    small = [size for _, size, _ in tree_worker.Tree("small-files", 3000, 12 * MIB).entries]
    mixed = [size for _, size, _ in tree_worker.Tree("mixed", 3000, 350 * MIB).entries]
    assert max(small) < 40 * statistics.median(small)
    assert max(mixed) > 300 * statistics.median(mixed)
    latencies = [1000 * 1.001**i for i in range(10_000)]
    buckets = Counter(int(math.log2(latency) * BUCKETS_IN_OCTAVE) for latency in latencies)
    told = summary(int(sum(latencies)), int(latencies[-1]), buckets)
    assert told["count"] == 10_000
    assert told["median_s"] == pytest.approx(latencies[4999] / 1e9, rel=0.045)
    assert told["p99_s"] == pytest.approx(latencies[9899] / 1e9, rel=0.045)
    assert told["mean_s"] == pytest.approx(statistics.mean(latencies) / 1e9, rel=1e-6)


@pytest.mark.parametrize(
    ("job", "units", "asked", "files", "total_bytes"),
    [
        (TreeJob("untar", "source", 8000, 80 * MIB), 80, 3, 300, 3 * MIB),
        (TreeJob("install", "mixed", 600, 30 * MIB), 30, 2, 40, 2 * MIB),
        (TreeJob("start", "mixed", 600, 30 * MIB), 30, 2, 40, 2 * MIB),
        (TreeJob("copy-onto", "video", 1, 512 * MIB), 64, 5, 1, 40 * MIB),
        (TreeJob("read-back", "photos", 48, 768 * MIB), 96, 10, 5, 80 * MIB),
        (TreeJob("find", "mail", 40, MIB), 1, 7, 40, MIB),
    ],
)
def test_a_tree_is_scaled_by_files_of_packages_or_trees_or_by_bytes_and_never_enlarged(
    job: TreeJob, units: int, asked: int, files: int, total_bytes: int
) -> None:
    assert job.units == units
    assert job.scaled(asked) == replace(job, files=files, total_bytes=total_bytes)
    assert job.scaled(units) == job.scaled(2 * units) == job


def test_transactions_are_scaled_and_what_has_a_duration_or_is_the_users_own_tree_is_not() -> None:
    assert SqliteJob("wal", 50).units == 50
    assert SqliteJob("wal", 50).scaled(7) == SqliteJob("wal", 7)
    own = TreeShape((0, 900), (0.9, 0.4), 2, (2, 20), (0, 1))
    for job in (JOBS["fio"], JOBS["fileserver"], JOBS["overflow"], JOBS["backup"], JOBS["rsync"]):
        assert job.units is None
    assert TreeJob("copy", "own", 100, MIB, own).units is replace(COPY, fill_percent=50).units is None


@pytest.mark.fio
async def test_a_file_that_is_only_allocated_beforehand_is_a_file_of_its_own(context: LocalContext) -> None:
    written = FioJob("randwrite", 4096, 8 * MIB, seconds=0.1)
    assert (await figures_of(replace(written, allocated=True), context))["bytes_written"] > 0
    await figures_of(written, context)
    assert sorted(path.name for path in Path(context.directory).iterdir()) == ["fio-8M", "fio-8M-allocated"]


@pytest.mark.parametrize("engine", ENGINES)
async def test_an_engine_runs_what_was_planned_and_yields_every_metric(engine: str, context: LocalContext) -> None:
    measured = await figures_of(JOBS[engine], context)
    assert list(measured) == [metric.name for metric in JOBS[engine].metrics]
    ran = ["\0".join(process._argv) for process in context.started]
    for command in engines.engine(JOBS[engine]).commands():
        planned = "\0".join(command.argv).replace("MOUNT", context.directory)
        assert planned.replace("SCRATCH", context.scratch).replace("SEED", "7") in ran


async def test_the_file_server_keeps_its_shares_and_writes_what_does_not_compress(context: LocalContext) -> None:
    measured = await figures_of(JOBS["fileserver"], context)
    loops = measured["create_count"]
    assert loops > 100
    assert measured["close_count"] == pytest.approx(3 * loops, abs=10)
    assert measured["open_count"] == pytest.approx(2 * loops, abs=10)
    assert measured["bytes_written"] == pytest.approx(loops * (20_000 + 1000), rel=0.2)
    files = sorted(path for path in Path(context.directory).rglob("*") if path.is_file())
    assert len(files) == pytest.approx(48, abs=3)
    content = b"".join(path.read_bytes() for path in files)
    assert len(content) > MIB // 2
    # Pieces of the same 2 MiB of noise meet by chance, each time elsewhere; a stretch that came again would halve it.
    assert len(zlib.compress(content)) > 0.9 * len(content)


@pytest.mark.fio
async def test_workloads_that_name_the_same_size_share_the_file(context: LocalContext) -> None:
    for rw in ("randwrite", "randread"):
        await figures_of(FioJob(rw, 4096, 8 * MIB, seconds=0.2, direct=False), context)
    assert [path.name for path in Path(context.directory).iterdir()] == ["fio-8M"]
    assert [process._argv[0] for process in context.started] == ["fio"] * 3
    assert context.remounts == 2


async def test_nothing_is_asked_or_moved_beside_the_work(context: LocalContext) -> None:
    await figures_of(COPY, context)
    await figures_of(replace(COPY, operation="delete"), context)
    assert [Path(process._argv[0]).name for process in context.started] == ["python3", "cp", "sync", "rm", "sync"]


async def test_what_is_measured_is_made_afresh_each_time_and_a_true_copy(context: LocalContext) -> None:
    for _ in range(2):
        await figures_of(JOBS["tree"], context)
    source = Path(context.directory, f"small-files-200-{MIB}")
    assert checksums(source) == checksums(Path(f"{source}-copy"))
    assert len(checksums(source)) == 200
    assert sum(process._argv[:2] == ("rm", "-rf") for process in context.started) == 1


async def test_mail_is_delivered_whole_each_message_once_into_its_folder_and_leaves_nothing_behind(
    context: LocalContext,
) -> None:
    measured = await figures_of(TreeJob("deliver", "mailboxes", 90, MIB), context)
    assert measured["returned"] > 0
    (store,) = Path(context.directory).iterdir()
    messages = [path for path in store.rglob("*") if path.is_file()]
    assert {path.parent.name for path in messages} == {"new"}
    assert (len(messages), sum(path.stat().st_size for path in messages)) == (90, MIB)
    assert {path.stat().st_nlink for path in messages} == {1}
    folders = {path.parent.parent for path in messages}
    assert len(folders) > 1
    assert all((folder / part).is_dir() for folder in folders for part in ("tmp", "cur"))


async def test_what_was_copied_onto_the_disk_is_read_back_one_file_or_several(context: LocalContext) -> None:
    onto = TreeJob("copy-onto", "photos", 6, MIB)
    await figures_of(onto, context)
    measured = await figures_of(replace(onto, operation="read-back"), context)
    assert measured["bytes_written"] == 0 < measured["returned"]
    assert context.started[-2]._argv[-2:] == (f"{context.directory}/photos-6-{MIB}-onto", "7")
    await figures_of(TreeJob("read-back", "video", 1, MIB), context)
    assert context.started[-2]._argv[0] == "cp"


async def test_what_could_not_be_made_whole_is_taken_away_and_deleting_makes_its_own_copy(
    context: LocalContext,
) -> None:
    with pytest.raises(WorkloadFailed):
        async with making(context, f"{context.directory}/part"):
            await succeed(context, ("mkdir", "part"), limit_s=60)
            await succeed(context, ("false",), limit_s=60)
    assert list(Path(context.directory).iterdir()) == []
    assert context.laid_out == set()
    measured = await figures_of(replace(COPY, operation="delete"), context)
    assert measured["duration"] > 0
    assert [path.name for path in Path(context.directory).iterdir()] == [f"small-files-200-{MIB}"]


async def under_way(engine: str, context: LocalContext) -> tuple[asyncio.Task[None], list[WorkloadEvent]]:
    """A workload of a minute that is being measured, and what it tells."""
    job: Job = FioJob("randwrite", 4096, 8 * MIB, seconds=60, direct=False)
    if engine == "fileserver":
        job = FileServerJob(3, 60, 20_000, 1000, 60)
    told, measuring = list[WorkloadEvent](), asyncio.Event()

    def tell(what: WorkloadEvent) -> None:
        told.append(what)
        if isinstance(what, Progress) and any(isinstance(before, Doing) and before.measured for before in told):
            measuring.set()

    task = asyncio.create_task(engines.engine(job).run(context, tell, seed=1))
    await measuring.wait()
    return task, told


@pytest.mark.parametrize("engine", [pytest.param("fio", marks=pytest.mark.fio), "fileserver"])
async def test_leaving_early_kills_the_program_and_all_it_started(engine: str, context: LocalContext) -> None:
    task, _ = await under_way(engine, context)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    group = context.started[-1].pid
    psutil.wait_procs(living(group), timeout=60)  # those that were killed take a moment to go
    assert living(group) == []


@pytest.mark.parametrize(
    "job",
    [
        pytest.param(FioJob("randwrite", 4096, 16 * MIB, seconds=0.5, direct=False), marks=pytest.mark.fio, id="fio"),
        pytest.param(TreeJob("copy", "small-files", 1500, 6 * MIB), id="tree"),
        pytest.param(FileServerJob(3, 60, 20_000, 1000, 0.3), id="fileserver"),
    ],
)
async def test_progress_goes_forward_from_the_preparation_to_the_end_and_tells_a_rate(
    job: Job, context: LocalContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fswizard.engines.shared.programs.POLL_S", 0.01)  # however quick this machine is
    told: list[WorkloadEvent] = []
    await engines.engine(job).run(context, told.append, seed=1)
    seen = [what for what in told if isinstance(what, Progress)]
    fractions = [progress.fraction for progress in seen if progress.fraction is not None]
    assert len(fractions) >= 2
    assert fractions == sorted(fractions)
    assert 0 <= fractions[0] <= fractions[-1] <= 1
    assert any(progress.rate for progress in seen)


def test_sqlite_is_as_far_as_its_place_in_the_statements(tmp_path: Path) -> None:
    (script := tmp_path / "statements.sql").write_bytes(bytes(1000))
    share_read = sqlite.share_read(str(script))
    assert share_read(os.getpid()) == 0
    with script.open("rb", buffering=0) as file:
        file.read(250)
        assert share_read(os.getpid()) == 0.25


@pytest.mark.parametrize(
    "job",
    [
        *(replace(COPY, operation=operation) for operation in ("copy", "copy-onto", "tar", "untar", "find")),
        pytest.param(replace(COPY, operation="install"), marks=pytest.mark.dpkg),
        pytest.param(TreeJob("start", "small-files", 200, 8 * MIB), marks=pytest.mark.dpkg),
        TreeJob("read", "small-files", 200, 8 * MIB),
        TreeJob("read-back", "small-files", 200, 8 * MIB),
        TreeJob("deliver", "small-files", 200, 8 * MIB),
        pytest.param(RsyncJob("onto", "mixed", 60, 4 * MIB), marks=pytest.mark.rsync),
    ],
    ids=lambda job: getattr(job, "operation", "rsync"),
)
async def test_a_program_that_is_done_has_told_that_it_is(job: Job, context: LocalContext) -> None:
    await figures_of(job, context)
    timed = engines.engine(job).timed(context.directory, context.scratch, "7")
    # By its end what rsync's other half has written is its own, too.
    assert 0.95 < share_at_the_end(timed, context.directory) < (2.2 if isinstance(job, RsyncJob) else 1.2)


def share_at_the_end(timed: Timed, directory: str) -> float:
    *before, work = timed.works
    made = timed.makes.path if timed.makes else ""
    for argv in (("rm", "-rf", made), *(each.argv for each in before)):
        subprocess.run(argv, check=True)
    with subprocess.Popen(work.argv, cwd=directory, stdout=subprocess.DEVNULL) as process:
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)  # the kernel still knows what it has done
        assert work.share_done is not None
        return work.share_done(process.pid)


async def listen(context: LocalContext, argv: tuple[str, ...], *, limit_s: float) -> None:
    await watch(await context.start(argv), argv, limit_s=limit_s, output=lambda chunk: None)


@pytest.mark.parametrize("work", [succeed, listen])
async def test_a_program_that_takes_too_long_is_killed_also_where_its_output_is_awaited(
    work: Callable[..., Coroutine[Any, Any, object]], context: LocalContext, time: SimulatedClock
) -> None:
    task = asyncio.create_task(work(context, ("sleep", "1000"), limit_s=60))
    await time.somebody_waits()
    time.advance(60.0)
    with pytest.raises(WorkloadFailed, match="sleep did not end within 60 s") as caught:
        await task
    assert caught.value.kind == "timed-out"
    assert not Path(f"/proc/{context.started[0].pid}").exists()


@pytest.mark.parametrize(
    ("stderr", "error", "kind"),
    [
        (b"cp: error writing 'x': No space left on device", 0, "ENOSPC"),
        (b"rm: cannot remove 'x': Read-only file system", 0, "EROFS"),
        (b"sync: error syncing '.': Input/output error", 0, "EIO"),
        (b"tar: x.tar: Wrote only 4096 of 10240 bytes", 0, "ENOSPC"),
        (b"Error: near line 9: database or disk is full (13)", 0, "ENOSPC"),
        (b"", 28, "ENOSPC"),
        (b"cp: cannot stat 'x': No such file or directory", 0, "program"),
        (b"", 22, "program"),
    ],
)
def test_a_failure_is_of_the_kind_that_the_program_tells(stderr: bytes, error: int, kind: str) -> None:
    failed = failure(Finished(("/bin/cp", "x"), 1, b"", stderr, 0.1), error)
    assert failed.kind == kind
    assert failed.text.startswith("cp failed: ")
    assert failed.details == stderr.decode()


def test_what_a_filesystem_does_not_offer_is_named() -> None:
    said = b"dpkg: error: error creating new backup file '/x/status-old': Operation not permitted"
    failed = failure(Finished(("/usr/bin/dpkg", "x"), 2, b"", said, 0.1))
    assert (failed.kind, failed.text) == ("program", "dpkg failed: Operation not permitted.")


@pytest.mark.parametrize(("stderr", "error"), [(b"git: Cannot allocate memory", 0), (b"", 12)])
def test_a_program_without_memory_is_no_candidates_fault(stderr: bytes, error: int) -> None:
    with pytest.raises(OutOfMemory, match="git ran out of memory; no candidate is to blame"):
        raise failure(Finished(("/usr/bin/git", "x"), 1, b"", stderr, 0.1), error)


@pytest.mark.parametrize(
    ("exit_code", "stderr", "signal_name"),
    [
        (-9, b"", "SIGKILL"),
        (-15, b"No space left on device", "SIGTERM"),
        (137, b"", "SIGKILL"),
        (128, b"error: index-pack died of signal 9", "SIGKILL"),
        (2, b"tar: Child died with signal 15", "SIGTERM"),
        (20, b"rsync error: received SIGINT, SIGTERM, or SIGHUP (code 20) at rsync.c(713)", "SIGINT"),
        (1, b"a worker was killed by signal 9", "SIGKILL"),
    ],
)
def test_a_program_that_somebody_killed_is_no_candidates_fault(exit_code: int, stderr: bytes, signal_name: str) -> None:
    with pytest.raises(WorkloadDisturbed, match=rf"git was killed \({signal_name}\)"):
        failure(Finished(("/usr/bin/git", "x"), exit_code, b"", stderr, 0.1))


@pytest.mark.parametrize("exit_code", [-signal.SIGSEGV, -signal.SIGABRT, 129, 1])
def test_a_program_that_crashes_or_gives_up_was_not_killed(exit_code: int) -> None:
    assert failure(Finished(("git", "x"), exit_code, b"", b"signal 11", 0.1)).kind == "program"


async def begun(work: Coroutine[Any, Any, T], context: LocalContext) -> tuple[asyncio.Task[T], int]:
    """Work that goes on, and the number of its program, which has started another one."""
    task = asyncio.create_task(work)

    def has_begun() -> object:
        return context.started and psutil.Process(context.started[0].pid).children()

    await asyncio.to_thread(wait_until, has_begun, 60, "it has started one")
    return task, context.started[0].pid


def first_child(pid: int) -> int:
    return psutil.Process(pid).children()[0].pid


@pytest.mark.parametrize("whose", [int, first_child], ids=["itself", "what it started"])
@pytest.mark.parametrize("work", [succeed, listen])
async def test_a_program_that_is_stopped_is_ended_at_once(
    work: Callable[..., Coroutine[Any, Any, object]], whose: Callable[[int], int], context: LocalContext
) -> None:
    task, started = await begun(work(context, ("sh", "-c", "sleep 1000; true"), limit_s=600), context)
    os.kill(whose(started), signal.SIGSTOP)
    with pytest.raises(WorkloadDisturbed, match=r"sh was stopped \(SIGSTOP\)"):
        await task
    assert not Path(f"/proc/{started}").exists()


def test_a_program_counts_as_stopped_while_what_waits_for_its_end_is() -> None:
    """Its time would be too long."""
    with subprocess.Popen(("sh", "-c", "sleep 1000; true")) as outer:
        wait_until(lambda: psutil.Process(outer.pid).children(), 60, "it has started one")
        inner = first_child(outer.pid)
        try:
            assert not is_stopped(inner)
            outer.send_signal(signal.SIGSTOP)
            wait_until(lambda: is_stopped(inner), 60, "the kernel has stopped it")
        finally:
            outer.kill()
            os.kill(inner, signal.SIGKILL)
    assert not is_stopped(outer.pid), "it has ended"


async def test_a_program_that_writes_while_what_it_started_is_stopped_is_ended_too(context: LocalContext) -> None:
    writes = "sleep 1000 & while sleep 0.1; do echo; done"
    task, started = await begun(listen(context, ("sh", "-c", writes), limit_s=600), context)
    os.kill(psutil.Process(started).children()[0].pid, signal.SIGSTOP)
    with pytest.raises(WorkloadDisturbed):
        await task


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM], ids=["SIGKILL", "SIGTERM"])
@pytest.mark.parametrize(
    ("engine", "whose"),
    [
        pytest.param("fio", int, marks=pytest.mark.fio, id="fio"),
        pytest.param("fileserver", int, id="fileserver"),
        pytest.param("fileserver", first_child, id="one of its workers"),
    ],
)
async def test_figures_of_a_workload_that_was_killed_are_not_taken(
    engine: str, whose: Callable[[int], int], number: signal.Signals, context: LocalContext
) -> None:
    task, told = await under_way(engine, context)
    os.kill(whose(context.started[-1].pid), number)
    with pytest.raises(WorkloadDisturbed):
        await task
    assert not any(isinstance(what, Measured) for what in told)


@pytest.mark.parametrize("engine", JOBS)
def test_the_plan_names_every_program_and_no_place_of_this_machine(engine: str) -> None:
    planned = engines.engine(JOBS[engine]).commands()
    assert planned
    words = [word for command in planned for word in command.argv]
    assert any("MOUNT" in word for word in words)
    assert not any(command.as_root for command in planned)


async def test_a_directory_among_others_is_never_filled(context: LocalContext) -> None:
    with pytest.raises(Refused, match="fills a whole filesystem"):
        await figures_of(FileServerJob(2, 20, 1000, 1000, 0.2, fill_percent=10), context)
    assert not Path(context.directory, "filling").exists()


@pytest.mark.sqlite3
def test_the_log_of_sqlite_has_its_length_before_the_transactions_begin(context: LocalContext) -> None:
    """Else each of the first ones would make it longer, and short runs would tell something else than long ones."""
    job = SqliteJob("wal", 600)
    job.bring(context.scratch, 1)
    timed = job.timed(context.directory, context.scratch, "1")
    for work in timed.needs[0].works:
        subprocess.run(work.argv, check=True, stdout=subprocess.DEVNULL)
    log = Path(timed.needs[0].path, "database-wal")
    sizes = [log.stat().st_size]
    with closing(sqlite3.connect(log.with_name("database"), isolation_level=None)) as database:
        for statement in Path(context.scratch, "sqlite-wal-600-then.sql").read_text().splitlines():
            database.execute(statement)
            sizes.append(log.stat().st_size)
    assert max(sizes) < 1.01 * sizes[0], "a transaction may begin on the last page of the log"
