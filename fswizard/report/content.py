"""Every sentence and figure of a report, as blocks made from findings.

`full` is the whole report, `short` its dozen lines.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from fswizard.advice.commands import commands
from fswizard.language import N_, _, n_, p_
from fswizard.model import metrics
from fswizard.model.analysis import SIGNS, Findings, Verdict, write_amplification
from fswizard.model.filesystem import Candidate
from fswizard.model.recipe import Workload
from fswizard.model.result import Result
from fswizard.model.units import (
    binary_text,
    figure_text,
    seconds_text,
    share_text,
    size_text,
    speed_text,
    stall_text,
    three_digits,
)
from fswizard.report.blocks import (
    Bar,
    Bullets,
    Chart,
    Commands,
    Document,
    Facts,
    Figures,
    Paragraph,
    Ratios,
    Table,
    legend,
    ratio_cell,
)
from fswizard.report.colours import key_of
from fswizard.report.subject import (
    attempt_command,
    describe_drive,
    describe_smr,
    layout_texts,
    name_drive,
    place_text,
    run_text,
    weighed,
)
from fswizard.report.writes import written_text

SET_UP = N_("How to set it up")
SHORT_LINES, LEAST_ROWS = 12, 2
"""Lines of a short report, and rows of its table at least."""


def full(findings: Findings) -> Document:
    """The whole report; its first block is the answer."""
    plan = findings.result.plan
    command = attempt_command(plan)
    made = tuple(shlex.join(command.argv) for command in plan.commands if command.candidate)
    return (
        findings.answer,
        set_up(findings),
        figures(findings),
        Bullets("", tuple(reason.text for reason in findings.reasons)),
        Bullets(_("Failed"), tuple(failures(findings))),
        Bullets(_("Doubts"), (*(doubt.text for doubt in findings.doubts), *notes(findings))),
        ratios(findings),
        also_measured(findings),
        Bullets(_("When a disk fails"), layout_texts(plan)),
        facts(findings),
        Commands(_("Commands of the run"), made, folded=len(made) > 1),
        Commands(_("To repeat it"), (command,) if command else ()),
    )


def short(findings: Findings) -> Document:
    """Answer, figures with marks where a difference is proven, subject, and a command for others to try.

    The table has as many workloads as fit into SHORT_LINES.
    """
    plan, charts = findings.result.plan, figures(findings).charts
    selected = highlights(charts, max(SHORT_LINES - len(findings.answer.lines) - 5, LEAST_ROWS))
    rows, marked = [], False
    measured = {bar.candidate for chart in selected for bar in chart.bars}
    candidates = [candidate for candidate in _ordered(findings) if candidate.name in measured]
    for chart in selected:
        cells = dict.fromkeys((candidate.name for candidate in candidates), "–")
        for bar in chart.bars:
            cells[bar.candidate] = bar.figure or _("failed")
            if bar.figure and bar.remark and bar.verdict != "open":
                cells[bar.candidate] += f" {SIGNS[bar.verdict].glyph}"
                marked = True
        rows.append((chart.title, *cells.values()))
    marks = _("▲ faster, ▼ slower than {candidate}", candidate=plan.candidate(findings.baseline).title)
    place = [place_text(plan)] if plan.target.kind == "image" else []
    command = attempt_command(plan)
    return (
        findings.answer,
        Table((_("Test"), *(c.title for c in candidates)), tuple(rows), (marks,) if marked else ()),
        Paragraph("; ".join((subject(findings), *place, *about(findings, selected, charts)))),
        Commands("", (command,) if command else ()),
    )


def set_up(findings: Findings) -> Commands:
    """Commands that carry out the answer."""
    return Commands(_(SET_UP), commands(findings.result.plan, findings.answer.recommended))


def subject(findings: Findings) -> str:
    """Recipe and disk: `Quick look on WDC WD40EFAX-68JH4N1, 4.00 TB, hard disk`."""
    plan = findings.result.plan
    recipe = _(plan.recipe.title)
    if plan.drive is None:
        return recipe
    return p_("title of a report", "{recipe} on {disk}", recipe=recipe, disk=name_drive(plan.drive))


def about(findings: Findings, selected: Sequence[Chart], charts: Sequence[Chart]) -> list[str]:
    """How charts were selected, duration, and kernel and day of a run: `4 rounds, 40 s`, `Linux 6.1, 2026-11-27`."""
    result, every = findings.result, len(charts)
    environment, rounds = result.environment, findings.analysis.rounds
    chosen = n_(
        "{shown} of {count} test, by difference", "{shown} of {count} tests, by difference", every, shown=len(selected)
    )
    kernel = re.match(r"\d+\.\d+", environment.kernel)
    when = ", ".join(filter(None, (kernel and f"Linux {kernel[0]}", environment.started[:10])))
    length = run_text(rounds, result.elapsed_s, result.outcome, len(result.discarded_rounds))
    return [text for text in ("" if len(selected) == every else chosen, length, when) if text]


def facts(findings: Findings) -> Facts:
    """How it was measured."""
    result = findings.result
    drive, environment, recipe = result.plan.drive, result.environment, result.plan.recipe
    length = run_text(findings.analysis.rounds, result.elapsed_s, result.outcome, len(result.discarded_rounds))
    codes = {doubt.code for doubt in result.doubts}
    wiped = result.outcome not in ("killed", "running") and "not-wiped" not in codes
    place = p_("where, in a list of facts", "on {place}", place=place_text(result.plan))
    if result.plan.target.kind == "directory":
        place = _("in existing directories; nothing was formatted")
    elif result.plan.target.kind == "device" and wiped:
        place = p_("where, in a list of facts", "on {place}, left wiped", place=place_text(result.plan))
    tools = {**environment.tools, "fswizard": environment.version}
    rows = (
        (_("Disk"), describe_drive(drive) if drive else ""),
        (_("Serial"), drive.serial if drive else ""),
        (p_("how a disk records", "Recording"), describe_smr(drive) if drive else ""),
        (p_("where, in a list of facts", "Measured"), place),
        (_("Recipe"), f"{_(recipe.title)} ({recipe.name})"),
        (_("Rounds"), length),
        (_("Written"), written_text(result)),
        (_("System"), _system(result, limited="fits-in-memory" not in codes)),
        (_("Tools"), ", ".join(f"{name} {version}" for name, version in tools.items() if version)),
        (_("Date"), environment.started[:10]),
    )
    return Facts(tuple((label, text) for label, text in rows if text), _("How it was measured"))


def _system(result: Result, *, limited: bool) -> str:
    """The machine; `limited`: whether the memory limit could be set."""
    environment, limit_bytes = result.environment, result.plan.memory_limit_bytes
    memory = ""
    if environment.memory_bytes:
        memory = p_("of a machine", "{size} memory", size=binary_text(environment.memory_bytes))
    if memory and limit_bytes and limited:
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


def figures(findings: Findings) -> Figures:
    """Bars of every workload that has figures."""
    charts = []
    for workload in findings.result.plan.recipe.workloads:
        if bars := tuple(_bars(findings, workload)):
            charts.append(Chart(_(workload.title), bars, workload.name, workload.weight))
    every = [bar for chart in charts for bar in chart.bars if bar.figure]
    baseline = findings.result.plan.candidate(findings.baseline).title
    caption = N_("Longer is better.")
    if any(bar.verdict == "open" or bar.remark for bar in every):
        caption = N_("Longer is better. Hatched or pale: no difference from {candidate} is proven.")
    note = _("Dots are single rounds; point at one to see its figure.") if every else ""
    return Figures(tuple(charts), p_("heading of figures", "Measured"), note, _(caption, candidate=baseline))


def _bars(findings: Findings, workload: Workload) -> Iterator[Bar]:
    """The best first; failed ones with their reason last."""
    result = findings.result
    higher = workload.metric.better == "higher"
    verdicts = {r.candidate: r for r in findings.analysis.by_workload if r.workload == workload.name}
    medians = {s.candidate: s.median for s in findings.summaries if s.primary and s.workload == workload.name}
    rounds: dict[str, list[float]] = {}
    for s in result.samples:
        if s.primary and s.workload == workload.name and s.round not in result.discarded_rounds:
            rounds.setdefault(s.candidate, []).append(s.value)

    measured, failed = [], []
    for candidate in result.plan.candidates:
        ratio = verdicts.get(candidate.name)
        if ratio and ratio.verdict == "failed":
            failed.append(Bar(candidate.name, candidate.title, "", "", 0.0, ratio.why, "failed"))
        elif candidate.name in medians:
            measured.append(candidate)
    measured.sort(key=lambda candidate: medians[candidate.name], reverse=higher)
    for candidate in measured:
        name, ratio = candidate.name, verdicts.get(candidate.name)
        verdict: Verdict = ratio.verdict if ratio else "open"
        remark = ""
        if name == findings.baseline:
            verdict = "alike"
        elif ratio and ratio.differs:
            remark = speed_text(ratio.ratio, workload.metric.unit)
        if workload.job.direct and name in result.cached_in_memory:
            remark, verdict = p_("beside a figure", "in memory"), "open"
        figures = []
        for value in (medians[name], *rounds.get(name, ())):
            better, other = value, medians[measured[0].name]
            if not higher:
                better, other = other, better
            figures.append(
                (figure_text(value, workload.metric.unit, workload.job.counts), better / other if other else 1.0)
            )
        (figure, length), *each = figures
        kind = key_of(candidate.filesystem.name)
        yield Bar(name, candidate.title, kind, figure, length, remark, verdict, tuple(each))
    yield from failed


def highlights(charts: Sequence[Chart], count: int) -> tuple[Chart, ...]:
    """At most `count` charts, in order: those with the largest weighted differences."""
    ordered = sorted(charts, key=lambda chart: (chart.weight * (1 - chart.bars[-1].length), chart.weight))
    chosen = ordered[-count:]
    return tuple(chart for chart in charts if chart in chosen)


def _ordered(findings: Findings) -> list[Candidate]:
    """Candidates: the best first, then those without an overall ratio."""
    plan = findings.result.plan
    ranked = [ratio.candidate for ratio in findings.analysis.overall]
    names = dict.fromkeys((*ranked, findings.baseline, *(candidate.name for candidate in plan.candidates)))
    return [plan.candidate(name) for name in names]


def ratios(findings: Findings) -> Ratios:
    """Ratios to the baseline, with its own figures and the first choice's share of the bare device."""
    plan, analysis = findings.result.plan, findings.analysis
    compared = {ratio.candidate for ratio in (*analysis.overall, *analysis.by_workload)} - {findings.baseline}
    others = [candidate for candidate in _ordered(findings) if candidate.name in compared]
    standing = {ratio.candidate: ratio for ratio in analysis.standing if ratio.candidate in compared}
    single = {(r.workload, r.candidate): r for r in analysis.by_workload if r.candidate != r.baseline}
    primary = {(s.workload, s.candidate): s for s in findings.summaries if s.primary}

    rows = [(_("Overall"), "", *(ratio_cell(standing.get(candidate.name)) for candidate in others))]
    shares = [""]
    for workload in plan.recipe.workloads:
        measured = [single.get((workload.name, candidate.name)) for candidate in others]
        own = primary.get((workload.name, findings.baseline))
        if own or any(measured):
            figure = figure_text(own.median, workload.metric.unit, workload.job.counts) if own else "–"
            rows.append((weighed(workload, _(workload.title)), figure, *map(ratio_cell, measured)))
            chosen = primary.get((workload.name, findings.first))
            share = chosen.of_bare_device if chosen and not plan.target.others else None
            shares.append(share_text(min(1.0, share.ratio)) if share else "")  # more is chance, or memory in the disk

    baseline, every = plan.candidate(findings.baseline).title, [*standing.values(), *single.values()]
    header = (_("by workload"), baseline, *(candidate.title for candidate in others))
    notes = [_("Ratios to {baseline}: above 1 is better, with 95 % intervals", baseline=baseline), legend(every)]
    if any(shares):
        title = _("disk speed")
        header = (*header, title)
        rows = [(*cells, share) for cells, share in zip(rows, shares)]
        text = N_("{title}: how much of the disk's own speed, without a filesystem, {candidate} reached")
        notes.append(_(text, title=title, candidate=plan.candidate(findings.first).title))
    overall = tuple((plan.candidate(name).title, ratio) for name, ratio in standing.items())
    return Ratios(_("Overall"), baseline, overall, Table(header, tuple(rows) if every else (), tuple(notes)))


def also_measured(findings: Findings) -> Table:
    """Other figures of every candidate: stalls, syncs, times and space."""
    summaries, plan = findings.summaries, findings.result.plan

    def each(metric: metrics.Metric, combined: Callable[[Iterable[float]], float]) -> Mapping[str, float]:
        """Candidate to its medians of a metric at all workloads, combined."""
        medians: dict[str, list[float]] = {}
        for summary in summaries:
            if summary.metric == metric.name:
                medians.setdefault(summary.candidate, []).append(summary.median)
        return {name: combined(values) for name, values in medians.items()}

    longest = {s.candidate: s.worst for s in summaries if s.metric == metrics.FSYNC_WORST.name}
    unplugging = each(metrics.UNPLUG_TIME, sum) if plan.drive and plan.drive.unpluggable else {}
    known: tuple[tuple[str, Callable[[float], str], Mapping[str, float]], ...] = (
        (N_("worst stall"), stall_text, _stalls(findings)),
        (N_("saving while a large file is copied"), stall_text, each(metrics.FSYNC_MEDIAN, max)),
        (N_("the longest such save"), stall_text, longest),
        (N_("median sync"), seconds_text, each(metrics.SYNC_MEDIAN, max)),
        (N_("99.9 % of syncs within"), seconds_text, each(metrics.SYNC_P999, max)),
        (N_("write amplification"), three_digits, write_amplification(summaries)),
        (N_("until programs return"), seconds_text, each(metrics.RETURNED, sum)),
        (N_("CPU time per round"), seconds_text, each(metrics.CPU, sum)),
        (N_("mkfs time"), seconds_text, each(metrics.MKFS_TIME, sum)),
        (N_("preallocation time"), seconds_text, each(metrics.PREALLOCATION_TIME, sum)),
        # it includes the files of earlier workloads
        (N_("peak space used"), size_text, each(metrics.USED, max)),
        (N_("time until safe to unplug"), seconds_text, unplugging),
    )
    measured = {name for _title, _written, values in known for name in values}
    candidates = [candidate for candidate in _ordered(findings) if candidate.name in measured]
    rows = []
    for title, written, values in known:
        cells = (written(values[c.name]) if c.name in values else "–" for c in candidates)
        if values:
            rows.append((_(title), *cells))
    return Table((_("also measured"), *(candidate.title for candidate in candidates)), tuple(rows))


def worst_stalls(findings: Findings) -> Iterator[str]:
    """`XFS 0.3 s`, for every candidate that was seen to stall."""
    stalls = _stalls(findings)
    for candidate in _ordered(findings):
        if candidate.name in stalls:
            yield f"{candidate.title} {stall_text(stalls[candidate.name])}"


def _stalls(findings: Findings) -> Mapping[str, float]:
    worst: dict[str, float] = {}
    for summary in findings.summaries:
        if summary.metric.endswith(metrics.STALLS) and summary.worst:
            worst[summary.candidate] = max(worst.get(summary.candidate, 0.0), summary.worst)
    return worst


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


def notes(findings: Findings) -> Iterator[str]:
    """Which ratios are to another candidate than the baseline, and how sure they are."""
    plan = findings.result.plan
    measured = [ratio for ratio in findings.analysis.by_workload if ratio.verdict != "failed"]
    for name, baseline in sorted({(ratio.workload, ratio.baseline) for ratio in measured}):
        if baseline != findings.baseline:
            title = _(plan.recipe.workload(name).title)
            yield _("{test}: ratios are to {candidate}.", test=title, candidate=plan.candidate(baseline).title)
    certain = [ratio for ratio in measured if ratio.low is not None]
    several = len({ratio.workload for ratio in certain}) > 1
    if several and any(ratio.verdict != "open" for ratio in certain):
        yield _("At most 1 in 12 of what is called faster or slower by test may be wrong.")
