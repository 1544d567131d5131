"""Earlier results in the wizard: found, opened, and put side by side."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from fswizard.model.filesystem import Candidate
from fswizard.model.plan import Target
from fswizard.report.presentation import present
from fswizard.results import new_path, write_result
from fswizard.stats import judge
from fswizard.tui import outcome
from fswizard.tui.backend import Backend
from tests.builders import make_filesystem, make_plan, make_result, make_samples
from tests.fakes.two_runs import TwoRuns
from tests.fakes.wizard import app, verdict
from tests.tui.driving import at_step, footer, screen_text, shows, until


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
        await shows(pilot, "First    2025-06-30 09:41, archive-disk on ST8000AS0002-1NA17Z")
        await shows(pilot, "Second   2025-12-31 18:20")
        await shows(pilot, "XFS ───")
        writing = next(row for row in screen_text(pilot.app).splitlines() if "Copying a video onto" in row)
        assert "1.2" in writing
        assert "▲ faster" in writing
        await pilot.press("pagedown", "pagedown", "pagedown")
        await shows(pilot, "Kernel: 6.1.0-18-amd64, then 6.12.1-1.")
        await pilot.press("c")
        await until(pilot, lambda: "all together" in pilot.app.clipboard, "the clipboard")
        assert "First      2025-06-30 09:41" in pilot.app.clipboard
        await pilot.press("escape")
        await shows(pilot, "Two are marked")


async def test_what_cannot_be_compared_is_refused_with_the_reason() -> None:
    async with app("purpose", TwoRuns(image_bytes=1 << 30)).run_test(size=(80, 24)) as pilot:
        await history(pilot)
        await pilot.press("space", "down", "space", "c")
        await shows(pilot, "The targets had")
        await shows(pilot, "a filesystem's speed depends on its size")


async def test_two_at_most_are_marked_and_one_is_not_compared() -> None:
    async with app("purpose", TwoRuns()).run_test(size=(80, 24)) as pilot:
        await history(pilot)
        assert "compare" not in footer(pilot.app)
        await pilot.press("space")
        await shows(pilot, "One is marked")
        assert "compare" not in footer(pilot.app)
        await pilot.press("down", "space", "down", "space")
        await shows(pilot, "Two are marked")
        assert "c compare" in footer(pilot.app)
        listed = [row for row in screen_text(pilot.app).splitlines() if "│" in row and "archive-disk" in row]
        assert ["✓" in row for row in listed] == [False, True, True]
        await pilot.press("space")
        await shows(pilot, "One is marked")
        await pilot.press("c")
        await shows(pilot, "One is marked")


@pytest.mark.parametrize("size", [(80, 24), (200, 50)])
async def test_a_verdict_is_not_cut_and_candidates_have_the_names_that_reports_give_them(size: tuple[int, int]) -> None:
    async with app("purpose", TwoRuns()).run_test(size=size) as pilot:
        await history(pilot)
        shown = screen_text(pilot.app)
        assert shown.count(f"  {verdict()}") >= 3
        assert ("ext4, XFS, Btrfs" in shown) == (size[0] > 100)


def test_places_of_an_earlier_version_have_short_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    candidates = tuple(
        Candidate(f"{kind}@{directory}", make_filesystem(kind), directory=directory)
        for kind, directory in (("ext4", "/mnt/disks/archive"), ("btrfs", "/mnt/disks/backup"))
    )
    figures = {candidate.name: (100.0, 101.0, 99.0) for candidate in candidates}
    plan = replace(make_plan(tuple(figures)), candidates=candidates, target=Target("directory", ""))
    old = make_result(plan=plan, samples=make_samples(figures))
    write_result(new_path(plan), old, judge(old), "Keep ext4@/mnt/disks/archive")
    machine, names = Backend(), ("archive (ext4)", "backup (btrfs)")
    (entry,) = machine.history()
    assert (entry.header.candidates, entry.leaders, entry.verdict) == (names, names, "Keep archive (ext4)")
    view = present(machine.conclude(machine.load(entry.path), {}, ()))
    drawn = [outcome.headline(view, 80), outcome.answer(view, 80, 24), outcome.details(view, 80, spaced=False)]
    assert not any("@" in part.plain for part in drawn)
    assert {bar.title for row in view.rows for bar in row.bars} == set(names)


async def test_a_click_opens_a_result() -> None:
    async with app("purpose", TwoRuns()).run_test(size=(120, 36)) as pilot:
        await history(pilot)
        rows = screen_text(pilot.app).splitlines()
        line = next(number for number, row in enumerate(rows) if "│" in row[:4] and "2025-06-30" in row)
        await pilot.click(offset=(30, line))
        await at_step(pilot, "result")
