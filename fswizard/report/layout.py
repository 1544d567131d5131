"""Text in columns of a fixed-width font."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import zip_longest

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
    """Lines of a label in the first column and its text in the second."""
    lines = [line for part in text.split("\n") for line in wrap(part, WIDTH - indent)]
    return [pad(label, indent) + lines[0], *(" " * indent + line for line in lines[1:])]


def table(rows: Sequence[Sequence[str]], longest: int = LONGEST_CELL) -> Iterator[str]:
    """Lines of a table. The first row is its header, the first column is text, the others are figures.

    Columns that find no room go into further tables below, with the first column again.
    """
    wrapped = [[wrap(cell, longest) for cell in row] for row in rows]
    widths = [max(cells(line) for cell in column for line in cell) for column in zip(*wrapped)]
    parts = [[0]]
    for column in range(1, len(widths)):
        used = sum(widths[each] + GAP for each in parts[-1])
        if len(parts[-1]) > 1 and used + widths[column] > WIDTH:
            parts.append([0])
        parts[-1].append(column)
    for part in parts:
        if part is not parts[0]:
            yield ""
        for number, row in enumerate(wrapped):
            for texts in zip_longest(*(row[column] for column in part), fillvalue=""):
                padded = (pad(text, widths[column], right=column > 0) for column, text in zip(part, texts))
                yield (" " * GAP).join(padded).rstrip()
            if number == 0:
                yield "─" * (sum(widths[column] + GAP for column in part) - GAP)
