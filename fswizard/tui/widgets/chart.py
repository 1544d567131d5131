"""Bars in groups, such as the filesystems at each workload."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import zip_longest

from rich.cells import cell_len
from textual.content import Content

from fswizard.report.blocks import Bar, Chart
from fswizard.tui.drawing import ink, signed, text
from fswizard.tui.widgets.lines import Lines, fitted

SHORTEST, LONGEST = 6, 48
"""Range of the length of the longest bar in cells; if there is less space, titles move above their bars."""
WIDE = 70
"""Minimum width for titles at the left of their bars."""
TALL = 30
"""Minimum terminal height for empty lines between charts."""
GAP = Content("  ")


class Bars(Lines[Sequence[Chart]]):
    """Charts below each other: titles, names, bars, figures and remarks in columns."""

    DEFAULT_CSS = "Bars { height: auto; max-width: 110; }"

    def draw(self, charts: Sequence[Chart], width: int, height: int) -> list[Content]:
        bars = [bar for chart in charts for bar in chart.bars]
        figure = _widest(bar.figure for bar in bars)
        title = min(_widest(chart.title for chart in charts), width // 4)
        name = min(_widest(bar.title for bar in bars), width // 3)
        room = width - name - figure - _widest(bar.remark for bar in bars if bar.figure) - 8
        inline = width >= WIDE and room - title >= SHORTEST
        left = Content(" " * (title + 2 if inline else 0))
        length = max(SHORTEST, min(LONGEST, room - title if inline else room))
        lines: list[Content] = []
        for chart in charts:
            if lines and self.app.size.height >= TALL:
                lines.append(Content(""))
            rows: list[Content] = []
            for bar in chart.bars:
                drawn = [_bar(bar, length, figure)]
                if not bar.figure:
                    drawn = signed("failed", bar.remark).wrap(width - left.cell_length - name - 2)
                names = [fitted(bar.title, name)]
                rows += [one + GAP + two for one, two in zip_longest(names, drawn, fillvalue=Content(" " * name))]
            heading = text((chart.title, "" if chart.weight else "$muted"))
            if inline:
                titles = [fitted(line, title) + GAP for line in heading.wrap(title)]
                rows += [Content("")] * (len(titles) - len(rows))
                lines += [one + two for one, two in zip_longest(titles, rows, fillvalue=left)]
            else:
                lines += [heading, *rows]
        return lines


def _bar(bar: Bar, length: int, figure: int) -> Content:
    """A bar with its figure and remark, hatched unless its difference is proven."""
    cells = max(1, round(bar.length * length))
    block = "░" if bar.verdict == "open" else "▆"
    drawn = text((block * cells, f"$fs-{bar.kind}")).pad_right(length - cells)
    median = text(bar.figure).pad_left(figure - cell_len(bar.figure))
    return GAP.join([drawn, median, text((bar.remark, ink(bar.verdict)))])


def _widest(columns: Iterable[str]) -> int:
    return max(map(cell_len, columns), default=0)
