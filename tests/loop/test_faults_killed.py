"""SIGKILL at every step of the journal, and of `fswizard clean`; runs have their turn in test_root_kills."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from itertools import product
from pathlib import Path

import pytest

from fswizard.disks import journal
from tests.loop.machine_state import names_in
from tests.loop.tiny_run import clean, started
from tests.unit.test_journal import left_behind

pytestmark = [pytest.mark.root, pytest.mark.loop, pytest.mark.fio]


def assert_cleaned(place: Path) -> None:
    clean()
    assert names_in(place) == []
    assert journal.leftovers() == ()


STEPS = [
    ("_new_entry", 1), ("_write", 1), ("_write", 2), ("mkdir", 1), ("_write", 3), ("mkdir", 2), ("rmdir", 1),
    ("ftruncate", 6), ("_write", 6), ("_remove", 1), ("rmdir", 2), ("unlink", 1),
]  # fmt: skip
"""Functions of the journal, and what it calls of the system, each with the number of the call that is the last one."""
DYING = """
import asyncio, os, signal, sys
from pathlib import Path
from fswizard.disks import journal
from fswizard.disks.journal import Journal

name, number, when, place = sys.argv[1], int(sys.argv[2]), sys.argv[3], Path(sys.argv[4])
owner = Path if name == "unlink" else journal if hasattr(journal, name) else os
real, calls = getattr(owner, name), []

def dies(*arguments, **named):
    path = str(arguments[:1])
    ours = name not in ("mkdir", "rmdir", "unlink") or "fswizard-" in path or "unfinished/run" in path
    calls.extend([1] if ours else [])
    last = ours and len(calls) == number
    if last and when == "before":
        os.kill(os.getpid(), signal.SIGKILL)
    done = real(*arguments, **named)
    if last:
        os.kill(os.getpid(), signal.SIGKILL)
    return done

setattr(owner, name, dies)
kept = Journal(place.with_name("result.jsonl"))
directory = kept.make_directory(place)
(directory / "image").write_bytes(bytes(4096))
other = kept.make_directory(place)
(other / "file").write_bytes(bytes(4096))
asyncio.run(kept.remove_directory(other))
kept.close()
"""
FORKED = """
import json, os, sys
for arguments, state in json.loads(sys.argv[1]):
    child = os.fork()
    if not child:
        os.environ["XDG_STATE_HOME"], sys.argv[1:] = state, arguments
        exec(DYING)
        os._exit(0)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


def test_killed_at_each_step_of_the_journal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the journal, in one program for all: about a second for twenty-four deaths."""
    cases = [(step, number, when) for (step, number), when in product(STEPS, ("before", "after"))]
    homes = [tmp_path / f"{step} {number} {when}" for step, number, when in cases]
    for home in homes:
        (home / "place").mkdir(parents=True)
    told = [([str(word) for word in case] + [f"{home}/place"], f"{home}/state") for case, home in zip(cases, homes)]
    script = f"import asyncio, fswizard.disks.journal\nDYING = {DYING!r}\n{FORKED}"
    argv = [sys.executable, "-c", script, json.dumps(told)]
    done = subprocess.run(argv, capture_output=True, text=True, check=True)
    assert [int(code) for code in done.stdout.split()] == [-signal.SIGKILL] * len(cases), done.stderr
    for home in homes:
        monkeypatch.setenv("XDG_STATE_HOME", f"{home}/state")
        assert_cleaned(home / "place")


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "place").mkdir()
    return tmp_path / "place"


def test_a_second_run_on_the_disk_and_clean_beside_the_first(place: Path) -> None:
    arguments = ("--rounds", "1..1", "--candidates", "ext4")
    first = started(place, place.with_name("first.jsonl"), *arguments, still_at="formatting")
    second = started(place, place.with_name("second.jsonl"), *arguments)
    assert "is being measured already" in second.end(3)
    assert clean() == 0
    assert len(names_in(place)) == 1
    first.go_on()
    first.end(0)
    assert first.result.outcome == "finished"
    assert names_in(place) == []


def test_clean_itself_may_be_killed(place: Path) -> None:
    left_behind(place)
    dies = (
        "import os, signal, sys; from fswizard.__main__ import main; from fswizard.disks import journal\n"
        "journal.query = lambda *a, **k: os.kill(os.getpid(), signal.SIGKILL)\n"
        "sys.argv = ['fswizard', 'clean']; main()"
    )
    killed = subprocess.run([sys.executable, "-c", dies], capture_output=True, check=False, timeout=300)
    assert killed.returncode == -signal.SIGKILL
    assert names_in(place) != []
    assert_cleaned(place)
