from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fswizard.model.units import binary_size_text, duration_text, parse_duration, parse_size, size_text, three_digits


@pytest.mark.parametrize(
    ("text", "size"), [("2G", 2 << 30), ("512MiB", 512 << 20), ("1.5 t", 3 << 39), ("4096", 4096), ("1kb", 1024)]
)
def test_sizes_are_read_as_fio_and_mkfs_read_them(text: str, size: int) -> None:
    assert parse_size(text) == size


@pytest.mark.parametrize("text", ["", "G", "-1G", "1e3", "2 G B", "9999999P", "٣G", "1G\n2G"])
def test_what_is_no_size_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(ValueError, match=r"size|larger"):
        parse_size(text)


@given(st.integers(1, 1 << 50))
def test_a_size_written_is_read_back(size: int) -> None:
    assert parse_size(binary_size_text(size)) == size


@pytest.mark.parametrize(
    ("text", "seconds"), [("90s", 90), ("10m", 600), ("1h30m", 5400), ("120", 120), ("0.5h", 1800)]
)
def test_durations(text: str, seconds: float) -> None:
    assert parse_duration(text) == seconds


@given(st.text())
def test_any_text_is_a_duration_or_a_value_error(text: str) -> None:
    try:
        assert parse_duration(text) >= 0
    except ValueError as error:
        assert "duration" in str(error)


def test_sizes_and_durations_for_people() -> None:
    assert [size_text(n) for n in (512, 2_147_483_648, 8_001_563_222_016, 999_600)] == [
        "512 B",
        "2.15 GB",
        "8.00 TB",
        "1.00 MB",
    ]
    assert [duration_text(s) for s in (0.123, 5, 45, 200, 4800)] == ["0.12 s", "5.0 s", "45 s", "3 min", "80 min"]
    assert [three_digits(v) for v in (0.9984, 1.234, 12.34, 123.4, 0.0)] == ["0.998", "1.23", "12.3", "123", "0"]
