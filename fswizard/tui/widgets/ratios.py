"""Ratios as bars around 1, on a logarithmic axis, with their interval, figure and verdict."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from rich.cells import cell_len
from textual.content import Content

from fswizard.model.judgement import SIGNS, TIE, Ratio
from fswizard.model.units import ratio_text
from fswizard.tui.drawing import COLOURS, columns, cut, fit, lines, text, verdict

TICKS = (0.05, 0.1, 0.2, 0.33, 0.5, 0.67, 0.8, 0.9, 1.1, 1.25, 1.5, 2.0, 3.0, 5.0, 10.0, 20.0)
WIDEST = math.log(30)
NARROWEST = math.log(1.13)


@dataclass(frozen=True, slots=True)
class Axis:
    """Where a ratio stands in a row of cells."""

    low: float
    """Logarithm of the ratio at the left edge."""
    high: float
    width: int

    def cell(self, ratio: float) -> int:
        """Number of the cell of `ratio`; beyond the edges, the outermost."""
        place = (math.log(ratio) - self.low) / (self.high - self.low) if ratio > 0 else 0.0
        return max(0, min(self.width - 1, round(place * (self.width - 1))))

    def holds(self, ratio: float) -> bool:
        return self.low <= math.log(ratio) <= self.high


def axis_for(ratios: Sequence[Ratio], width: int) -> Axis:
    """An axis that shows all estimates, and as much of the intervals as leaves room for the estimates."""
    estimates = [math.log(r.ratio) for r in ratios if r.verdict != "failed" and r.ratio > 0]
    ends = [math.log(end) for r in ratios for end in (r.low, r.high) if end and r.verdict != "failed"]
    reach = 2.5 * max((abs(e) for e in estimates), default=0.0) + NARROWEST
    ends = [max(-reach, min(reach, end)) for end in ends]
    left = min(WIDEST, max(NARROWEST, -min((*estimates, *ends), default=0.0)))
    right = min(WIDEST, max(NARROWEST, max((*estimates, *ends), default=0.0)))
    left, right = max(left, right / 3), max(right, left / 3)
    return Axis(-left * 1.06, right * 1.06, max(3, width))


def scale(axis: Axis, baseline: str) -> Content:
    """The axis' figures; at 1 stands the baseline's name."""
    row = [" "] * axis.width
    styles = [""] * axis.width

    def put(words: str, cell: int, style: str, *, gap: int) -> None:
        start = max(0, min(axis.width - len(words), cell - len(words) // 2))
        around = row[max(0, start - gap) : start + len(words) + gap]
        if len(words) <= axis.width and not "".join(around).strip():
            row[start : start + len(words)] = words
            styles[start : start + len(words)] = [style] * len(words)

    name = cut(baseline, max(4, axis.width // 3))
    put(name if cell_len(name) == len(name) else "1", axis.cell(1.0), "bold $muted", gap=0)
    for tick in sorted((t for t in TICKS if axis.holds(t)), key=lambda t: -abs(math.log(t))):
        put(f"{tick:g}", axis.cell(tick), "$faint", gap=2)
    return _painted(row, styles)


def bar(ratio: Ratio, axis: Axis, *, is_baseline: bool = False) -> Content:
    """One ratio on the axis: a bar from 1 to the estimate, a whisker for the interval."""
    one = axis.cell(1.0)
    cells = [" "] * axis.width
    inks = [""] * axis.width
    grounds = [""] * axis.width
    for cell in range(axis.cell(1 / TIE), axis.cell(TIE) + 1):
        grounds[cell] = "on $band"
    cells[one], inks[one] = "│", "$faint"
    if is_baseline:
        cells[one], inks[one] = "◆", "$muted"
    elif ratio.ratio > 0:
        ink, ground = COLOURS[SIGNS[ratio.verdict].tone]
        here = axis.cell(ratio.ratio)
        for cell in range(min(one, here), max(one, here) + 1):
            grounds[cell] = f"on {ground}"
        if ratio.low and ratio.high:
            low, high = axis.cell(ratio.low), axis.cell(ratio.high)
            for cell in range(low, high + 1):
                cells[cell], inks[cell] = ("┼" if cell == one else "─"), ink
            cells[low] = "├" if axis.holds(ratio.low) else "◂"
            cells[high] = "┤" if axis.holds(ratio.high) else "▸"
            inks[low] = inks[high] = ink
        cells[here] = "●" if ratio.low is not None else "○"
        inks[here] = f"bold {ink}"
    styles = [f"{ink} {ground}".strip() for ink, ground in zip(inks, grounds)]
    return _painted(cells, styles)


def _painted(cells: Sequence[str], styles: Sequence[str]) -> Content:
    """Cells side by side; neighbours of the same style become one piece."""
    pieces: list[tuple[str, str]] = []
    for style, group in groupby(zip(cells, styles), key=lambda pair: pair[1]):
        pieces.append(("".join(cell for cell, _ in group), style))
    return text(*pieces)


def ratio_table(
    ratios: Sequence[Ratio],
    width: int,
    baseline: str,
    *,
    out: Callable[[str], str] = lambda candidate: "",
    spaced: bool = False,
) -> Content:
    """All candidates: name, bar, ratio, interval, verdict. Narrow places drop columns, never meaning."""
    widths = _widths(ratios, width)
    axis = axis_for(ratios, widths[1])
    rows = [_row(ratio, axis, widths, baseline, out(ratio.candidate)) for ratio in ratios]
    return _head(axis, widths, baseline) + "\n" + Content("\n\n" if spaced else "\n").join(rows)


def ratio_groups(groups: Mapping[str, Sequence[Ratio]], width: int, baseline: str) -> Content:
    """Like `ratio_table`, several below each other on one axis, each under its title."""
    every = [ratio for ratios in groups.values() for ratio in ratios]
    widths = _widths(every, width)
    axis = axis_for(every, widths[1])
    blocks = [
        lines([text((cut(title, width), "$muted")), *(_row(ratio, axis, widths, baseline, "") for ratio in ratios)])
        for title, ratios in groups.items()
    ]
    return _head(axis, widths, baseline) + "\n" + Content("\n\n").join(blocks)


def _head(axis: Axis, widths: Sequence[int], baseline: str) -> Content:
    cells = ("", scale(axis, baseline) if widths[1] else "", "ratio", "95 %" if widths[3] else "", "")
    return columns([cell if isinstance(cell, Content) else (cell, "$faint") for cell in cells], widths, right=(2, 3))


def _widths(ratios: Sequence[Ratio], width: int) -> tuple[int, int, int, int, int]:
    longest = max((cell_len(r.candidate) for r in ratios), default=4)
    name = min(longest, max(8, 2 * width // 7))
    figure, interval, word = max([5, *(len(ratio_text(r.ratio)) for r in ratios)]), 11, 11
    if width < 46:
        return (max(6, width - figure - word - 4), 0, figure, 0, word)
    if width < 64 or not any(ratio.low for ratio in ratios if ratio.candidate != ratio.baseline):
        interval = 0
    gaps = 2 * (4 if interval else 3)
    return (name, width - name - figure - interval - word - gaps, figure, interval, word)


def _row(ratio: Ratio, axis: Axis, widths: Sequence[int], baseline: str, out: str) -> Content:
    is_baseline = ratio.candidate == baseline
    name = text((cut(ratio.candidate, widths[0]), "$muted strike" if out else "bold"))
    if ratio.verdict == "failed":
        why = fit(text((cut(ratio.text or "failed", widths[1]), "$muted")), widths[1])
        return columns((name, why, "", "", verdict(ratio)), widths)
    skipped = text(("» skipped", "$muted")) if out == "skipped" else None
    if not is_baseline and ratio.ratio <= 0:
        return columns((name, bar(ratio, axis), "", "", skipped or text(("· waiting", "$faint"))), widths)
    interval, word = ratio.interval(), skipped or verdict(ratio)
    if is_baseline:
        word, interval = text(("◆ baseline", "$muted")), ""
    figure = text((ratio_text(ratio.ratio), "bold" if not is_baseline else "$muted"))
    drawn = bar(ratio, axis, is_baseline=is_baseline)
    return columns((name, drawn, figure, text((interval, "$muted")), word), widths, right=(2, 3))
