"""Terminals that are tiny, dumb, changing, or gone: no traceback, and a run that is cleaned up."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from fswizard import results
from tests.loop.machine_state import assert_nothing_lives, descendants, names_in
from tests.loop.terminals import terminal
from tests.loop.tiny_run import LASTING, LIMIT_S, QUICK, tiny_run, wait_for

pytestmark = [pytest.mark.root, pytest.mark.loop, pytest.mark.fio]

ESCAPE = "\x1b"


def run_arguments(directory: Path, *more: str, recipe: str = QUICK) -> list[str]:
    (directory / "place").mkdir()
    (directory / "tiny.toml").write_text(recipe)
    target, file = f"image:64M@{directory / 'place'}", str(directory / "result.jsonl")
    return ["run", str(directory / "tiny.toml"), "--target", target, "--output", file, *more]


def test_when_its_terminal_is_closed_a_run_ends_in_good_order(tmp_path: Path) -> None:
    with terminal(*run_arguments(tmp_path, recipe=LASTING)) as shown:
        file = tmp_path / "result.jsonl"
        wait_for(file, '"sample":{"round":1')
        below = descendants(shown.process.pid)
        shown.cut()
        assert shown.process.wait(LIMIT_S) == 130
        assert_nothing_lives(tmp_path / "place", below)
        assert names_in(tmp_path / "place") == []
        assert results.load(file).outcome == "cancelled"


def test_under_nohup_a_run_outlives_its_terminal_and_whoever_read_its_narration(tmp_path: Path) -> None:
    with tiny_run(tmp_path, "--rounds", "1..1", under=["nohup"], still_at="^Writes$") as run:
        assert run.process.stderr and run.process.stdout
        run.process.send_signal(signal.SIGHUP)  # as the kernel does when a terminal is closed
        run.process.stderr.close()
        run.go_on()
        stdout = run.process.stdout.read()
        assert run.process.wait(LIMIT_S) == 0
        assert "ext4" in stdout
        assert run.result.outcome == "finished"


def test_on_a_dumb_terminal_a_run_is_told_in_plain_lines(tmp_path: Path) -> None:
    with terminal(*run_arguments(tmp_path, "--rounds", "1..1"), env={"TERM": "dumb"}) as shown:
        text = shown.read()
        assert shown.process.wait(LIMIT_S) == 0, text
        assert ESCAPE not in text
        assert "formatting with mkfs.ext4" in text
        assert "Traceback" not in text


def test_a_dumb_terminal_is_told_what_to_use_instead() -> None:
    with terminal(env={"TERM": "dumb"}) as shown:
        text = shown.read()
        assert shown.process.wait(LIMIT_S) == 2
        assert "needs a terminal" in text and "fswizard run" in text
        assert ESCAPE not in text and "Traceback" not in text
