"""Earlier results in the wizard: found, opened, and put side by side."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from fswizard.model.analysis import Answer
from fswizard.model.plan import Target
from fswizard.results import all_results, new_path
from fswizard.stats import analyse
from fswizard.tui.screens.comparison import to_share
from fswizard.tui.screens.history import HistoryScreen
from tests.builders import make_candidate, make_drive, make_plan, make_result, write_result
from tests.fakes.two_runs import keep_three
from tests.fakes.wizard import app, entry
from tests.tui.driving import footer, screen_text, shows, until


async def history(pilot: Pilot[Any]) -> None:
    await shows(pilot, "2025-06-30")
    await pilot.press("h")
    await shows(pilot, "Space marks two results")


async def test_two_marked_results_stand_side_by_side_the_earlier_one_first(monkeypatch: pytest.MonkeyPatch) -> None:
    keep_three(monkeypatch)
    async with app().run_test(size=(120, 36)) as pilot:
        await history(pilot)
        await pilot.press("space", "down", "space")
        await shows(pilot, "Two are marked")
        await pilot.press("c")
        await shows(pilot, "Two results side by side")
        said = " ".join(screen_text(pilot.app).split())
        assert "Before 2025-06-30 09:41" in said and "After 2025-12-31 18:20" in said
        assert "Changed kernel" in said
        await pilot.press("end")
        await shows(pilot, "Ratios are after over before")
        assert "1.25 (" in screen_text(pilot.app)
        await pilot.press("c")
        await until(pilot, lambda: "all together" in pilot.app.clipboard, "the clipboard")
        assert "Before     2025-06-30 09:41" in pilot.app.clipboard
        await pilot.press("escape")
        await shows(pilot, "Two are marked")


def test_a_copied_comparison_of_two_disks_says_so_without_their_serial_numbers() -> None:
    results = [make_result(plan=make_plan(("ext4",), drive=make_drive(serial=serial))) for serial in ("A-123", "B-456")]
    copied = to_share((results[0], results[1]), ("one day", "another day"))
    assert "Not measured alike: disk first → second" in copied
    assert "23" not in copied


def test_a_copied_comparison_has_each_directorys_own_figures_without_its_name() -> None:
    target, levels = Target("directory", "/srv/a"), {"/srv/a": 100.0, "/srv/b": 200.0, "/srv/c": 400.0}
    results = []
    for directories in (("/srv/a", "/srv/b"), ("/srv/b", "/srv/c")):
        candidates = [replace(make_candidate("ext4"), name=name, directory=name) for name in directories]
        figures = {name: (levels[name], 1.01 * levels[name], 0.99 * levels[name]) for name in directories}
        plan = replace(make_plan(("ext4",), target=target), candidates=tuple(candidates), baseline=directories[0])
        results.append(make_result(figures, plan=plan))
    copied = to_share((results[0], results[1]), ("one day", "another day"))
    assert "1.00 (" in copied
    assert "2.00 (" not in copied
    assert "/srv" not in copied


async def test_two_at_most_are_marked_and_one_is_not_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    keep_three(monkeypatch)
    async with app().run_test(size=(80, 24)) as pilot:
        await history(pilot)
        assert screen_text(pilot.app).count(f"✓ {entry('later', '').verdict[:10]}") >= 4
        assert "compare" not in footer(pilot.app)
        await pilot.press("space")
        await shows(pilot, "One is marked")
        assert "compare" not in footer(pilot.app)
        await pilot.press("down", "space", "down", "space")
        await shows(pilot, "Two are marked")
        assert "c compare" in footer(pilot.app)
        screen = pilot.app.screen
        assert isinstance(screen, HistoryScreen)
        assert screen.marked == tuple(screen.table.keys[1:])
        await pilot.press("space")
        await shows(pilot, "One is marked")
        await pilot.press("c")
        await shows(pilot, "One is marked")


async def test_a_result_goes_only_after_a_question(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.setattr("fswizard.results.all_results", all_results)
    result = make_result()
    path = new_path(result.plan)
    write_result(path, result, analyse(result), Answer("winner", "Use xfs"))
    async with app().run_test(size=(80, 24)) as pilot:
        await pilot.press("h")
        await shows(pilot, "Use xfs")
        await pilot.press("delete")
        await shows(pilot, "Delete this result?")
        await pilot.press("enter")
        await shows(pilot, "Use xfs")
        assert [entry.path for entry in all_results()] == [path]
        await pilot.press("delete")
        await shows(pilot, "Delete this result?")
        await pilot.press("down", "enter")
        await shows(pilot, "No results yet.")
    assert list(path.parent.iterdir()) == []
