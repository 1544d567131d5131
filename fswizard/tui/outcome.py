"""The pictures of a result: the card, figures as bars, and behind a key what they rest on."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import zip_longest

from rich.cells import cell_len
from textual.content import Content

from fswizard.model.analysis import CERTAINTY, SIGNS
from fswizard.model.units import rounds_text
from fswizard.report.document import Answer, Bar, Block, Bullets, Facts, Table, Words
from fswizard.report.layout import tables
from fswizard.report.presentation import SET_UP, WORST_STALL, Presentation, document
from fswizard.tui.drawing import (
    COLOURS,
    WIDEST,
    bullet,
    columns,
    cut,
    cut_among,
    facts,
    fit,
    heading,
    lines,
    paragraphs,
    side_by_side,
    text,
    wrap,
)
from fswizard.tui.widgets.ratios import ratio_groups, ratio_table

REASONS = {
    "speed": (SIGNS["faster"].glyph, "$success"),
    "slower": (SIGNS["slower"].glyph, "$error"),
    "beaten": (SIGNS["beaten"].glyph, "$muted"),
    "cost": (SIGNS["slower"].glyph, "$error"),
    "feature": ("★", "$accent"),
    "failure": (SIGNS["failed"].glyph, "$error"),
    "stall": ("◷", "$warning"),
    "excluded": ("⊘", "$warning"),
    "use": ("›", "$primary"),
}
DOUBT = ("!", "bold $warning")
ITEM = ("·", "$muted")


CARD_WIDTH = 100
"""Wider lines are hard to read."""
_INKS = {sign.glyph: COLOURS[sign.tone][0] for sign in SIGNS.values()}
_VERDICT = re.compile(f"([{''.join(_INKS)}](?: [a-z]+)?)")
BESIDE = 70
"""Columns from which on a workload's title stands beside its bars: those of the report on a terminal of 120."""


def headline(view: Presentation, width: int, more: str = "", why_not: str = "") -> Content:
    """The verdict, and how sure it is; `more` is what resuming the run would bring, `why_not` why it cannot be."""
    card = view.card
    mark = ("✓ ", "bold $success") if view.findings.advice.choice else ("! ", "bold $warning")
    filled = text((card.dots, "bold $success" if card.confidence > 2 else "bold $warning"))
    words = "confidence " if width >= 72 else ""
    sure = text((words, "$muted"), filled, (f" {CERTAINTY[card.confidence]}", "$muted")) if card.certainty else text()
    width = min(width, CARD_WIDTH)
    room = width - sure.cell_length - 2
    if cell_len(card.verdict) + 2 <= room:
        head = fit(text(mark, (card.verdict, "bold")), room) + Content("  ") + sure
    else:
        verdict = bullet(text(mark[:2]).rstrip(), (card.verdict, "bold"), width)
        head = lines((verdict, *[text("  ", sure)] * bool(card.certainty)))
    below = [bullet(" ", (line, ""), width) for line in card.lines]
    ended = [bullet(DOUBT, (f"{view.ended} {why_not}".rstrip(), "$muted"), width)] if view.ended else []
    offer = [bullet(("g", "bold $primary"), (more, ""), width)] if more else []
    return lines((head, *below, *ended, *offer))


def figures(view: Presentation, width: int, height: int) -> Content:
    """What each candidate reached at each workload: the best first, with the longest bar."""
    blocks = _blocks(view, min(width, WIDEST))
    rows = sum(len(block.split("\n")) + 1 for block in blocks)
    return Content("\n\n" if rows <= height else "\n").join(blocks)


def _blocks(view: Presentation, width: int) -> list[Content]:
    every = [bar for row in view.rows for bar in row.bars]
    name = min(max((cell_len(bar.title) for bar in every), default=0), max(8, width * 3 // 10))
    figure = max((cell_len(bar.figure) for bar in every), default=0)
    remark = max((cell_len(bar.remark) for bar in every if bar.figure), default=0)
    beside = width >= BESIDE
    title = min(max(map(cell_len, view.titles), default=0), width // 4) if beside else 0
    room = max(6, min(48, width - title - name - figure - remark - 8 + 2 * (not beside)))
    widths = (name, room, figure, remark)
    names = {bar.title: cut_among(bar.title, (other.title for other in every), name) for bar in every}
    blocks = []
    for row in view.rows:
        heads = wrap((row.title, "" if row.weight else "$faint"), title or width)
        drawn = [_bar(bar, names[bar.title], widths, width - title - name - 4) for bar in row.bars]
        if not beside:
            blocks.append(lines((*heads, *(Content("  ") + line for line in drawn))))
            continue
        pairs = zip_longest(heads, drawn, fillvalue=Content(""))
        blocks.append(lines(fit(head, title) + Content("  ") + line for head, line in pairs))
    return blocks


def _bar(bar: Bar, title: str, widths: Sequence[int], rest: int) -> Content:
    name = fit((title, ""), widths[0])
    if not bar.figure:
        return text(name, "  ", (f"✗ {cut(bar.remark, max(8, rest - 2))}", "$error"))
    drawn = ("▆" * max(1, round(bar.length * widths[1])), f"$fs-{bar.kind}")
    cells = (name, drawn, bar.figure, (bar.remark, "$warning"))
    return columns(cells, widths, right=(2,)).rstrip()


def stalls(view: Presentation, width: int) -> Content | None:
    """The longest single wait of each candidate, in a line."""
    worst = view.extras.get(WORST_STALL, {})
    titles = {bar.candidate: bar.title for row in view.rows for bar in row.bars}
    head = text(("Worst stall", "$muted"), " ")
    told = (f"{titles.get(name, name)} {value}" for name, value in worst.items())
    rows = side_by_side(told, width - head.cell_length - 1, " · ")
    return bullet(head, "\n".join(rows), width) if rows else None


def reasons(view: Presentation, width: int) -> Content:
    """Why, at what price, and who is out for what."""
    return lines(bullet(REASONS.get(reason.code, ITEM), reason.text, width) for reason in view.reasons)


def overall(view: Presentation, width: int, *, spaced: bool) -> Content:
    """Ratios as bars around 1."""
    rounds = rounds_text(view.findings.analysis.rounds)
    words = f"Overall, {rounds}: right of the line is better than {view.baseline}"
    return lines((heading(words, width), ratio_table(view.standing, width, view.baseline, spaced=spaced)))


def each_workload(view: Presentation, width: int) -> Content:
    """The ratios of every workload as bars, with their intervals."""
    ordered = {row.title: [row.ratios[name] for name in view.candidates if name in row.ratios] for row in view.rows}
    groups = {title: ratios for title, ratios in ordered.items() if ratios}
    return lines((heading("Each workload by itself", width), ratio_groups(groups, width, view.baseline)))


def use(view: Presentation, width: int) -> Content:
    """The commands for what the verdict names."""
    commands = (line for each in view.card.commands for line in wrap((each, "$primary"), width))
    return lines([heading(SET_UP, width), *commands])


def rounds(view: Presentation, width: int) -> Content:
    """Each round's figure as a dot between the worst and the best of its workload."""
    names = [bar.candidate for row in view.rows for bar in row.bars]
    name = min(max(map(cell_len, names), default=0), max(8, width // 4))
    room = max(8, min(60, width - name - 2))
    rows = [heading("Every round, from the worst to the best of its workload", width)]
    for row in view.rows:
        every = [each.length for bar in row.bars for each in bar.rounds]
        low, high = min(every, default=0.0), max(every, default=0.0)
        if high <= low:
            continue
        rows.append(text((cut(row.title, width), "$muted")))
        for bar in row.bars:
            cells = [" "] * room
            for each in bar.rounds:
                cells[round((each.length - low) / (high - low) * (room - 1))] = "●"
            drawn = ("".join(cells), f"$fs-{bar.kind}")
            rows.append(text(fit(cut_among(bar.candidate, names, name), name), "  ", drawn))
    return lines(rows)


def paint(block: Block, width: int) -> Content:
    """A block of a report or a comparison that is words; those with bars have functions of their own."""
    match block:
        case Answer():
            drawn = [*(line.stylize("bold") for line in wrap(block.verdict, width)), paragraphs(block.lines, width)]
        case Facts():
            drawn = [heading(block.title, width)] if block.title else []
            drawn.append(facts(block.rows, width, label=10, gap=False))
        case Words():
            drawn = [paragraphs([(words, "$faint") for words in block.paragraphs], width)]
        case Bullets():
            mark = DOUBT if block.title == "Doubts" else ITEM
            drawn = [heading(block.title, width), *(bullet(mark, item, width) for item in block.items)]
        case Table():
            drawn = [*map(_inked, tables(block, width)), paragraphs([(note, "$faint") for note in block.notes], width)]
        case _:
            drawn = []
    return lines(part for part in drawn if part)


def _inked(line: str) -> Content:
    """A line of a table, with verdicts in their colours."""
    pieces = _VERDICT.split(line)
    return text(*((piece, _INKS[piece[0]] if number % 2 else "") for number, piece in enumerate(pieces)))


def answer(view: Presentation, width: int, height: int) -> Content:
    """Below the card: figures, pauses, and how to set up what the verdict names. Closer where it is low."""
    width_used = min(width, WIDEST)
    parts = (
        figures(view, width, height) if view.rows else None,
        stalls(view, width_used),
        use(view, width_used) if view.card.commands else None,
    )
    return Content("\n\n").join(part for part in parts if part is not None)


def details(view: Presentation, width: int, *, spaced: bool) -> Content:
    """What the answer rests on: ratios, intervals, rounds, doubts, programs."""
    compared = any(row.ratios for row in view.rows)
    width = min(width, WIDEST)
    facts = next(block for block in document(view) if isinstance(block, Facts))
    sections = {title: paint(Bullets(title, items), width) for title, items in view.lists.items()}
    doubts = sections.pop("Doubts", None)
    parts = (
        reasons(view, width) if view.reasons else None,
        overall(view, width, spaced=spaced) if view.standing else None,
        paint(view.by_workload, width) if compared else None,
        *sections.values(),
        doubts,
        paint(view.also_measured, width) if view.extras else None,
        each_workload(view, width) if compared else None,
        rounds(view, width) if compared else None,
        paint(facts, width),
    )
    return Content("\n\n").join(part for part in parts if part is not None)
