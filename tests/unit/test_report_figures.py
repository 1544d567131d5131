"""Numbers and bars: three digits, the unit once, and marks where they belong."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fswizard.model.judgement import Ratio
from fswizard.report.figures import (
    Scale,
    axis,
    bar,
    binary_text,
    figure,
    interval_text,
    plain,
    ratio_text,
    share_text,
    spread_text,
)

POSITIVE = st.floats(1e-9, 1e9)


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (412.4e6, "B/s", "412 MB/s"),
        (1_163.0, "1/s", "1.16k/s"),
        (652.0, "1/s", "652/s"),
        (0.0031, "s", "3.10 ms"),
        (85e-6, "s", "85.0 µs"),
        (12.34, "s", "12.3 s"),
        (91_195.0, "s", "25 h 20 min"),
        (8.0e12, "B", "8.00 TB"),
        (0.0, "s", "0 µs"),
        (2.5, "ms/op", "2.50 ms/op"),
        (0.01234, "1", "0.0123"),
    ],
)
def test_a_figure_has_three_digits_and_its_unit(value: float, unit: str, text: str) -> None:
    assert figure(value, unit) == text


@pytest.mark.parametrize(
    ("ratio", "text"),
    [(1.2149, "1.21"), (0.7461, "0.746"), (12.34, "12.3"), (0.01234, "0.0123"), (0.0999, "0.0999"), (9.996, "10.0")],
)
def test_a_ratio_is_as_precise_as_one_can_read(ratio: float, text: str) -> None:
    assert ratio_text(ratio) == text


def test_sizes_of_images_are_binary() -> None:
    assert [binary_text(2 << 30), binary_text(1536 << 20), binary_text(100)] == ["2 GiB", "1.5 GiB", "100 B"]


def test_the_spread_is_half_the_interval() -> None:
    ratio = Ratio("xfs", "ext4", "", 1.2, 1.2 / 1.1, 1.2 * 1.1, 3)
    assert (spread_text(ratio), interval_text(ratio)) == ("±10%", "1.09–1.32")


def test_without_an_interval_there_is_no_spread() -> None:
    ratio = Ratio("xfs", "ext4", "", 1.2)
    assert (spread_text(ratio), interval_text(ratio)) == ("", "")


def test_a_share_is_in_percent() -> None:
    assert [share_text(0.964), share_text(0.012)] == ["96%", "1.2%"]


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
