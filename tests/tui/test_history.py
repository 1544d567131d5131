"""Earlier results in the wizard: found, opened, and put side by side."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from fswizard.advice import conclude
from fswizard.model.analysis import Answer
from fswizard.model.filesystem import Candidate
from fswizard.model.plan import Target
from fswizard.report import content
from fswizard.results import all_results, new_path
from fswizard.stats import analyse
from fswizard.tui.backend import Backend
from fswizard.tui.screens.history import HistoryScreen
from tests.builders import make_filesystem, make_filled_result, make_plan, make_result, make_samples, write_result
from tests.fakes.two_runs import TwoRuns
from tests.fakes.wizard import FakeMachine, app
from tests.tui.driving import footer, screen_text, shows, until
from tests.tui.test_same_answer import answered, plain


class StoredResults(FakeMachine):
    """Has the results of the state directory."""

    history = Backend.history
    load = Backend.load


async def history(pilot: Pilot[Any]) -> None:
    await shows(pilot, "2025-06-30")
    await pilot.press("h")
    await shows(pilot, "Space marks two results")


async def test_two_marked_results_stand_side_by_side_the_earlier_one_first() -> None:
    async with app("purpose", TwoRuns()).run_test(size=(120, 36)) as pilot:
        await history(pilot)
        await pilot.press("space", "down", "space")
        await shows(pilot, "Two are marked")
        await pilot.press("c")
        await shows(pilot, "Two results side by side")
        await shows(pilot, "Before 2025-06-30 09:41")
        await shows(pilot, "After  2025-12-31 18:20")
        await shows(pilot, "Changed kernel")
        assert "25 % faster" in screen_text(pilot.app)
        await pilot.press("end")
        await shows(pilot, "Ratios are after over before")
        await pilot.press("c")
        await until(pilot, lambda: "all together" in pilot.app.clipboard, "the clipboard")
        assert "Before     2025-06-30 09:41" in pilot.app.clipboard
        await pilot.press("escape")
        await shows(pilot, "Two are marked")


async def test_two_at_most_are_marked_and_one_is_not_compared() -> None:
    async with app("purpose", TwoRuns()).run_test(size=(80, 24)) as pilot:
        await history(pilot)
        assert screen_text(pilot.app).count(f"✓ {TwoRuns().history()[0].verdict[:10]}") >= 4
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
    result = make_result()
    path = new_path(result.plan)
    write_result(path, result, analyse(result), Answer("winner", "Use xfs"))
    async with app("purpose", StoredResults()).run_test(size=(80, 24)) as pilot:
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


async def test_an_empty_filesystem_is_compared_with_a_full_one_where_a_result_has_both(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    result = make_filled_result(2.0)
    write_result(new_path(result.plan), result, analyse(result))
    async with app("purpose", StoredResults()).run_test(size=(80, 24)) as pilot:
        await pilot.press("h")
        await until(pilot, lambda: "f compare within it" in footer(pilot.app), "the key")
        await pilot.press("f")
        await shows(pilot, "ext4 is 2× slower at “Full”.")
        await shows(pilot, "2.00 s  2× slower")


def test_places_of_an_earlier_version_have_short_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    candidates = tuple(
        Candidate(f"{kind}@{directory}", make_filesystem(kind), directory=directory)
        for kind, directory in (("ext4", "/mnt/disks/archive"), ("btrfs", "/mnt/disks/backup"))
    )
    figures = {candidate.name: (100.0, 101.0, 99.0) for candidate in candidates}
    plan = replace(make_plan(tuple(figures)), candidates=candidates, target=Target("directory", ""))
    old = make_result(plan=plan, samples=make_samples(figures))
    write_result(new_path(plan), old, analyse(old), Answer("winner", "Keep ext4@/mnt/disks/archive"))
    machine, names = Backend(), ("archive (ext4)", "backup (btrfs)")
    (entry,) = machine.history()
    assert (entry.header.candidates, entry.leaders, entry.verdict) == (names, names, "Keep archive (ext4)")
    findings = conclude(machine.load(entry.path))
    assert "@" not in answered(findings) + plain(content.full(findings))
    assert {bar.title for chart in content.figures(findings).charts for bar in chart.bars} == set(names)
