"""The result screen: the answer in its first lines, its keys, and what stands behind them."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from rich.cells import cell_len

from fswizard.advice import conclude
from fswizard.advice.words import more_text
from fswizard.model.metrics import is_stall
from fswizard.model.result import Doubt, Result
from fswizard.report.presentation import present
from fswizard.session.resuming import COMPLETE
from fswizard.tui import outcome
from fswizard.tui.app import FswizardApp
from fswizard.tui.widgets.choice_list import ChoiceList
from tests.fakes.wizard import Clock, FakeMachine
from tests.tui.driving import at_step, footer, screen_text, settled, shows, until, wizard
from tests.tui.screenshots import finished
from tests.tui.screenshots import result as recorded_result
from tests.tui.test_same_answer import early


def opened(result: Result, file: str) -> FswizardApp:
    """A result that was read from a file."""
    application = FswizardApp(FakeMachine(), start="result", result=result, clock=Clock())
    application.result_path = Path("/results") / file
    return application


async def test_a_run_that_ended_early_says_what_resuming_brings_and_a_key_resumes_it() -> None:
    more = conclude(early()).answer.more
    assert more is not None
    brings = more_text(more)
    async with opened(early(), "early.jsonl").run_test(size=(80, 24)) as pilot:
        await shows(pilot, brings)
        assert "g resume" in footer(pilot.app)
        await pilot.press("g")
        await at_step(pilot, "review")
        await shows(pilot, "resumes an earlier run")
        assert wizard(pilot).taken_up is not None


async def test_what_cannot_be_resumed_is_not_offered() -> None:
    async with opened(early(), "new.jsonl").run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        assert "resume" not in footer(pilot.app)
        assert f"Stopped early. {COMPLETE}" in " ".join(screen_text(pilot.app).split())


def with_stalls() -> Result:
    """The recorded run, as if it had stalled: longer in each round, longest for XFS in the third one."""
    result = recorded_result("six-rounds")
    worst = ("xfs", 3, "unpack")
    samples = (
        replace(s, value=0.8 if (s.candidate, s.round, s.workload) == worst else 0.1 * s.round)
        if is_stall(s.metric) else s
        for s in result.samples
    )  # fmt: skip
    return replace(result, samples=tuple(samples))


@pytest.mark.parametrize("width", [56, 74, 110])
def test_the_worst_stalls_of_each_round_stand_on_one_scale(width: int) -> None:
    stalls = outcome.stalls_by_round(present(conclude(with_stalls())), width)
    assert stalls is not None
    head, *rows = stalls.plain.splitlines()
    assert head.startswith("Worst stall in each round; the highest bar is 0.8 s")
    drawn = {row.split()[0]: [word[0] for word in row.split() if set(word) <= {*"▁▂▃▄▅▆▇█–"}] for row in rows}
    taken = Counter(trial.candidate for trial in recorded_result("six-rounds").trials)
    expected = {name: [*"▁▂▃▄▅▆"[:rounds]] + ["–"] * (taken["ext4"] - rounds) for name, rounds in taken.items()}
    expected["xfs"][2] = "█"
    assert drawn == expected, "a dash for each round in which a candidate was not measured"
    assert any("0.8 s in round 3, U" in row for row in rows)
    assert max(map(cell_len, (head, *rows))) <= width


def test_what_could_not_be_removed_stands_with_the_answer() -> None:
    left = "/mnt/x/fswizard-1 could not be removed. `fswizard clean` removes what is left."
    result = replace(recorded_result(), doubts=(Doubt("not-removed", left),))
    shown = outcome.headline(present(conclude(result)), 80).plain
    assert left in " ".join(shown.split())


async def test_a_key_copies_a_post_and_the_card_is_shown_before_it_is_written() -> None:
    async with finished().run_test(size=(120, 36)) as pilot:
        await until(pilot, lambda: "s share" in footer(pilot.app), "the result")
        await pilot.press("y")
        await until(pilot, lambda: pilot.app.clipboard.startswith("**"), "a short post")
        await pilot.press("s")
        await shows(pilot, "Export: BBCode")
        await pilot.press("escape", "enter")
        await shows(pilot, "Export: Plain text")
        pilot.app.screen.query_one("#formats", ChoiceList).highlight("svg")
        await shows(pilot, "A picture of 1200×630 pixels")
        assert "▆▆" in screen_text(pilot.app)
