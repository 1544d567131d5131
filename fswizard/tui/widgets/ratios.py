"""Ratios as bars around 1, on a logarithmic axis, with their interval, figure and verdict."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby

from rich.cells import cell_len
from textual.content import Content

from fswizard.language import _, shown
from fswizard.model.analysis import LEVEL, SIGNS, Ratio
from fswizard.model.units import ratio_text
from fswizard.report import figures
from fswizard.report.figures import Axis
from fswizard.tui.drawing import COLOURS, columns, cut, cut_among, fit, lines, signed, text


def scale(axis: Axis, baseline: str, width: int) -> Content:
    """The axis' figures; at 1 stands the baseline's name."""
    __, start, name = axis.labels(baseline, width)[0]
    named, line = range(start, start + len(name)), axis.line(baseline, width)
    inks = ("bold $muted" if number in named else "$muted" for number in range(width))
    return _painted(line, [ink if cell != " " else "" for cell, ink in zip(line, inks)])


def bar(ratio: Ratio, axis: Axis, width: int, *, is_baseline: bool = False) -> Content:
    """A ratio with its interval, in the colour of its verdict, and the band in which differences do not matter."""
    one, here = axis.cell(1.0, width), axis.cell(ratio.ratio, width)
    ink, ground = COLOURS[SIGNS[ratio.verdict].tone]
    filled = range(min(one, here), max(one, here) + 1) if ratio.ratio > 0 and not is_baseline else range(0)
    band = range(axis.cell(1 / LEVEL, width), axis.cell(LEVEL, width) + 1)
    cells = " " * one + "◆" + " " * (width - one - 1) if is_baseline else figures.bar(ratio, axis, width)
    inks = {" ": "", "│": "$muted", "◆": "$muted", "●": f"bold {ink}", "○": f"bold {ink}"}
    styles = [inks.get(cell, ink) for cell in cells]
    for number in band:
        styles[number] += " on $panel"
    for number in filled:  # the ink of a verdict could not be seen on its ground among sixteen colours
        styles[number] = f"bold $foreground on {ground}"
    return _painted(cells, [style.strip() for style in styles])


def _painted(cells: str, styles: Sequence[str]) -> Content:
    """Cells side by side; neighbours of the same style become one piece."""
    pieces: list[tuple[str, str]] = []
    for style, group in groupby(zip(cells, styles), key=lambda pair: pair[1]):
        pieces.append(("".join(cell for cell, _ in group), style))
    return text(*pieces)


def ratio_table(groups: Mapping[str, Sequence[Ratio]], width: int, baseline: str) -> Content:
    """Candidates below each other on one axis, each group under its title: name, bar, ratio, interval, verdict.

    The title of a single group may be empty. Narrow places drop columns, never meaning.
    """
    every = [ratio for ratios in groups.values() for ratio in ratios]
    widths, axis = _widths(every, width), Axis.around(every)
    names = {ratio.candidate for ratio in every}
    shown = {name: cut_among(name, names, widths[0]) for name in names}
    blocks = []
    for title, ratios in groups.items():
        rows = [_row(ratio, shown[ratio.candidate], axis, widths, baseline) for ratio in ratios]
        blocks.append(lines([text((cut(title, width), "$muted")), *rows] if title else rows))
    return _head(axis, widths, baseline) + "\n" + Content("\n\n").join(blocks)


def _head(axis: Axis, widths: Sequence[int], baseline: str) -> Content:
    cells = ("", scale(axis, baseline, widths[1]) if widths[1] else "", _("ratio"), _("95 %") if widths[3] else "", "")
    return columns([cell if isinstance(cell, Content) else (cell, "$muted") for cell in cells], widths, right=(2, 3))


def _widths(ratios: Sequence[Ratio], width: int) -> tuple[int, int, int, int, int]:
    longest = max((cell_len(r.candidate) for r in ratios), default=4)
    name = min(longest, max(8, 2 * width // 7))
    figure = max([cell_len(_("ratio")), *(len(ratio_text(r.ratio)) for r in ratios)])
    interval = max([11, *(cell_len(ratio.interval()) for ratio in ratios)])
    word = max([11, cell_len(_("baseline")) + 2, *(signed(ratio.verdict).cell_length for ratio in ratios)])
    if width < 46:
        return (max(6, width - figure - word - 4), 0, figure, 0, word)
    if width < 64 or not any(ratio.low for ratio in ratios if ratio.candidate != ratio.baseline):
        interval = 0
    gaps = 2 * (4 if interval else 3)
    return (name, width - name - figure - interval - word - gaps, figure, interval, word)


def _row(ratio: Ratio, shown_name: str, axis: Axis, widths: Sequence[int], baseline: str) -> Content:
    is_baseline = ratio.candidate == baseline
    name = text((shown_name, "bold"))
    if ratio.verdict == "failed":
        why = fit(text((cut(shown(ratio.text) or _("failed"), widths[1]), "$muted")), widths[1])
        return columns((name, why, "", "", signed(ratio.verdict)), widths)
    if not is_baseline and ratio.ratio <= 0:
        return columns((name, bar(ratio, axis, widths[1]), "", "", text((f"· {_('waiting')}", "$muted"))), widths)
    interval, word = ratio.interval(), signed(ratio.verdict)
    if is_baseline:
        word, interval = text((f"◆ {_('baseline')}", "$muted")), ""
    figure = text((ratio_text(ratio.ratio), "bold" if not is_baseline else "$muted"))
    drawn = bar(ratio, axis, widths[1], is_baseline=is_baseline) if widths[1] else ""
    return columns((name, drawn, figure, text((interval, "$muted")), word), widths, right=(2, 3))
