"""Text in columns of a fixed-width font."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from fswizard.model.text import cells

WIDTH = 80
GAP = 2
LONGEST_CELL = 22
"""Width from which on a cell of a table is wrapped."""
_UNIT = re.compile(r"\s+|[\u2e80-\uffef][\u3001\u3002\u300d\uff09]*|[^\s\u2e80-\uffef]+")
"""What stays on one line: a word, or a character of a script without blanks and what may not begin a line."""


def pad(text: str, width: int, *, right: bool = False) -> str:
    """`text` filled up to `width` columns."""
    filler = " " * max(0, width - cells(text))
    return filler + text if right else text + filler


def wrap(text: str, width: int) -> list[str]:
    """Lines of at most `width` columns; a word that is longer than a line is broken."""
    lines = [""]
    for unit in _UNIT.findall(text):
        if lines[-1] and cells(lines[-1] + unit.rstrip()) > width:
            lines.append("")
        if not lines[-1] and not unit.strip():
            continue
        for piece in [unit] if cells(unit.rstrip()) <= width else unit:
            if lines[-1] and cells(lines[-1] + piece.rstrip()) > width:
                lines.append("")
            lines[-1] += piece
    return [line.rstrip() for line in lines]


def labelled(label: str, text: str, indent: int) -> list[str]:
    """A label, and its text in lines beside it."""
    lines = [line for part in text.split("\n") for line in wrap(part, WIDTH - indent)]
    return [pad(label, indent) + lines[0], *(" " * indent + line for line in lines[1:])]


def table(rows: Sequence[Sequence[str]], longest: int = LONGEST_CELL, width: int = WIDTH) -> Iterator[str]:
    """Lines of a table whose first row is its header, whose first column is text, and whose others are figures.

    Columns that find no room go into further tables below, with the first column again.
    """
    wrapped = [[wrap(cell, longest) for cell in row] for row in rows]
    widths = [max(cells(line) for row in wrapped for line in row[column]) for column in range(len(rows[0]))]
    columns = [0]
    for column in range(1, len(widths)):
        used = sum(widths[each] + GAP for each in columns)
        if len(columns) > 1 and used + widths[column] > width:
            yield from _lines(wrapped, widths, columns)
            yield ""
            columns = [0]
        columns.append(column)
    yield from _lines(wrapped, widths, columns)


def _lines(wrapped: Sequence[Sequence[list[str]]], widths: Sequence[int], columns: Sequence[int]) -> Iterator[str]:
    for number, row in enumerate(wrapped):
        for line in range(max(len(row[column]) for column in columns)):
            parts = []
            for column in columns:
                cell = row[column][line] if line < len(row[column]) else ""
                parts.append(pad(cell, widths[column], right=column > 0))
            yield (" " * GAP).join(parts).rstrip()
        if number == 0:
            yield "─" * (sum(widths[column] + GAP for column in columns) - GAP)
