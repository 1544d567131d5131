"""What a report for people tells, in the order in which it tells it; the formats only draw it."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from fswizard.model.drive import Drive
from fswizard.model.judgement import Findings, Published, Ratio, Summary
from fswizard.model.metrics import BYTES_WRITTEN, CPU, DEVICE_WRITTEN, MKFS_TIME, USED, is_stall
from fswizard.model.plan import Plan, Target
from fswizard.model.result import Environment, Failure, Outcome, Result
from fswizard.model.units import binary_size_text, duration_text, size_text, three_digits
from fswizard.report.arrays import layout_texts, room_text, survivable_text
from fswizard.report.figures import binary_text, figure, ratio_text, seconds_text, share_text, spread_text

OUTCOMES: dict[Outcome, str] = {
    "finished": "",
    "time-up": "ended by its time limit",
    "stopped": "stopped early",
    "cancelled": "cancelled",
    "failed": "ended by a fault",
    "killed": "cut off before its end",
}
DRIVE_KINDS = {
    "hdd": "hard disk",
    "ssd": "SSD",
    "nvme": "NVMe SSD",
    "flash-card": "flash card",
    "virtual": "virtual disk",
    "array": "array",
}
_COMMANDS_ALONE = "Commands alone: nobody published figures with them."
PUBLISHED = "Published for this kind of disk and work"
LEGEND = "+ faster  - slower  = tie (within 5 %)  ? undecided  ! failed"


@dataclass(frozen=True, slots=True)
class Row:
    """One workload."""

    name: str
    title: str
    weight: float
    figures: Mapping[str, str]
    """Candidate to the median of its figure, with unit."""
    ratios: Mapping[str, Ratio]
    """Candidate to its ratio against the baseline; the baseline is not among them."""
    share: str = ""
    """Of the bare device's figure, reached by the first choice; empty where that was not measured."""


@dataclass(frozen=True, slots=True)
class Extra:
    """A figure that is worth knowing and that no ratio is made of."""

    title: str
    figures: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Content:
    """Everything that a report tells, in words and rows."""

    title: str
    headline: str
    reasons: tuple[str, ...]
    facts: tuple[tuple[str, str], ...]
    baseline: str
    candidates: tuple[str, ...]
    """All but the baseline, best first."""
    overall: tuple[Ratio, ...]
    rows: tuple[Row, ...]
    first: str
    """The candidate whose share of the bare device is told."""
    extras: tuple[Extra, ...]
    layouts: tuple[str, ...]
    """Over several disks: room and redundancy of each candidate, and what a failed disk does."""
    failures: tuple[str, ...]
    doubts: tuple[str, ...]
    notes: tuple[str, ...]
    published: tuple[str, ...]
    """What others measured on the same kind of disk, with the ratios of this run beside it."""
    measured: tuple[str, ...]
    """Exact commands of the run, `DEVICE` and `MOUNT` standing for names known only then."""
    use: tuple[str, ...]
    repeat: str
    """One command that measures the same again; empty where this program did not measure."""

    @property
    def axis_note(self) -> str:
        """What the bars mean."""
        spread = ", with 95 % intervals" if self.has_intervals else ""
        return f"Ratios to {self.baseline}: above 1 is better{spread}"

    @property
    def measured_candidates(self) -> tuple[str, ...]:
        """Those that there are figures of, the baseline first."""
        known = {name for row in self.rows for name in row.figures}
        known |= {name for extra in self.extras for name in extra.figures}
        return tuple(name for name in (self.baseline, *self.candidates) if name in known)

    @property
    def has_intervals(self) -> bool:
        return any(
            ratio.low is not None for ratio in (*self.overall, *(r for row in self.rows for r in row.ratios.values()))
        )


def gather(findings: Findings) -> Content:
    """The content of a report; `findings` have gone through `privacy.harmless`."""
    result, judgement = findings.result, findings.judgement
    plan = result.plan
    baseline = findings.baseline
    overall = tuple(ratio for ratio in judgement.overall if ratio.candidate != baseline)
    ranked = [ratio.candidate for ratio in overall]
    others = [c.name for c in plan.candidates if c.name not in (baseline, *ranked)]
    return Content(
        title=_title(plan),
        headline=findings.advice.headline if result.samples or not result.environment.source else _COMMANDS_ALONE,
        reasons=tuple(reason.text for reason in findings.advice.reasons),
        facts=tuple(_facts(findings)),
        baseline=baseline,
        candidates=(*ranked, *others),
        overall=overall,
        rows=tuple(_rows(findings)),
        first=findings.first,
        extras=tuple(_extras(findings)),
        layouts=layout_texts(plan),
        failures=tuple(_failures(findings)),
        doubts=tuple(doubt.text for doubt in findings.doubts),
        notes=tuple(_notes(findings)),
        published=tuple(_published(findings)),
        measured=tuple(_measured_commands(result)),
        use=findings.advice.commands,
        repeat="" if result.environment.source else repeat_command(plan),
    )


def describe_drive(drive: Drive) -> str:
    """Model, size and kind in a line: `ST8000AS0002, 8.00 TB, hard disk, SATA, 5980 rpm`."""
    bus = "" if drive.bus in ("other", "nvme") else drive.bus.upper()
    parts = (
        drive.model or "disk without a model name",
        size_text(drive.size_bytes) if drive.size_bytes else "",
        DRIVE_KINDS.get(drive.kind, ""),
        f"{bus} ({drive.bridge})" if bus and drive.bridge else bus,
        f"{drive.rpm} rpm" if drive.rpm else "",
        f"firmware {drive.firmware}" if drive.firmware else "",
    )
    return ", ".join(part for part in parts if part)


def describe_smr(drive: Drive) -> str:
    """The verdict with its evidence in a line; empty for what is no hard disk."""
    verdict = drive.smr
    if verdict.kind == "not-a-hard-disk" or (drive.kind != "hdd" and verdict.kind == "unknown"):
        return ""
    if verdict.kind == "unknown":
        return "not known whether it is shingled"
    zones = f"{verdict.kind} zones" if drive.flash else f"SMR, {verdict.kind}"
    kind = "CMR" if verdict.kind == "cmr" else zones
    evidence = "; ".join(item.text.rstrip(".") for item in verdict.evidence if item.says == verdict.kind)
    return f"{kind}, {verdict.confidence}" + (f": {evidence}" if evidence else "")


def repeat_command(plan: Plan) -> str:
    """One command that measures the same again."""
    target = {
        "image": _images(plan.target),
        "directory": "dir:" + ",".join(c.directory or f"DIRECTORY-{n}" for n, c in enumerate(plan.candidates, 1)),
        "device": f"device{'s' * bool(plan.target.others)}:{','.join(_paths(plan.target))}",
    }[plan.target.kind]
    words = ["fswizard", "run", plan.recipe.name]
    if plan.target.kind != "directory":
        words += ["--candidates", "; ".join(candidate.name for candidate in plan.candidates)]
        words += ["--baseline", plan.baseline]
    words += ["--target", target, "--time", f"{plan.time_limit_s:.0f}s"]
    words += ["--rounds", f"{plan.minimum_rounds}..{plan.maximum_rounds}", "--seed", str(plan.seed)]
    if any(workload.weight != 1 for workload in plan.recipe.workloads):
        words += ["--weights", ", ".join(f"{w.name}={w.weight:g}" for w in plan.recipe.workloads)]
    if plan.needs:
        words += ["--need", ",".join(plan.needs)]
    return shlex.join(words)


def _images(target: Target) -> str:
    """As --target takes it; directories that are not to be told are left out."""
    size = binary_size_text(target.size_bytes)
    paths = dict.fromkeys(member.path for member in target.members)
    if not target.others:
        return f"image:{size}" + f"@{target.path}" * bool(target.path)
    count = f"{len(target.members)}x" if len(paths) == 1 else ""
    where = ",".join(paths if len(paths) == 1 else (member.path for member in target.members))
    return f"images:{count}{size}" + f"@{where}" * bool(target.path)


def _paths(target: Target) -> tuple[str, ...]:
    return tuple(member.path or name for member, name in zip(target.members, target.stand_ins))


def _title(plan: Plan) -> str:
    where = plan.drive.model if plan.drive and plan.drive.model else ""
    return f"{plan.recipe.title} on {where}" if where else plan.recipe.title


def _facts(findings: Findings) -> Iterator[tuple[str, str]]:
    result = findings.result
    plan, environment = result.plan, result.environment
    if environment.source:
        yield "Source", environment.source
    if plan.drive is not None:
        yield "Disk", describe_drive(plan.drive)
        if plan.drive.serial:
            yield "Serial", plan.drive.serial
        if smr := describe_smr(plan.drive):
            yield "Recording", smr
    if not environment.source:
        yield "Measured", _measured_on(findings.result)
    yield "Recipe", f"{plan.recipe.title} ({plan.recipe.name})"
    yield "Rounds", _rounds(findings)
    if system := _system(environment):
        yield "System", system
    tools = [f"{name} {version}" for name, version in environment.tools.items() if version]
    if environment.version and not environment.source:
        tools.append(f"fswizard {environment.version}")
    if tools:
        yield "Tools", ", ".join(tools)
    if environment.started:
        yield "Imported" if plan.recipe.name == "imported" else "Date", environment.started[:10]


def _measured_on(result: Result) -> str:
    target = result.plan.target
    count = len(target.members)
    paths = ", ".join(dict.fromkeys(member.path for member in target.members if member.path))
    place = f" ({paths})" if paths else ""
    match target.kind:
        case "image":
            host = f" on {target.host_filesystem}" if target.host_filesystem else ""
            images = f"{count} scratch images" if target.others else "a scratch image"
            return f"on {images} of {binary_text(target.size_bytes)}{host}{place}"
        case "device":
            wiped = result.outcome != "killed" and not any(doubt.code == "not-wiped" for doubt in result.doubts)
            devices = f"on {count} devices themselves" if target.others else "on the device itself"
            return f"{devices}{place}{', left wiped' * wiped}"
    return "in directories as they were; nothing was formatted"


def _rounds(findings: Findings) -> str:
    result = findings.result
    rounds = findings.judgement.rounds
    parts = [f"{rounds} round{'s' * (rounds != 1)}"]
    if result.elapsed_s:
        parts.append(duration_text(result.elapsed_s))
    if result.discarded_rounds:
        parts.append(f"{len(result.discarded_rounds)} discarded")
    if OUTCOMES[result.outcome]:
        parts.append(OUTCOMES[result.outcome])
    return ", ".join(parts)


def _system(environment: Environment) -> str:
    parts = (
        f"Linux {environment.kernel}" if environment.kernel else "",
        environment.distribution,
        environment.processor,
        f"{binary_text(environment.memory_bytes)} memory" if environment.memory_bytes else "",
        f"host {environment.host}" if environment.host else "",
    )
    return ", ".join(part for part in parts if part)


def _rows(findings: Findings) -> Iterator[Row]:
    names = [candidate.name for candidate in findings.result.plan.candidates]
    for workload in findings.result.plan.recipe.workloads:
        ratios = {
            ratio.candidate: ratio
            for ratio in findings.judgement.by_workload
            if ratio.workload == workload.name and ratio.candidate != ratio.baseline
        }
        found = {name: summary for name in names if (summary := findings.figure(name, workload.name))}
        figures = {name: figure(summary.median, summary.unit) for name, summary in found.items()}
        if figures or ratios:
            share = findings.share(workload.name)
            shown = "" if share is None else share_text(share)
            yield Row(workload.name, workload.title, workload.weight, figures, ratios, shown)


def _extras(findings: Findings) -> Iterator[Extra]:
    """One figure a candidate: the worst stall and the most room anywhere, sums over the workloads for the rest."""
    most: dict[str, float] = {}
    sums: dict[str, dict[str, float]] = {}
    for summary in findings.summaries:
        if summary.metric == USED.name:  # each workload finds there what those before it left
            most[summary.candidate] = max(most.get(summary.candidate, 0.0), summary.median)
        elif not summary.primary and not is_stall(summary.metric):
            found = sums.setdefault(summary.metric, {})
            found[summary.candidate] = found.get(summary.candidate, 0.0) + summary.median
    amplification = _write_amplification(findings.summaries)
    rows = (
        ("worst stall", {name: seconds_text(value) for name, value in findings.worst_stalls.items() if value}),
        ("device wrote, per byte asked for", {name: three_digits(value) for name, value in amplification.items()}),
        ("processor time a round", {name: seconds_text(value) for name, value in sums.get(CPU.name, {}).items()}),
        ("time of mkfs", {name: seconds_text(value) for name, value in sums.get(MKFS_TIME.name, {}).items()}),
        ("room used at most", {name: size_text(value) for name, value in most.items()}),
    )
    return (Extra(title, figures) for title, figures in (*rows, *_beside_speed(findings)) if figures)


def _beside_speed(findings: Findings) -> Iterator[tuple[str, dict[str, str]]]:
    """Over several disks: what a layout costs and brings."""
    plan = findings.result.plan
    if plan.target.others:
        names = {summary.candidate for summary in findings.summaries}
        measured = [candidate for candidate in plan.candidates if candidate.name in names]
        yield "room in all", {candidate.name: room_text(plan, candidate) for candidate in measured}
        yield "disks that may fail", {candidate.name: survivable_text(candidate) for candidate in measured}


def _write_amplification(summaries: Sequence[Summary]) -> dict[str, float]:
    """Bytes that the device wrote for each byte that programs wrote, over the workloads where both are known."""
    medians = {(s.metric, s.candidate, s.workload): s.median for s in summaries}
    asked: dict[str, float] = {}
    written: dict[str, float] = {}
    for (metric, candidate, workload), value in medians.items():
        device = medians.get((DEVICE_WRITTEN.name, candidate, workload))
        if metric == BYTES_WRITTEN.name and value > 0 and device is not None:
            asked[candidate] = asked.get(candidate, 0.0) + value
            written[candidate] = written.get(candidate, 0.0) + device
    return {candidate: written[candidate] / total for candidate, total in asked.items()}


def _failures(findings: Findings) -> Iterator[str]:
    plan = findings.result.plan
    titles = {workload.name: workload.title for workload in plan.recipe.workloads}
    told = set()
    for failure in findings.result.failures:
        told.add(failure.candidate)
        yield f"{failure.candidate}: {_failure_text(failure, titles)}"
    for ratio in findings.judgement.overall:
        if ratio.verdict == "failed" and ratio.candidate not in told:
            yield f"{ratio.candidate}: {ratio.text or 'failed'}"


def _failure_text(failure: Failure, titles: Mapping[str, str]) -> str:
    where = titles.get(failure.workload, "formatting or mounting")
    return f"{failure.text.rstrip('.')} ({where}, round {failure.round}, {failure.kind})."


def _notes(findings: Findings) -> Iterator[str]:
    ratios = [r for r in findings.judgement.by_workload if r.verdict != "failed"]
    plan = findings.result.plan
    overall = findings.judgement.overall
    if overall and overall[0].baseline != plan.baseline:
        yield f"{plan.baseline} has no result to compare with; ratios are to {overall[0].baseline} instead."
    for workload in plan.recipe.workloads:
        other = {r.baseline for r in ratios if r.workload == workload.name} - {overall[0].baseline if overall else ""}
        if other:
            yield f"{workload.title}: ratios are to {min(other)}."
    if ratios and all(ratio.low is None for ratio in ratios):
        rounds = max(ratio.rounds for ratio in ratios)
        have = "this is one" if rounds == 1 else f"these are {rounds} to compare"
        yield f"No intervals: they need three rounds, and {have}."
    compared = {ratio.workload for ratio in ratios if ratio.low is not None}
    if len(compared) > 1:
        yield (
            f"The overall intervals hold together; those of a workload hold for it alone, and among {len(compared)} "
            "workloads now and then one is off."
        )


def _published(findings: Findings) -> Iterator[str]:
    for published in findings.published:
        head = f"{published.title} ({published_on(published)}). Source: {published.source}."
        yield f"{head} All of it: fswizard published {published.name}"
        works: dict[str, list[str]] = {}
        for one in published.ratios:
            here = f"{ratio_text(one.here.ratio)} {spread_text(one.here)}".strip()
            there = f"{one.candidate} {ratio_text(one.there)} × {one.here.baseline}, here {here}"
            works.setdefault(one.work, []).append(there)
        yield from (f"{work}: {'; '.join(told)}." for work, told in works.items())


def published_on(published: Published) -> str:
    """`ST8000AS0002, 2015, one run each: no intervals`."""
    runs = min(one.runs for one in published.ratios)
    told = "one run each" if runs == 1 else f"{runs} runs or more each"
    return ", ".join(filter(None, (published.disk, published.year, f"{told}: no intervals")))


def _measured_commands(result: Result) -> Iterator[str]:
    for command in result.plan.commands:
        if result.environment.source or command.candidate:
            yield shlex.join(command.argv)
