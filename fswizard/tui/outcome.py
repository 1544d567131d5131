"""The pictures of a result: the answer, figures as bars, and behind a key what they rest on."""

from __future__ import annotations

import re
from collections.abc import Sequence

from rich.cells import cell_len
from textual.content import Content

from fswizard.language import _, n_, p_, shown
from fswizard.model.analysis import SIGNS, Verdict
from fswizard.model.metrics import is_stall
from fswizard.model.result import Sample
from fswizard.model.units import stall_text
from fswizard.report.colours import kind_of
from fswizard.report.document import Bar, Table
from fswizard.report.layout import tables
from fswizard.report.presentation import SET_UP, WORST_STALL, Presentation
from fswizard.tui.drawing import (
    WIDEST,
    answer_mark,
    bullet,
    cut,
    cut_among,
    facts,
    filesystem_ink,
    fit,
    heading,
    ink,
    lines,
    side_by_side,
    signed,
    text,
    wrap,
)
from fswizard.tui.widgets.braille import BARS
from fswizard.tui.widgets.charts import ChartRow, charts
from fswizard.tui.widgets.ratios import ratio_table

SIGNED: dict[str, Verdict] = {
    "speed": "faster", "slower": "slower", "behind": "behind", "cost": "slower", "failure": "failed",
}  # fmt: skip
"""Reasons that have the sign of a verdict."""
REASONS = {
    **{code: (SIGNS[verdict].glyph, ink(verdict)) for code, verdict in SIGNED.items()},
    "feature": ("★", "$text-accent"),
    "stall": ("◷", "$text-warning"),
    "excluded": ("⊘", "$text-warning"),
    "use": ("›", "$text-primary"),
}
DOUBT = ("!", "bold $text-warning")
LEFT_BEHIND = ("not-removed", "not-wiped")
"""Doubts about what a run left on the machine, which stand beside the answer itself."""
ITEM = ("·", "$muted")
_INKS = {sign.glyph: ink(verdict) for verdict, sign in SIGNS.items()}
_VERDICT = re.compile(f"([{''.join(_INKS)}](?: [^\\W\\d_]+)?)")
"""A sign, and in the legend its word."""

CARD_WIDTH = 100
"""Wider lines are hard to read."""


BESIDE = 70
"""Columns from which on a workload's title stands beside its bars: those of the report on a terminal of 120."""


def headline(view: Presentation, width: int, why_not: str = "") -> Content:
    """The answer and the lines below it; `why_not` says why the run cannot be resumed."""
    answer = view.answer
    width = min(width, CARD_WIDTH)
    certainty = (f", {answer.certainty}", "$muted") if answer.certainty else ""
    mark = text(answer_mark(answer.sign)).rstrip()
    rows = [bullet(mark, text((answer.verdict, "bold"), certainty), width)]
    for line in answer.lines:
        warned = bool(answer.warning) and line == answer.lines[0]
        rows.append(bullet(DOUBT if warned else " ", (line, "$text-warning" if warned else ""), width))
    if view.ended:
        rows.append(bullet(DOUBT, (f"{view.ended} {why_not}".rstrip(), "$muted"), width))
    left = (shown(doubt.text) for doubt in view.findings.result.doubts if doubt.code in LEFT_BEHIND)
    rows += [bullet(DOUBT, (words, "$text-warning"), width) for words in left]
    return lines(rows)


def figures(view: Presentation, width: int, height: int) -> Content:
    """What each candidate reached at each workload: the best first, with the longest bar."""
    groups = [((row.title, "" if row.weight else "$muted"), [_chart_row(bar) for bar in row.bars]) for row in view.rows]
    blocks = charts(groups, min(width, WIDEST), beside=width >= BESIDE)
    rows = sum(len(block.split("\n")) + 1 for block in blocks)
    caption = lines(wrap((view.caption, "$muted"), width))
    return Content("\n\n" if rows <= height else "\n").join(filter(None, (caption, *blocks)))


def _chart_row(bar: Bar) -> ChartRow:
    remark = (bar.remark, ink(bar.verdict)) if bar.figure else signed("failed", bar.remark)
    block = "░" if bar.verdict == "open" else "▆"
    return ChartRow(
        bar.title,
        lambda room: text((block * max(1, round(bar.length * room)), filesystem_ink(bar.kind))),
        bar.figure,
        remark,
    )


def stalls(view: Presentation, width: int) -> Content | None:
    """The longest single wait of each candidate, in a line."""
    worst = view.extras.get(WORST_STALL, {})
    titles = {bar.candidate: bar.title for row in view.rows for bar in row.bars}
    head = text((_("Worst stall"), "$muted"), " ")
    told = (f"{titles.get(name, name)} {value}" for name, value in worst.items())
    rows = side_by_side(told, width - head.cell_length - 1, " · ")
    return bullet(head, "\n".join(rows), width) if rows else None


def overall(view: Presentation, width: int) -> Content:
    """Ratios as bars around 1."""
    words = n_(
        "Overall, {count} round: right of the line is better than {baseline}",
        "Overall, {count} rounds: right of the line is better than {baseline}",
        view.findings.analysis.rounds,
        baseline=view.baseline,
    )
    return lines((heading(words, width), ratio_table({"": view.standing}, width, view.baseline)))


def each_workload(view: Presentation, width: int) -> Content:
    """The ratios of every workload as bars, with their intervals."""
    ordered = {row.title: [row.ratios[name] for name in view.candidates if name in row.ratios] for row in view.rows}
    groups = {title: ratios for title, ratios in ordered.items() if ratios}
    return lines((heading(_("Each workload by itself"), width), ratio_table(groups, width, view.baseline)))


def sentences(title: str, items: Sequence[str], width: int) -> Content:
    """A section of the report: what to trust less, who failed, what a failed disk does."""
    mark = DOUBT if title == "Doubts" else ITEM
    return lines([heading(title, width), *(bullet(mark, item, width) for item in items)])


def table(block: Table, width: int) -> Content:
    """A table of the report, with verdicts in their colours; columns without room go into a further table."""
    rows = []
    for number, line in enumerate(tables(block, width)):
        if number == 0 or line.startswith("─"):
            rows.append(text((line, "$line" if number else "$muted")))
            continue
        rows.append(_with_signs(line))
    return lines([*rows, *(line for note in block.notes for line in wrap(_with_signs(note, "$muted"), width))])


def _with_signs(words: str, style: str = "") -> Content:
    pieces = enumerate(_VERDICT.split(words))
    return text(*((piece, _INKS[piece[0]] if number % 2 else style) for number, piece in pieces))


def rounds(view: Presentation, width: int) -> Content:
    """Each round's figure as a dot between the worst and the best of its workload."""
    names = [bar.candidate for row in view.rows for bar in row.bars]
    name = min(max(map(cell_len, names), default=0), max(8, width // 4))
    room = max(8, min(60, width - name - 2))
    rows = [heading(_("Every round, from the worst to the best of its workload"), width)]
    for row in view.rows:
        lengths = [each.length for bar in row.bars for each in bar.rounds]
        low, high = min(lengths, default=0.0), max(lengths, default=0.0)
        if high <= low:
            continue
        rows.append(text((cut(row.title, width), "$muted")))
        for bar in row.bars:
            cells = [" "] * room
            for each in bar.rounds:
                cells[round((each.length - low) / (high - low) * (room - 1))] = "●"
            drawn = ("".join(cells), filesystem_ink(bar.kind))
            rows.append(text(fit(cut_among(bar.candidate, names, name), name), "  ", drawn))
    return lines(rows)


def stalls_by_round(view: Presentation, width: int) -> Content | None:
    """The longest single wait of each candidate in each round, all on one scale; None where there is but one round."""
    result = view.findings.result
    worst: dict[str, dict[int, Sample]] = {}
    for s in result.samples:
        if is_stall(s.metric) and s.status == "ok" and s.round and s.round not in result.discarded_rounds:
            waits = worst.setdefault(s.candidate, {})
            waits[s.round] = max(s, waits.get(s.round, s), key=lambda sample: sample.value)
    names = [name for name in view.measured_candidates if name in worst]
    numbers = sorted({number for name in names for number in worst[name]})
    top = max((s.value for name in names for s in worst[name].values()), default=0.0)
    if len(numbers) < 2 or top <= 0:
        return None
    name = min(max(map(cell_len, names)), max(8, width // 4))
    wide = max(1, min(3, (width - name) // 2 // len(numbers)))
    rows = [heading(_("Worst stall in each round; the highest bar is {time}", time=stall_text(top)), width)]
    for candidate in names:
        waits = worst[candidate]
        bars = {number: BARS[max(1, round(wait.value / top * 8))] for number, wait in waits.items()}
        drawn = "".join((bars.get(number, "–") * max(1, wide - 1)).ljust(wide) for number in numbers)
        longest = max(waits.values(), key=lambda sample: sample.value)
        work = next((f", {row.title}" for row in view.rows if row.name == longest.workload), "")
        words = p_("worst stall", "{time} in round {round}", time=stall_text(longest.value), round=longest.round) + work
        style = filesystem_ink(kind_of(result.plan, candidate))
        room = width - name - len(drawn) - 4
        rows.append(
            text(fit(cut_among(candidate, names, name), name), "  ", (drawn, style), "  ", (cut(words, room), "$muted"))
        )
    return lines(rows)


def answer(view: Presentation, width: int, height: int) -> Content:
    """Below the answer: figures, pauses, and how to set up what the verdict names. Closer where it is low."""
    width_used = min(width, WIDEST)
    parts = [figures(view, width, height), stalls(view, width_used)]
    if view.answer.commands:
        commands = (line for each in view.answer.commands for line in wrap((each, "$text-primary"), width_used))
        parts.append(lines((heading(_(SET_UP), width_used), *commands)))
    return Content("\n\n").join(filter(None, parts))


def details(view: Presentation, width: int) -> Content:
    """What the answer rests on: ratios, intervals, rounds, doubts, programs."""
    compared = any(row.ratios for row in view.rows)
    width = min(width, WIDEST)
    lists = dict(view.lists)
    doubts = lists.pop("Doubts", ())
    parts = (
        lines(bullet(REASONS.get(reason.code, ITEM), reason.text, width) for reason in view.reasons),
        overall(view, width) if view.standing else None,
        table(view.by_age, width) if view.findings.age else None,
        table(view.by_workload, width) if compared else None,
        *(sentences(title, items, width) for title, items in lists.items()),
        sentences("Doubts", doubts, width) if doubts else None,
        table(view.also_measured, width) if view.extras else None,
        each_workload(view, width) if compared else None,
        rounds(view, width) if compared else None,
        stalls_by_round(view, width),
        lines((heading(_("How it was measured"), width), facts(view.facts, width, gap=False))),
    )
    return Content("\n\n").join(filter(None, parts))
