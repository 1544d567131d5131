"""Sizes and durations as people write them, and back."""

from __future__ import annotations

import re

_BINARY = {"": 0, "K": 1, "M": 2, "G": 3, "T": 4, "P": 5}
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400}


def parse_size(text: str) -> int:
    """Bytes for `2G`, `512MiB`, `1.5 T` or `4096`: powers of 1024, as in fio and mkfs. ValueError otherwise."""
    match = re.fullmatch(r"\s*(\d{1,18}(?:\.\d{1,6})?)\s*([KMGTP]?)(?:iB|B)?\s*", text, re.ASCII | re.IGNORECASE)
    if match is None:
        raise ValueError(f"'{text}' is not a size; write a number and a unit, such as 512M or 2G")
    size = float(match[1]) * 1024 ** _BINARY[match[2].upper()]
    if size >= 1 << 60:
        raise ValueError(f"'{text}' is larger than any disk")
    return int(size)


def parse_duration(text: str) -> float:
    """Seconds for `90s`, `10m`, `1h30m` or `120`. ValueError otherwise."""
    cleaned = text.strip().lower()
    if re.fullmatch(r"\d{1,7}(\.\d{1,3})?", cleaned, re.ASCII):
        return float(cleaned)
    if not re.fullmatch(r"(\d{1,7}(\.\d{1,3})?[smhd])+", cleaned, re.ASCII):
        raise ValueError(f"'{text}' is not a duration; write a number and a unit, such as 90s, 10m or 2h")
    parts = re.findall(r"([\d.]+)([smhd])", cleaned)
    return sum(float(number) * _SECONDS[unit] for number, unit in parts)


def size_text(size_bytes: float) -> str:
    """Three significant digits and a decimal unit, as disks are sold: `8.00 TB`, `512 MB`."""
    value, unit = float(size_bytes), "B"
    for unit in ("B", "kB", "MB", "GB", "TB", "PB"):
        if abs(value) < 999.5 or unit == "PB":
            break
        value /= 1000
    return f"{value:.0f} {unit}" if unit == "B" else f"{three_digits(value)} {unit}"


def binary_size_text(size_bytes: int) -> str:
    """A size as `parse_size` reads it, exactly where a unit divides it: `2G`, `1536M`."""
    for power, unit in ((4, "T"), (3, "G"), (2, "M"), (1, "K")):
        if size_bytes and size_bytes % 1024**power == 0:
            return f"{size_bytes // 1024**power}{unit}"
    return str(size_bytes)


def duration_text(seconds: float) -> str:
    """`0.45 s`, `12 s`, `3 min`, `1 h 20 min`."""
    if seconds < 9.95:
        return f"{seconds:.2g} s" if seconds < 1 else f"{seconds:.1f} s"
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60:02d} min"


def three_digits(value: float) -> str:
    """Three significant digits without an exponent: `0.998`, `12.3`, `1230`."""
    if value == 0:
        return "0"
    size = abs(value)
    decimals = 2 if size >= 0.9995 and size < 9.995 else 1 if 9.995 <= size < 99.95 else 0 if size >= 99.95 else 3
    return f"{value:.{decimals}f}"
