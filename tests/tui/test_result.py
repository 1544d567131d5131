"""The result screen: the answer in its first lines, its keys, and what stands behind them."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from rich.cells import cell_len

from fswizard.advice import conclude
from fswizard.model.metrics import is_stall
from fswizard.model.result import Doubt, Result
from fswizard.report.presentation import present
from fswizard.session.resuming import COMPLETE
from fswizard.tui import outcome
from fswizard.tui.app import FswizardApp
from fswizard.tui.widgets.choice_list import ChoiceList
from tests.builders import make_array_result
from tests.fakes.wizard import Clock, FakeMachine
from tests.tui.driving import at_step, footer, screen_text, settled, shows, until, wizard
from tests.tui.screenshots import finished, running
from tests.tui.screenshots import result as recorded_result
from tests.tui.test_same_answer import array, early

WIDTHS = (60, 64, 71, 72, 76, 79, 80, 81, 90, 99, 100, 120, 160, 200)


async def test_the_dots_and_their_word_stand_side_by_side_at_every_width() -> None:
    async with finished().run_test(size=(60, 24)) as pilot:
        for width in WIDTHS:
            await pilot.resize_terminal(width, 24)
            await settled(pilot)
            assert "●●○○ fair" in screen_text(pilot.app), width


def test_where_nothing_is_certain_no_confidence_is_told_and_no_line_is_empty() -> None:
    view = present(conclude(replace(recorded_result(), samples=())))
    assert view.card.confidence == 0
    for width in WIDTHS:
        assert not any(word in outcome.headline(view, width).plain for word in ("○", "confidence", "\n\n")), width


def opened(result: Result, file: str) -> FswizardApp:
    """A result that was read from a file."""
    application = FswizardApp(FakeMachine(), start="result", result=result, clock=Clock())
    application.result_path = Path("/results") / file
    return application


async def test_a_run_that_ended_early_says_what_resuming_brings_and_a_key_resumes_it() -> None:
    forecast = conclude(early()).forecast
    assert forecast is not None
    async with opened(early(), "early.jsonl").run_test(size=(80, 24)) as pilot:
        await shows(pilot, f"g {forecast.offer}")
        assert "g resume" in footer(pilot.app)
        await pilot.press("w", "right")
        await until(pilot, lambda: forecast.offer not in screen_text(pilot.app), "weights that nobody ran with")
        await pilot.press("escape", "g")
        await at_step(pilot, "review")
        await shows(pilot, "resumes an earlier run")
        assert wizard(pilot).taken_up is not None


async def test_what_cannot_be_resumed_is_not_offered() -> None:
    async with opened(early(), "new.jsonl").run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        assert "resume" not in footer(pilot.app)
        assert "chance of a clear result" not in screen_text(pilot.app)
        assert f"Stopped early. {COMPLETE}" in " ".join(screen_text(pilot.app).split())


async def test_the_keys_find_room_on_two_lines_of_120_columns_and_do_what_they_say() -> None:
    async with opened(early(), "early.jsonl").run_test(size=(120, 36)) as pilot:
        await until(pilot, lambda: "g resume" in footer(pilot.app), "its keys")
        assert "scroll" not in footer(pilot.app), "there is room for all"
        await pilot.resize_terminal(120, 24)
        await until(pilot, lambda: "↑↓ scroll" in footer(pilot.app), "all keys")
        keys = "⏎ export  ↑↓ scroll  u set it up  d details  w weights  m must have  s share  c copy  g resume"
        assert footer(pilot.app) == f"^p menu  ^q quit\n{keys}  F1 help  esc back"
        for key, words in (("w", "←→ change"), ("m", "⏎/space tick")):
            await pilot.press(key)
            await until(pilot, lambda words=words: words in footer(pilot.app), words)
            assert len(footer(pilot.app).splitlines()) <= 2
            assert "share" not in footer(pilot.app), "of the report, which has lost the focus"
            await pilot.press("escape")


async def test_share_opens_with_the_text_for_a_forum() -> None:
    async with finished().run_test(size=(120, 36)) as pilot:
        await until(pilot, lambda: "s share" in footer(pilot.app), "the result")
        await pilot.press("s")
        await shows(pilot, "Export: BBCode: phpBB and others")
        await until(pilot, lambda: "⏎ copy" in footer(pilot.app), "the text")
        await pilot.press("enter")
        await until(pilot, lambda: pilot.app.clipboard.startswith("["), "the text in the clipboard")
        await pilot.press("escape", "enter")
        await shows(pilot, "Export: Plain text, 80 columns")


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


def test_no_figure_of_a_pause_is_broken_and_a_single_round_has_no_course() -> None:
    result = with_stalls()
    view = present(conclude(result))
    for width in range(40, 80):
        drawn = outcome.stalls(view, width)
        assert drawn is not None
        assert not any(line.rstrip().endswith(tuple("0123456789")) for line in drawn.plain.splitlines()), drawn.plain
    first = replace(result, samples=tuple(s for s in result.samples if s.round <= 1))
    assert outcome.stalls_by_round(present(conclude(first)), 80) is None


async def test_a_large_terminal_shows_what_the_answer_rests_on_below_it() -> None:
    async with finished().run_test(size=(200, 50)) as pilot:
        await until(pilot, lambda: "s share" in footer(pilot.app), "the result")
        shown = [line.strip() for line in screen_text(pilot.app).splitlines()]
        assert any(line.startswith("Saving in SQLite") for line in shown)
        assert any(line.startswith("▲ Faster than ext4") for line in shown)
        assert "d details" not in footer(pilot.app)
        await pilot.resize_terminal(120, 50)
        await until(pilot, lambda: "d details" in footer(pilot.app), "a key for what is folded")
        assert "Faster than ext4:" not in screen_text(pilot.app)


@pytest.mark.parametrize("size", [(100, 30), (120, 36), (200, 50)])
async def test_from_100_columns_on_the_race_stands_beside_the_leaderboard_and_fills_the_screen(
    size: tuple[int, int],
) -> None:
    async with running().run_test(size=size) as pilot:
        await settled(pilot)
        standing, now, race = (pilot.app.screen.query_one(name).region for name in ("#standing", "#now", "#race"))
        assert standing.bottom <= now.y < now.bottom
        assert max(standing.right, now.right) < race.x
        assert race.y == standing.y
        assert race.width > size[0] / 2
        assert race.bottom >= size[1] - 4
        shown = screen_text(pilot.app)
        assert all(f"{workload.title}" in shown for workload in recorded_result().plan.recipe.workloads)


async def test_at_80_columns_the_line_of_now_and_the_leaderboard_come_first() -> None:
    async with running().run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        standing, now, race = (pilot.app.screen.query_one(name).region for name in ("#standing", "#now", "#race"))
        assert standing.bottom <= now.y < now.bottom <= race.y
        assert now.height == 1


def test_the_names_of_layouts_stand_whole_beside_their_bars_at_80_columns() -> None:
    drawn = outcome.figures(present(conclude(array())), 76, 20).plain
    assert all(title in drawn for title in ("ext4 on RAID 10 (md)", "ext4 on RAID 6 (md)"))


async def test_features_to_ask_for_have_the_words_of_the_card() -> None:
    async with finished().run_test(size=(120, 36)) as pilot:
        await shows(pilot, "[ ] instant, space-saving copies")
        assert "reflink" not in screen_text(pilot.app)
        await pilot.press("m", "space")
        await shows(pilot, "[✓] checksums")
        await shows(pilot, "the only one here that has checksums")


def test_what_could_not_be_removed_stands_with_the_answer() -> None:
    left = "/mnt/x/fswizard-1 could not be removed. `fswizard clean` removes what is left."
    result = replace(recorded_result(), doubts=(Doubt("not-removed", left),))
    shown = outcome.headline(present(conclude(result)), 80).plain
    assert left in " ".join(shown.split())


async def test_what_differs_between_arrays_is_whole_and_commands_that_are_cut_have_a_scroll_bar() -> None:
    application = opened(make_array_result(), "")
    async with application.run_test(size=(110, 24)) as pilot:
        for size in ((80, 24), (110, 24), (110, 30), (120, 24), (120, 36)):
            await pilot.resize_terminal(*size)
            await settled(pilot)
            shown, reports = screen_text(application), application.screen.query_one("#reports")
            assert any("…with one disk missing" in line and "▆" in line for line in shown.splitlines()), size
            assert reports.show_vertical_scrollbar or "stripe_width=384" in shown, size
            assert ("scroll" in footer(application)) == reports.show_vertical_scrollbar, size


async def test_a_key_copies_a_post_and_the_card_is_shown_before_it_is_written() -> None:
    async with finished().run_test(size=(120, 36)) as pilot:
        await until(pilot, lambda: "s share" in footer(pilot.app), "the result")
        await pilot.press("y")
        await until(pilot, lambda: pilot.app.clipboard.startswith("**"), "a short post")
        await pilot.press("enter")
        await shows(pilot, "Export: Plain text")
        pilot.app.screen.query_one("#formats", ChoiceList).highlight("svg")
        await shows(pilot, "A picture of 1200×630 pixels")
        assert "▆▆" in screen_text(pilot.app)
