"""Blocks of a report, as every export has them, for a screen of any width."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.padding import Padding
from rich.table import Table as Grid
from rich.text import Text
from textual.widgets import Static

from fswizard.model.text import safe
from fswizard.report.blocks import Answer, Block, Bullets, Commands, Facts, Ratios, Table, Words

FIRST_COLUMN = 14
"""Cells that the titles at the left of a table take at least; its other columns are never wrapped."""


class Report(Static):
    """All blocks below each other, without figures, which `Bars` draws."""

    DEFAULT_CSS = "Report { max-width: 110; }"

    def __init__(self, blocks: Iterable[Block] = ()) -> None:
        super().__init__(drawn(blocks))

    def show(self, blocks: Iterable[Block]) -> None:
        """Show these blocks in place of those before."""
        self.update(drawn(blocks))


def drawn(blocks: Iterable[Block]) -> Group:
    """Blocks with an empty line after each part of them."""
    return Group(*(Padding(part, (0, 0, 1, 0)) for block in blocks for part in _parts(block)))


def _parts(block: Block) -> Iterator[RenderableType]:
    match block:
        case Answer():
            yield _text(block.headline, "bold")
            yield _grid(("•", line) for line in block.lines)
        case Words():
            yield _text(block.text)
        case Facts() if block.rows:
            yield _titled(block.title, _grid(block.rows))
        case Bullets() if block.items:
            yield _titled(block.title, _grid(("•", item) for item in block.items))
        case Commands() if block.commands:
            yield _titled(block.title, Padding(_text("\n".join(block.commands)), (0, 0, 0, 2)))
        case Ratios():
            yield from _parts(block.table)
        case Table() if block.rows:
            yield _InParts([block.header, *block.rows])
            yield from (_text(note) for note in block.notes)


def _text(words: str, style: str = "") -> Text:
    return Text("\n".join(map(safe, words.split("\n"))), style)


def _titled(title: str, below: RenderableType) -> RenderableType:
    return Group(_text(title, "bold"), below) if title else below


def _grid(pairs: Iterable[tuple[str, str]]) -> Grid:
    """Labels or marks, and sentences wrapped at their right."""
    grid = Grid.grid("", "", padding=(0, 1, 0, 0))
    grid.columns[0].no_wrap = True
    grid.columns[1].overflow = "fold"
    for label, words in pairs:
        grid.add_row(_text(label), _text(words))
    return grid


@dataclass(frozen=True, slots=True)
class _InParts:
    """A table; columns without room at the right are shown below, with the first one again."""

    rows: Sequence[Sequence[str]]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        widths = [max(map(cell_len, column)) for column in zip(*self.rows)]
        part: list[int] = []
        for column in range(1, len(widths)):
            width = FIRST_COLUMN + sum(widths[each] + 2 for each in (*part, column))
            if part and width > options.max_width:
                yield self._part(part)
                yield ""
                part = []
            part.append(column)
        yield self._part(part)

    def _part(self, columns: Sequence[int]) -> Grid:
        grid = Grid.grid(padding=(0, 2, 0, 0))
        grid.add_column(overflow="fold")
        for _column in columns:
            grid.add_column(justify="right", no_wrap=True)
        for number, row in enumerate(self.rows):
            cells = (_text(row[column]) for column in (0, *columns))
            grid.add_row(*cells, style="" if number else "bold")
        return grid
