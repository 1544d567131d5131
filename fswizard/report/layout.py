"""Text in columns of a fixed-width font: wrapping, tables, commands, bars."""

from __future__ import annotations

import re
import shlex
import unicodedata
from collections.abc import Iterable, Sequence

from fswizard.report.content import LEGEND, Content, Row
from fswizard.report.figures import MARKS, Scale, axis, bar, interval_text, on_the_point, ratio_text, spread_text

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


def labelled(label: str, text: str, *, indent: int = 11, width: int = WIDTH) -> list[str]:
    """A label, and its text in lines beside it."""
    lines = wrap(text, width - indent)
    return [pad(label, indent) + lines[0], *(" " * indent + line for line in lines[1:])]


def bullet(text: str, *, width: int = WIDTH) -> list[str]:
    """A list item."""
    return labelled("-", text, indent=2, width=width)


def command_lines(command: str, *, indent: int = 2, width: int = WIDTH) -> list[str]:
    """A shell command that can be pasted although it takes several lines: each but the last ends in a backslash."""
    if cells(command) <= width - indent:
        return [" " * indent + command]
    room = width - indent - 2
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
    return [line if inside else " " * indent + line for line, inside in zip(marked, inside_word)]


def table(
    header: Sequence[str], rows: Iterable[Sequence[str]], *, longest: int = LONGEST_NAME, text_columns: int = 1
) -> list[str]:
    """A table whose first columns are text and whose other columns are figures, aligned to the right."""
    wrapped = [[wrap(cell, longest) for cell in row] for row in (header, *rows)]
    widths = [max(cells(line) for row in wrapped for line in row[column]) for column in range(len(header))]
    lines = []
    for number, row in enumerate(wrapped):
        for line in range(max(map(len, row))):
            parts = [
                pad(cell[line] if line < len(cell) else "", width, right=column >= text_columns)
                for column, (cell, width) in enumerate(zip(row, widths))
            ]
            lines.append((" " * GAP).join(parts).rstrip())
        if number == 0:
            lines.append("─" * (sum(widths) + GAP * (len(widths) - 1)))
    return lines


def tables(header: Sequence[str], rows: Sequence[Sequence[str]], *, fixed: int, width: int = WIDTH) -> list[str]:
    """Like `table`; columns beyond the first `fixed` go into further tables where they find no room."""
    columns = list(range(fixed, len(header)))
    lines: list[str] = []
    first = True
    while columns or first:
        keep = list(range(fixed)) if first else [0]
        part: list[str] = []
        taken = 0
        while taken <= len(columns):
            chosen = keep + columns[:taken]
            wider = table([header[c] for c in chosen], [[row[c] for c in chosen] for row in rows])
            if taken > 1 and max(map(cells, wider)) > width:
                break
            if taken == 1 and first and max(map(cells, wider)) > width:
                break
            part, taken = wider, taken + 1
        used = taken - 1
        lines += ([""] if lines else []) + part
        columns, first = columns[used:], False
    return lines


def bars(content: Content, *, width: int = WIDTH) -> list[str]:
    """Ratios as bars around 1, with interval and verdict."""
    shown = [ratio for ratio in content.overall if ratio.verdict != "failed"]
    failed = [ratio for ratio in content.overall if ratio.verdict == "failed"]
    if not content.overall:
        return []
    names = min(LONGEST_NAME, max(cells(ratio.candidate) for ratio in content.overall))
    ratios = on_the_point([ratio_text(ratio.ratio) for ratio in shown])
    texts = [(text, interval_text(ratio), ratio.verdict) for text, ratio in zip(ratios, shown)]
    columns = [max((len(text[column]) for text in texts), default=0) for column in range(3)]
    room = width - names - sum(columns) - GAP * (1 + sum(1 for column in columns if column))
    room = min(45, room - (room + 1) % 2)
    scale = Scale.around(shown)
    lines = [" " * (names + GAP) + axis(scale, content.baseline, room)] if shown else []
    for ratio, words in zip(shown, texts):
        told = [pad(word, size, right=number == 0) for number, (word, size) in enumerate(zip(words, columns)) if size]
        lines += _named(ratio.candidate, names, (" " * GAP).join([bar(ratio, scale, room), *told]))
    for ratio in failed:
        text = wrap(f"failed: {ratio.text}" if ratio.text else "failed", width - names - GAP)
        lines += _named(ratio.candidate, names, text[0])
        lines += [" " * (names + GAP) + line for line in text[1:]]
    return lines


def workload_table(content: Content, *, width: int = WIDTH) -> list[str]:
    """Ratios by workload, with the baseline's own figure and the share of the bare device."""
    if not content.rows:
        return []
    shares = any(row.share for row in content.rows)
    compared = [name for name in content.candidates if any(name in row.ratios for row in content.rows)]
    header = ["by workload", "weight", content.baseline, *(["of bare"] if shares else []), *compared]
    rows = [
        [
            row.title,
            f"{row.weight:g}",
            row.figures.get(content.baseline, "–"),
            *([row.share or "–"] if shares else []),
            *(ratio_cell(row, candidate) for candidate in compared),
        ]
        for row in content.rows
    ]
    lines = tables(header, rows, fixed=len(header) - len(compared), width=width)
    explained = [LEGEND] if any(row.ratios for row in content.rows) else []
    if shares:
        explained += wrap(f"of bare: share of the bare device's figure that {content.first} reached", width)
    return [*lines, *explained]


def extras_table(content: Content, *, width: int = WIDTH) -> list[str]:
    """What was measured beside the figures that count."""
    if not content.extras:
        return []
    names = content.measured_candidates
    rows = [[extra.title, *(extra.figures.get(name, "–") for name in names)] for extra in content.extras]
    return tables(["also measured", *names], rows, fixed=1, width=width)


def ratio_cell(row: Row, candidate: str) -> str:
    """`1.98 ±15% +`; a dash where there is nothing to tell."""
    ratio = row.ratios.get(candidate)
    if ratio is None:
        return "–"
    if ratio.verdict == "failed":
        return "failed !"
    words = (ratio_text(ratio.ratio), spread_text(ratio), MARKS[ratio.verdict])
    return " ".join(word for word in words if word)


def _named(name: str, room: int, rest: str) -> list[str]:
    """`rest` beside a name, or below it where the name is too long."""
    if cells(name) <= room:
        return [(pad(name, room) + " " * GAP + rest).rstrip()]
    return [*wrap(name, WIDTH), (" " * (room + GAP) + rest).rstrip()]


def _shell_pieces(word: str, width: int) -> list[str]:
    """A shell word in pieces of at most `width` columns, quoted each for itself where the word was."""
    if cells(word.rstrip()) <= width:
        return [word]
    inner = shlex.split(word)[0]
    for size in (width - 3, width // 2, width // 6):  # a quotation mark within quotes takes five characters
        pieces = [shlex.quote(piece) for piece in _pieces(inner, size)]
        if all(cells(piece) < width for piece in pieces):
            break
    return [*pieces[:-1], pieces[-1] + " "]


def _pieces(word: str, width: int) -> list[str]:
    """A word in pieces of at most `width` columns."""
    if cells(word.rstrip()) <= width:
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
