"""SIGKILL of a run that was started as root, at every step, and of the programs that it starts: nothing is left."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from fswizard.disks import journal
from fswizard.errors import ExitCode
from tests.loop.devices import run
from tests.loop.machine_state import (
    alive,
    assert_nothing_lives,
    descendants,
    loops_below,
    names_in,
    process_named,
    wait_until,
)
from tests.loop.tiny_run import LASTING, MUCH_BARE, Run, clean, started, tiny_run
from tests.recipe_texts import writing

pytestmark = [pytest.mark.root, pytest.mark.loop, pytest.mark.fio]

STAGES = {
    "preparing": "preparing to mount",
    "filling": "writing the whole scratch image once",
    "raw": "without a filesystem",
    "formatting": "formatting",
    "mounting": "mounting",
    "measuring": "^Writes$",
    "checking": "writing back",
    "cleaning": "unmounting, and removing",
}
"""Titles of the steps with which they begin."""
QUICK = {("filling", "run"), ("formatting", "namespaces"), ("measuring", "run"), ("cleaning", "run")}
KILLS = [
    pytest.param(stage, victim, marks=[] if (stage, victim) in QUICK else [pytest.mark.slow])
    for stage in STAGES
    for victim in ("run", "namespaces")
]
ONE = ("--rounds", "1..1", "--candidates", "ext4")


def killed(run: Run, victim: str = "run") -> None:
    """Nothing of it goes on, its result file says everything up to then, what it left can be removed."""
    process = psutil.Process(run.pid)
    above = process.parent()
    assert above is not None and above.name() == "unshare"
    below = [process, above, *descendants(run.pid)]
    (process if victim == "run" else above).kill()
    run.process.communicate()
    assert run.process.returncode == ExitCode.RUN_FAILED
    assert_nothing_lives(run.place, below)
    assert "/run/fswizard" not in Path("/proc/self/mounts").read_text()
    assert run.result.outcome == "killed"
    clean()
    assert names_in(run.place) == []
    assert journal.leftovers() == ()


def cgroups_of(process: psutil.Process) -> list[Path]:
    """Those that a process holds locked."""
    links = (Path(os.readlink(link)) for link in Path(f"/proc/{process.pid}/fd").iterdir())
    return [path for path in links if path.name.startswith("fswizard-") and "cgroup" in str(path)]


@pytest.mark.parametrize(("stage", "victim"), KILLS)
def test_a_run_that_is_killed_leaves_nothing(tmp_path: Path, stage: str, victim: str) -> None:
    script = MUCH_BARE if stage == "raw" else ""
    with tiny_run(tmp_path, *ONE, still_at=STAGES[stage], script=script) as run:
        killed(run, victim)


@pytest.mark.parametrize("victim", ["run", "namespaces"])
def test_a_run_that_is_killed_while_it_measures_takes_its_programs_along(tmp_path: Path, victim: str) -> None:
    with tiny_run(tmp_path, "--memory-limit", "64M", recipe=LASTING) as run:
        run.await_words("round 1, .*Writes")
        process_named("fio", run.pid)
        (cgroup,) = cgroups_of(psutil.Process(run.pid))
        killed(run, victim)
        again = started(run.place, run.file.with_name("again.jsonl"), *ONE, "--memory-limit", "64M")
        again.end(0)
        assert not cgroup.exists(), "the next run removes it"


@pytest.mark.parametrize("lines", ["", "with as_root.root(): pass"])
def test_a_run_that_acts_as_its_user_still_ends_with_its_namespaces(tmp_path: Path, lines: str) -> None:
    """The kernel forgets that a process is to end with its parent whenever its effective user changes."""
    code = f"""import pwd, time
from fswizard.disks import as_root
as_root.become(pwd.getpwnam("nobody"), {{}})
{lines}
print("acts", flush=True)
time.sleep(60)"""
    words = ("unshare", "--mount", "--pid", "--fork", "--kill-child", "--", sys.executable, "-c", code)
    with subprocess.Popen(words, stdout=subprocess.PIPE) as namespaces:
        assert namespaces.stdout is not None and namespaces.stdout.readline() == b"acts\n"
        (below,) = psutil.Process(namespaces.pid).children()
        namespaces.kill()
        wait_until(lambda: not alive([below]), 10, "it has ended")


def test_the_bare_device_is_measured_by_root_without_roots_rights(tmp_path: Path) -> None:
    recipe, script = writing("64M", "4M", 5.0, minutes=60, candidates=("ext4",)), MUCH_BARE.replace("100", "9")
    with tiny_run(tmp_path, recipe=recipe, script=script) as run:
        run.await_words("round 1: .*without a filesystem")
        fio = psutil.Process(process_named("fio", run.pid))
        fields = dict(line.split(":\t", 1) for line in Path(f"/proc/{fio.pid}/status").read_text().splitlines())
        assert {int(fields[name], 16) for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")} == {0}
        assert (fields["NoNewPrivs"], fio.uids().effective) == ("1", 0)
        assert fio.cwd() == "/"
        killed(run)


def test_a_run_sees_what_the_user_unmounts_and_nobody_sees_its_own_mounts(tmp_path: Path) -> None:
    """Else a stick that looks unmounted would still be mounted here, with data not yet written to it."""
    stick = tmp_path / "stick"
    stick.mkdir()
    run("mount", "-t", "tmpfs", "tmpfs", str(stick))
    with tiny_run(tmp_path, *ONE, still_at=STAGES["measuring"]) as measuring:
        table = Path(f"/proc/{measuring.pid}/mountinfo")
        assert str(stick) in table.read_text() and "/run/fswizard/" in table.read_text()
        assert "/run/fswizard" not in Path("/proc/self/mountinfo").read_text()
        run("umount", str(stick))
        wait_until(lambda: str(stick) not in table.read_text(), 60, "it is unmounted there, too")
        measuring.go_on()
        measuring.end(0)


KILLING = """
import contextlib, json, os, pathlib, signal
from fswizard.disks import as_root
from fswizard.system import commands

told = []

def watched(process, argv):
    told.append(argv[0])
    pathlib.Path({report!r}).write_text(json.dumps(told))
    if len(told) == {number}:
        with contextlib.suppress(OSError), as_root.root():
            os.kill(process._process.pid, signal.SIGKILL)
    return process

real_root, real_user = as_root.start, commands.start

async def as_roots(argv, **how):
    return watched(await real_root(argv, **how), argv)

async def as_users(argv, **how):
    return watched(await real_user(argv, **how), argv)

as_root.start, commands.start = as_roots, as_users
"""
PROGRAMS = (
    "mount", "fallocate", "dd", "wipefs", "mkfs.ext4", "mount", "python3", "umount", "mount", "fio", "sync", "sync",
    "sync", "umount", "umount",
)  # fmt: skip
"""What a run with one round and one candidate starts, in that order."""
SOME = [
    pytest.param(number, marks=[] if number in (8, 10) else [pytest.mark.slow])
    for number in range(1, len(PROGRAMS) + 1)
]


@pytest.mark.parametrize("number", SOME, ids=lambda number: f"{number} {PROGRAMS[number - 1]}")
def test_whichever_program_of_a_run_is_killed_no_filesystem_is_blamed(tmp_path: Path, number: int) -> None:
    report = tmp_path / "told.json"
    script = KILLING.format(report=str(report), number=number)
    with tiny_run(tmp_path, *ONE, script=script) as run:
        said = run.end()
        told = [Path(name).name for name in json.loads(report.read_text())]
        assert tuple(told[:number]) == PROGRAMS[:number]
        assert run.process.returncode in (ExitCode.OK, ExitCode.RUN_FAILED), said
        assert (run.result.outcome in ("finished", "failed"), run.result.failures) == (True, ()), said
        assert_nothing_lives(run.place, [])
    assert not loops_below(tmp_path)
