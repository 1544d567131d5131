"""Text in columns of a fixed-width font: wrapping, tables, commands, bars."""

from __future__ import annotations

import re
import shlex
import unicodedata
from collections.abc import Iterable, Sequence
from itertools import zip_longest

from fswizard.model.analysis import SIGNS, Card
from fswizard.model.units import ratio_text
from fswizard.report.figures import Axis, bar, solid
from fswizard.report.presentation import Presentation, Table

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
    lines = wrap(text, WIDTH - indent)
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


def tables(whole: Table, *, fixed: int) -> list[str]:
    """Like `table`; columns beyond the first `fixed` go into further tables where they find no room."""

    def drawn(count: int) -> list[str]:
        chosen = keep + columns[:count]
        return table([whole.header[c] for c in chosen], [[row[c] for c in chosen] for row in whole.rows])

    keep, columns = list(range(fixed)), list(range(fixed, len(whole.header)))
    lines: list[str] = []
    while whole.rows and (columns or not lines):
        fitting = [count for count in range(len(columns) + 1) if max(map(cells, drawn(count))) <= WIDTH]
        count = max([*fitting, 1 if lines else 0])
        lines += ([""] if lines else []) + drawn(count)
        keep, columns = [0], columns[count:]
    return lines


def bars(view: Presentation) -> list[str]:
    """Ratios as bars around 1, with interval and verdict."""
    if not view.overall:
        return []
    shown = [ratio for ratio in view.overall if ratio.verdict != "failed"]
    names = min(LONGEST_NAME, max(cells(ratio.candidate) for ratio in view.overall))
    texts = [(ratio_text(r.ratio), r.interval(), f"{SIGNS[r.verdict].glyph} {r.verdict}") for r in shown]
    columns = [max((len(text[column]) for text in texts), default=0) for column in range(3)]
    room = min(45, WIDTH - names - sum(columns) - GAP * (1 + sum(1 for column in columns if column)))
    axis = Axis.around(shown)
    lines = [(" " * (names + GAP) + axis.line(view.baseline, room)).rstrip()] if shown else []
    for ratio, words in zip(shown, texts):
        padded = [pad(word, size, right=number == 0) for number, (word, size) in enumerate(zip(words, columns)) if size]
        lines += _named(ratio.candidate, names, (" " * GAP).join([bar(ratio, axis, room), *padded]))
    for ratio in view.overall:
        if ratio.verdict == "failed":
            text = wrap(ratio.why, WIDTH - names - GAP)
            lines += _named(ratio.candidate, names, text[0])
            lines += [" " * (names + GAP) + line for line in text[1:]]
    return lines


def card(view: Presentation) -> list[str]:
    """The answer: verdict and confidence, why, when not, and how an unfinished run ended."""
    return answer(view.card, view.below)


def answer(card: Card, below: Sequence[str] = ()) -> list[str]:
    """A card, with its own lines or those that stand `below` it."""
    room = WIDTH - cells(card.certainty) - GAP
    beside = cells(card.verdict) <= room
    head = [(pad(card.verdict, room) + " " * GAP + card.certainty).rstrip()] if beside else wrap(card.verdict, WIDTH)
    lines = (*filter(None, [] if beside else [card.certainty]), *(below or card.lines))
    return [*head, *(f"  {part}" for line in lines for part in wrap(line, WIDTH - 2))]


def figure_bars(view: Presentation) -> list[str]:
    """Each candidate's figure at each workload, in its unit; the best first, with the longest bar."""
    every = [each for row in view.rows for each in row.bars]
    if not every:
        return []
    title, name = (min(LONGEST_NAME, max(map(cells, texts))) for texts in (view.titles, [e.title for e in every]))
    figure = max(cells(each.figure) for each in every)
    remark = max(cells(each.remark) if each.figure else 0 for each in every)
    room = max(8, min(40, WIDTH - title - name - figure - remark - 4 * GAP))
    lines = []
    for row in view.rows:
        beside: list[str] = []
        for each in row.bars:
            drawn = pad(solid(each.length, room), room) + " " * GAP + pad(each.figure, figure, right=True)
            right = [f"{drawn}{' ' * GAP}{each.remark}"] if each.figure else wrap(each.remark, WIDTH - title - name - 4)
            beside += _side_by_side(wrap(each.title, name), right, name)
        lines += [*_side_by_side(wrap(row.title, title), beside, title), ""]
    return lines[:-1]


def _side_by_side(left: Sequence[str], right: Sequence[str], room: int) -> list[str]:
    return [(pad(one, room) + " " * GAP + other).rstrip() for one, other in zip_longest(left, right, fillvalue="")]


def workload_table(view: Presentation) -> list[str]:
    """Ratios by workload, and explanations of signs and columns."""
    compared = sum(any(name in row.ratios for row in view.rows) for name in view.candidates)
    lines = tables(view.by_workload, fixed=len(view.by_workload.header) - compared)
    return [*lines, *(line for text in view.explained for line in wrap(text, WIDTH))]


def _named(name: str, room: int, rest: str) -> list[str]:
    """`rest` beside a name, or below it where the name is too long."""
    if cells(name) <= room:
        return [(pad(name, room) + " " * GAP + rest).rstrip()]
    return [*wrap(name, WIDTH), (" " * (room + GAP) + rest).rstrip()]


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
