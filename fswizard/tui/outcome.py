"""The pictures of a result: the card, figures as bars, and behind a key what they rest on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest

from rich.cells import cell_len
from textual.content import Content

from fswizard.model.analysis import CERTAINTY, SIGNS, Ratio
from fswizard.model.metrics import is_stall
from fswizard.model.result import Sample
from fswizard.model.units import ratio_text, rounds_text, seconds_text
from fswizard.report.colours import kind_of
from fswizard.report.document import Bar
from fswizard.report.presentation import PUBLISHED, SET_UP, WORST_STALL, Presentation, Row, published_on
from fswizard.tui.drawing import (
    COLOURS,
    WIDEST,
    Piece,
    bullet,
    columns,
    cut,
    cut_among,
    facts,
    fit,
    heading,
    lines,
    side_by_side,
    text,
    wrap,
)
from fswizard.tui.widgets.braille import BARS
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


def by_workload(view: Presentation, width: int) -> Content:
    """A line for each workload, a column for each candidate, and what the bare device allows."""
    ranked = [ratio.candidate for ratio in view.overall if ratio.verdict != "failed"]
    table = _Table(view, ranked, width)
    title = heading(f"By workload: {view.baseline} measured, others relative to it", width)
    return lines([title, table.head(), *map(table.row, view.rows), *table.stalls(), *table.note()])


def each_workload(view: Presentation, width: int) -> Content:
    """The ratios of every workload as bars, with their intervals."""
    ordered = {row.title: [row.ratios[name] for name in view.candidates if name in row.ratios] for row in view.rows}
    groups = {title: ratios for title, ratios in ordered.items() if ratios}
    return lines((heading("Each workload by itself", width), ratio_groups(groups, width, view.baseline)))


class _Table:
    def __init__(self, view: Presentation, ranked: Sequence[str], width: int) -> None:
        self.view = view
        self.share = width >= 66 and any(row.share for row in view.rows)
        workloads = view.rows
        titles = max((cell_len(workload.title) for workload in workloads), default=0)
        device = 12 if self.share else 0
        fixed, names = 11 + device + bool(device), 10 * min(3, len(ranked))
        weight = 6 if len({w.weight for w in workloads}) > 1 and width - fixed - names - 7 >= min(titles, 24) else 0
        fixed += weight + bool(weight)
        title = max(12, min(titles, width - fixed - names))
        fitting = max(1, (width - fixed - title) // 10)
        self.shown = list(ranked[:fitting])
        self.hidden = len(ranked) - len(self.shown)
        longest = max((cell_len(name) for name in self.shown), default=0)
        column = max(9, min(longest, (width - fixed - title) // max(1, len(self.shown)) - 1))
        self.widths = (title, weight, 10, *(column for _ in self.shown), *([device] if device else []))
        self.right = range(1, len(self.widths))

    def head(self) -> Content:
        shown = (cut_among(name, self.shown, self.widths[3]) for name in self.shown)
        names = ["", "weight", cut(self.view.baseline, 10), *shown]
        names += [cut(self.view.share_title, self.widths[-1])] if self.share else []
        return columns([text((name, "$muted")) for name in names], self.widths, right=self.right, gap=1)

    def row(self, row: Row) -> Content:
        cells: list[Piece] = [
            (cut_among(row.title, self.view.titles, self.widths[0]), "" if row.weight else "$faint"),
            (f"{row.weight:g}", "$muted" if row.weight else "$faint"),
            (row.figures.get(self.view.baseline, "–"), "$muted"),
            *(_ratio(row.ratios.get(name)) for name in self.shown),
            *[(row.share_text or "–", "$muted")] * self.share,
        ]
        return columns(cells, self.widths, right=self.right, gap=1)

    def stalls(self) -> list[Content]:
        """The longest single wait of each candidate."""
        worst = self.view.extras.get(WORST_STALL, {})
        told = [(worst.get(name, "–"), "$muted") for name in (self.view.baseline, *self.shown)]
        cells: list[Piece] = [(WORST_STALL, "$muted"), "", *told, *[""] * self.share]
        return [columns(cells, self.widths, right=self.right, gap=1)] if worst else []

    def note(self) -> list[Content]:
        words = self.view.share_explained if self.share else ""
        if self.hidden:
            words = f"{self.hidden} more in the export" + (f"; {words}" if words else "")
        return [text((words, "$faint"))] if words else []


def _ratio(ratio: Ratio | None) -> Piece:
    if ratio is None:
        return ("–", "$faint")
    sign = SIGNS[ratio.verdict]
    style = COLOURS[sign.tone][0]
    if ratio.verdict == "failed":
        return (f"{sign.glyph} failed", style)
    return text((ratio_text(ratio.ratio), style if ratio.verdict != "undecided" else ""), (f" {sign.glyph}", style))


def sentences(title: str, view: Presentation, width: int, mark: tuple[str, str] = ITEM) -> Content:
    """A section of the report: what to trust less, who failed, what a failed disk does."""
    return lines([heading(title, width), *(bullet(mark, words, width) for words in view.lists[title])])


def published(view: Presentation, width: int) -> Content:
    """What others measured on such a disk, beside the ratios of this run."""
    told = view.findings.published
    title = max(12, min(44, width - 38))
    ratios = [ratio for one in told for ratio in one.ratios]
    works, names = [ratio.work for ratio in ratios], [ratio.candidate for ratio in ratios]
    longest = max(map(cell_len, names), default=0)
    widths = (title, min(longest, width - title - 24), 8, 10)
    rows = [heading(f"{PUBLISHED}, as ratios to {view.baseline}", width)]
    for one in told:
        rows += bullet(ITEM, text((one.title, "bold"), (f" ({published_on(one)})", "$muted")), width).split()
        head = ("", "", ("here", "$muted"), ("published", "$muted"))
        rows.append(columns(head, widths, right=(2, 3)))
        work = ""
        for ratio in one.ratios:
            same, work = ratio.work == work, ratio.work
            name = (cut_among(ratio.candidate, names, widths[1]), "$muted")
            cells = ("" if same else cut_among(work, works, title), name, _ratio(ratio.here), ratio_text(ratio.there))
            rows.append(columns(cells, widths, right=(2, 3)))
        rows += wrap((f"Source: {one.source}. In full: fswizard published {one.name}", "$faint"), width)
    return lines(rows)


def use(view: Presentation, width: int) -> Content:
    """The commands for what the verdict names."""
    commands = (line for each in view.card.commands for line in wrap((each, "$primary"), width))
    return lines([heading(SET_UP, width), *commands])


def rounds(view: Presentation, width: int) -> Content:
    """Each round's figure as a dot between the lowest and the highest of its workload."""
    result = view.findings.result
    names = [bar.candidate for row in view.rows for bar in row.bars]
    name = min(max(map(cell_len, names), default=0), max(8, width // 4))
    room = max(8, min(60, width - name - 2))
    rows = [heading("Every round, from the lowest to the highest figure of all", width)]
    for row in view.rows:
        samples = [
            s for s in result.samples
            if s.primary and s.workload == row.name and s.status == "ok" and s.round not in result.discarded_rounds
        ]  # fmt: skip
        low, high = min((s.value for s in samples), default=0.0), max((s.value for s in samples), default=0.0)
        if high <= low:
            continue
        rows.append(text((cut(row.title, width), "$muted")))
        for bar in row.bars:
            cells = [" "] * room
            for s in samples:
                if s.candidate == bar.candidate:
                    cells[round((s.value - low) / (high - low) * (room - 1))] = "●"
            rows.append(
                text(fit(cut_among(bar.candidate, names, name), name), "  ", ("".join(cells), f"$fs-{bar.kind}"))
            )
    return lines(rows)


def stalls_by_round(view: Presentation, width: int) -> Content | None:
    """The longest single wait of each candidate in each round, all on one scale; None where there is but one round."""
    result = view.findings.result
    worst: dict[str, dict[int, Sample]] = {}
    for s in result.samples:
        if is_stall(s.metric) and s.status == "ok" and s.round and s.round not in result.discarded_rounds:
            waits = worst.setdefault(s.candidate, {})
            waits[s.round] = max(s, waits.get(s.round, s), key=lambda sample: sample.value)
    shown = [name for name in view.measured_candidates if name in worst]
    numbers = sorted({number for name in shown for number in worst[name]})
    top = max((s.value for name in shown for s in worst[name].values()), default=0.0)
    if len(numbers) < 2 or top <= 0:
        return None
    name = min(max(map(cell_len, shown)), max(8, width // 4))
    wide = max(1, min(3, (width - name) // 2 // len(numbers)))
    rows = [heading(f"Worst stall in each round; the highest bar is {seconds_text(top)}", width)]
    for candidate in shown:
        waits = worst[candidate]
        drawn = "".join((_wait(waits.get(number), top) * max(1, wide - 1)).ljust(wide) for number in numbers)
        longest = max(waits.values(), key=lambda sample: sample.value)
        work = next((f", {row.title}" for row in view.rows if row.name == longest.workload), "")
        words = f"{seconds_text(longest.value)} in round {longest.round}{work}"
        style = f"$fs-{kind_of(result.plan, candidate)}"
        room = width - name - len(drawn) - 4
        rows.append(
            text(fit(cut_among(candidate, shown, name), name), "  ", (drawn, style), "  ", (cut(words, room), "$muted"))
        )
    return lines(rows)


def _wait(sample: Sample | None, top: float) -> str:
    return BARS[max(1, round(sample.value / top * 8))] if sample else "–"


def also(view: Presentation, width: int) -> Content:
    """Figures that no ratio is made of, such as write amplification."""
    table = view.also_measured
    title = min(max(cell_len(row[0]) for row in (table.header, *table.rows)), width // 3)
    column = max(8, min(22, max(cell_len(name) for name in table.header[1:])))
    shown = max(1, (width - title) // (column + 2))
    widths = (title, *([column] * min(shown, len(table.header) - 1)))
    head: list[Piece] = [(cut_among(cell, table.header, wide), "$muted") for cell, wide in zip(table.header, widths)]
    rows: Iterator[list[Piece]] = ([cut(cell, wide) for cell, wide in zip(row, widths)] for row in table.rows)
    return lines(columns(cells, widths, right=range(1, len(widths))) for cells in (head, *rows))


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
    lists = [title for title in view.lists if title not in ("Doubts", PUBLISHED)]
    parts = (
        reasons(view, width) if view.reasons else None,
        overall(view, width, spaced=spaced) if view.standing else None,
        by_workload(view, width) if compared else None,
        *(sentences(title, view, width) for title in lists),
        sentences("Doubts", view, width, DOUBT) if "Doubts" in view.lists else None,
        published(view, width) if view.findings.published else None,
        also(view, width) if view.extras else None,
        each_workload(view, width) if compared else None,
        rounds(view, width) if compared else None,
        stalls_by_round(view, width),
        lines((heading("How it was measured", width), facts(view.facts, width, gap=False))),
    )
    return Content("\n\n").join(part for part in parts if part is not None)
