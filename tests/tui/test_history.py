"""Earlier results in the wizard: found, opened, and put side by side."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from fswizard.model.analysis import Answer
from fswizard.model.plan import Target
from fswizard.results import all_results, new_path
from fswizard.stats import analyse
from fswizard.tui.screens.comparison import to_share
from tests.builders import make_candidate, make_drive, make_plan, make_result, write_result
from tests.fakes.two_runs import keep_three
from tests.tui.driving import at, at_step, footer, screen_text, shows, until


async def test_a_result_is_opened_and_two_marked_ones_stand_side_by_side_the_earlier_one_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    keep_three(monkeypatch)
    async with at(size=(120, 36)) as pilot:
        await shows(pilot, "Space marks two results", "h")
        await at_step(pilot, "result", "enter")
        await shows(pilot, "Space marks two results", "h")
        await shows(pilot, "One is marked", "space", "c")
        assert "compare" not in footer(pilot.app)
        await shows(pilot, "Two are marked", "down", "down", "space", "up", "space")
        assert {*pilot.app.screen.marked} == {*pilot.app.screen.table.keys[1:]}, "two at most"
        await shows(pilot, "Two results side by side", "space", "up", "space", "c")
        said = " ".join(screen_text(pilot.app).split())
        assert "Before 2024-12-24 20:00" in said and "After 2025-12-31 18:20" in said
        assert "Changed kernel" in said
        await shows(pilot, "Ratios are after over before", "end")
        assert "1.25 (" in screen_text(pilot.app)
        await pilot.press("c")
        await until(pilot, lambda: "Before     2024-12-24 20:00" in pilot.app.clipboard, "the clipboard")
        await shows(pilot, "Two are marked", "escape")


def test_a_copied_comparison_of_two_disks_says_so_without_their_serial_numbers() -> None:
    results = [make_result(plan=make_plan(("ext4",), drive=make_drive(serial=serial))) for serial in ("A-123", "B-456")]
    copied = to_share((results[0], results[1]), ("one day", "another day"))
    assert "Not measured alike: disk first → second" in copied
    assert "23" not in copied


def test_a_copied_comparison_has_each_directorys_own_figures_without_its_name() -> None:
    levels = {"/srv/a": 100.0, "/srv/b": 200.0, "/srv/c": 400.0}
    results = []
    for directories in (("/srv/a", "/srv/b"), ("/srv/b", "/srv/c")):
        candidates = [replace(make_candidate("ext4"), name=name, directory=name) for name in directories]
        figures = {name: (levels[name], 1.01 * levels[name], 0.99 * levels[name]) for name in directories}
        plan = replace(make_plan(target=Target("directory", "/srv/a")), candidates=tuple(candidates))
        results.append(make_result(figures, plan=replace(plan, baseline=directories[0])))
    copied = to_share((results[0], results[1]), ("one day", "another day"))
    assert "1.00 (" in copied
    assert "2.00 (" not in copied
    assert "/srv" not in copied


async def test_a_result_goes_only_after_a_question(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.setattr("fswizard.results.all_results", all_results)
    result = make_result()
    path = new_path(result.plan)
    write_result(path, result, analyse(result), Answer("winner", "Use xfs"))
    async with at() as pilot:
        await pilot.press("h")
        for keys in (("enter",), ("down", "enter")):
            await shows(pilot, "Use xfs")
            assert [entry.path for entry in all_results()] == [path]
            await shows(pilot, "Delete this result?", "delete")
            await pilot.press(*keys)
        await shows(pilot, "No results yet.")
    assert list(path.parent.iterdir()) == []
