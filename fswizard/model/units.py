"""Sizes, durations and ratios as text in the user's language, and for programs, and parsed from text.

`binary_size_text` is for programs.
"""

from __future__ import annotations

import math
import re

from fswizard.language import N_, _, n_, number, p_

_POWERS = {"": 0, "K": 1, "M": 2, "G": 3, "T": 4, "P": 5}
BINARY, DECIMAL = 1024, 1000
"""Sizes of images, files, blocks and memory are powers of `BINARY`; capacities of disks and bytes written to them use
`DECIMAL`."""
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400}
_DECIMAL_SIZES = (
    N_("{number} B"), N_("{number} kB"), N_("{number} MB"), N_("{number} GB"), N_("{number} TB"), N_("{number} PB"),
)  # fmt: skip
_BINARY_SIZES = (
    N_("{number} B"), N_("{number} KiB"), N_("{number} MiB"),
    N_("{number} GiB"), N_("{number} TiB"), N_("{number} PiB"),
)  # fmt: skip
COUNTED = {
    "operations": p_("counted by a rate", "operations"),
    "reads": p_("counted by a rate", "reads"),
    "writes": p_("counted by a rate", "writes"),
    "saves": p_("counted by a rate", "saves"),
}
"""What a rate counts, by the engine's name for it."""
_MEASURED_TIMES = ((1, N_("{number} s")), (1e3, N_("{number} ms")), (1e6, N_("{number} µs")))


def parse_size(text: str, step: int = BINARY) -> int:
    """Bytes for `2G`, `512MiB`, `1.5 T` or `4096`. Units such as MiB are powers of 1024, others, as in fio and mkfs,
    powers of `step`. Raises ValueError otherwise."""
    match = re.fullmatch(r"\s*(\d{1,18}(?:\.\d{1,6})?)\s*([KMGTP]?)(iB|B)?\s*", text, re.ASCII | re.IGNORECASE)
    if match is None:
        raise ValueError(_("'{text}' is not a size; write a number and a unit, such as 512M or 2G", text=text))
    if (match[3] or "").lower() == "ib":
        step = BINARY
    size = float(match[1]) * step ** _POWERS[match[2].upper()]
    if size >= 1 << 60:
        raise ValueError(_("'{size}' is larger than any disk", size=text))
    return int(size)


def parse_duration(text: str) -> float:
    """Seconds for `90s`, `10m` or `1h30m`. Raises ValueError otherwise."""
    cleaned = text.strip().lower()
    if not re.fullmatch(r"(\d{1,7}(\.\d{1,3})?[smhd])+", cleaned, re.ASCII):
        raise ValueError(_("'{text}' is not a duration; write a number and a unit, such as 90s, 10m or 2h", text=text))
    parts = re.findall(r"([\d.]+)([smhd])", cleaned)
    return sum(float(value) * _SECONDS[unit] for value, unit in parts)


def size_text(size_bytes: float) -> str:
    """Three significant digits and a decimal unit, as disks are sold: `8.00 TB`, `512 MB`."""
    value, message = _scaled(size_bytes, 1000, _DECIMAL_SIZES)
    return _(message, number=f"{value:.0f}" if message is _DECIMAL_SIZES[0] else three_digits(value))


def binary_text(size_bytes: int) -> str:
    """`2 GiB`, `15.6 GiB`: for memory and images, which have sizes in powers of 1024."""
    value, message = _scaled(size_bytes, 1024, _BINARY_SIZES)
    return _(message, number=number(f"{value:.3g}"))


def _scaled(value: float, step: int, messages: tuple[str, ...]) -> tuple[float, str]:
    for message in messages[:-1]:
        if abs(value) < step - 0.5:
            return value, message
        value /= step
    return value, messages[-1]


def binary_size_text(size_bytes: int) -> str:
    """A size as read by `parse_size`, in the largest unit that divides it: `2G`, `1536M`."""
    size, unit = size_bytes, ""
    for larger in "KMGT":
        if not size or size % BINARY:
            break
        size, unit = size // BINARY, larger
    return f"{size}{unit}"


def duration_text(seconds: float) -> str:
    """`0.45 s`, `12 s`, `3 min`, `1 h 20 min`."""
    if seconds < 1:
        return _("{number} s", number=number(f"{seconds:.2g}"))
    if seconds < 90:
        return _("{number} s", number=number(f"{seconds:.1f}" if seconds < 9.95 else f"{seconds:.0f}"))
    minutes = round(seconds / 60)
    if minutes < 90:
        return _("{minutes} min", minutes=minutes)
    return _("{hours} h {minutes} min", hours=minutes // 60, minutes=f"{minutes % 60:02d}")


def three_digits(value: float) -> str:
    """Three significant digits without an exponent: `0.998`, `12.3`, `1230`, `0.0123`."""
    if value == 0:
        return "0"
    power = math.floor(math.log10(abs(float(f"{value:.2e}"))))
    return number(f"{value:.{min(9, max(0, 2 - power))}f}")


def seconds_text(seconds: float) -> str:
    """A measured duration: `850 µs`, `3.10 ms`, `12.3 s`, `25 h 20 min`."""
    if seconds >= 119.5:
        return duration_text(seconds)
    factor, message = next((time for time in _MEASURED_TIMES if seconds * time[0] >= 0.9995), _MEASURED_TIMES[-1])
    return _(message, number=three_digits(seconds * factor))


def stall_text(seconds: float) -> str:
    """`0.5 s`: a stall in tenths of a second; imperceptible ones as in `seconds_text`."""
    return _("{number} s", number=number(f"{seconds:.1f}")) if 0.095 <= seconds < 9.95 else seconds_text(seconds)


def count_text(value: float) -> str:
    """`652`, `1,160`, `12.3M`."""
    if value >= 999_999.5:
        return f"{three_digits(value / 1e6)}M"
    if value >= 999.5:
        return number(f"{round(value, 2 - math.floor(math.log10(value))):,.0f}")
    return three_digits(value)


def figure_text(value: float, unit: str, counts: str = "") -> str:
    """A measured figure in three digits with its unit: `412 MB/s`, `1,160/s`, `3.10 ms`.

    `counts` is the unit counted by a rate: `1,160 saves/s`.
    """
    match unit:
        case "B":
            return size_text(value)
        case "B/s":
            return _("{amount}/s", amount=size_text(value))
        case "s":
            return seconds_text(value)
        case "1/s":
            amount, counts = count_text(value), COUNTED.get(counts, counts)
            return _("{number} {counts}/s", number=amount, counts=counts) if counts else _("{amount}/s", amount=amount)
    return count_text(value) if unit == "1" else f"{count_text(value)} {unit}"


def share_text(share: float) -> str:
    """A share of 1 in percent: `96%`."""
    return _("{percent}%", percent=number(f"{share * 100:.0f}" if share >= 0.0995 else f"{share * 100:.1f}"))


def ratio_text(ratio: float) -> str:
    """Two decimals, for columns of ratios; three significant digits (`12.3`, `0.012`) if that says too little."""
    if ratio >= 9.995 or ratio <= 0:
        return three_digits(ratio)
    digits = 2 if ratio >= 0.0995 else min(9, 1 - math.floor(math.log10(ratio)))
    return number(f"{ratio:.{digits}f}")


def speed_text(ratio: float, unit: str = "s") -> str:
    """A ratio in everyday language: `11 % faster`, `2.1× as fast`, `3× slower`, `as fast`.

    `unit` is that of the figures: a duration 20 % longer is 20 % slower, and the other 20 % faster, but 114 MB/s are 26
    % slower than 154.
    """
    factor = max(ratio, 1 / ratio)
    if factor >= 1.995:
        times = times_text(factor)
        return _("{times} as fast", times=times) if ratio > 1 else _("{times} slower", times=times)
    of_rate = ratio < 1 and unit.endswith("/s")
    percent = f"{(1 - ratio if of_rate else factor - 1) * 100:.0f}"
    if percent == "0":
        return _("as fast")
    return _("{percent} % faster", percent=percent) if ratio > 1 else _("{percent} % slower", percent=percent)


def times_text(factor: float) -> str:
    """`2.1×`, `8×`, `120×`."""
    return _("{number}×", number=f"{factor:.0f}" if factor >= 9.95 else number(f"{factor:.2g}"))


def rounds_text(rounds: int) -> str:
    return n_("{count} round", "{count} rounds", rounds)
