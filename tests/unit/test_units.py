from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fswizard.model.directory_names import short_names
from fswizard.model.units import (
    DECIMAL,
    binary_size_text,
    duration_text,
    figure_text,
    parse_duration,
    parse_size,
    ratio_text,
    share_text,
    size_text,
)


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (parse_size("2G"), 2 << 30),
        (parse_size("1.5 t"), 3 << 39),
        (parse_size("4096"), 4096),
        (parse_size("50 GB", DECIMAL), 50 * 10**9),
        (parse_size("2GiB", DECIMAL), 2 << 30),
        (parse_duration("10m"), 600),
        (parse_duration("1h30m"), 5400),
        (parse_duration("0.5h"), 1800),
        (size_text(512), "512 B"),
        (size_text(2_147_483_648), "2.15 GB"),
        (size_text(999_600), "1.00 MB"),
        (duration_text(0.123), "0.12 s"),
        (duration_text(45), "45 s"),
        (duration_text(200), "3 min"),
        (duration_text(4800), "80 min"),
        (share_text(0.964), "96%"),
        (share_text(0.012), "1.2%"),
        (figure_text(412.4e6, "B/s"), "412 MB/s"),
        (figure_text(0.0031, "s"), "3.10 ms"),
        (figure_text(91_195.0, "s"), "25 h 20 min"),
        (figure_text(0.0, "s"), "0 µs"),
        (figure_text(0.01234, "1"), "0.0123"),
        (ratio_text(1.2149), "1.21"),
        (ratio_text(0.01234), "0.012"),
        (ratio_text(9.996), "10.0"),
    ],
)
def test_figures_are_read_and_written_as_people_do(found: float | str, expected: float | str) -> None:
    assert found == expected


@pytest.mark.parametrize("text", ["", "G", "-1G", "1e3", "2 G B", "9999999P", "٣G", "1G\n2G"])
def test_what_is_no_size_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(ValueError, match=r"size|larger"):
        parse_size(text)


@given(st.integers(1, 1 << 50))
def test_a_size_written_is_read_back(size: int) -> None:
    assert parse_size(binary_size_text(size)) == size


# Short names for directories


@pytest.mark.parametrize(
    ("directories", "names"),
    [
        (("/home", "/"), ("home", "system")),
        (("/home/anne", "/media/anne/stick"), ("home", "stick")),
        (("/home/anne", "/home/bert"), ("home 1", "home 2")),
    ],
)
def test_places_have_short_names_that_differ(directories: tuple[str, ...], names: tuple[str, ...]) -> None:
    assert short_names(directories) == names
