"""The painter of plain text, for a terminal or a forum: at most 80 columns, but for commands, which stay whole."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich import box
from rich.cells import cell_len
from rich.console import Console, RenderableType
from rich.table import Table as Columns

from fswizard.model.analysis import Answer, Findings
from fswizard.report import content
from fswizard.report.blocks import Block, Bullets, Chart, Commands, Document, Facts, Figures, Paragraph, Ratios, Table

WIDTH = 80
LABEL = 10
"""Columns of a label, at least."""
LONGEST_NAME, LONGEST_TITLE = 30, 22
SHORTEST_BAR, LONGEST_BAR = 8, 40
SOLID, HATCHED = "█", "▒"


def render(findings: Findings, *, full: bool) -> str:
    if full:
        return paint(content.full(findings))
    *blocks, _attempt = content.short(findings)  # whoever reads a terminal has tried it
    return paint((*blocks, content.set_up(findings)))


def paint(document: Document) -> str:
    """Blocks with an empty line between them."""
    parts = ("\n".join(_lines(block)) for block in document)
    return "\n\n".join(filter(None, parts)) + "\n"


def _lines(block: Block) -> list[str]:
    """Lines of a block; none if it is empty."""
    title, lines = "", []
    match block:
        case Answer():
            below = [f"  {part}" for line in block.lines for part in wrap(line, WIDTH - 2)]
            lines = [*wrap(block.headline), *below]
        case Paragraph():
            lines = wrap(block.text)
        case Facts():
            lines = _columns(block.rows, least=LABEL)
        case Figures() if block.charts:
            lines = [*wrap(block.caption), "", *bars(block.charts)]
        case Ratios():
            lines = _lines(block.table)
        case Table() if block.rows:
            lines = [*table(block), *(line for note in block.notes for line in wrap(note))]
        case Bullets() if block.items:
            title = block.title
            lines = _columns([("-", item) for item in block.items])
        case Commands() if block.commands:
            title = block.title
            lines = [f"  {command}" for command in block.commands]
    return [title, *lines] if title else lines


def wrap(shown: RenderableType, width: int = WIDTH) -> list[str]:
    """Lines of at most `width` columns; a word that is longer than a line is broken."""
    console = Console(width=width, color_system=None, markup=False, emoji=False, highlight=False)
    with console.capture() as capture:
        console.print(shown, overflow="fold")
    return [line.rstrip() for line in capture.get().rstrip("\n").split("\n")]


def _columns(rows: Iterable[Sequence[str]], *, least: int = 0) -> list[str]:
    """Lines of labels and their texts."""
    grid = Columns.grid(padding=(0, 1, 0, 0))
    grid.add_column(overflow="fold", min_width=least)
    grid.add_column(overflow="fold")
    for row in rows:
        grid.add_row(*row)
    return wrap(grid)


def table(block: Table) -> list[str]:
    """Lines of a table; columns after the first are figures if they are several.

    Titles of columns wrap, figures do not. Columns for which there is no room are put into a further table.
    """
    figures = len(block.header) > 2
    for count in range(len(block.header), 1, -1):
        drawn = Columns(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))
        drawn.add_column(block.header[0], overflow="fold", max_width=LONGEST_TITLE)
        for number, title in enumerate(block.header[1:count], 1):
            widest = (WIDTH - LONGEST_TITLE) // (count - 1) - 2
            if figures:
                widest = max(widest, *(cell_len(row[number]) for row in block.rows))
            drawn.add_column(title, justify="right" if figures else "left", overflow="fold", max_width=widest)
        for row in block.rows:
            drawn.add_row(*row[:count])
        lines = wrap(drawn, 10 * WIDTH)
        if max(map(cell_len, lines)) <= WIDTH:
            break
    if count == len(block.header):
        return lines
    first, *others = [(row[0], *row[count:]) for row in (block.header, *block.rows)]
    return [*lines, "", *table(Table(first, tuple(others)))]


def bars(charts: Sequence[Chart]) -> list[str]:
    """Each candidate's figure at each workload, in its unit; the best first, with the longest bar."""
    every = [bar for chart in charts for bar in chart.bars]
    name = min(LONGEST_NAME, max(cell_len(bar.title) for bar in every))
    figure = max(cell_len(bar.figure) for bar in every)
    remark = max((cell_len(bar.remark) for bar in every if bar.figure), default=0)
    room = max(SHORTEST_BAR, min(LONGEST_BAR, WIDTH - name - figure - remark - 8))
    lines: list[str] = []
    for chart in charts:
        lines += ["", *wrap(chart.title)]
        grid = Columns.grid(padding=(0, 2, 0, 0))
        grid.add_column(width=name, overflow="fold")
        grid.add_column(width=room)
        grid.add_column(width=figure, justify="right")
        grid.add_column(overflow="fold")
        failed = []
        for bar in chart.bars:
            block = HATCHED if bar.verdict == "open" else SOLID
            if bar.figure:
                grid.add_row(bar.title, block * max(1, round(bar.length * room)), bar.figure, bar.remark)
            else:
                failed += wrap(f"{bar.title}: {bar.remark}", WIDTH - 2)
        measured = wrap(grid, WIDTH - 2) if grid.row_count else []
        lines += [f"  {line}" for line in (*measured, *failed)]
    return lines[1:]


def pad(text: str, width: int) -> str:
    """`text` filled up to `width` columns."""
    return text + " " * (width - cell_len(text))
