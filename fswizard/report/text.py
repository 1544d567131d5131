"""The painter of plain text, for a terminal or a forum: at most 80 columns."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest

from fswizard.language import _
from fswizard.model.analysis import SIGNS, Findings
from fswizard.model.text import cells
from fswizard.model.units import ratio_text
from fswizard.report.document import Answer, Block, Bullets, Commands, Document, Facts, Figures, Ratios, Table, Words
from fswizard.report.figures import Axis, bar, solid
from fswizard.report.layout import GAP, LABEL, LONGEST_NAME, WIDTH, bullet, command_lines, labelled, pad, tables, wrap
from fswizard.report.presentation import document, present

SHORTEST_BAR, LONGEST_BAR = 8, 40


def render(findings: Findings) -> str:
    return paint(document(present(findings)))


def paint(document: Document) -> str:
    return "\n\n".join("\n".join(lines) for lines in map(block_lines, document) if lines) + "\n"


def block_lines(block: Block) -> list[str]:
    """Lines of a block; none if it is empty."""
    title = ""
    match block:
        case Answer():
            lines = _answer(block)
        case Words():
            lines = [line for text in block.paragraphs for line in wrap(text, WIDTH)]
        case Facts():
            indent = max(LABEL, *(cells(label) + 1 for label, __ in block.rows)) if block.rows else LABEL
            lines = [line for label, text in block.rows for line in labelled(label, text, indent=indent)]
        case Figures():
            lines = _figures(block)
        case Ratios():
            lines = _ratios(block)
        case Table():
            title = block.title
            lines = [*tables(block), *(line for note in block.notes for line in wrap(note, WIDTH))]
        case Bullets():
            title = block.title
            lines = [line for item in block.items for line in bullet(item)]
        case Commands():
            title = block.title
            whole = [f"  {command}" for command in block.commands]
            lines = whole if block.prompts else [line for command in block.commands for line in command_lines(command)]
    return [title, *lines] if title and lines else lines


def _answer(block: Answer) -> list[str]:
    return [*wrap(block.headline, WIDTH), *(f"  {part}" for line in block.lines for part in wrap(line, WIDTH - 2))]


def _figures(block: Figures) -> list[str]:
    """Each candidate's figure at each workload, in its unit; the best first, with the longest bar."""
    every = [each for __, bars in block.charts for each in bars]
    if not every:
        return []
    name = min(LONGEST_NAME, max(cells(each.title) for each in every))
    figure = max(cells(each.figure) for each in every)
    remark = max(cells(each.remark) if each.figure else 0 for each in every)
    rest = WIDTH - name - figure - remark - 4 * GAP
    title = min(LONGEST_NAME, max(cells(heading) for heading, __ in block.charts))
    room = max(SHORTEST_BAR, min(LONGEST_BAR, rest - title))
    lines = []
    for heading, bars in block.charts:
        beside: list[str] = []
        for each in bars:
            drawn = (
                pad(solid(each.length, room, proven=each.verdict != "open"), room)
                + " " * GAP
                + pad(each.figure, figure, right=True)
            )
            right = [f"{drawn}{' ' * GAP}{each.remark}"] if each.figure else wrap(each.remark, WIDTH - title - name - 4)
            beside += _side_by_side(wrap(each.title, name), right, name)
        lines += [*_side_by_side(wrap(heading, title), beside, title), ""]
    caption = [*wrap(block.caption, WIDTH), ""] if block.caption else []
    return [*caption, *lines[:-1]]


def _side_by_side(left: Sequence[str], right: Sequence[str], room: int) -> list[str]:
    return [(pad(one, room) + " " * GAP + other).rstrip() for one, other in zip_longest(left, right, fillvalue="")]


def _ratios(block: Ratios) -> list[str]:
    """Ratios as bars around 1, with interval and verdict."""
    every = [ratio for __, ratios in block.groups for ratio in ratios]
    if block.folded or not every:
        return []
    shown = [ratio for ratio in every if ratio.verdict != "failed"]
    names = min(LONGEST_NAME, max(cells(ratio.candidate) for ratio in every))
    texts = [(ratio_text(r.ratio), r.interval(), f"{SIGNS[r.verdict].glyph} {_(SIGNS[r.verdict].word)}") for r in shown]
    columns = [max((cells(text[column]) for text in texts), default=0) for column in range(3)]
    room = min(45, WIDTH - names - sum(columns) - GAP * (1 + sum(1 for column in columns if column)))
    axis = Axis.around(shown)
    lines = wrap(block.note, WIDTH)
    if shown:
        lines.append((" " * (names + GAP) + axis.line(block.baseline, room)).rstrip())
    for ratio, words in zip(shown, texts):
        padded = [pad(word, size, right=number == 0) for number, (word, size) in enumerate(zip(words, columns)) if size]
        lines += _named(ratio.candidate, names, (" " * GAP).join([bar(ratio, axis, room), *padded]))
    for ratio in every:
        if ratio.verdict == "failed":
            text = wrap(ratio.why, WIDTH - names - GAP)
            lines += _named(ratio.candidate, names, text[0])
            lines += [" " * (names + GAP) + line for line in text[1:]]
    return lines


def _named(name: str, room: int, rest: str) -> list[str]:
    """`rest` beside a name, or below it where the name is too long."""
    if cells(name) <= room:
        return [(pad(name, room) + " " * GAP + rest).rstrip()]
    return [*wrap(name, WIDTH), (" " * (room + GAP) + rest).rstrip()]
