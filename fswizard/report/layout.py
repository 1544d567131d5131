"""Text in columns of a fixed-width font: wrapping, tables, commands."""

from __future__ import annotations

import re
import shlex
import unicodedata
from collections.abc import Iterable, Sequence

from fswizard.report.document import Table

WIDTH = 80
LONGEST_NAME = 22
_SHELL_WORD = re.compile(r"(?:'[^']*'|\"[^\"]*\"|[^\s'\"]|['\"])+\s*")
GAP = 2


def cells(text: str) -> int:
    """Columns that `text` takes on a terminal."""
    if text.isascii():
        return len(text)
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def pad(text: str, width: int, *, right: bool = False) -> str:
    """`text` filled up to `width` columns."""
    filler = " " * max(0, width - cells(text))
    return filler + text if right else text + filler


def wrap(text: str, width: int) -> list[str]:
    """Lines of at most `width` columns; what is longer than a line is broken after punctuation where it can be."""
    lines = [""]
    for word in text.split(" "):
        for number, piece in enumerate(_pieces(word, width)):
            joined = f"{lines[-1]} {piece}" if lines[-1] and not number else lines[-1] + piece
            if cells(joined) <= width:
                lines[-1] = joined
            else:
                lines.append(piece)
    return lines


def labelled(label: str, text: str, *, indent: int = 11) -> list[str]:
    """A label, and its text in lines beside it."""
    lines = [line for part in text.split("\n") for line in wrap(part, WIDTH - indent)]
    return [pad(label, indent) + lines[0], *(" " * indent + line for line in lines[1:])]


def bullet(text: str) -> list[str]:
    """A list item."""
    return labelled("-", text, indent=2)


def command_lines(command: str) -> list[str]:
    """A shell command that can be pasted although it takes several lines: each but the last ends in a backslash."""
    if cells(command) <= WIDTH - 2:
        return [f"  {command}"]
    room = WIDTH - 4
    lines = [""]
    inside_word = [False]
    for word in _SHELL_WORD.findall(command):
        for number, piece in enumerate(_shell_pieces(word, room)):
            if number or (lines[-1] and cells(lines[-1] + piece.rstrip()) > room):
                lines.append(piece)
                # The shell sees two words where a line that goes on within a word is indented.
                inside_word.append(number > 0)
            else:
                lines[-1] += piece
    marked = [*(line + "\\" for line in lines[:-1]), lines[-1].rstrip()]
    return [line if inside else f"  {line}" for line, inside in zip(marked, inside_word)]


def table(
    header: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    longest: int = LONGEST_NAME,
    ruled: bool = True,
) -> list[str]:
    """A table whose first column is text and whose other columns are figures, aligned to the right."""
    wrapped = [[wrap(cell, longest) for cell in row] for row in (header, *rows)]
    widths = [max(cells(line) for row in wrapped for line in row[column]) for column in range(len(header))]
    lines = []
    for number, row in enumerate(wrapped):
        for line in range(max(map(len, row))):
            parts = [
                pad(cell[line] if line < len(cell) else "", width, right=column > 0)
                for column, (cell, width) in enumerate(zip(row, widths))
            ]
            lines.append((" " * GAP).join(parts).rstrip())
        if ruled and number == 0:
            lines.append("─" * (sum(widths) + GAP * (len(widths) - 1)))
    return lines


def tables(whole: Table, width: int = WIDTH) -> list[str]:
    """Like `table`; columns beyond the first `fixed` go into further tables where they find no room."""

    def drawn(count: int) -> list[str]:
        chosen = keep + columns[:count]
        rows = [[row[c] for c in chosen] for row in (whole.header, *whole.rows)]
        return table(rows[0], rows[1:], longest=whole.longest)

    keep, columns = list(range(whole.fixed)), list(range(whole.fixed, len(whole.header)))
    lines: list[str] = []
    while whole.rows and (columns or not lines):
        fitting = [count for count in range(len(columns) + 1) if max(map(cells, drawn(count))) <= width]
        count = max([*fitting, 1 if lines else 0])
        lines += ([""] if lines else []) + drawn(count)
        keep, columns = [0], columns[count:]
    return lines


def _shell_pieces(word: str, width: int) -> list[str]:
    """A shell word in pieces of at most `width` columns, quoted each for itself where the word was."""
    if cells(word.rstrip(" ")) <= width:
        return [word]
    inner = shlex.split(word)[0]
    for size in (width - 3, width // 2, width // 6):  # a quotation mark within quotes takes five characters
        pieces = [shlex.quote(piece) for piece in _pieces(inner, size)]
        if all(cells(piece) < width for piece in pieces):
            break
    return [*pieces[:-1], pieces[-1] + " "]


def _pieces(word: str, width: int) -> list[str]:
    """A word in pieces of at most `width` columns."""
    if cells(word.rstrip(" ")) <= width:
        return [word]
    pieces = [""]
    for part in re.findall(r"[^,:;/=_-]*[,:;/=_-]|[^,:;/=_-]+", word):
        if cells(pieces[-1] + part) <= width:
            pieces[-1] += part
            continue
        if cells(part) <= width:
            pieces.append(part)
            continue
        for character in part:
            if cells(pieces[-1] + character) > width:
                pieces.append("")
            pieces[-1] += character
    return [piece for piece in pieces if piece]
