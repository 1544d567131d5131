"""SIGKILL at every step of the journal and every stage of a run, of each process that takes part."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import psutil
import pytest

from fswizard import results
from tests.loop.fault_table import fault
from tests.loop.machine_state import assert_nothing_lives, descendants, names_in, process_named, wait_until
from tests.loop.tiny_run import Run, clean, helper_of, started, tiny_run

pytestmark = [pytest.mark.root, pytest.mark.loop, pytest.mark.fio]

STAGES = {
    "reserving": "reserving room",
    "filling": "writing the whole scratch image once",
    "starting": "starting the privileged helper",
    "raw": "without a filesystem",
    "formatting": "round 1, .*formatting",
    "mounting": "round 1, .*mounting",
    "measuring": "round 1, .*Random writes",
    "checking": "round 1, .*writing back",
    "cleaning": "unmounting, and removing",
}
"""What the run says on standard error when a stage begins."""
WITH_A_HELPER = [stage for stage in STAGES if stage not in ("reserving", "filling", "starting", "cleaning")]


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Run]:
    with tiny_run(tmp_path, "--rounds", "1..1", "--candidates", "ext4") as made:
        yield made


def assert_readable(file: Path) -> None:
    """The result file tells everything up to the kill."""
    if file.exists() and file.stat().st_size:
        assert results.load(file).outcome == "killed"


def assert_cleaned(run: Run) -> None:
    clean()
    assert names_in(run.place) == []
    assert "Nothing was left behind" in clean()


def is_gone(pid: int) -> bool:
    return not psutil.pid_exists(pid)


@fault("signals", "the run is killed", "SIGKILL at the beginning of each stage")
@pytest.mark.parametrize("stage", STAGES)
def test_killing_the_run(run: Run, stage: str) -> None:
    run.await_words(STAGES[stage])
    below = descendants(run.process.pid)
    run.process.kill()
    run.process.wait()
    assert_nothing_lives(run.place, below)
    assert_readable(run.file)
    assert_cleaned(run)


@fault("signals", "the run is killed at work", "SIGKILL while fio runs in the helper's namespaces")
def test_killing_the_run_in_the_middle_of_a_measurement(run: Run) -> None:
    run.await_words(STAGES["measuring"])
    process_named("fio", helper_of(run))
    below = descendants(run.process.pid)
    run.process.kill()
    run.process.wait()
    assert_nothing_lives(run.place, below)
    assert_readable(run.file)
    assert_cleaned(run)


@fault("signals", "the first process of the helper's namespaces is killed", "SIGKILL at the beginning of each stage")
@pytest.mark.parametrize("stage", WITH_A_HELPER)
def test_killing_the_namespaces_of_the_helper(run: Run, stage: str) -> None:
    run.await_words(STAGES[stage])
    unshare = process_named("unshare", run.process.pid)
    below = [psutil.Process(unshare), *descendants(unshare)]
    os.kill(unshare, signal.SIGKILL)
    assert_nothing_lives(run.place, below)
    said = run.end()
    assert run.process.returncode == 1, said
    assert "helper ended" in said
    assert "Traceback" not in said
    assert results.load(run.file).outcome == "failed"
    assert results.load(run.file).failures == ()
    assert names_in(run.place) == []


@fault("signals", "a workload is killed", "SIGKILL of fio, once and twice")
@pytest.mark.parametrize("times", [1, 2])
def test_killing_a_workload(run: Run, times: int) -> None:
    run.await_words(STAGES["measuring"])
    helper = helper_of(run)
    for _ in range(times):
        victim = process_named("fio", helper)
        os.kill(victim, signal.SIGKILL)
        wait_until(partial(is_gone, victim), 20, "fio is gone")
    said = run.end()
    assert run.process.returncode == 0, said
    assert "tried once more" in said
    failures = results.load(run.file).failures
    assert [failure.kind for failure in failures] == ["program"] * (times - 1)
    assert names_in(run.place) == []


@fault("signals", "the run is killed before or after a step of its journal", "SIGKILL by itself, as CrashMonkey does")
@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize(
    ("step", "number"),
    [("journal._new_entry", 1), ("Journal._write", 1), ("Journal._write", 2), ("Path.mkdir", 1), ("Path.mkdir", 2),
     ("journal._remove", 1), ("Path.unlink", 1)],
)  # fmt: skip
def test_killed_at_a_step_of_the_journal(tmp_path: Path, step: str, number: int, when: str) -> None:
    script = f"""
import os, signal
from pathlib import Path
from fswizard.bench import journal
from fswizard.bench.journal import Journal
owner, name = {step.partition(".")[0]}, {step.partition(".")[2]!r}
real, calls = getattr(owner, name), []
def dies(*arguments, **named):
    ours = name not in ("mkdir", "unlink") or "fswizard-" in str(arguments[0]) or "unfinished/" in str(arguments[0])
    calls.extend([1] if ours else [])
    last = ours and len(calls) == {number}
    if last and {when!r} == "before":
        os.kill(os.getpid(), signal.SIGKILL)
    done = real(*arguments, **named)
    if last:
        os.kill(os.getpid(), signal.SIGKILL)
    return done
setattr(owner, name, dies)
"""
    place = tmp_path / "place"
    place.mkdir()
    run = started(place, tmp_path / "result.jsonl", "--rounds", "1..1", "--candidates", "ext4", script=script)
    run.process.communicate(timeout=60)
    assert run.process.returncode == -signal.SIGKILL
    assert_nothing_lives(place, [])
    assert results.load(run.file).outcome in ("killed", "finished")
    assert_cleaned(run)


@fault("environment", "two instances", "both run at once; `clean` while they do")
def test_two_runs_at_once_and_clean_beside_them(tmp_path: Path) -> None:
    place = tmp_path / "place"
    place.mkdir()
    first, second = (started(place, tmp_path / f"{name}.jsonl", "--rounds", "1..1") for name in ("first", "second"))
    for run in (first, second):
        run.await_words(STAGES["formatting"])
    assert "Nothing was left behind" in clean()
    assert len(names_in(place)) == 2
    for run in (first, second):
        said = run.end(60)
        assert run.process.returncode == 0, said
        assert results.load(run.file).outcome == "finished"
    assert names_in(place) == []


@fault("signals", "`clean` is killed", "SIGKILL while it removes; another one finishes the work")
def test_clean_itself_may_be_killed(run: Run) -> None:
    run.await_words(STAGES["formatting"])
    run.process.kill()
    run.process.wait()
    dies = (
        "import os, signal, sys; from fswizard.__main__ import main; from fswizard.bench import journal\n"
        "journal.query = lambda *a, **k: os.kill(os.getpid(), signal.SIGKILL)\n"
        "sys.argv = ['fswizard', 'clean']; main()"
    )
    killed = subprocess.run([sys.executable, "-c", dies], capture_output=True, check=False, timeout=120)
    assert killed.returncode == -signal.SIGKILL
    time.sleep(0.1)
    assert_cleaned(run)
