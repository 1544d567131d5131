"""How numbers look everywhere: figures with their unit, ratios, and bars around 1."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from fswizard.model.judgement import Ratio, Verdict
from fswizard.model.units import duration_text, size_text, three_digits

_BETWEEN = {
    1.1: 1.05,
    1.2: 1.1,
    1.5: 1.2,
    2.0: 1.4,
    3.0: 1.7,
    5.0: 2.0,
    10.0: 3.0,
    30.0: 5.0,
    100.0: 10.0,
    1000.0: 30.0,
}
REACHES = tuple(_BETWEEN)
"""Ends of the axis that read well."""

MARKS: dict[Verdict, str] = {"faster": "+", "slower": "-", "tie": "=", "undecided": "?", "failed": "!"}
"""One character for each verdict, where a word finds no room."""

_PLAIN = str.maketrans("│┃╂├┤●◂▸─×–±…µ·−", "|||[]o<>-x-~.u.-")


def figure(value: float, unit: str) -> str:
    """A measured figure in three digits with its unit: `412 MB/s`, `1.16k/s`, `3.10 ms`."""
    match unit:
        case "B":
            return size_text(value)
        case "B/s":
            return f"{size_text(value)}/s"
        case "s":
            return seconds_text(value)
        case "1/s":
            return f"{_count(value)}/s"
        case "1":
            return _count(value)
    return f"{_count(value)} {unit}"


def seconds_text(seconds: float) -> str:
    """`850 µs`, `3.10 ms`, `12.3 s`, `25 h 20 min`."""
    if seconds >= 119.5:
        return duration_text(seconds)
    for factor, unit in ((1, "s"), (1e3, "ms"), (1e6, "µs")):
        if seconds * factor >= 0.9995 or unit == "µs":
            return f"{three_digits(seconds * factor)} {unit}"
    raise AssertionError("the last unit takes every duration")


def binary_text(size_bytes: int) -> str:
    """`2 GiB`, `15.6 GiB`: for memory and images, whose sizes are powers of 1024."""
    value, unit = float(size_bytes), "B"
    for unit in ("B", "KiB", "MiB", "GiB", "TiB"):
        if value < 1023.5 or unit == "TiB":
            break
        value /= 1024
    return f"{value:.3g} {unit}"


def ratio_text(ratio: float) -> str:
    """Three significant digits without an exponent: `1.21`, `0.964`, `12.3`, `0.0123`."""
    if 0 < ratio < 0.09995:
        return f"{ratio:.{min(9, 2 - math.floor(math.log10(ratio)))}f}"
    return three_digits(ratio)


def tick_text(ratio: float) -> str:
    """A place on an axis, as short as it can be: `0.67`, `1.5`, `30`."""
    return f"{ratio:.2g}" if ratio < 99.5 else f"{ratio:.0f}"


def on_the_point(texts: Sequence[str]) -> list[str]:
    """Numbers filled up on the right so that, aligned to the right, their decimal points stand below each other."""
    behind = [len(text) - text.index(".") if "." in text else 0 for text in texts]
    most = max(behind, default=0)
    return [text + " " * (most - places) for text, places in zip(texts, behind)]


def interval_text(ratio: Ratio, dash: str = "–") -> str:
    """`1.15–1.28`; empty where there are too few rounds to say."""
    if ratio.low is None or ratio.high is None:
        return ""
    return f"{ratio_text(ratio.low)}{dash}{ratio_text(ratio.high)}"


def spread_text(ratio: Ratio) -> str:
    """Half the interval in percent, as `±15%`; empty where there are too few rounds to say."""
    if ratio.low is None or ratio.high is None or ratio.low <= 0:
        return ""
    percent = (math.sqrt(ratio.high / ratio.low) - 1) * 100
    return f"±{percent:.0f}%" if percent < 999.5 else "±>999%"


def share_text(share: float) -> str:
    """A share of 1 in percent: `96%`."""
    return f"{share * 100:.0f}%" if share >= 0.0995 else f"{share * 100:.1f}%"


def plain(text: str) -> str:
    """The same drawing in ASCII, for terminals and forums that know nothing else."""
    return text.translate(_PLAIN).encode("ascii", "replace").decode()


@dataclass(frozen=True, slots=True)
class Scale:
    """A logarithmic axis with 1 in its middle."""

    reach: float
    """The largest ratio that finds room; the smallest is its inverse."""

    @classmethod
    def around(cls, ratios: Iterable[Ratio]) -> Scale:
        """An axis that shows every estimate, and intervals as far as they do not squeeze the estimates."""
        shown = [ratio for ratio in ratios if ratio.verdict != "failed" and ratio.ratio > 0]
        estimates = max((abs(math.log(ratio.ratio)) for ratio in shown), default=0.0)
        bounds = [bound for ratio in shown for bound in (ratio.low, ratio.high) if bound and bound > 0]
        widest = max((abs(math.log(bound)) for bound in bounds), default=0.0)
        needed = max(estimates, min(widest, max(2 * estimates, math.log(1.5))))
        return cls(next((reach for reach in REACHES if math.log(reach) >= needed), REACHES[-1]))

    def place(self, ratio: float) -> float:
        """From 0 at the left end over ½ for ratio 1 to 1 at the right end; beyond that for what finds no room."""
        return 0.5 + math.log(ratio) / math.log(self.reach) / 2 if ratio > 0 else -math.inf

    @property
    def ticks(self) -> tuple[float, ...]:
        """Five ratios worth a label, from one end to the other."""
        between = _BETWEEN[self.reach]
        return 1 / self.reach, 1 / between, 1.0, between, self.reach

    @property
    def ends(self) -> tuple[str, str]:
        """What stands at the two ends."""
        return tick_text(1 / self.reach), tick_text(self.reach)


def axis(scale: Scale, baseline: str, width: int) -> str:
    """The line above the bars: the two ends, and the baseline's name in the middle as far as it finds room."""
    left, right = scale.ends
    room = width - 2 * (max(len(left), len(right)) + 1)
    name = baseline if len(baseline) <= room else baseline[: max(0, room - 1)] + "…"
    middle = (width - len(name) + 1) // 2
    line = left + " " * (middle - len(left)) + name
    return line + right.rjust(width - len(line))


def bar(ratio: Ratio, scale: Scale, width: int) -> str:
    """A ratio with its interval on `scale`, in exactly `width` characters; `width` should be odd."""
    cells = [" "] * width
    middle = width // 2
    cells[middle] = "┃"

    def column(value: float) -> int:
        return max(-1, min(width, round(scale.place(value) * (width - 1)) if value > 0 else -1))

    if ratio.low is not None and ratio.high is not None:
        low, high = column(ratio.low), column(ratio.high)
        for place in range(max(0, low), min(width - 1, high) + 1):
            cells[place] = "╂" if place == middle else "─"
        if low < high:
            cells[max(0, low)] = "├" if low >= 0 else "◂"
            cells[min(width - 1, high)] = "┤" if high < width else "▸"
    cells[max(0, min(width - 1, column(ratio.ratio)))] = "●"
    return "".join(cells)


def _count(value: float) -> str:
    for factor, unit in ((1, ""), (1e3, "k"), (1e6, "M")):
        if abs(value) < 999.5 * factor or unit == "M":
            return f"{_digits(value / factor)}{unit}"
    raise AssertionError("the last unit takes every count")


def _digits(value: float) -> str:
    """Three significant digits, also far below 1."""
    return three_digits(value) if abs(value) >= 0.0995 or value == 0 else f"{value:.3g}"
