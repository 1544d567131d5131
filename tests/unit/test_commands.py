"""Programs that are started here: their bytes, their time limit, and that nothing of the terminal reaches them."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from pathlib import Path

import pytest

from fswizard.errors import Missing, RunFailed
from fswizard.system import commands


def test_the_bytes_of_a_program_come_as_they_are() -> None:
    finished = commands.query(["sh", "-c", r"printf '\377\000a'; printf '\376' >&2; exit 3"])
    assert (finished.exit_code, finished.stdout, finished.stderr) == (3, b"\xff\x00a", b"\xfe")


def test_a_question_finds_no_standard_input() -> None:
    assert commands.query(["cat"], timeout_s=5).stdout == b""


def test_a_program_that_does_not_answer_is_given_up() -> None:
    started = time.monotonic()
    with pytest.raises(RunFailed, match=r"sleep did not answer within 0\.2 s"):
        commands.query(["sleep", "30"], timeout_s=0.2)
    assert time.monotonic() - started < 15


def test_programs_speak_english() -> None:
    assert b"LC_ALL=C.UTF-8" in commands.query(["env"]).stdout.splitlines()


def test_an_absent_program_is_missing() -> None:
    with pytest.raises(Missing, match="nonesuch is not installed"):
        commands.query(["nonesuch"])


def test_a_file_that_cannot_be_started_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "broken"
    program.write_bytes(b"\x7fELF nonsense")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(Missing, match="cannot be started"):
        commands.query(["broken"])


def test_arguments_are_never_a_shells(tmp_path: Path) -> None:
    hostile = f"$(touch {tmp_path}/evil); `touch {tmp_path}/evil`"
    assert commands.query(["printf", "%s", hostile]).stdout.decode() == hostile
    assert not list(tmp_path.iterdir())


def test_system_programs_are_found_without_being_on_the_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    assert any(commands.find(name) for name in ("mkfs", "ldconfig", "mkfs.ext4"))
    assert commands.find("nonesuch") is None


async def test_a_started_program_is_read_while_it_runs_and_then_told_whole() -> None:
    process = await commands.start(["sh", "-c", "echo one; sleep 1; echo two; echo three >&2; exit 4"])
    started, arrived = time.monotonic(), []
    async for chunk in process.chunks():
        arrived.append((chunk, time.monotonic() - started))
    finished = await process.wait()
    assert b"".join(chunk for chunk, _ in arrived) == b"one\ntwo\n"
    assert arrived[-1][1] - arrived[0][1] > 0.1
    assert (finished.exit_code, finished.stdout, finished.stderr) == (4, b"", b"three\n")
    assert 1 < finished.wall_s < 30


async def test_killing_a_started_program_ends_what_it_started() -> None:
    process = await commands.start(["sh", "-c", "sleep 61 & echo $!; wait"])
    child = int((await anext(aiter(process.chunks()))).decode())
    await process.kill()
    with pytest.raises(ProcessLookupError):
        for _ in range(100):
            os.kill(child, 0)
            await asyncio.sleep(0.02)


@pytest.mark.parametrize("own_session", [True, False])
async def test_a_program_that_is_talked_to_keeps_its_distance_from_the_terminal(own_session: bool) -> None:
    program = "import os, sys; print(os.getpgrp(), os.getsid(0), sys.stdin.readline(), dict(os.environ))"
    process = await commands.converse([sys.executable, "-I", "-c", program], env={"A": "b"}, own_session=own_session)
    stdout, _ = await process.communicate(b"hello\n")
    group, session, said, *rest = stdout.decode().split()
    assert int(group) == process.pid
    assert (int(session) == process.pid) == own_session
    assert said == "hello"
    assert "'A': 'b'" in " ".join(rest)
    assert "HOME" not in " ".join(rest)


def test_a_hanging_program_whose_children_hold_the_pipe_is_given_up_in_time() -> None:
    began = time.monotonic()
    with pytest.raises(RunFailed, match="did not answer"):
        commands.query(["sh", "-c", "sleep 30 & sleep 30"], timeout_s=0.3)
    assert time.monotonic() - began < 15
