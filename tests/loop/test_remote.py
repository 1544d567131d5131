"""The disks of another machine, by a real ssh and sshd: commands, the wizard's questions, runs, and what goes wrong."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import aclosing
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest

from fswizard import results
from fswizard.errors import Missing, Refused, RunFailed, UsageError
from fswizard.filesystems import catalogue
from fswizard.model.events import Event, RoundFinished, RunEnded, StepStarted
from fswizard.remote import Host, RemoteMachine
from fswizard.tui.backend import Backend
from tests.loop.runs import COPIES, short_plan
from tests.loop.ssh import NAME, OtherMachine, other_machine, programs

pytestmark = [pytest.mark.root, pytest.mark.loop, pytest.mark.sshd]


@pytest.fixture
def nas(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[OtherMachine]:
    directory = tmp_path / "nas"
    directory.mkdir()
    monkeypatch.delenv("XDG_RUNTIME_DIR", raising=False)
    with other_machine(directory) as machine:
        monkeypatch.setenv("PATH", str(programs(machine)), prepend=os.pathsep)
        yield machine


def machine_there() -> RemoteMachine:
    host = Host(NAME)
    host.prepare()
    return RemoteMachine(host)


def fswizard(*words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "fswizard", *words]
    return subprocess.run(command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)


def test_commands_work_there_and_the_program_is_brought_once(nas: OtherMachine) -> None:
    drives = fswizard("drives", "--json", "--on", NAME)
    assert drives.returncode == 0, drives.stderr
    assert '"name"' in drives.stdout
    (brought,) = nas.brought()
    before = brought.stat().st_mtime_ns
    plan = fswizard("plan", "quick", f"--on={NAME}")
    assert str(nas.directory) in plan.stdout, plan.stderr
    cleaned = fswizard("clean", "--on", NAME)
    assert (cleaned.returncode, cleaned.stderr) == (0, "Nothing was left behind.\n")
    wrong = fswizard("plan", "no-such-recipe", "--on", NAME)
    assert (wrong.returncode, "no-such-recipe" in wrong.stderr) == (2, True)
    assert nas.brought() == [brought] and brought.stat().st_mtime_ns == before
    brought.write_bytes(b"something else")
    assert fswizard("drives", "--on", NAME).returncode == 0


def test_every_question_is_answered_as_it_would_be_there(nas: OtherMachine, monkeypatch: pytest.MonkeyPatch) -> None:
    there = machine_there()
    for name in ("XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.setenv(name, str(nas.directory / name.lower()))
    here = Backend()
    ext4 = catalogue()["ext4"]
    assert there.availability(ext4) == here.availability(ext4)
    drives = next(iter(there.watch(lambda: False)))
    known = [(drive.name, drive.size_bytes, drive.smr) for drive in next(iter(here.watch(lambda: False)))]
    assert [(drive.name, drive.size_bytes, drive.smr) for drive in drives] == known
    directory = str(nas.directory)
    assert there.named_place(directory).directory == directory
    with pytest.raises(UsageError, match="nowhere"):
        there.named_place("/nowhere")
    plan = short_plan(nas.directory, recipe=COPIES)
    assert there.purpose(plan) == here.purpose(plan)
    assert there.privilege(there.purpose(plan)) == "root"
    assert there.history() == () and there.resumable() == () and there.ongoing() == () and there.leftovers() == ()
    told = [replace(offer, refused=None) for offer in there.offers(drives[0], None)]
    assert told == [replace(offer, refused=None) for offer in here.offers(drives[0], None)]
    assert isinstance(there.offers(drives[0], None)[0].refused, Refused)


async def test_a_run_there_outlives_its_connection_cut_at_each_kind_of_step(nas: OtherMachine) -> None:
    there = machine_there()
    run = there.open_session(short_plan(nas.directory, "ext4; ext2", COPIES, 2))
    heard: list[Event] = []
    cut: set[str] = set()
    async with aclosing(run.events()) as events:
        async for event in events:
            heard.append(event)
            if isinstance(event, StepStarted) and event.step.stage not in cut:
                cut.add(event.step.stage)
                nas.cut()
    assert len(cut) > 4 and isinstance(heard[-1], RunEnded), run.error
    numbers = [event.step.number for event in heard if isinstance(event, StepStarted)]
    assert numbers == sorted(set(numbers))
    rounds = [event.round for event in heard if isinstance(event, RoundFinished)]
    assert rounds == [1, 2][: len(rounds)]  # a cut may last until the end, which is then told from the result
    result = there.load(run.path)
    assert result.finished_rounds == 2 and str(run.path).startswith(str(nas.state))
    assert [entry.path for entry in there.history()] == [run.path]
    assert not list((nas.state / "running").glob("run-*"))


async def test_a_run_that_nobody_follows_any_more_is_found_and_stopped(nas: OtherMachine) -> None:
    there = machine_there()
    run = there.open_session(short_plan(nas.directory, "ext4; ext2", COPIES, 9))
    async with aclosing(run.events()) as events:
        async for event in events:
            if isinstance(event, StepStarted) and event.step.round == 1:
                break
    nas.cut()
    again = machine_there()
    (ongoing,) = again.ongoing()
    followed = await again.follow(ongoing)
    followed.stop()
    async with aclosing(followed.events()) as events:
        told = [event async for event in events]
    assert isinstance(told[-1], RunEnded) and told[-1].outcome == "stopped"


def test_run_and_watch_on_another_machine(nas: OtherMachine, tmp_path: Path) -> None:
    (tmp_path / "place").mkdir()
    words = ("run", "quick", "--candidates", "ext4", "--rounds", "1..1", "--target", f"image:4G@{tmp_path}/place")
    begun = fswizard(*words, "--detach", "--on", NAME)
    assert begun.returncode == 0 and "goes on without this terminal" in begun.stderr, begun.stderr
    second = fswizard(*words, "--detach", "--on", NAME)
    watched = fswizard("watch", "--on", NAME)
    assert watched.returncode == 0, watched.stderr
    assert "only ext4 was measured" in watched.stderr.lower() or "ext4" in watched.stdout
    assert second.returncode == 3 and "is being measured already: quick on" in second.stderr, second.stderr
    assert not list((tmp_path / "place").iterdir())


def test_another_key_than_the_known_one_is_refused(nas: OtherMachine) -> None:
    nas.trust(nas.new_key("another"))
    with pytest.raises(Refused, match="The key of nas is not the one that ssh knows"):
        machine_there()
    assert not nas.brought()


def test_a_machine_that_is_not_reached_is_named_with_what_ssh_says(nas: OtherMachine) -> None:
    nas.configure("Port 1")
    with pytest.raises(RunFailed, match=r"nas cannot be reached: .*Connection refused\.$"):
        machine_there()
    nas.configure("User nobody")
    with pytest.raises(RunFailed, match=r"nas cannot be reached: .*Permission denied"):
        machine_there()
    with pytest.raises(UsageError, match="'-oProxyCommand=x' is not the name of a machine"):
        Host("-oProxyCommand=x")


OLD = 'echo \'{"python": "3.8.10", "machine": "x86_64", "have": false}\''
OTHER = 'echo \'{"python": "3.12.1", "machine": "riscv64", "have": false}\''


@pytest.mark.parametrize(
    ("script", "words"),
    [
        (OLD, "has Python 3.8.10, and fswizard needs 3.10"),
        (OTHER, "has Python 3.12.1 on riscv64; the packages"),
        ("exit 127", "nas has no python3"),
    ],
    ids=["old", "another machine", "none"],
)  # fmt: skip
def test_a_python_that_does_not_do_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, words: str
) -> None:
    python = tmp_path / "programs" / "python3"
    python.parent.mkdir()
    python.write_text(f"#!/bin/sh\n{script}\n")
    python.chmod(0o755)
    (tmp_path / "nas").mkdir()
    with other_machine(tmp_path / "nas", {"PATH": f"{python.parent}:{os.environ['PATH']}"}) as machine:
        monkeypatch.setenv("PATH", str(programs(machine)), prepend=os.pathsep)
        with pytest.raises(Missing, match=words):
            machine_there()
        assert not machine.brought()


def test_no_room_there_is_told(nas: OtherMachine) -> None:
    nas.cache.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", nas.cache], check=True)
    try:
        with pytest.raises(RunFailed, match="nas has no room for fswizard in its cache"):
            machine_there()
    finally:
        subprocess.run(["umount", nas.cache], check=True)


def test_a_slow_line_is_only_slow(nas: OtherMachine) -> None:
    """300 ms there and back: what was asked at once is answered at once, not one after the other."""
    slow = nas.directory / "slow.py"
    slow.write_text(SLOW)
    nas.configure(f"ProxyCommand {sys.executable} {slow} 127.0.0.1 {nas.port} 0.15")
    there = machine_there()
    assert there.ongoing() == ()

    async def at_once() -> list[object]:
        return list(await asyncio.gather(*(asyncio.to_thread(there.ongoing) for _ in range(8))))

    assert asyncio.run(at_once()) == [()] * 8


AHEAD = "import time\nnow = time.time\ntime.time = lambda: now() + 3 * 86_400\n"
"""What Python reads when it starts there."""


def test_a_clock_three_days_ahead_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("nas", "place", "python"):
        (tmp_path / name).mkdir()
    (tmp_path / "python" / "sitecustomize.py").write_text(AHEAD)
    monkeypatch.delenv("XDG_RUNTIME_DIR", raising=False)
    with other_machine(tmp_path / "nas", {"PYTHONPATH": str(tmp_path / "python")}) as machine:
        monkeypatch.setenv("PATH", str(programs(machine)), prepend=os.pathsep)
        target = f"image:4G@{tmp_path}/place"
        words = ("run", "quick", "--candidates", "ext4", "--rounds", "1..1", "--target", target, "--detach")
        begun = fswizard(*words, "--on", NAME)
        assert begun.returncode == 0, begun.stderr
        watched = fswizard("watch", "--on", NAME)
        assert watched.returncode == 0, watched.stderr
        (path,) = (machine.state / "results").glob("*.jsonl")
        result = results.load(path)
        in_three_days = f"{datetime.now(timezone.utc) + timedelta(days=3):%Y-%m-%d}"
        assert result.outcome == "finished" and 0 < result.elapsed_s < 3600
        assert result.environment.started[:10] == in_three_days, "by its own clock"
        assert in_three_days in fswizard("history", "--on", NAME).stdout
        assert fswizard("clean", "--on", NAME).stderr == "Nothing was left behind.\n"


SLOW = """\
import os, socket, sys, threading, time
host, port, seconds = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
line = socket.create_connection((host, port))
def carry(read, write):
    while data := read():
        time.sleep(seconds)
        write(data)
    os._exit(0)
threading.Thread(target=carry, args=(lambda: os.read(0, 65536), line.sendall)).start()
carry(lambda: line.recv(65536), lambda data: os.write(1, data))
"""


def test_a_disk_there_is_erased_only_by_a_helper_that_was_installed_there(
    nas: OtherMachine, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = short_plan(nas.directory, recipe=COPIES)
    device = replace(plan, target=replace(plan.target, kind="device", path="/dev/disk/by-id/x"))
    with pytest.raises(Missing, match="needs the privileged helper installed there"):
        machine_there().purpose(device)
