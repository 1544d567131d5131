"""SIGKILL at every step of the journal and every stage of a run, of the run itself.

The helper, its namespaces and the programs have their turn in test_faults_killed_steps.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from itertools import product
from pathlib import Path

import psutil
import pytest

from fswizard.targets import journal
from tests.loop.machine_state import assert_nothing_lives, descendants, names_in, process_named
from tests.loop.tiny_run import LASTING, MUCH_BARE, Run, clean, helper_of, started, tiny_run
from tests.recipe_texts import writing
from tests.unit.test_journal import left_behind

pytestmark = [pytest.mark.root, pytest.mark.loop, pytest.mark.fio]

STAGES = {
    "starting": "starting the privileged helper",
    "filling": "writing the whole scratch image once",
    "raw": "without a filesystem",
    "formatting": "formatting",
    "mounting": "mounting",
    "checking": "writing back",
    "cleaning": "unmounting, and removing",
}
"""Titles of the steps with which they begin."""
QUICK_STAGES = ("filling", "formatting", "cleaning")
"""While the image is made, while it is used, and where it goes; in the middle of a measurement follows."""
ALL_STAGES = [stage if stage in QUICK_STAGES else pytest.param(stage, marks=pytest.mark.slow) for stage in STAGES]


def assert_cleaned(place: Path) -> None:
    clean()
    assert names_in(place) == []
    assert journal.leftovers() == ()


def kill(run: Run) -> None:
    """Nothing of it goes on, its result file tells everything up to then, and what it left can be removed."""
    below = descendants(run.process.pid)
    run.process.kill()
    run.process.communicate()
    assert_nothing_lives(run.place, below)
    assert run.result.outcome == "killed"
    assert_cleaned(run.place)


@pytest.mark.parametrize("stage", ALL_STAGES)
def test_killing_the_run(tmp_path: Path, stage: str) -> None:
    script = MUCH_BARE if stage == "raw" else ""
    with tiny_run(
        tmp_path, "--rounds", "1..1", "--candidates", "ext4", still_at=STAGES[stage], script=script
    ) as run:  # fmt: skip
        kill(run)


def test_killing_the_run_in_the_middle_of_a_measurement(tmp_path: Path) -> None:
    with tiny_run(tmp_path, recipe=LASTING) as run:
        run.await_words("round 1, .*Writes")
        process_named("fio", helper_of(run))
        kill(run)


def test_killing_the_run_while_the_bare_device_is_measured(tmp_path: Path) -> None:
    recipe, script = writing("64M", "4M", 5.0, minutes=60, candidates=("ext4",)), MUCH_BARE.replace("100", "9")
    with tiny_run(tmp_path, recipe=recipe, script=script) as run:
        run.await_words("round 1: .*without a filesystem")
        fio = psutil.Process(process_named("fio", helper_of(run)))
        fields = dict(line.split(":\t", 1) for line in Path(f"/proc/{fio.pid}/status").read_text().splitlines())
        assert {int(fields[name], 16) for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")} == {0}
        assert (fields["NoNewPrivs"], fio.uids().effective) == ("1", 0)
        assert "(deleted)" in os.readlink(f"/proc/{fio.pid}/cwd")
        kill(run)


STEPS = [
    ("_new_entry", 1), ("_write", 1), ("_write", 2), ("mkdir", 1), ("_write", 3), ("mkdir", 2), ("rmdir", 1),
    ("ftruncate", 6), ("_write", 6), ("_remove", 1), ("rmdir", 2), ("unlink", 1),
]  # fmt: skip
"""Functions of the journal, and what it calls of the system, each with the number of the call that is the last one."""
DYING = """
import asyncio, os, signal, sys
from pathlib import Path
from fswizard.targets import journal
from fswizard.targets.journal import Journal

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
    script = f"import asyncio, fswizard.targets.journal\nDYING = {DYING!r}\n{FORKED}"
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
    first = started(place, place.with_name("first.jsonl"), *arguments, still_at=STAGES["formatting"])
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
        "import os, signal, sys; from fswizard.__main__ import main; from fswizard.targets import journal\n"
        "journal.query = lambda *a, **k: os.kill(os.getpid(), signal.SIGKILL)\n"
        "sys.argv = ['fswizard', 'clean']; main()"
    )
    killed = subprocess.run([sys.executable, "-c", dies], capture_output=True, check=False, timeout=300)
    assert killed.returncode == -signal.SIGKILL
    assert names_in(place) != []
    assert_cleaned(place)
