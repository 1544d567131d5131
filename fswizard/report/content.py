"""Every sentence and figure of a report, as blocks made from findings.

`full` is the whole report, `short` its dozen lines.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from fswizard.advice.commands import commands
from fswizard.language import N_, _, n_, p_
from fswizard.model.analysis import Findings, Ratio, Summary, Verdict, write_amplification
from fswizard.model.filesystem import Candidate
from fswizard.model.metrics import (
    CPU,
    DURATION,
    MKFS_TIME,
    PREALLOCATION_TIME,
    RETURNED,
    SYNC_MEDIAN,
    SYNC_P99,
    SYNC_P999,
    UNPLUG_TIME,
    USED,
    is_stall,
)
from fswizard.model.plan import INTERVAL_ROUNDS
from fswizard.model.recipe import Workload
from fswizard.model.result import Result
from fswizard.model.units import (
    binary_text,
    figure_text,
    rounds_text,
    seconds_text,
    share_text,
    size_text,
    speed_text,
    stall_text,
    three_digits,
)
from fswizard.report.arrays import WHEN_A_DISK_FAILS, layout_texts
from fswizard.report.blocks import (
    Bar,
    Bullets,
    Chart,
    Commands,
    Document,
    Facts,
    Figures,
    Paragraph,
    RatioRow,
    Ratios,
    RoundFigure,
    Table,
    legend,
)
from fswizard.report.colours import key_of
from fswizard.report.subject import (
    attempt_command,
    describe_drive,
    describe_smr,
    name_drive,
    place_text,
    run_text,
    weighed,
)
from fswizard.report.writes import written_text

SET_UP = N_("How to set it up")
WORST_STALL = N_("worst stall")
FAILED, DOUBTS = N_("Failed"), N_("Doubts")
COUNTED = {
    "operations": p_("counted by a rate", "operations"),
    "reads": p_("counted by a rate", "reads"),
    "writes": p_("counted by a rate", "writes"),
    "accesses": p_("counted by a rate", "accesses"),
    "saves": p_("counted by a rate", "saves"),
}
"""What a rate counts, as `Job.counts` names it."""
SHORT_LINES, LEAST_ROWS = 12, 2
"""Lines of a short report, and rows of its table at least."""


def full(findings: Findings) -> Document:
    """The whole report; its first block is the answer."""
    plan = findings.result.plan
    commands = tuple(shlex.join(command.argv) for command in plan.commands if command.candidate)
    measured = figures(findings)
    return (
        findings.answer,
        set_up(findings),
        measured,
        Bullets("", tuple(reason.text for reason in findings.reasons)),
        Bullets(_(FAILED), tuple(failures(findings))),
        Bullets(_(DOUBTS), (*(doubt.text for doubt in findings.doubts), *notes(findings))),
        ratios(findings, measured.charts),
        also_measured(findings),
        Bullets(_(WHEN_A_DISK_FAILS), layout_texts(plan)),
        facts(findings),
        Commands(_("Commands of the run"), commands, folded=len(commands) > 1),
        attempt(findings, _("To repeat it")),
    )


def short(findings: Findings) -> Document:
    """Answer, figures with marks where a difference is proven, subject, and a command for others to try.

    The table has the best candidates first, and as many workloads as fit into SHORT_LINES.
    """
    plan, charts = findings.result.plan, figures(findings).charts
    top = findings.answer
    selected = highlights(charts, max(SHORT_LINES - len(top.lines) - 5, LEAST_ROWS))
    ranked = [ratio.candidate for ratio in findings.analysis.overall]
    every = dict.fromkeys((*ranked, findings.baseline, *(candidate.name for candidate in plan.candidates)))
    cells = [{bar.candidate: bar.marked for bar in chart.bars} for chart in selected]
    names = [name for name in every if any(name in row for row in cells)]
    rows = [(chart.title, *(row.get(name, "–") for name in names)) for chart, row in zip(selected, cells)]
    header = (_("Test"), *(plan.candidate(name).title for name in names))
    baseline = plan.candidate(findings.baseline).title
    marks = _("▲ faster, ▼ slower than {candidate}", candidate=baseline)
    proven = any(bar.remark and bar.figure for chart in selected for bar in chart.bars)
    place = place_text(plan) if plan.target.kind == "image" else ""
    about = (subject(findings), place, selection(selected, charts), length(findings), when(findings))
    return (
        top,
        Table(header, tuple(rows), (marks,) if proven else ()),
        Paragraph("; ".join(filter(None, about))),
        attempt(findings),
    )


def set_up(findings: Findings) -> Commands:
    """Commands that carry out the answer."""
    return Commands(_(SET_UP), commands(findings.result.plan, findings.answer.recommended))


def attempt(findings: Findings, title: str = "") -> Commands:
    """The command that compares the same elsewhere, or again."""
    command = attempt_command(findings.result.plan)
    return Commands(title, (command,) if command else ())


# What it is about


def subject(findings: Findings) -> str:
    """Recipe and disk: `Quick look on WDC WD40EFAX-68JH4N1, 4.00 TB, hard disk`."""
    plan = findings.result.plan
    recipe = _(plan.recipe.title)
    if plan.drive is None:
        return recipe
    return p_("title of a report", "{recipe} on {disk}", recipe=recipe, disk=name_drive(plan.drive))


def length(findings: Findings) -> str:
    """Duration of the run: `4 rounds, 40 s`."""
    result = findings.result
    return run_text(findings.analysis.rounds, result.elapsed_s, result.outcome, len(result.discarded_rounds))


def when(findings: Findings) -> str:
    """Kernel and day of a run: `Linux 6.1, 2026-11-27`."""
    environment = findings.result.environment
    kernel = re.match(r"\d+\.\d+", environment.kernel)
    return ", ".join(filter(None, (f"Linux {kernel[0]}" if kernel else "", environment.started[:10])))


def facts(findings: Findings) -> Facts:
    """How it was measured."""
    result = findings.result
    drive, environment, recipe = result.plan.drive, result.environment, result.plan.recipe
    tools = [f"{name} {version}" for name, version in environment.tools.items() if version]
    if environment.version:
        tools.append(f"fswizard {environment.version}")
    rows = (
        (_("Disk"), describe_drive(drive) if drive else ""),
        (_("Serial"), drive.serial if drive else ""),
        (p_("how a disk records", "Recording"), describe_smr(drive) if drive else ""),
        (p_("where, in a list of facts", "Measured"), _measured_on(result)),
        (_("Recipe"), f"{_(recipe.title)} ({recipe.name})"),
        (_("Rounds"), length(findings)),
        (_("Written"), written_text(result)),
        (_("System"), _system(result)),
        (_("Tools"), ", ".join(tools)),
        (_("Date"), environment.started[:10]),
    )
    return Facts(tuple((label, text) for label, text in rows if text), _("How it was measured"))


def _measured_on(result: Result) -> str:
    plan = result.plan
    if plan.target.kind == "directory":
        return _("in existing directories; nothing was formatted")
    ended = result.outcome not in ("killed", "running")
    if plan.target.kind == "device" and ended and not _doubted(result, "not-wiped"):
        return p_("where, in a list of facts", "on {place}, left wiped", place=place_text(plan))
    return p_("where, in a list of facts", "on {place}", place=place_text(plan))


def _doubted(result: Result, code: str) -> bool:
    return any(doubt.code == code for doubt in result.doubts)


def _system(result: Result) -> str:
    environment, limit_bytes = result.environment, result.plan.memory_limit_bytes
    memory = ""
    if environment.memory_bytes:
        memory = p_("of a machine", "{size} memory", size=binary_text(environment.memory_bytes))
    if memory and limit_bytes and not _doubted(result, "fits-in-memory"):  # otherwise it could not be set
        size = binary_text(limit_bytes)
        memory = _("{memory}, {size} of it for measured programs", memory=memory, size=size)
    parts = (
        f"Linux {environment.kernel}" if environment.kernel else "",
        environment.distribution,
        environment.processor,
        memory,
        p_("of a machine", "host {name}", name=environment.host) if environment.host else "",
    )
    return ", ".join(filter(None, parts))


# Figures as bars


def figures(findings: Findings) -> Figures:
    """Bars of every workload that has figures."""
    charts = []
    for workload in findings.result.plan.recipe.workloads:
        bars = tuple(_bars(findings, workload))
        if bars:
            charts.append(Chart(_(workload.title), bars, workload.name, workload.weight))
    every = [bar for chart in charts for bar in chart.bars if bar.figure]
    note = _("Dots are single rounds; point at a bar or tap on it to see their figures.") if every else ""
    baseline = findings.result.plan.candidate(findings.baseline).title
    caption = _("Longer is better.") if every else ""
    if any(bar.remark for bar in every):
        caption = _("Longer is better. Differences are from {candidate}.", candidate=baseline)
    if any(bar.verdict == "open" for bar in every):
        caption = _("Longer is better. Hatched or pale: no difference from {candidate} is proven.", candidate=baseline)
    return Figures(tuple(charts), p_("heading of figures", "Measured"), note, caption)


def _bars(findings: Findings, workload: Workload) -> Iterator[Bar]:
    """The best first; failed ones with their reason last."""
    result, plan = findings.result, findings.result.plan
    higher = workload.metric.better == "higher"
    verdicts = {r.candidate: r for r in findings.analysis.by_workload if r.workload == workload.name}
    failed = {name: ratio for name, ratio in verdicts.items() if ratio.verdict == "failed"}
    known = {s.candidate: s.median for s in findings.summaries if s.primary and s.workload == workload.name}
    medians = {c.name: known[c.name] for c in plan.candidates if c.name in known and c.name not in failed}
    names = sorted(medians, key=medians.__getitem__, reverse=higher)
    best = medians[names[0]] if names else 0.0
    counts = COUNTED.get(workload.job.counts, workload.job.counts)
    for name in names:
        candidate, ratio = plan.candidate(name), verdicts.get(name)
        verdict: Verdict = ratio.verdict if ratio else "open"
        remark = ""
        if name == findings.baseline:
            verdict = "alike"
        elif ratio and ratio.differs:
            remark = speed_text(ratio.ratio, workload.metric.unit)
        if workload.job.direct and name in result.cached_in_memory:
            remark, verdict = p_("beside a figure", "in memory"), "open"
        values = [(0, medians[name])]
        for s in result.samples:
            counted = s.primary and s.status == "ok" and s.round not in result.discarded_rounds
            if counted and (s.candidate, s.workload) == (name, workload.name):
                values.append((s.round, s.value))
        figures = []
        for number, value in values:
            better, other = (value, best) if higher else (best, value)
            length = better / other if other else 1.0
            figures.append(RoundFigure(number, figure_text(value, workload.metric.unit, counts), length))
        median, *rounds = figures
        kind = key_of(candidate.filesystem.name)
        yield Bar(name, candidate.title, kind, median.figure, median.length, remark, verdict, tuple(rounds))
    for name, ratio in failed.items():
        candidate = plan.candidate(name)
        yield Bar(name, candidate.title, key_of(candidate.filesystem.name), "", 0.0, ratio.why, "failed")


def highlights(charts: Sequence[Chart], count: int) -> tuple[Chart, ...]:
    """At most `count` charts, in order: those with the largest weighted differences."""
    ordered = sorted(charts, key=lambda chart: (chart.weight * (1 - chart.bars[-1].length), chart.weight))
    chosen = ordered[-count:]
    return tuple(chart for chart in charts if chart in chosen)


def selection(selected: Sequence[Chart], charts: Sequence[Chart]) -> str:
    """How charts were selected; empty if they are all."""
    every = len(charts)
    if len(selected) == every:
        return ""
    return n_(
        "{shown} of {count} test, by difference", "{shown} of {count} tests, by difference", every, shown=len(selected)
    )


# Ratios


def _ordered(findings: Findings) -> list[Candidate]:
    """Candidates: the baseline, then the best first, then those without an overall ratio."""
    plan = findings.result.plan
    ranked = [findings.baseline, *(ratio.candidate for ratio in findings.analysis.overall)]
    names = dict.fromkeys((*ranked, *(candidate.name for candidate in plan.candidates)))
    return [plan.candidate(name) for name in names]


def ratios(findings: Findings, charts: Sequence[Chart]) -> Ratios:
    """Ratios to the baseline, with its own figure and the first choice's share of the bare device."""
    plan, analysis = findings.result.plan, findings.analysis
    overall = {ratio.candidate: ratio for ratio in analysis.standing}
    single = {
        (ratio.workload, ratio.candidate): ratio
        for ratio in analysis.by_workload
        if ratio.candidate != ratio.baseline or ratio.verdict == "failed"
    }
    compared = {ratio.candidate for ratio in (*analysis.overall, *analysis.by_workload)}
    baseline, *others = _ordered(findings)
    others = [candidate for candidate in others if candidate.name in compared]
    shares = {s.workload: s.of_bare_device for s in findings.summaries if s.candidate == findings.first and s.primary}
    figures_of = {c.workload: bar.figure for c in charts for bar in c.bars if bar.candidate == baseline.name}
    rows = [RatioRow(_("Overall"), tuple(overall.get(candidate.name) for candidate in others))]
    for workload in plan.recipe.workloads:
        name = workload.name
        measured = tuple(single.get((name, candidate.name)) for candidate in others)
        if name in figures_of or any(measured):
            share = _share(shares.get(name), len(plan.target.members))
            rows.append(RatioRow(weighed(workload, _(workload.title)), measured, figures_of.get(name) or "–", share))
    every = [ratio for row in rows for ratio in row.ratios if ratio]
    if not every:
        return Ratios("", baseline.title, (), ())
    intervals = any(ratio.low is not None for ratio in every)
    text = N_("Ratios to {baseline}: above 1 is better")
    if intervals:
        text = N_("Ratios to {baseline}: above 1 is better, with 95 % intervals")
    explained = [f"{_(text, baseline=baseline.title)}.", legend(every)]
    if any(row.share for row in rows):
        text = N_("{title}: how much of the disk's own speed, without a filesystem, {candidate} reached")
        if plan.target.others:
            text = N_("{title}: how much of the speed of one of its disks, without a filesystem, {candidate} reached")
        explained.append(_(text, title=_("disk speed"), candidate=plan.candidate(findings.first).title))
    share_title = _("disk speed") if any(row.share for row in rows) else ""
    titles = tuple(candidate.title for candidate in others)
    return Ratios(_("by workload"), baseline.title, titles, tuple(rows), share_title, tuple(explained))


def _share(ratio: Ratio | None, disks: int) -> str:
    """Share of the bare device with its interval: `51% (48% to 55%)`, at most `100%` on a single disk."""

    def at_limit(share: float) -> bool:
        return disks == 1 and share >= 0.995  # more than 1 is chance, or memory below the disk

    if ratio is None:
        return ""
    if at_limit(ratio.ratio):
        return "100%"
    share = share_text(ratio.ratio)
    if not ratio.low or not ratio.high:
        return share
    low, high = share_text(ratio.low), share_text(ratio.high)
    if at_limit(ratio.high):
        return _("{share} (at least {low})", share=share, low=low)
    return p_("range", "{share} ({low} to {high})", share=share, low=low, high=high)


# Other figures


def also_measured(findings: Findings) -> Table:
    """Other figures of every candidate: stalls, syncs, times and space."""
    summaries, plan = findings.summaries, findings.result.plan
    both = {summary.workload for summary in summaries if summary.metric == RETURNED.name}
    clocked = [summary for summary in summaries if summary.workload in both]
    others = [summary for summary in summaries if not summary.primary]
    unplugging = N_("time until safe to unplug")
    if plan.target.kind == "directory":
        unplugging = N_("time until safe to unplug (sync alone)")
    removable = others if plan.drive and plan.drive.unpluggable else []
    known: tuple[tuple[str, Callable[[float], str], Mapping[str, float]], ...] = (
        (WORST_STALL, stall_text, _worst_stalls(findings)),
        (N_("median sync"), seconds_text, _each(summaries, SYNC_MEDIAN.name, max)),
        (N_("99 % of syncs within"), seconds_text, _each(summaries, SYNC_P99.name, max)),
        (N_("99.9 % of syncs within"), seconds_text, _each(summaries, SYNC_P999.name, max)),
        (N_("write amplification"), three_digits, write_amplification(summaries)),
        (N_("until programs return"), seconds_text, _each(clocked, RETURNED.name, sum)),
        (N_("until it is on disk"), seconds_text, _each(clocked, DURATION.name, sum)),
        (N_("CPU time per round"), seconds_text, _each(others, CPU.name, sum)),
        (N_("mkfs time"), seconds_text, _each(others, MKFS_TIME.name, sum)),
        (N_("preallocation time"), seconds_text, _each(others, PREALLOCATION_TIME.name, sum)),
        # it includes the files of earlier workloads
        (N_("peak space used"), size_text, _each(summaries, USED.name, max)),
        (unplugging, seconds_text, _each(removable, UNPLUG_TIME.name, sum)),
    )
    measured = {name for row in known for name in row[2]}
    candidates = [candidate for candidate in _ordered(findings) if candidate.name in measured]
    rows = []
    for name, written, values in known:
        if values:
            cells = (written(values[c.name]) if c.name in values else "–" for c in candidates)
            rows.append((_(name), *cells))
    return Table((_("also measured"), *(candidate.title for candidate in candidates)), tuple(rows))


def worst_stalls(findings: Findings) -> Iterator[str]:
    """`XFS 0.3 s`, for every candidate that was seen to stall."""
    stalls = _worst_stalls(findings)
    for candidate in _ordered(findings):
        if candidate.name in stalls:
            yield f"{candidate.title} {stall_text(stalls[candidate.name])}"


def _worst_stalls(findings: Findings) -> Mapping[str, float]:
    worst: dict[str, float] = {}
    for summary in findings.summaries:
        if is_stall(summary.metric) and summary.worst:
            worst[summary.candidate] = max(worst.get(summary.candidate, 0.0), summary.worst)
    return worst


def _each(
    summaries: Iterable[Summary], metric: str, combined: Callable[[Iterable[float]], float]
) -> Mapping[str, float]:
    """Candidate to its medians of a metric at all workloads, combined."""
    medians: dict[str, list[float]] = {}
    for summary in summaries:
        if summary.metric == metric:
            medians.setdefault(summary.candidate, []).append(summary.median)
    return {name: combined(values) for name, values in medians.items()}


# What to know


def failures(findings: Findings) -> Iterator[str]:
    """Why candidates failed, a sentence each."""
    plan = findings.result.plan
    titles = {workload.name: _(workload.title) for workload in plan.recipe.workloads}
    candidates = {candidate.name: candidate.title for candidate in plan.candidates}
    for one in findings.result.failures:
        yield _(
            "{candidate}: {reason} ({where}, round {round}, {kind}).",
            candidate=candidates.get(one.candidate, one.candidate),
            reason=_(one.text).rstrip(".\u3002"),
            where=titles.get(one.workload, _("formatting or mounting")),
            round=one.round,
            kind=one.kind,
        )
    known = {failure.candidate for failure in findings.result.failures}
    for ratio in findings.analysis.overall:
        if ratio.verdict == "failed" and ratio.candidate not in known:
            yield f"{candidates[ratio.candidate]}: {_(ratio.text) or _('failed')}"


def notes(findings: Findings) -> Iterator[str]:
    """Which ratios are to another candidate than the baseline, and how sure they are."""
    plan = findings.result.plan
    measured = [ratio for ratio in findings.analysis.by_workload if ratio.verdict != "failed"]
    for workload in plan.recipe.workloads:
        other = {ratio.baseline for ratio in measured if ratio.workload == workload.name} - {findings.baseline}
        if other:
            title = plan.candidate(min(other)).title
            yield _("{test}: ratios are to {candidate}.", test=_(workload.title), candidate=title)
    certain = [ratio for ratio in measured if ratio.low is not None]
    if measured and not certain and not any(doubt.code == "few-rounds" for doubt in findings.doubts):
        yield n_(
            "No intervals: they need {needed}, and there is only one.",
            "No intervals: they need {needed}, and only {count} can be compared.",
            max(ratio.rounds for ratio in measured),
            needed=rounds_text(INTERVAL_ROUNDS),
        )
    several = len({ratio.workload for ratio in certain}) > 1
    if several and any(ratio.verdict != "open" for ratio in certain):
        yield _("At most 1 in 12 of what is called faster or slower by test may be wrong.")
