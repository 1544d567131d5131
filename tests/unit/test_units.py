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


@pytest.mark.parametrize(("text", "size"), [("2G", 2 << 30), ("1.5 t", 3 << 39), ("4096", 4096), ("1kb", 1024)])
def test_sizes_are_read_as_fio_and_mkfs_read_them(text: str, size: int) -> None:
    assert parse_size(text) == size
    assert [parse_size(text, DECIMAL) for text in ("50 GB", "2GiB")] == [50 * 10**9, 2 << 30]


@pytest.mark.parametrize("text", ["", "G", "-1G", "1e3", "2 G B", "9999999P", "٣G", "1G\n2G"])
def test_what_is_no_size_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(ValueError, match=r"size|larger"):
        parse_size(text)


@given(st.integers(1, 1 << 50))
def test_a_size_written_is_read_back(size: int) -> None:
    assert parse_size(binary_size_text(size)) == size


@pytest.mark.parametrize(("text", "seconds"), [("90s", 90), ("10m", 600), ("1h30m", 5400), ("0.5h", 1800)])
def test_durations(text: str, seconds: float) -> None:
    assert parse_duration(text) == seconds


def test_sizes_durations_and_shares_for_people() -> None:
    sizes = [size_text(n) for n in (512, 2_147_483_648, 8_001_563_222_016, 999_600)]
    assert sizes == ["512 B", "2.15 GB", "8.00 TB", "1.00 MB"]
    assert [duration_text(s) for s in (0.123, 5, 45, 200, 4800)] == ["0.12 s", "5.0 s", "45 s", "3 min", "80 min"]
    assert [share_text(0.964), share_text(0.012)] == ["96%", "1.2%"]


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (412.4e6, "B/s", "412 MB/s"),
        (0.0031, "s", "3.10 ms"),
        (91_195.0, "s", "25 h 20 min"),
        (0.0, "s", "0 µs"),
        (0.01234, "1", "0.0123"),
    ],
)
def test_a_figure_has_three_digits_and_its_unit(value: float, unit: str, text: str) -> None:
    assert figure_text(value, unit) == text


@pytest.mark.parametrize(("ratio", "text"), [(1.2149, "1.21"), (0.05, "0.050"), (0.01234, "0.012"), (9.996, "10.0")])
def test_a_ratio_is_as_precise_as_one_can_read(ratio: float, text: str) -> None:
    assert ratio_text(ratio) == text


# Short names for directories


@pytest.mark.parametrize(
    ("directories", "names"),
    [
        (("/home", "/"), ("home", "system")),
        (("/mnt/ssd/test", "/mnt/hdd/test"), ("mnt/ssd/test", "mnt/hdd/test")),
        (("/home/anne", "/media/anne/stick"), ("home", "stick")),
        (("/home/anne", "/home/bert"), ("home 1", "home 2")),
    ],
)
def test_places_have_short_names_that_differ(directories: tuple[str, ...], names: tuple[str, ...]) -> None:
    assert short_names(directories) == names


@given(st.lists(st.lists(st.sampled_from("abc"), min_size=1, max_size=4).map("/".join), min_size=1, max_size=6))
def test_no_two_places_have_the_same_name(paths: list[str]) -> None:
    directories = list(dict.fromkeys(f"/home/anne/{path}" for path in paths))
    names = short_names(directories)
    assert len(set(names)) == len(directories)
    assert "anne" not in "".join(names)
