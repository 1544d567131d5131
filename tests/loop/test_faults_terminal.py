"""Terminals that are tiny, dumb, changing, or gone: no traceback, and a run that is cleaned up."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from fswizard import results
from tests.loop.machine_state import alive, assert_nothing_lives, descendants, names_in, wait_until_gone
from tests.loop.terminals import terminal
from tests.loop.tiny_run import LASTING, LIMIT_S, QUICK, clean, open_gate, standing_still, tiny_run, wait_for

pytestmark = [pytest.mark.root, pytest.mark.loop, pytest.mark.fio]

ESCAPE = "\x1b"
TAKES_KEYS = f"{ESCAPE}[?2004h"
"""The wizard asks for pastes in brackets, once it has the whole screen and reads every key itself."""


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


def test_under_nohup_a_run_outlives_its_terminal(tmp_path: Path) -> None:
    file, gate = tmp_path / "result.jsonl", tmp_path / "gate"
    still = standing_still("^Writes$", gate)
    with terminal(*run_arguments(tmp_path, "--rounds", "1..1"), before="nohup", script=still) as shown:
        wait_for(file, '"sample":{"round":1')
        shown.cut()
        open_gate(gate)
        shown.process.wait(LIMIT_S)
        assert results.load(file).outcome == "finished"
        assert names_in(tmp_path / "place") == []
    Path("nohup.out").unlink(missing_ok=True)


def test_a_run_whose_narration_nobody_reads_any_more_goes_on(tmp_path: Path) -> None:
    with tiny_run(tmp_path, "--rounds", "1..1", still_at="^Writes$") as run:
        assert run.process.stderr and run.process.stdout
        run.process.stderr.close()
        run.go_on()
        stdout = run.process.stdout.read()
        assert run.process.wait(LIMIT_S) == 0
        assert "ext4" in stdout
        assert run.result.outcome == "finished"


@pytest.mark.parametrize(
    "env",
    [
        pytest.param({"TERM": "dumb"}, id="dumb"),
        pytest.param({"TERM": "dumb", "NO_COLOR": "1"}, id="no colour", marks=pytest.mark.slow),
    ],
)
def test_on_a_dumb_terminal_a_run_is_told_in_plain_lines(tmp_path: Path, env: dict[str, str]) -> None:
    with terminal(*run_arguments(tmp_path, "--rounds", "1..1"), env=env) as shown:
        text = shown.read()
        assert shown.process.wait(LIMIT_S) == 0, text
        assert ESCAPE not in text
        assert "formatting with mkfs.ext4" in text
        assert "Traceback" not in text


def test_a_dumb_terminal_is_told_what_to_use_instead() -> None:
    with terminal(env={"TERM": "dumb"}) as shown:
        text = shown.read()
        assert shown.process.wait(LIMIT_S) == 2
        assert "cannot show the wizard" in text and "fswizard run" in text
        assert ESCAPE not in text and "Traceback" not in text


@pytest.mark.parametrize(
    ("size", "env"),
    [
        ((20, 5), {}),
        ((1, 1), {"NO_COLOR": "1"}),
        *(
            pytest.param(size, env, marks=pytest.mark.slow)
            for size, env in [((80, 24), {}), ((1, 1), {}), ((80, 24), {"NO_COLOR": "1"}), ((20, 5), {"NO_COLOR": "1"})]
        ),
    ],
    ids=str,
)
def test_the_wizard_opens_and_closes(size: tuple[int, int], env: dict[str, str]) -> None:
    """A second for the wizard to come up."""
    with terminal(size=size, env=env) as shown:
        shown.await_text(TAKES_KEYS)
        shown.type("\x11")
        text = shown.read()
        shown.process.wait(LIMIT_S)
        assert "Traceback" not in text and "Error" not in text


def test_a_resize_storm_leaves_the_wizard_usable() -> None:
    with terminal() as shown:
        shown.await_text(TAKES_KEYS)
        for columns, rows in itertools.islice(itertools.cycle([(20, 5), (200, 60), (3, 2), (80, 24)]), 50):
            shown.resize(columns, rows)
            shown.read(0.001)
        shown.shown.clear()
        shown.resize(80, 24)
        shown.await_text("What would you like to know?")
        shown.type("\x11")
        text = shown.read()
        shown.process.wait(LIMIT_S)
        assert "Traceback" not in text


def test_when_its_terminal_is_closed_the_wizard_is_gone() -> None:
    with terminal() as shown:
        shown.await_text(TAKES_KEYS)
        below = descendants(shown.process.pid)
        shown.cut()
        shown.process.wait(LIMIT_S)
        wait_until_gone(lambda: alive(below), "what it started is gone")
    assert clean() == 0
