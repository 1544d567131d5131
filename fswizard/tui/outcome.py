"""The pictures of a result: headline, reasons, ratios, table by workload, doubts, commands."""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len
from textual.content import Content

from fswizard.model.judgement import SIGNS, Ratio
from fswizard.model.units import ratio_text, rounds_text
from fswizard.report.arrays import WHEN_A_DISK_FAILS
from fswizard.report.presentation import PUBLISHED, WORST_STALL, Presentation, Row, published_on
from fswizard.tui.drawing import COLOURS, Piece, bullet, columns, cut, heading, lines, text, wrap
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


def headline(view: Presentation, width: int) -> Content:
    """The recommendation in a sentence."""
    advice = view.findings.advice
    tie, winner, open_race = (
        (SIGNS["tie"].glyph, "$primary"),
        ("✓", "$success"),
        (SIGNS["undecided"].glyph, "$warning"),
    )
    glyph, style = tie if advice.tie else winner if len(advice.choice) == 1 else open_race
    rows = [bullet((glyph, f"bold {style}"), (view.headline, "bold"), width)]
    if view.ended:
        rows.append(bullet(DOUBT, (view.ended, "$muted"), width))
    return lines(rows)


def reasons(view: Presentation, width: int) -> Content:
    """Why, at what price, and who is out for what."""
    return lines(bullet(REASONS.get(reason.code, ITEM), reason.text, width) for reason in view.reasons)


def overall(view: Presentation, width: int, *, spaced: bool) -> Content:
    """Ratios as bars around 1."""
    rounds = rounds_text(view.findings.judgement.rounds)
    words = f"Overall, {rounds}: right of the line is better than {view.baseline}"
    return lines((heading(words, width), ratio_table(view.standing, width, view.baseline, spaced=spaced)))


def by_workload(view: Presentation, width: int) -> Content:
    """A line for each workload, a column for each candidate, and what the bare device allows."""
    ranked = [ratio.candidate for ratio in view.overall if ratio.verdict != "failed"]
    table = _Table(view, ranked, width)
    title = heading(f"By workload: figure of {view.baseline}, the others as ratios to it", width)
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
        names = ["", "weight", cut(self.view.baseline, 10), *(cut(name, self.widths[3]) for name in self.shown)]
        names += [cut(self.view.share_title, self.widths[-1])] if self.share else []
        return columns([text((name, "$muted")) for name in names], self.widths, right=self.right, gap=1)

    def row(self, row: Row) -> Content:
        cells: list[Piece] = [
            (cut(row.title, self.widths[0]), "" if row.weight else "$faint"),
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
        device = f"{self.view.share_title}: how much of the disk's own speed {self.view.first} reaches"
        words = device if self.share else ""
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
    longest = max((cell_len(ratio.candidate) for one in told for ratio in one.ratios), default=0)
    widths = (title, min(longest, width - title - 24), 8, 10)
    rows = [heading(f"{PUBLISHED}, as ratios to {view.baseline}", width)]
    for one in told:
        rows += bullet(ITEM, text((one.title, "bold"), (f" ({published_on(one)})", "$muted")), width).split()
        head = ("", "", ("here", "$muted"), ("published", "$muted"))
        rows.append(columns(head, widths, right=(2, 3)))
        work = ""
        for ratio in one.ratios:
            same, work = ratio.work == work, ratio.work
            name = (cut(ratio.candidate, widths[1]), "$muted")
            cells = ("" if same else cut(work, title), name, _ratio(ratio.here), ratio_text(ratio.there))
            rows.append(columns(cells, widths, right=(2, 3)))
        rows += wrap((f"Source: {one.source}. All of it: fswizard published {one.name}", "$faint"), width)
    return lines(rows)


def use(view: Presentation, width: int) -> Content:
    """The commands that put the recommendation into practice."""
    return lines(
        [heading("To use it", width), *(line for each in view.use for line in wrap((each, "$primary"), width))]
    )


def whole(view: Presentation, width: int, *, spaced: bool) -> Content:
    """Everything below the headline, in the order in which it matters."""
    compared = any(row.ratios for row in view.rows)
    parts = (
        overall(view, width, spaced=spaced) if view.standing else None,
        reasons(view, width) if view.reasons else None,
        by_workload(view, width) if compared else None,
        sentences(WHEN_A_DISK_FAILS, view, width) if WHEN_A_DISK_FAILS in view.lists else None,
        sentences("Doubts", view, width, DOUBT) if "Doubts" in view.lists else None,
        published(view, width) if view.findings.published else None,
        use(view, width) if view.use else None,
        each_workload(view, width) if compared else None,
    )
    return Content("\n\n").join(part for part in parts if part is not None)
