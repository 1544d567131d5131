"""Sizes, durations and ratios as people write them, and back."""

from __future__ import annotations

import math
import re

_POWERS = {"": 0, "K": 1, "M": 2, "G": 3, "T": 4, "P": 5}
BINARY, DECIMAL = 1024, 1000
"""Sizes of images, files, blocks and memory are powers of the first. What disks hold and what is written to them is
counted in powers of the other."""
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400}


def parse_size(text: str, step: int = BINARY) -> int:
    """Bytes for `2G`, `512MiB`, `1.5 T` or `4096`: powers of 1024, as in fio and mkfs, or of `step` where no unit such
    as MiB says so. ValueError otherwise."""
    match = re.fullmatch(r"\s*(\d{1,18}(?:\.\d{1,6})?)\s*([KMGTP]?)(iB|B)?\s*", text, re.ASCII | re.IGNORECASE)
    if match is None:
        raise ValueError(f"'{text}' is not a size; write a number and a unit, such as 512M or 2G")
    size = float(match[1]) * (BINARY if (match[3] or "").lower() == "ib" else step) ** _POWERS[match[2].upper()]
    if size >= 1 << 60:
        raise ValueError(f"'{text}' is larger than any disk")
    return int(size)


def parse_duration(text: str) -> float:
    """Seconds for `90s`, `10m` or `1h30m`. ValueError otherwise."""
    cleaned = text.strip().lower()
    if re.fullmatch(r"\d+", cleaned, re.ASCII):
        raise ValueError(f"'{cleaned}' has no unit; write {cleaned}s or {cleaned}m")
    if not re.fullmatch(r"(\d{1,7}(\.\d{1,3})?[smhd])+", cleaned, re.ASCII):
        raise ValueError(f"'{text}' is not a duration; write a number and a unit, such as 90s, 10m or 2h")
    parts = re.findall(r"([\d.]+)([smhd])", cleaned)
    return sum(float(number) * _SECONDS[unit] for number, unit in parts)


def size_text(size_bytes: float) -> str:
    """Three significant digits and a decimal unit, as disks are sold: `8.00 TB`, `512 MB`."""
    value, unit = _scaled(size_bytes, 1000, ("B", "kB", "MB", "GB", "TB", "PB"))
    return f"{value:.0f} {unit}" if unit == "B" else f"{three_digits(value)} {unit}"


def binary_text(size_bytes: int) -> str:
    """`2 GiB`, `15.6 GiB`: for memory and images, whose sizes are powers of 1024."""
    value, unit = _scaled(size_bytes, 1024, ("B", "KiB", "MiB", "GiB", "TiB", "PiB"))
    return f"{value:.3g} {unit}"


def _scaled(value: float, step: int, units: tuple[str, ...]) -> tuple[float, str]:
    for unit in units[:-1]:
        if abs(value) < step - 0.5:
            return value, unit
        value /= step
    return value, units[-1]


def binary_size_text(size_bytes: int) -> str:
    """A size as `parse_size` reads it, exactly where a unit divides it: `2G`, `1536M`."""
    return _typed(size_bytes, BINARY)


def decimal_size_text(size_bytes: int) -> str:
    """The same for what is written: `50G` as `parse_size` reads it in powers of 1000."""
    return _typed(size_bytes, DECIMAL)


def _typed(size_bytes: int, step: int) -> str:
    for power, unit in ((4, "T"), (3, "G"), (2, "M"), (1, "K")):
        if size_bytes and size_bytes % step**power == 0:
            return f"{size_bytes // step**power}{unit}"
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
    """Three significant digits without an exponent: `0.998`, `12.3`, `1230`, `0.0123`."""
    if value == 0:
        return "0"
    power = math.floor(math.log10(abs(float(f"{value:.2e}"))))
    return f"{value:.{min(9, max(0, 2 - power))}f}"


def seconds_text(seconds: float) -> str:
    """`850 µs`, `3.10 ms`, `12.3 s`, `25 h 20 min`: a duration that was measured."""
    if seconds >= 119.5:
        return duration_text(seconds)
    factor, unit = next(((f, u) for f, u in ((1, "s"), (1e3, "ms")) if seconds * f >= 0.9995), (1e6, "µs"))
    return f"{three_digits(seconds * factor)} {unit}"


def stall_text(seconds: float) -> str:
    """`0.5 s`: as exact as it is felt. What nobody feels is as in `seconds_text`."""
    return f"{seconds:.1f} s" if 0.095 <= seconds < 9.95 else seconds_text(seconds)


def count_text(value: float) -> str:
    """`652`, `1,160`, `12.3M`."""
    digits = three_digits(value)
    if len(digits) > 6 and "." not in digits:
        return f"{three_digits(value / 1e6)}M"
    return f"{round(value, 2 - math.floor(math.log10(value))):,.0f}" if value >= 999.5 else digits


def figure_text(value: float, unit: str, counts: str = "") -> str:
    """A measured figure in three digits with its unit: `412 MB/s`, `1,160/s`, `3.10 ms`.

    `counts` is what a rate counts: `1,160 saves/s`.
    """
    match unit:
        case "B":
            return size_text(value)
        case "B/s":
            return f"{size_text(value)}/s"
        case "s":
            return seconds_text(value)
        case "1/s":
            return f"{count_text(value)} {counts}/s" if counts else f"{count_text(value)}/s"
    return count_text(value) if unit == "1" else f"{count_text(value)} {unit}"


def share_text(share: float) -> str:
    """A share of 1 in percent: `96%`."""
    return f"{share * 100:.0f}%" if share >= 0.0995 else f"{share * 100:.1f}%"


def ratio_text(ratio: float) -> str:
    """Two decimals, so that ratios below each other can be compared; `12.3` and `0.012` where those say too little."""
    if ratio >= 9.995 or ratio <= 0:
        return three_digits(ratio)
    return f"{ratio:.2f}" if ratio >= 0.0995 else f"{ratio:.{min(9, 1 - math.floor(math.log10(ratio)))}f}"


def speed_text(ratio: float, unit: str = "s") -> str:
    """A ratio as people say it: `11 % faster`, `2.1× as fast`, `3× slower`, `as fast`.

    `unit` is that of the figures. What takes 20 % longer than another is 20 % slower, and the other 20 % faster, but
    114 MB/s are 26 % slower than 154.
    """
    factor = max(ratio, 1 / ratio)
    if factor >= 1.995:
        return f"{times_text(factor)} {'as fast' if ratio > 1 else 'slower'}"
    of_rate = ratio < 1 and unit.endswith("/s")
    percent = f"{(1 - ratio if of_rate else factor - 1) * 100:.0f}"
    return "as fast" if percent == "0" else f"{percent} % {'faster' if ratio > 1 else 'slower'}"


def times_text(factor: float) -> str:
    """`2.1×`, `8×`, `120×`."""
    return f"{factor:.0f}×" if factor >= 9.95 else f"{factor:.2g}×"


def rounds_text(rounds: int) -> str:
    return "1 round" if rounds == 1 else f"{rounds} rounds"


def machines_text(machines: int) -> str:
    return "1 machine" if machines == 1 else f"{machines} machines"
