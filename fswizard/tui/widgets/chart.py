"""Bars in groups, such as the filesystems at each workload."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.padding import Padding
from rich.table import Table
from textual.content import Content
from textual.widgets import Static

from fswizard.report.blocks import Bar, Chart
from fswizard.tui.drawing import filesystem_ink, ink, signed, text
from fswizard.tui.widgets.table import as_rich

SHORTEST, LONGEST = 6, 48
"""Range of the length of the longest bar in cells; if there is less space, titles move above their bars."""
WIDE = 70
"""Minimum width for titles at the left of their bars."""
TALL = 30
"""Minimum terminal height for empty lines between charts."""


class Bars(Static):
    """Charts below each other: titles, names, bars, figures and remarks in columns."""

    DEFAULT_CSS = "Bars { max-width: 110; }"

    def __init__(self, charts: Iterable[Chart] = (), **arguments: Any) -> None:
        super().__init__(**arguments)
        self.charts = tuple(charts)

    def on_mount(self) -> None:
        self.show(self.charts)
        self.app.theme_changed_signal.subscribe(self, lambda _: self.show(self.charts))

    def show(self, charts: Iterable[Chart]) -> None:
        """Replace the charts."""
        self.charts = tuple(charts)
        self.update(_Drawn(self, self.charts))


@dataclass(frozen=True, slots=True)
class _Drawn:
    """Charts that adapt to the width when rendered by Rich."""

    widget: Bars
    charts: Sequence[Chart]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        width = options.max_width
        bars = [bar for chart in self.charts for bar in chart.bars]
        figure = _widest(bar.figure for bar in bars)
        remark = _widest(bar.remark for bar in bars if bar.figure)
        title = min(_widest(chart.title for chart in self.charts), width // 4)
        name = min(_widest(bar.title for bar in bars), width // 3)
        room = width - name - figure - remark - 8
        inline = width >= WIDE and room - title >= SHORTEST
        if inline:
            room -= title
        length = max(SHORTEST, min(LONGEST, room))
        for number, chart in enumerate(self.charts):
            if number and self.widget.app.size.height >= TALL:
                yield ""
            rows = Table.grid(padding=(0, 2, 0, 0))
            rows.add_column(width=name, overflow="fold")
            rows.add_column(overflow="fold")
            for bar in chart.bars:
                drawn = _bar(bar, length, figure) if bar.figure else signed("failed", bar.remark)
                rows.add_row(as_rich(self.widget, bar.title), as_rich(self.widget, drawn))
            heading = as_rich(self.widget, (chart.title, "" if chart.weight else "$muted"))
            if inline:
                both = Table.grid(padding=(0, 2, 0, 0))
                both.add_column(width=title, overflow="fold")
                both.add_row(heading, rows)
                yield both
            else:
                yield heading
                yield Padding(rows, (0, 0, 0, 2))


def _bar(bar: Bar, length: int, figure: int) -> Content:
    """A bar with its figure and remark, hatched unless its difference is proven."""
    cells = max(1, round(bar.length * length))
    block = "░" if bar.verdict == "open" else "▆"
    drawn = text((block * cells, filesystem_ink(bar.kind))).pad_right(length - cells)
    median = text(bar.figure).pad_left(figure - cell_len(bar.figure))
    return text(drawn, "  ", median, "  ", (bar.remark, ink(bar.verdict)))


def _widest(columns: Iterable[str]) -> int:
    return max(map(cell_len, columns), default=0)
