"""Bars in groups, such as the filesystems at each workload."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import zip_longest
from typing import Any

from rich.cells import cell_len
from textual.content import Content
from textual.geometry import Size
from textual.reactive import reactive
from textual.widget import Widget

from fswizard.report.blocks import Bar
from fswizard.tui.drawing import Piece, filesystem_ink, ink, lines, signed, text

SHORTEST, LONGEST = 6, 48
"""Cells of the longest bar of all; titles stand above their bars rather than leave less."""
WIDE = 70
"""Cells from which on titles stand at the left of their bars."""
TALL = 30
"""Lines of a terminal from which on groups have a line between them."""
Group = tuple[Piece, Sequence[Bar]]
"""A title and its bars, the best first."""


class Bars(Widget):
    """Groups of bars under each other: titles, names, bars, figures and remarks in columns."""

    ALLOW_SELECT = True
    DEFAULT_CSS = "Bars { height: auto; max-width: 110; }"

    groups: reactive[Sequence[Group]] = reactive((), layout=True)

    def __init__(self, groups: Sequence[Group] = (), **arguments: Any) -> None:
        super().__init__(**arguments)
        self.set_reactive(Bars.groups, groups)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return len(self._lines(width))

    def render(self) -> Content:
        return lines(self._lines(self.content_size.width))

    def _lines(self, width: int) -> list[Content]:
        bars = [bar for _, group in self.groups for bar in group]
        title = min(_widest(text(title).plain for title, _ in self.groups), width // 4)
        figure = _widest(bar.figure for bar in bars)
        remark = _widest(bar.remark for bar in bars if bar.figure)
        most = max(SHORTEST, width - figure - remark - 8 - SHORTEST)
        name = min(_widest(bar.title for bar in bars), width // 3, most)
        rest = width - name - figure - remark - 8
        beside = width >= WIDE and rest - title >= SHORTEST
        if not beside:
            title = 0
        length = max(SHORTEST, min(LONGEST, rest - title))

        drawn: list[Content] = []
        for words, group in self.groups:
            rows: list[Content] = []
            for bar in group:
                right = self._bar(bar, length, figure) if bar.figure else signed("failed", bar.remark)
                rows += _columns(bar.title, name, right.wrap(max(SHORTEST, width - title - name - 4)))
            if drawn and self.app.size.height >= TALL:
                drawn.append(Content(""))
            if beside:
                drawn += _columns(words, title, rows)
            else:
                drawn += [*text(words).wrap(max(1, width)), *(Content("  ") + row for row in rows)]
        return drawn

    def _bar(self, bar: Bar, length: int, figure: int) -> Content:
        """A bar, hatched unless its difference is proven, with its figure and remark."""
        cells = max(1, round(bar.length * length))
        block = "░" if bar.verdict == "open" else "▆"
        drawn = text((block * cells, filesystem_ink(bar.kind))).pad_right(length - cells)
        number = text(bar.figure).pad_left(figure - cell_len(bar.figure))
        return text(drawn, "  ", number, "  ", (bar.remark, ink(bar.verdict)))


def _columns(left: Piece, width: int, right: Sequence[Content]) -> list[Content]:
    """Words wrapped in a column, and lines at its right."""
    pairs = zip_longest(text(left).wrap(max(1, width)), right, fillvalue=Content(""))
    return [one.truncate(width, pad=True) + "  " + other for one, other in pairs]


def _widest(words: Iterable[str]) -> int:
    return max(map(cell_len, words), default=0)
