"""How the results of one recipe on one disk developed: a bar for each result, a column for each candidate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from textual.content import Content

from fswizard.model.comparison import Timeline, Trend
from fswizard.model.units import figure_text
from fswizard.report.colours import HUES
from fswizard.report.comparison import score, summary
from fswizard.tui.drawing import Piece, bullet, columns, cut, cut_among, heading, lines, text
from fswizard.tui.widgets.graph import graph

WIDEST_BAR, TALLEST_BAR = 3, 4
"""Cells and lines."""
TITLE_SHARE = 0.3
"""Of the width, at most for the titles of workloads."""


def drawn(timeline: Timeline, chosen: int, width: int, height: int) -> Content:
    """What changed from result to result, and all trends; the chosen result has the colours and the figures.

    Where there is little room, only what changed with the chosen one.
    """
    dates = _dates(timeline)
    several = len(dates) > 1
    title = f"{dates[0]} to {dates[-1]}: {len(dates)} results, taller is better" if several else "The only one so far"
    rows = _rows(timeline.trends)
    told = {number: _step(timeline, number, chosen, width) for number in reversed(range(len(dates)))}
    every = [line for step in told.values() for line in step]
    room = height - len(rows) - 3
    head = [heading(title, width), *(every if len(every) <= room else told[chosen])]
    left = height - len(head) - 2 - len(rows)
    tall = max(1, min(TALLEST_BAR, 1 + left // max(1, len(rows))))
    return lines([*head, *[Content("")] * (left >= 0), *_table(timeline, rows, chosen, width, tall)])


def _step(timeline: Timeline, number: int, chosen: int, width: int) -> Sequence[Content]:
    """What changed with a result, in lines; none for the first one."""
    if number == 0:
        return ()
    step, since = timeline.steps[number], _dates(timeline)[number - 1]
    mark = text(("▸ ", "bold $primary") if number == chosen else "  ", (f"since {since}", "$muted"), " ")
    words = f"{summary(step)}." if step else "Measured in another way, so the two cannot be compared."
    return bullet(mark, (words, "" if number == chosen else "$muted"), width).split()


def _dates(timeline: Timeline) -> Sequence[str]:
    """With the time of day where two have the same date."""
    dates = [started[:10] for started in timeline.started]
    return dates if len(set(dates)) == len(dates) else [at.replace("T", " ")[:16] for at in timeline.started]


def _rows(trends: Sequence[Trend]) -> dict[str, list[Trend]]:
    """By workload."""
    rows: dict[str, list[Trend]] = {}
    for trend in trends:
        rows.setdefault(trend.workload, []).append(trend)
    return rows


def _table(timeline: Timeline, rows: dict[str, list[Trend]], chosen: int, width: int, tall: int) -> list[Content]:
    kinds = {trend.title: trend.kind if trend.kind in HUES else "other" for trend in timeline.trends}
    title = min(max(map(cell_len, rows), default=0), int(width * TITLE_SHARE))
    figure = max((cell_len(_figure(trend, chosen)) for trend in timeline.trends), default=0)
    names, bar = list(kinds), WIDEST_BAR
    count = len(timeline.started)

    def column() -> int:
        return _cells(count, bar) + 1 + figure

    while bar > 1 and title + len(names) * (column() + 3) > width:
        bar -= 1
    while len(names) > 1 and title + len(names) * (column() + 2) > width:
        names.pop()
    wide = max(column(), min(max(map(cell_len, names), default=0), (width - title) // max(1, len(names)) - 3))
    gap = 3 if title + len(names) * (wide + 3) <= width else 2
    widths = (title, *(wide for _ in names))
    heads = [(cut_among(name, names, wide), f"bold $fs-{kinds[name]}") for name in names]
    table = [columns(("", *heads), widths, gap=gap)]
    for workload, trends in rows.items():
        by_name = {trend.title: trend for trend in trends}
        levels = {name: _levels(trend) for name, trend in by_name.items()}
        top = max((level for row in levels.values() for level in row if level), default=1.0)
        for line in range(tall):
            last = line == tall - 1
            cells: list[Piece] = [(cut(workload, title), "") if last else ""]
            for name in names:
                look = _Look(bar, tall, f"$fs-{kinds[name]}")
                bars = _bars(levels.get(name, ()), top, chosen, look)
                told = _figure(by_name[name], chosen) if last and name in by_name else ""
                cells.append(text(bars[line] if bars else "", " ", told))
            table.append(columns(cells, widths, gap=gap).rstrip())
    hidden = len(kinds) - len(names)
    return [*table, text((f"{hidden} more in the result itself", "$faint"))] if hidden else table


@dataclass(frozen=True, slots=True)
class _Look:
    """Of the bars of a candidate."""

    bar: int
    """Cells of width."""
    tall: int
    """Lines."""
    style: str


def _cells(count: int, bar: int) -> int:
    """The width of this many bars; wide ones have a gap behind them."""
    return count * (bar + (bar > 1))


def _levels(trend: Trend) -> list[float | None]:
    return [None if figure is None else score(trend.better, figure) for figure in trend.figures]


def _figure(trend: Trend, chosen: int) -> str:
    figure = trend.figures[chosen]
    return "–" if figure is None else figure_text(figure, trend.unit)


def _bars(levels: Sequence[float | None], top: float, chosen: int, look: _Look) -> list[Content]:
    """Lines from the top down; a dot marks a result without a figure."""
    rows: list[list[Piece]] = [[] for _ in range(look.tall)]
    for number, level in enumerate(levels):
        none = [" " * look.bar] * (look.tall - 1) + ["·" * look.bar]
        space = top * 8 * look.tall / (8 * look.tall - 1)  # below the bars of the line above
        cells = graph([level] * look.bar, look.bar, look.tall, top=space) if level else none
        for row, part in zip(rows, cells):
            row.append((part, look.style if number == chosen else "$past"))
            row.append(" " * (look.bar > 1))
    return [text(*row) for row in rows]
