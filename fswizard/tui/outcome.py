"""The pictures of a result: headline, reasons, ratios, table by workload, doubts, commands."""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len
from textual.content import Content

from fswizard.model.judgement import Findings, Judgement, Ratio
from fswizard.model.recipe import Workload
from fswizard.report.arrays import WHEN_A_DISK_FAILS, layout_texts
from fswizard.report.content import published_on
from fswizard.report.figures import figure, seconds_text, share_text
from fswizard.tui.drawing import VERDICTS, Piece, bullet, columns, cut, heading, lines, text, wrap
from fswizard.tui.widgets.ratios import ratio_groups, ratio_table, ratio_text

OUTCOMES = {
    "time-up": "The time was up before everything was settled.",
    "stopped": "The run was stopped early.",
    "cancelled": "The run was cancelled.",
    "failed": "The run ended by a fault.",
    "killed": "The run was cut off before its end.",
}
REASONS = {
    "speed": ("▲", "$success"),
    "cost": ("▼", "$error"),
    "tie": ("═", "$primary"),
    "feature": ("★", "$accent"),
    "failure": ("✗", "$error"),
    "stall": ("◷", "$warning"),
    "excluded": ("⊘", "$warning"),
    "use": ("›", "$primary"),
}


def headline(findings: Findings, width: int) -> Content:
    """The recommendation in a sentence."""
    advice = findings.advice
    glyph, style = (
        ("═", "$primary") if advice.tie else ("✓", "$success") if len(advice.choice) == 1 else ("○", "$warning")
    )
    rows = [bullet((glyph, f"bold {style}"), (advice.headline, "bold"), width)]
    if note := OUTCOMES.get(findings.result.outcome):
        rows.append(bullet(("!", "bold $warning"), (note, "$muted"), width))
    return lines(rows)


def reasons(findings: Findings, width: int) -> Content:
    """Why, at what price, and who is out for what."""
    return lines(
        bullet(REASONS.get(reason.code, ("·", "$muted")), reason.text, width) for reason in findings.advice.reasons
    )


def overall(findings: Findings, width: int, *, spaced: bool) -> Content:
    """Ratios as bars around 1."""
    judgement = findings.judgement
    baseline = findings.baseline
    rounds = f"{judgement.rounds} round{'s' if judgement.rounds != 1 else ''}"
    words = f"Overall, {rounds}: right of the line is better than {baseline}"

    def out(candidate: str) -> str:
        return "dropped" if candidate in judgement.dropped and not judgement.of(candidate) else ""

    return lines((heading(words, width), ratio_table(judgement.overall, width, baseline, out=out, spaced=spaced)))


def by_workload(findings: Findings, width: int) -> Content:
    """A line for each workload, a column for each candidate, and what the bare device allows."""
    baseline = findings.baseline
    ranked = [r.candidate for r in findings.judgement.overall if r.candidate != baseline and r.verdict != "failed"]
    table = _Table(findings, baseline, ranked, width)
    rows = [heading(f"By workload: figure of {baseline}, the others as ratios to it", width), table.head()]
    rows += [table.row(workload) for workload in findings.result.plan.recipe.workloads]
    stalls = table.stalls()
    return lines([*rows, *stalls, *table.note()])


def each_workload(findings: Findings, width: int) -> Content:
    """The ratios of every workload as bars, with their intervals."""
    baseline = findings.baseline
    ranks = {ratio.candidate: rank for rank, ratio in enumerate(findings.judgement.overall)}
    others = [ratio for ratio in findings.judgement.by_workload if ratio.candidate != baseline]
    known = sorted(others, key=lambda ratio: ranks.get(ratio.candidate, len(ranks)))
    workloads = findings.result.plan.recipe.workloads
    groups = {w.title: [ratio for ratio in known if ratio.workload == w.name] for w in workloads}
    groups = {title: ratios for title, ratios in groups.items() if ratios}
    return lines((heading("Each workload by itself", width), ratio_groups(groups, width, baseline)))


class _Table:
    def __init__(self, findings: Findings, baseline: str, ranked: Sequence[str], width: int) -> None:
        self.judgement: Judgement = findings.judgement
        self.findings = findings
        self.baseline = baseline
        self.share = width >= 66 and any(summary.of_bare_device for summary in findings.summaries)
        workloads = findings.result.plan.recipe.workloads
        titles = max(cell_len(workload.title) for workload in workloads)
        fixed, names = 11 + (8 if self.share else 0), 10 * min(3, len(ranked))
        weight = 6 if len({w.weight for w in workloads}) > 1 and width - fixed - names - 7 >= min(titles, 24) else 0
        fixed += weight + bool(weight)
        title = max(12, min(titles, width - fixed - names))
        fitting = max(1, (width - fixed - title) // 10)
        self.shown = list(ranked[:fitting])
        self.hidden = len(ranked) - len(self.shown)
        longest = max((cell_len(name) for name in self.shown), default=0)
        column = max(9, min(longest, (width - fixed - title) // max(1, len(self.shown)) - 1))
        self.widths = (title, weight, 10, *(column for _ in self.shown), *([7] if self.share else []))
        self.right = range(1, len(self.widths))

    def head(self) -> Content:
        names = ["", "weight", cut(self.baseline, 10), *(cut(name, self.widths[3]) for name in self.shown)]
        names += ["device"] if self.share else []
        return columns([text((name, "$muted")) for name in names], self.widths, right=self.right, gap=1)

    def row(self, workload: Workload) -> Content:
        style = "" if workload.weight else "$faint"
        own = self.findings.figure(self.baseline, workload.name)
        cells: list[Piece] = [
            (cut(workload.title, self.widths[0]), style),
            (f"{workload.weight:g}", "$muted" if workload.weight else "$faint"),
            (figure(own.median, own.unit) if own else "–", "$muted"),
        ]
        cells += [_ratio(self.judgement.of(name, workload.name)) for name in self.shown]
        if self.share:
            share = self.findings.share(workload.name)
            cells.append((share_text(share) if share else "–", "$muted"))
        return columns(cells, self.widths, right=self.right, gap=1)

    def stalls(self) -> list[Content]:
        """The longest single wait of each candidate."""
        worst = {name: self.findings.worst_stalls.get(name) for name in (self.baseline, *self.shown)}
        if not any(worst.values()):
            return []
        cells: list[Piece] = [("worst stall", "$muted"), ""]
        cells += [(seconds_text(found) if found else "–", "$muted") for found in worst.values()]
        return [columns([*cells, *([""] if self.share else [])], self.widths, right=self.right, gap=1)]

    def note(self) -> list[Content]:
        words = f"device: how much of the bare device {self.findings.first} reaches" if self.share else ""
        if self.hidden:
            words = f"{self.hidden} more in the export" + (f"; {words}" if words else "")
        return [text((words, "$faint"))] if words else []


def _ratio(ratio: Ratio | None) -> Piece:
    if ratio is None:
        return ("–", "$faint")
    glyph, word, style = VERDICTS[ratio.verdict]
    if ratio.verdict == "failed":
        return (f"{glyph} {word}", style)
    return text((ratio_text(ratio.ratio), style if ratio.verdict != "undecided" else ""), (f" {glyph}", style))


def doubts(findings: Findings, width: int) -> Content:
    """What to trust less, and what can be done about it."""
    return lines([heading("Doubts", width), *(bullet(("!", "bold $warning"), d.text, width) for d in findings.doubts)])


def layouts(findings: Findings, width: int) -> Content:
    """Over several disks: the room of each candidate, and what a failed disk does."""
    told = layout_texts(findings.result.plan)
    return lines([heading(WHEN_A_DISK_FAILS, width), *(bullet(("·", "$muted"), words, width) for words in told)])


def published(findings: Findings, width: int) -> Content:
    """What others measured on such a disk, beside the ratios of this run."""
    baseline = findings.baseline
    title = max(12, min(44, width - 38))
    longest = max((cell_len(ratio.candidate) for one in findings.published for ratio in one.ratios), default=0)
    widths = (title, min(longest, width - title - 24), 8, 10)
    rows = [heading(f"Published for this kind of disk and work, as ratios to {baseline}", width)]
    for one in findings.published:
        rows += bullet(("·", "$muted"), text((one.title, "bold"), (f" ({published_on(one)})", "$muted")), width).split()
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


def use(findings: Findings, width: int) -> Content:
    """The commands that put the recommendation into practice."""
    return lines(
        [
            heading("To use it", width),
            *(line for command in findings.advice.commands for line in wrap((command, "$primary"), width)),
        ]
    )


def whole(findings: Findings, width: int, *, spaced: bool) -> Content:
    """Everything below the headline, in the order in which it matters."""
    parts = []
    if findings.judgement.overall:
        parts.append(overall(findings, width, spaced=spaced))
    if findings.advice.reasons:
        parts.append(reasons(findings, width))
    if findings.judgement.by_workload:
        parts.append(by_workload(findings, width))
    if findings.result.plan.target.others:
        parts.append(layouts(findings, width))
    if findings.doubts:
        parts.append(doubts(findings, width))
    if findings.published:
        parts.append(published(findings, width))
    if findings.advice.commands:
        parts.append(use(findings, width))
    if findings.judgement.by_workload and len(findings.result.plan.candidates) > 1:
        parts.append(each_workload(findings, width))
    return Content("\n\n").join(parts)
