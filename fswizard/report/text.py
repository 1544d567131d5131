"""The painter of plain text, for a terminal or a forum: at most 80 columns, but for commands, which stay whole."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest

from fswizard.model.analysis import Answer, Findings
from fswizard.model.text import cells
from fswizard.report import content
from fswizard.report.blocks import (
    Block,
    Bullets,
    Chart,
    Commands,
    Document,
    Facts,
    Figures,
    Paragraph,
    Ratios,
    Table,
)
from fswizard.report.layout import GAP, WIDTH, labelled, pad, table, wrap

LABEL = 11
"""Columns of a label and the space behind it, at least."""
LONGEST_NAME = 30
SHORTEST_BAR, LONGEST_BAR = 8, 40
EIGHTHS = " ▏▎▍▌▋▊▉"
HATCHED = "▒"


def render(findings: Findings, *, full: bool) -> str:
    if full:
        return paint(content.full(findings))
    *blocks, _attempt = content.short(findings)  # whoever reads a terminal has tried it
    return paint((*blocks, content.set_up(findings)))


def paint(document: Document) -> str:
    """Blocks with an empty line between them."""
    parts = ("\n".join(block_lines(block)) for block in document)
    return "\n\n".join(filter(None, parts)) + "\n"


def block_lines(block: Block) -> list[str]:
    """Lines of a block; none if it is empty."""
    title = ""
    match block:
        case Answer():
            below = [f"  {part}" for line in block.lines for part in wrap(line, WIDTH - 2)]
            lines = [*wrap(block.headline, WIDTH), *below]
        case Paragraph():
            lines = wrap(block.text, WIDTH)
        case Facts():
            indent = max(LABEL, *(cells(label) + 1 for label, __ in block.rows), 0)
            lines = [line for label, text in block.rows for line in labelled(label, text, indent)]
        case Figures():
            caption = wrap(block.caption, WIDTH) if block.caption else []
            lines = [*caption, *([""] if caption else []), *figure_lines(block.charts)]
        case Ratios():
            return block_lines(block.table)
        case Table():
            lines = [*table((block.header, *block.rows))] if block.rows else []
            lines += [line for note in block.notes for line in wrap(note, WIDTH)]
        case Bullets():
            title = block.title
            lines = [line for item in block.items for line in labelled("-", item, 2)]
        case Commands():
            title = block.title
            lines = [f"  {command}" for command in block.commands]
    return [title, *lines] if title and lines else lines


def figure_lines(charts: Sequence[Chart]) -> Iterator[str]:
    """Each candidate's figure at each workload, in its unit; the best first, with the longest bar."""
    every = [bar for chart in charts for bar in chart.bars]
    name = min(LONGEST_NAME, max((cells(bar.title) for bar in every), default=0))
    figure = max((cells(bar.figure) for bar in every), default=0)
    remark = max((cells(bar.remark) for bar in every if bar.figure), default=0)
    room = max(SHORTEST_BAR, min(LONGEST_BAR, WIDTH - name - figure - remark - 4 * GAP))
    for number, chart in enumerate(charts):
        yield from wrap(chart.title, WIDTH) if number == 0 else ["", *wrap(chart.title, WIDTH)]
        for bar in chart.bars:
            if bar.figure:
                solid_bar = pad(solid(bar.length, room, proven=bar.verdict != "open"), room)
                right = [f"{solid_bar}  {pad(bar.figure, figure, right=True)}  {bar.remark}"]
            else:
                right = wrap(bar.remark, WIDTH - name - 2 * GAP)
            for title, drawn in zip_longest(wrap(bar.title, name), right, fillvalue=""):
                yield f"  {pad(title, name)}  {drawn}".rstrip()


def solid(length: float, width: int, *, proven: bool = True) -> str:
    """A bar of `length`, from 0 to 1, in `width` cells, to an eighth of a cell; hatched where nothing is proven."""
    if not proven:
        return HATCHED * max(1, round(min(1.0, length) * width))
    full, part = divmod(max(1, round(min(1.0, length) * width * 8)), 8)
    return "█" * full + EIGHTHS[part].strip()
