"""Bars: marks where they belong, and what stands beside them."""

from __future__ import annotations

import math
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from fswizard.model.analysis import Ratio
from fswizard.model.text import plain
from fswizard.report.figures import Axis, bar

POSITIVE = st.floats(1e-9, 1e9)


def test_the_spread_is_half_the_interval() -> None:
    ratio = Ratio("xfs", "ext4", "", 1.2, 1.2 / 1.1, 1.2 * 1.1, 3)
    assert (ratio.spread, ratio.interval()) == ("±10%", "1.09–1.32")


def test_without_an_interval_there_is_no_spread() -> None:
    ratio = Ratio("xfs", "ext4", "", 1.2)
    assert (ratio.spread, ratio.interval()) == ("", "")


def test_a_bar_shows_estimate_interval_and_where_1_is() -> None:
    ratio = Ratio("xfs", "ext4", "", 1.2, 1.1, 1.3, 5)
    axis = Axis(-math.log(1.5), math.log(1.5))
    assert bar(ratio, axis, 31) == "               │   ├──●──┤     "
    assert axis.line("ext4", 31) == "0.67  0.8    ext4    1.25   1.5"


def test_an_interval_beyond_the_axis_ends_in_arrows() -> None:
    ratio = Ratio("xfs", "ext4", "", 1.0, 0.1, 10.0, 3)
    assert bar(ratio, Axis(-math.log(2), math.log(2)), 11) == "◂────●────▸"


@given(POSITIVE, POSITIVE, POSITIVE, st.integers(3, 60))
def test_a_bar_always_has_its_width_and_its_mark(ratio: float, low: float, high: float, width: int) -> None:
    low, ratio, high = sorted((low, ratio, high))
    judged = Ratio("xfs", "ext4", "", ratio, low, high, 3)
    drawn = bar(judged, Axis.around([judged]), width)
    assert (len(drawn), drawn.count("●")) == (width, 1)


@given(st.lists(st.floats(1e-3, 1e3), min_size=1, max_size=9))
def test_every_estimate_finds_room_on_the_axis(ratios: list[float]) -> None:
    axis = Axis.around(Ratio("xfs", "ext4", "", ratio, ratio / 50, ratio * 50, 3) for ratio in ratios)
    assert all(axis.holds(ratio) for ratio in (*ratios, 1.0))


def test_wide_intervals_do_not_squeeze_the_estimates() -> None:
    axis = Axis.around([Ratio("xfs", "ext4", "", 1.2, 0.001, 1000.0, 3)])
    assert not axis.holds(2.0)
    assert axis.place(1.2) - axis.place(1.0) > 0.1


@given(st.floats(1e-3, 1e3), st.text(min_size=1, max_size=40), st.integers(9, 120))
def test_labels_never_touch_each_other_nor_leave_their_row(ratio: float, baseline: str, width: int) -> None:
    axis = Axis.around([Ratio("xfs", "ext4", "", ratio)])
    labels = sorted((start, start + len(words)) for _, start, words in axis.labels(baseline, width))
    assert labels[0][0] >= 0 and labels[-1][1] <= width
    assert all(end < start for (_, end), (start, _) in pairwise(labels))
    assert len(axis.line(baseline, width)) == width


@given(st.text(st.sampled_from("│┼├┤●◂▸─×–±…µ▲▽é漢")))
def test_ascii_drawings_keep_their_width(text: str) -> None:
    assert plain(text).isascii()
    assert len(plain(text)) == len(text)
