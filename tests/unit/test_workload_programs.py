"""The programs that do a workload's work: the tree is the same every time, and no program outlives its workload."""

from __future__ import annotations

import asyncio
import os
import signal
import sqlite3
import subprocess
import zlib
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import psutil
import pytest
import tomli

from fswizard import engines
from fswizard.engines import WorkloadDisturbed, WorkloadFailed
from fswizard.engines.fileserver import FileServerJob
from fswizard.engines.fio import FioJob
from fswizard.engines.shared import tree_worker
from fswizard.engines.shared.operations import TreeOperation
from fswizard.engines.shared.programs import Done, Reader, Work, carry_out, failure, last_line
from fswizard.engines.sqlite import SqliteJob
from fswizard.engines.tree import SHAPES, TreeJob
from fswizard.errors import OutOfMemory
from fswizard.model.codec import from_json
from fswizard.model.recipe import Job
from fswizard.progress.workload_events import Doing, Measured, Progress, WorkloadEvent
from fswizard.system.process import Finished
from tests.fakes.clock import SimulatedClock
from tests.fakes.local_context import LocalContext, figures_of
from tests.loop.machine_state import wait_until

MIB = 1 << 20
COPY = TreeJob("copy", "small-files", 200, MIB)
PROGRAM = {"fio": "fio", "overflow": "fio", "backup": "borg", "rsync": "rsync", "sqlite": "sqlite3"}
"""The markers of tests that need a program for an engine."""
JOBS: Mapping[str, Job] = {
    "fio": FioJob("randwrite", 4096, 8 * MIB, seconds=0.5, depth=4, direct=False, fdatasync=8),
    "tree": COPY,
    "fileserver": FileServerJob(threads=3, files=60, mean_file_bytes=20_000, mean_append_bytes=1000, seconds=0.5),
    "backup": TreeJob("backup-again", "mixed", 60, 3 * MIB),
    "rsync": TreeJob("rsync-onto", "mixed", 60, MIB),
    "sqlite": SqliteJob("wal", 50),
    "overflow": FioJob("randwrite", 4096, 8 * MIB, seconds=2.5, depth=32, cliff=True),
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


def contents(directory: Path) -> dict[str, bytes]:
    return {str(path.relative_to(directory)): path.read_bytes() for path in directory.rglob("*") if path.is_file()}


@pytest.mark.parametrize("shape", ["small-files", "mixed", *tomli.loads(SHAPES.read_text("utf-8"))])
def test_a_tree_made_twice_is_identical_and_of_the_size_asked_for(tmp_path: Path, shape: str) -> None:
    job = from_json(TreeJob, {"operation": "copy", "shape": shape, "files": 400, "total_bytes": 3 * MIB})
    job.write_inputs(str(tmp_path), 1)
    described = next(iter(tmp_path.glob("*.json")), shape)
    for name in ("one", "two"):
        tree_worker.Tree(str(described), 400, 3 * MIB).make(str(tmp_path / name))
    one = contents(tmp_path / "one")
    assert one == contents(tmp_path / "two")
    assert (len(one), sum(map(len, one.values()))) == (400, 3 * MIB)


@pytest.mark.parametrize(
    ("job", "units", "asked", "scaled"),
    [
        (TreeJob("untar", "source", 8000, 80 * MIB), 80, 3, {"files": 300, "total_bytes": 3 * MIB}),
        (TreeJob("read-back", "photos", 48, 768 * MIB), 96, 10, {"files": 5, "total_bytes": 80 * MIB}),
        (TreeJob("find", "mail", 40, MIB), 1, 7, {}),
    ],
)
def test_work_is_scaled_by_its_units_and_never_enlarged(
    job: Job, units: int, asked: int, scaled: dict[str, int]
) -> None:
    assert job.units == units
    assert job.scaled(asked) == replace(job, **scaled)
    assert job.scaled(units) == job.scaled(2 * units) == job
    assert JOBS["fio"].units is None


@pytest.mark.parametrize("engine", ENGINES)
async def test_an_engine_runs_what_was_planned_and_yields_every_metric(engine: str, context: LocalContext) -> None:
    measured = await figures_of(JOBS[engine], context)
    assert list(measured) == [metric.name for metric in JOBS[engine].yielded]
    ran = ["\0".join(process._argv) for process in context.started]
    for command in engines.engine(JOBS[engine]).commands():
        planned = "\0".join(command.argv).replace("MOUNT", context.directory)
        assert planned.replace("SCRATCH", context.scratch).replace("SEED", "7") in ran
        assert not command.as_root


async def test_the_file_server_keeps_its_shares_and_writes_what_does_not_compress(context: LocalContext) -> None:
    measured = await figures_of(JOBS["fileserver"], context)
    loops = measured["create_count"]
    assert loops > 100
    assert measured["close_count"] == pytest.approx(3 * loops, abs=10)
    assert measured["bytes_written"] == pytest.approx(loops * (20_000 + 1000), rel=0.2)
    files = contents(Path(context.directory))
    content = b"".join(files[name] for name in sorted(files))
    assert len(files) == pytest.approx(48, abs=3)
    # Pieces of the same 2 MiB of noise meet by chance, each time elsewhere; a stretch that came again would halve it.
    assert len(zlib.compress(content)) > 0.9 * len(content)


async def test_a_copy_is_true_made_anew_each_time_and_deleted(context: LocalContext) -> None:
    await figures_of(COPY, context)
    source = Path(context.directory, f"small-files-200-{MIB}")
    assert contents(source) == contents(Path(f"{source}-copy"))
    await figures_of(replace(COPY, operation="delete"), context)
    await figures_of(COPY, context)
    await figures_of(COPY, context)
    programs = [Path(process._argv[0]).name for process in context.started]
    assert programs == ["python3", "cp", "sync", "rm", "sync", "cp", "sync", "rm", "cp", "sync"]


@pytest.mark.parametrize("operation", ["copy", "find", "read"])
def test_the_progress_of_a_program_that_has_ended_is_all_of_it(operation: TreeOperation, context: LocalContext) -> None:
    job = replace(COPY, operation=operation, total_bytes=8 * MIB)
    asyncio.run(figures_of(job, context))
    timed = job.timed(context.directory, context.scratch, "7")
    if timed.makes:
        subprocess.run(("rm", "-rf", timed.makes.path), check=True)
    (work,) = timed.works
    assert work.share_done is not None
    with subprocess.Popen(work.argv, cwd=context.directory, stdout=subprocess.DEVNULL) as process:
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)  # the kernel still knows what it has done
        assert 0.95 < work.share_done(process.pid) < 1.2


@pytest.mark.sqlite3
async def test_progress_of_transactions_is_told_meanwhile(
    context: LocalContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fswizard.engines.shared.programs.POLL_S", 0.01)  # however quick this machine is
    events: list[WorkloadEvent] = []
    await engines.engine(SqliteJob("wal", 3000)).run(context, events.append, seed=1)
    shares = [event.fraction for event in events if isinstance(event, Progress)]
    assert len({share for share in shares if share and share < 1}) > 2


def running(context: LocalContext, *argv: str, limit_s: float, reader: Reader | None = None) -> asyncio.Task[Done]:
    work = Work(argv, "working", reader=reader)
    return asyncio.create_task(carry_out(work, context, lambda event: None, limit_s=limit_s))


@pytest.mark.parametrize("reader", [None, last_line])
async def test_a_program_that_takes_too_long_is_killed_also_where_its_output_is_awaited(
    reader: Reader | None, context: LocalContext, time: SimulatedClock
) -> None:
    task = running(context, "sleep", "1000", limit_s=60, reader=reader)
    await time.somebody_waits()
    time.advance(60.0)
    with pytest.raises(WorkloadFailed) as caught:
        await task
    assert caught.value.kind == "timed-out"
    assert not Path(f"/proc/{context.started[0].pid}").exists()


@pytest.mark.parametrize(
    ("stderr", "error", "kind", "reason"),
    [
        (b"cp: error writing 'x': No space left on device", 0, "ENOSPC", "No space left on device"),
        (b"sync: error syncing '.': Input/output error", 0, "EIO", "Input/output error"),
        (b"tar: x.tar: Wrote only 4096 of 10240 bytes", 0, "ENOSPC", "No space left on device"),
        (b"Error: near line 9: database or disk is full (13)", 0, "ENOSPC", "No space left on device"),
        (b"", 28, "ENOSPC", "No space left on device"),
        (b"cp: cannot stat 'x': No such file or directory", 0, "program", "exit code 1"),
        (b"dpkg: error: '/x/status-old': Operation not permitted", 0, "program", "Operation not permitted"),
        (b"", 22, "program", "Invalid argument"),
    ],
)
def test_a_failure_is_of_the_kind_that_the_program_reports(stderr: bytes, error: int, kind: str, reason: str) -> None:
    failed = failure(Finished(("/bin/cp", "x"), 1, b"", stderr, 0.1), error)
    assert (failed.kind, failed.text, failed.details) == (kind, f"cp failed: {reason}.", stderr.decode())


def test_a_program_without_memory_is_no_candidates_fault() -> None:
    with pytest.raises(OutOfMemory):
        raise failure(Finished(("/usr/bin/git", "x"), 1, b"", b"git: Cannot allocate memory", 0.1))


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
    with pytest.raises(WorkloadDisturbed) as caught:
        failure(Finished(("/usr/bin/git", "x"), exit_code, b"", stderr, 0.1))
    assert (caught.value.program, caught.value.signal) == ("git", signal_name)


@pytest.mark.parametrize("exit_code", [-signal.SIGSEGV, 129])
def test_a_program_that_crashes_or_gives_up_was_not_killed(exit_code: int) -> None:
    assert failure(Finished(("git", "x"), exit_code, b"", b"signal 11", 0.1)).kind == "program"


def child(pid: int) -> int:
    """A process that another has started, once it has."""
    wait_until(lambda: psutil.Process(pid).children(), 60, "it has started one")
    return psutil.Process(pid).children()[0].pid


@pytest.mark.parametrize(
    ("reader", "command", "victim"),
    [
        (None, "sleep 1000; true", int),
        (None, "sleep 1000; true", child),
        (last_line, "sleep 1000 & while sleep 0.1; do echo; done", child),
    ],
)
async def test_a_program_that_is_stopped_or_waits_for_one_is_ended_at_once(
    reader: Reader | None, command: str, victim: Callable[[int], int], context: LocalContext
) -> None:
    task = running(context, "sh", "-c", command, limit_s=600, reader=reader)
    await asyncio.to_thread(wait_until, lambda: context.started, 60, "it has begun")
    pid = context.started[0].pid
    await asyncio.to_thread(child, pid)
    os.kill(victim(pid), signal.SIGSTOP)
    with pytest.raises(WorkloadDisturbed) as caught:
        await task
    assert (caught.value.program, caught.value.signal) == ("sh", "")
    assert not Path(f"/proc/{pid}").exists()


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
async def test_figures_of_a_workload_of_which_a_worker_was_killed_are_not_taken(
    number: signal.Signals, context: LocalContext
) -> None:
    events, measuring = list[WorkloadEvent](), asyncio.Event()

    def emit(event: WorkloadEvent) -> None:
        events.append(event)
        if isinstance(event, Progress) and any(isinstance(before, Doing) and before.measured for before in events):
            measuring.set()

    job = FileServerJob(3, 60, 20_000, 1000, 60)
    task = asyncio.create_task(engines.engine(job).run(context, emit, seed=1))
    await measuring.wait()
    os.kill(child(context.started[-1].pid), number)
    with pytest.raises(WorkloadDisturbed):
        await task
    assert not any(isinstance(event, Measured) for event in events)


@pytest.mark.sqlite3
def test_the_log_of_sqlite_has_its_length_before_the_transactions_begin(context: LocalContext) -> None:
    """Else each of the first ones would make it longer, and short runs would tell something else than long ones."""
    job = SqliteJob("wal", 600)
    job.write_inputs(context.scratch, 1)
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
