"""The disks of another machine, by a real ssh and sshd: commands, the wizard, runs, and what goes wrong."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest

from fswizard import results
from fswizard.errors import Missing, Refused, RunFailed, UsageError
from fswizard.remote import Host
from fswizard.session import ongoing
from fswizard.session.ongoing_runs import give_order
from fswizard.targets import privilege
from tests.builders import make_result
from tests.loop.machine_state import wait_until
from tests.loop.runs import COPIES, short_plan
from tests.loop.ssh import NAME, OtherMachine, other_machine, programs
from tests.loop.terminals import terminal
from tests.loop.tiny_run import LIMIT_S
from tests.recipe_texts import writing

pytestmark = [pytest.mark.root, pytest.mark.loop, pytest.mark.sshd]


@pytest.fixture
def nas(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[OtherMachine]:
    directory = tmp_path / "nas"
    directory.mkdir()
    monkeypatch.delenv("XDG_RUNTIME_DIR", raising=False)
    with other_machine(directory) as machine:
        monkeypatch.setenv("PATH", str(programs(machine)), prepend=os.pathsep)
        yield machine


def prepared() -> Host:
    host = Host(NAME)
    host.prepare()
    return host


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
    assert str(nas.directory) in "".join(plan.stdout.split()), plan.stderr  # a long path takes several lines
    cleaned = fswizard("clean", "--on", NAME)
    assert (cleaned.returncode, cleaned.stderr) == (0, "Nothing was left behind.\n")
    wrong = fswizard("plan", "no-such-recipe", "--on", NAME)
    assert (wrong.returncode, "no-such-recipe" in wrong.stderr) == (2, True)
    assert nas.brought() == [brought] and brought.stat().st_mtime_ns == before
    brought.write_bytes(b"something else")
    assert fswizard("drives", "--on", NAME).returncode == 0


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Where a run there has its image."""
    directory = tmp_path / "place"
    directory.mkdir()
    return directory


AHEAD = "import time\nnow = time.time\ntime.time = lambda: now() + 3 * 86_400\n"
"""What Python reads when it starts there."""


RECIPE = writing("64M", "4M", 0.1, minutes=3)
"""Waits at most eighteen seconds for a machine that is busy with other tests, and has time on an emulated one."""
WATCH = (sys.executable, "-m", "fswizard", "watch", "--on", NAME)


def detached(place: Path) -> subprocess.CompletedProcess[str]:
    """A run there, of one candidate and a recipe of its own, that is left alone as soon as it measures."""
    recipe = place.parent / "tiny.toml"
    recipe.write_text(RECIPE)
    words = ("run", str(recipe), "--candidates", "ext4", "--rounds", "9..9", "--target", f"image:64M@{place}")
    return fswizard(*words, "--detach", "--on", NAME)


def test_run_and_watch_on_another_machine_whose_clock_is_three_days_ahead(
    tmp_path: Path, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("nas", "python"):
        (tmp_path / name).mkdir()
    (tmp_path / "python" / "sitecustomize.py").write_text(AHEAD)
    monkeypatch.delenv("XDG_RUNTIME_DIR", raising=False)
    with other_machine(tmp_path / "nas", {"PYTHONPATH": str(tmp_path / "python")}) as machine:
        monkeypatch.setenv("PATH", str(programs(machine)), prepend=os.pathsep)
        begun = detached(place)
        assert begun.returncode == 0 and "goes on without this terminal" in begun.stderr, begun.stderr
        (path,) = (machine.state / "results").glob("*.jsonl")
        with monkeypatch.context() as there:
            there.setenv("XDG_STATE_HOME", str(machine.state.parent))
            give_order(path, "pause")  # or it could end before anybody watches
            watching = subprocess.Popen(WATCH, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            assert watching.stderr is not None
            first = watching.stderr.readline()
            give_order(path, "resume")
        report, rest = watching.communicate(timeout=LIMIT_S)
        assert watching.returncode == 0 and "ext4" in report, first + rest
        result = results.load(path)
        in_three_days = f"{datetime.now(timezone.utc) + timedelta(days=3):%Y-%m-%d}"
        assert result.outcome == "finished" and 0 < result.elapsed_s < 3600
        assert result.environment.started[:10] == in_three_days, "by its own clock"
        assert in_three_days in fswizard("history", "--on", NAME).stdout
        assert [doubt.text for doubt in result.doubts if doubt.code == "not-removed"] == []
        assert fswizard("clean", "--on", NAME).stderr == "Nothing was left behind.\n"
        assert not list(place.iterdir())
        wait_until(lambda: not list((machine.state / "running").glob("run-*")), LIMIT_S, "the run is no longer listed")


def test_a_cut_ends_the_screen_and_not_the_run_and_the_same_command_shows_it_again(
    nas: OtherMachine, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert detached(place).returncode == 0
    (path,) = (nas.state / "results").glob("*.jsonl")
    with monkeypatch.context() as there:
        there.setenv("XDG_STATE_HOME", str(nas.state.parent))
        give_order(path, "pause")
        second = detached(place)
        assert second.returncode == 3 and "is being measured already: short on" in second.stderr, second.stderr
        with terminal("--on", NAME, size=(100, 40)) as wizard:
            wizard.await_text("In progress")
            nas.cut()
            wizard.await_text("keeps going; the same command shows it again")
            assert wizard.process.wait(LIMIT_S) == 1
        with terminal("watch", "--on", NAME, size=(100, 40)) as wizard:
            wizard.await_text("Leaderboard")
        give_order(path, "stop")
        wait_until(lambda: not ongoing(), LIMIT_S, "the run has ended")
    assert results.load(path).outcome == "stopped"
    assert not list(place.iterdir())


def test_a_file_that_is_exported_there_is_brought_here(
    nas: OtherMachine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    there = nas.state / "results" / "there.jsonl"
    there.parent.mkdir(parents=True)
    results.write_result(there, make_result())
    report, host = tmp_path / "report.csv", prepared()
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    for said in ("Copied from nas: report.csv", "stays on nas: here it cannot be written (File exists)"):
        assert host.attend("report", "there", "--format", "csv", "--output", str(report)) == 0
        assert said in capfd.readouterr().err
        assert (tmp_path / "here" / "report.csv").read_bytes() == report.read_bytes()
        report.unlink()


def test_another_key_than_the_known_one_is_refused(nas: OtherMachine) -> None:
    nas.trust(nas.new_key("another"))
    with pytest.raises(Refused, match="The key of nas is not the one that ssh knows"):
        prepared()
    assert not nas.brought()


def test_a_machine_that_is_not_reached_is_named_with_what_ssh_says(nas: OtherMachine) -> None:
    nas.configure("Port 1")
    with pytest.raises(RunFailed, match=r"nas cannot be reached: .*Connection refused\.$"):
        prepared()
    nas.configure("User nobody")
    with pytest.raises(RunFailed, match=r"nas cannot be reached: .*Permission denied"):
        prepared()
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
            prepared()
        assert not machine.brought()


def test_no_room_there_is_told(nas: OtherMachine) -> None:
    nas.cache.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", nas.cache], check=True)
    try:
        with pytest.raises(RunFailed, match="nas has no room for fswizard in its cache"):
            prepared()
    finally:
        subprocess.run(["umount", nas.cache], check=True)


def test_a_disk_there_is_erased_only_by_a_helper_that_was_installed_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = short_plan(tmp_path, recipe=COPIES)
    device = replace(plan, target=replace(plan.target, kind="device", path="/dev/disk/by-id/x"))
    monkeypatch.setenv(privilege.CARRIED, "1")
    with pytest.raises(Missing, match="needs the privileged helper installed there"):
        privilege.purpose(device)
