"""Bars: marks where they belong, and what stands beside them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from fswizard.model.judgement import Ratio
from fswizard.report.figures import Scale, axis, bar, plain

POSITIVE = st.floats(1e-9, 1e9)


def test_the_spread_is_half_the_interval() -> None:
    ratio = Ratio("xfs", "ext4", "", 1.2, 1.2 / 1.1, 1.2 * 1.1, 3)
    assert (ratio.spread, ratio.interval()) == ("±10%", "1.09–1.32")


def test_without_an_interval_there_is_no_spread() -> None:
    ratio = Ratio("xfs", "ext4", "", 1.2)
    assert (ratio.spread, ratio.interval()) == ("", "")


def test_a_bar_shows_estimate_interval_and_where_1_is() -> None:
    ratio = Ratio("xfs", "ext4", "", 1.2, 1.1, 1.3, 5)
    drawn = bar(ratio, Scale(1.5), 31)
    assert drawn == "               ┃   ├──●──┤     "
    assert axis(Scale(1.5), "ext4", 31) == "0.67          ext4          1.5"


def test_an_interval_beyond_the_axis_ends_in_arrows() -> None:
    ratio = Ratio("xfs", "ext4", "", 1.0, 0.1, 10.0, 3)
    assert bar(ratio, Scale(2.0), 11) == "◂────●────▸"


@given(POSITIVE, POSITIVE, POSITIVE, st.integers(3, 60))
def test_a_bar_always_has_its_width_and_its_mark(ratio: float, low: float, high: float, width: int) -> None:
    low, ratio, high = sorted((low, ratio, high))
    judged = Ratio("xfs", "ext4", "", ratio, low, high, 3)
    drawn = bar(judged, Scale.around([judged]), width)
    assert (len(drawn), drawn.count("●")) == (width, 1)


@given(st.lists(st.floats(1e-3, 1e3), min_size=1, max_size=9))
def test_every_estimate_finds_room_on_the_axis(ratios: list[float]) -> None:
    scale = Scale.around(Ratio("xfs", "ext4", "", ratio, ratio / 50, ratio * 50, 3) for ratio in ratios)
    assert all(0 <= scale.place(ratio) <= 1 for ratio in ratios)


def test_wide_intervals_do_not_squeeze_the_estimates() -> None:
    assert Scale.around([Ratio("xfs", "ext4", "", 1.2, 0.001, 1000.0, 3)]).reach == 1.5


@given(st.text(st.sampled_from("│┃╂├┤●◂▸─×–±…µé漢")))
def test_ascii_drawings_keep_their_width(text: str) -> None:
    assert plain(text).isascii()
    assert len(plain(text)) == len(text)
