"""The result screen: the answer in its first lines, its keys, and what stands behind them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from textual.widgets import Static

from fswizard.advice import conclude
from fswizard.advice.answer import more_text
from fswizard.model.result import Doubt, Result
from fswizard.report import content
from fswizard.session.resuming import COMPLETE
from fswizard.tui.app import FswizardApp
from tests.tui.driving import at_step, footer, screen_text, settled, shows, wizard
from tests.tui.screenshots import at_result, finished
from tests.tui.screenshots import result as recorded_result
from tests.tui.test_same_answer import RESULTS, answered, early


def opened(result: Result, file: str) -> FswizardApp:
    """A result that was read from a file."""
    application = at_result(result)
    application.result_path = Path("/results") / file
    return application


async def test_a_run_that_ended_early_says_what_resuming_brings_and_a_key_resumes_it() -> None:
    async with opened(early(), "early.jsonl").run_test(size=(80, 24)) as pilot:
        await shows(pilot, more_text(conclude(early()).answer.more))
        assert "g resume" in footer(pilot.app)
        await at_step(pilot, "review", "g")
        await shows(pilot, "resumes an earlier run")
        assert wizard(pilot).taken_up is not None


async def test_what_cannot_be_resumed_is_not_offered() -> None:
    async with opened(early(), "new.jsonl").run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        assert "resume" not in footer(pilot.app)
        assert f"Stopped early · {COMPLETE}" in " ".join(screen_text(pilot.app).split())


def test_what_could_not_be_removed_stands_with_the_answer() -> None:
    left = "/mnt/x/fswizard-1 could not be removed. `fswizard clean` removes what is left."
    result = replace(recorded_result(), doubts=(Doubt("not-removed", left),))
    assert left.replace("`", "") in answered(conclude(result)), "commands are coloured, not quoted"


async def test_a_key_copies_the_commands() -> None:
    async with finished().run_test(size=(120, 36)) as pilot:
        await settled(pilot)
        await pilot.press("c")
        assert pilot.app.clipboard.startswith("mkfs.")


@pytest.mark.parametrize("name", ["recorded", "an array", "one failed"])
async def test_bars_have_their_figures_beside_them_and_are_hatched_where_nothing_is_proven(name: str) -> None:
    result = RESULTS[name]()
    async with at_result(result).run_test(size=(74, 120)) as pilot:
        await settled(pilot)
        drawn = [line for line in screen_text(pilot.app).splitlines() if {*line} & {*"▆░"}]
    bars = [bar for chart in content.figures(conclude(result)).charts for bar in chart.bars]
    for bar, line in zip([bar for bar in bars if bar.figure], drawn, strict=True):
        assert f"{bar.figure}  {bar.remark}".rstrip() in line
        assert ("░" in line) is (bar.verdict == "open")


async def test_a_hostile_name_is_text_in_the_details() -> None:
    hostile = "[b]c[/b] [@click=app.quit]q[/] \x1b[31m\x1b]52;c;aGk=\x07"
    result = replace(recorded_result(), doubts=(Doubt("busy", hostile),))
    async with opened(result, "early.jsonl").run_test(size=(120, 36)) as pilot:
        await settled(pilot)
        await pilot.press("d")
        await settled(pilot)
        report = str(pilot.app.screen.query_one("#report", Static).content)
        assert "[b]c[/b] [@click=app.quit]q[/]" in report
        assert not {*report} & {*"\x1b\x07"}
