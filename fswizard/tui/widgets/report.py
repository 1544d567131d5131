"""Blocks of a report, the same as in exports, for screens of any width."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.padding import Padding
from rich.table import Table as Grid
from rich.text import Text
from textual.widgets import Static

from fswizard.model.text import safe
from fswizard.report.blocks import Answer, Block, Bullets, Commands, Facts, Paragraph, Ratios, Table
from fswizard.report.layout import LONGEST_CELL, table


class Report(Static):
    """All blocks below each other, without figures, which are drawn by `Bars`."""

    DEFAULT_CSS = "Report { max-width: 110; }"

    def __init__(self, blocks: Iterable[Block] = ()) -> None:
        super().__init__(drawn(blocks))

    def show(self, blocks: Iterable[Block]) -> None:
        """Replace the blocks."""
        self.update(drawn(blocks))


def drawn(blocks: Iterable[Block]) -> Group:
    """Blocks with an empty line after each part of them."""
    return Group(*(Padding(part, (0, 0, 1, 0)) for block in blocks for part in _parts(block)))


def _parts(block: Block) -> Iterator[RenderableType]:
    match block:
        case Answer():
            yield _list(block.headline, "•", block.lines)
        case Paragraph():
            yield _text(block.text)
        case Facts() if block.rows:
            yield _grid(block.title, block.rows)
        case Bullets() if block.items:
            yield _list(block.title, "•", block.items)
        case Commands() if block.commands:
            yield _list(block.title, " ", block.commands)
        case Ratios():
            yield from _parts(block.table)
        case Table() if block.rows:
            yield _Cells([[safe(cell) for cell in row] for row in (block.header, *block.rows)])
            yield from map(_text, block.notes)


def _text(content: str) -> Text:
    return Text("\n".join(map(safe, content.split("\n"))))


def _list(title: str, mark: str, items: Iterable[str]) -> RenderableType:
    return _grid(title, [(mark, item) for item in items])


def _grid(title: str, rows: Iterable[tuple[str, str]]) -> RenderableType:
    """A title above two columns: labels or marks, and wrapped sentences."""
    grid = Grid.grid("", "", padding=(0, 1, 0, 0))
    grid.columns[0].no_wrap = True
    grid.columns[1].overflow = "fold"
    for label, sentence in rows:
        grid.add_row(_text(label), _text(sentence))
    return Group(Text(safe(title), "bold"), grid) if title else grid


@dataclass(frozen=True, slots=True)
class _Cells:
    """A table, split into as many parts as the width requires."""

    rows: Sequence[Sequence[str]]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        width = options.max_width
        yield Text("\n".join(table(self.rows, max(LONGEST_CELL, width // 4), width)))
