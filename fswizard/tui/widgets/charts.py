"""Bars in groups, such as the candidates at each workload: names and figures in columns, all on one length."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from rich.cells import cell_len
from textual.content import Content

from fswizard.tui.drawing import Piece, columns, cut_among, fit, lines, text, wrap

LONGEST_BAR = 48
SHORTEST_BAR = 6
"""Cells for the longest bar of all; titles stand above the bars rather than leave less."""


@dataclass(frozen=True, slots=True)
class ChartRow:
    """A bar and what stands beside it."""

    name: str
    draw: Callable[[int], Content]
    """Draws the bar, for the number of cells that the longest one has."""
    figure: str
    """Empty for a failure, which has no bar."""
    remark: Piece


def charts(groups: Sequence[tuple[Piece, Sequence[ChartRow]]], width: int, *, beside: bool) -> list[Content]:
    """Each group's title with its bars `beside` it where there is room, or below it."""
    every = [row for _, rows in groups for row in rows]
    names = [row.name for row in every]
    figure = max((cell_len(row.figure) for row in every), default=0)
    remark = max((text(row.remark).cell_length for row in every if row.figure), default=0)
    most = min(width * 4 // 10, width - figure - remark - 8 - SHORTEST_BAR)
    name = min(max(map(cell_len, names), default=0), max(8, most))
    title = min(max((text(head).cell_length for head, _ in groups), default=0), width // 4)
    rest = width - name - figure - remark - 8
    beside = beside and rest - title >= SHORTEST_BAR
    before = title + 2 if beside else 2
    room = max(SHORTEST_BAR, min(LONGEST_BAR, rest + 2 - before))
    blocks = []
    for head, rows in groups:
        drawn = []
        for row in rows:
            shown = cut_among(row.name, names, name)
            if row.figure:
                cells = (shown, row.draw(room), row.figure, row.remark)
                drawn.append(columns(cells, (name, room, figure, remark), right=(2,)).rstrip())
            else:
                drawn.append(fit(text(fit(shown, name), "  ", row.remark).rstrip(), width - before).rstrip())
        if beside:
            pairs = zip_longest(wrap(head, title), drawn, fillvalue=Content(""))
            blocks.append(lines(fit(part, title) + Content("  ") + line for part, line in pairs))
        else:
            blocks.append(lines((*wrap(head, width), *(Content("  ") + line for line in drawn))))
    return blocks
