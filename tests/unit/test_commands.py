"""Programs that are started here: their bytes, their time limit, and that nothing of the terminal reaches them."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import cast

import pytest

from fswizard.errors import Missing, RunFailed
from fswizard.system import commands, timeouts
from fswizard.system.process import Process
from fswizard.system.timeouts import within
from tests.fakes.clock import SimulatedClock


def test_the_bytes_of_a_program_come_as_they_are() -> None:
    finished = commands.query(["sh", "-c", r"printf '\377\000a'; printf '\376' >&2; exit 3"])
    assert (finished.exit_code, finished.stdout, finished.stderr) == (3, b"\xff\x00a", b"\xfe")
    assert commands.query(["cat"], timeout_s=5).stdout == b""
    assert b"LC_ALL=C.UTF-8" in commands.query(["env"]).stdout.splitlines()


def test_programs_are_found_off_the_path_or_missing_and_arguments_never_a_shells(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, programs: Path
) -> None:
    (programs / "broken").write_bytes(b"\x7fELF nonsense")
    (programs / "broken").chmod(0o755)
    for name, why in (("nonesuch", "nonesuch is not installed"), ("broken", "cannot be started")):
        with pytest.raises(Missing, match=why):
            commands.query([name])
    hostile = f"$(touch {tmp_path}/evil); `touch {tmp_path}/evil`"
    assert commands.query(["printf", "%s", hostile]).stdout.decode() == hostile
    assert not (tmp_path / "evil").exists()
    monkeypatch.setenv("PATH", "/nonexistent")
    assert any(commands.find(name) for name in ("mkfs", "ldconfig", "mkfs.ext4"))
    assert commands.find("nonesuch") is None


@pytest.mark.parametrize("own_session", [True, False])
def test_a_program_that_outlives_this_one_keeps_its_distance_from_the_terminal(own_session: bool) -> None:
    program = "import os, sys; print(os.getpgrp(), os.getsid(0), sys.stdin.readline())"
    argv = [sys.executable, "-I", "-c", program]
    process = commands.begin(argv, b"hello\n", own_session=own_session)
    assert process.stdout is not None and process.stderr is not None
    with process, process.stdout, process.stderr:
        group, session, said = process.stdout.read().decode().split()
    assert int(group) == process.pid
    assert (int(session) == process.pid) == own_session
    assert said == "hello"


def test_a_hanging_program_whose_children_hold_the_pipe_is_given_up_in_time(
    tmp_path: Path, time: SimulatedClock
) -> None:
    started = tmp_path / "started"
    os.mkfifo(started)
    script = f"sleep 1000 & echo $! > {started}; exec sleep 1000"
    with ThreadPoolExecutor() as pool:
        asked = pool.submit(commands.query, ["sh", "-c", script], timeout_s=10.0)
        child = int(started.read_text())
        time.advance(10.0)
        with pytest.raises(RunFailed, match="sh did not answer within 10 s"):
            asked.result()
    os.kill(child, signal.SIGKILL)  # it was there all the time


async def test_a_program_that_does_not_end_in_time_is_killed_and_named(time: SimulatedClock) -> None:
    waiting = asyncio.create_task(timeouts.finish(["sleep", "1000"]))
    await time.somebody_waits()
    time.advance(timeouts.LIMIT_S)
    with pytest.raises(RunFailed, match="sleep did not end within 900 s"):
        await waiting


async def test_a_program_that_cannot_be_killed_waits_for_the_disk(time: SimulatedClock) -> None:
    class Stuck:
        pid = 0

        async def kill(self) -> None:
            await asyncio.get_running_loop().create_future()

    ending = asyncio.create_task(timeouts.end(cast(Process, Stuck()), "dd"))
    await time.somebody_waits()
    time.advance(timeouts.KILL_S)
    with pytest.raises(RunFailed, match="The disk no longer answers: dd can't be ended"):
        await ending


@pytest.mark.parametrize("fails", [False, True])
async def test_a_cancellation_is_heard_at_the_moment_at_which_the_work_ends(fails: bool) -> None:
    work: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    waiting = asyncio.create_task(within(60.0, work))
    await asyncio.sleep(0)
    if fails:
        work.set_exception(ValueError("bad"))
    else:
        work.set_result("done")
    await asyncio.sleep(0)  # its end is known, and nobody has been told
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
