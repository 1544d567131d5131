"""Every word and figure of a report, in order. The wizard and the formats only lay them out."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from fswizard.language import N_, _, n_, number, p_, shown
from fswizard.model.analysis import (
    SIGNS,
    Answer,
    Findings,
    Ratio,
    Reason,
    Summary,
    Tone,
    Verdict,
    write_amplification,
)
from fswizard.model.drive import DRIVE_KINDS, Drive
from fswizard.model.endurance import usual_budget_bytes
from fswizard.model.metrics import (
    CPU,
    DURATION,
    MKFS_TIME,
    PREALLOCATION_TIME,
    RETURNED,
    SYNC_MEDIAN,
    SYNC_P99,
    SYNC_P999,
    SYNCS,
    UNPLUG_TIME,
    USED,
    is_stall,
)
from fswizard.model.plan import FIRST_LOOK, Plan, Target
from fswizard.model.recipe import Workload
from fswizard.model.result import Outcome, Result
from fswizard.model.units import (
    binary_size_text,
    binary_text,
    decimal_size_text,
    duration_text,
    figure_text,
    ratio_text,
    rounds_text,
    seconds_text,
    share_text,
    size_text,
    speed_text,
    stall_text,
    three_digits,
)
from fswizard.report.arrays import WHEN_A_DISK_FAILS, layout_texts
from fswizard.report.colours import kind_of
from fswizard.report.document import (
    Answer as AnswerBlock,
)
from fswizard.report.document import (
    Bar,
    Bullets,
    Commands,
    Document,
    Facts,
    Figures,
    Ratios,
    RoundFigure,
    Table,
    Words,
)
from fswizard.report.fixed_figures import counted, fixed_figures
from fswizard.report.writes import written_text

OUTCOMES: Mapping[Outcome, str] = {
    "finished": "",
    "time-up": N_("time limit reached"),
    "budget-used": N_("write budget used up"),
    "stopped": N_("stopped early"),
    "cancelled": N_("cancelled"),
    "failed": N_("ended by a fault"),
    "killed": N_("cut off before its end"),
    "running": N_("still in progress"),
}
ENDED: Mapping[Outcome, str] = {
    "finished": "",
    "time-up": N_("Time limit reached."),
    "budget-used": N_("Write budget used up."),
    "stopped": N_("Stopped early."),
    "cancelled": N_("Cancelled."),
    "failed": "",  # the answer says it
    "killed": N_("Cut off before its end."),
    "running": N_("Still in progress."),
}
WORST_STALL = N_("worst stall")
SET_UP = N_("How to set it up")
FULL_REPORT = N_("Full report")
EACH_ROUND = N_("Dots are single rounds; point at a bar or tap on it to see their figures.")
POST_LINES = 12
"""Lines of a forum post before anything folded."""
LEAST_ROWS = 2
FAILED, DOUBTS = N_("Failed"), N_("Doubts")


def legend() -> str:
    """What the signs in cells of tables mean."""
    words: Mapping[Verdict, str] = {
        "faster": _("faster"),
        "slower": _("slower"),
        "alike": _("alike (within 5 %)"),
        "open": _("not proven"),
        "failed": _("failed"),
    }
    return "  ".join(f"{SIGNS[verdict].glyph} {word}" for verdict, word in words.items())


@dataclass(frozen=True, slots=True)
class Row:
    """One workload."""

    name: str
    title: str
    weight: float
    figures: Mapping[str, str]
    """Candidate to its median with unit."""
    ratios: Mapping[str, Ratio]
    """Candidate to its ratio to the baseline, which is not among them."""
    share: Ratio | None = None
    """Ratio of the first choice to the bare device, or None if that was not measured."""
    disks: int = 1
    """Number of disks; the first one was measured bare."""
    bars: tuple[Bar, ...] = ()
    """Bars of candidates, the best first, failed ones last."""

    @property
    def share_text(self) -> str:
        """`51%`, at most `100%` on a single disk; empty if it was not measured."""
        if self.share is None:
            return ""
        return "100%" if self._at_limit(self.share.ratio) else share_text(self.share.ratio)

    @property
    def share_words(self) -> str:
        """The share with its interval, if there is one: `51% (48% to 55%)`, limited to the disk's own speed."""
        if self.share is None or self._at_limit(self.share.ratio) or not self.share.low or not self.share.high:
            return self.share_text
        low, high = share_text(self.share.low), share_text(self.share.high)
        if self._at_limit(self.share.high):
            return _("{share} (at least {low})", share=self.share_text, low=low)
        return p_("range", "{share} ({low} to {high})", share=self.share_text, low=low, high=high)

    def _at_limit(self, share: float) -> bool:
        return self.disks == 1 and share >= 0.995  # more than 1 is chance, or memory below the disk

    def figure(self, candidate: str) -> str:
        """Median of a candidate, `failed`, or a dash if there is none."""
        ratio = self.ratios.get(candidate)
        return _("failed") if ratio and ratio.verdict == "failed" else self.figures.get(candidate, "–")

    def cell(self, candidate: str) -> str:
        """Ratio of a candidate as in `ratio_cell`."""
        return ratio_cell(self.ratios.get(candidate))


def ratio_cell(ratio: Ratio | None) -> str:
    """`1.98 (1.72–2.28) ▲`, or a dash if there is none."""
    if ratio is None:
        return "–"
    words = _("failed") if ratio.verdict == "failed" else with_interval(ratio)
    return f"{words} {SIGNS[ratio.verdict].glyph}"


def with_interval(ratio: Ratio) -> str:
    """`1.98 (1.72–2.28)`, or `1.98` as long as nothing more is known."""
    interval = ratio.interval()
    return f"{ratio_text(ratio.ratio)} ({interval})" if interval else ratio_text(ratio.ratio)


@dataclass(frozen=True, slots=True)
class Presentation:
    """All words and rows of a report."""

    findings: Findings
    """The findings that it presents, for charts."""
    title: str
    answer: Answer
    ended: str
    """Sentence on how an unfinished run ended; empty for others."""
    reasons: tuple[Reason, ...]
    facts: tuple[tuple[str, str], ...]
    baseline: str
    candidates: tuple[str, ...]
    """Candidates without the baseline, best first."""
    standing: tuple[Ratio, ...]
    """Overall ratios with their verdicts, the baseline's own among them."""
    rows: tuple[Row, ...]
    first: str
    """The candidate whose share of the bare device is shown."""
    extras: Mapping[str, Mapping[str, str]]
    """Further figures: title, to be translated where it is shown, to candidate to figure."""
    failures: tuple[str, ...]
    doubts: tuple[str, ...]
    notes: tuple[str, ...]
    measured: tuple[str, ...]
    """Commands of the run, with the placeholders `DEVICE` and `MOUNT`."""
    repeat: str
    """Command that measures the same again."""
    attempt: str
    """Shorter command for others to try on their disk; empty where the recipe is the user's own."""

    @property
    def below(self) -> tuple[str, ...]:
        """Lines below the verdict."""
        return (*self.answer.lines, *filter(None, [self.ended]))

    @property
    def subject(self) -> str:
        """Recipe and disk in a line: `Quick look on WDC WD40EFAX-68JH4N1, 4.00 TB, hard disk`."""
        plan = self.findings.result.plan
        recipe = _(plan.recipe.title)
        return (
            p_("title of a report", "{recipe} on {disk}", recipe=recipe, disk=name_drive(plan.drive))
            if plan.drive
            else recipe
        )

    @property
    def below_the_model(self) -> str:
        """The same without the disk's model: `Quick look, 4.00 TB, hard disk`."""
        plan = self.findings.result.plan
        return ", ".join((_(plan.recipe.title), *(size_and_kind(plan.drive) if plan.drive else ())))

    @property
    def length(self) -> str:
        """Duration of the run: `4 rounds, 40 s`."""
        return dict(self.facts)[_("Rounds")]

    @property
    def when(self) -> str:
        """Kernel and day of a run, or the day of an import: `Linux 6.1, 2026-11-27`."""
        environment = self.findings.result.environment
        kernel = re.match(r"\d+\.\d+", environment.kernel)
        return ", ".join(filter(None, (f"Linux {kernel[0]}" if kernel else "", environment.started[:10])))

    @property
    def recording(self) -> tuple[str, Tone]:
        """How the disk records, or what it is instead of a hard disk, and the tone of that; empty where unknown."""
        drive = self.findings.result.plan.drive
        if drive is None or drive.smr.kind == "unknown":
            return "", "muted"
        if drive.smr.kind == "not-a-hard-disk":
            return _(DRIVE_KINDS.get(drive.kind, "")), "even"
        return drive.smr.words(flash=drive.flash), "good" if drive.smr.kind == "cmr" else "bad"

    @property
    def fixed(self) -> str:
        """What the first choice reached at what posts can compare: `XFS writes 98.2 MB/s · saves 930/s`."""
        figures = fixed_figures(self.findings.result, self.findings.first)
        return f"{self.card_name} {' · '.join(figures)}" if figures else ""

    @property
    def card_name(self) -> str:
        """The first choice, as its bars name it."""
        first = self.findings.first
        return next((bar.title for row in self.rows for bar in row.bars if bar.candidate == first), first)

    @property
    def in_short(self) -> str:
        """Subject, length, kernel and day."""
        return f"{self.subject}; {self.length}; {self.when}"

    def highlights(self, count: int) -> tuple[Row, ...]:
        """At most `count` workloads, in order: those with the largest weighted differences."""
        drawn = [row for row in self.rows if row.bars]
        chosen = sorted(drawn, key=lambda row: (row.weight * (1 - row.bars[-1].length), row.weight), reverse=True)
        return tuple(row for row in drawn if row in chosen[:count])

    def selection(self, rows: Sequence[Row]) -> str:
        """How `rows` were chosen; empty if they are all."""
        every = len(self.rows)
        if len(rows) == every:
            return ""
        return n_(
            "{shown} of {count} test, by difference", "{shown} of {count} tests, by difference", every, shown=len(rows)
        )

    @property
    def overall(self) -> tuple[Ratio, ...]:
        """Overall ratios without the baseline's own."""
        return tuple(ratio for ratio in self.standing if ratio.candidate != self.baseline)

    @property
    def axis_note(self) -> str:
        """Explanation of the bars."""
        every = (*self.overall, *(ratio for row in self.rows for ratio in row.ratios.values()))
        if any(ratio.low is not None for ratio in every):
            return _("Ratios to {baseline}: above 1 is better, with 95 % intervals", baseline=self.baseline)
        return _("Ratios to {baseline}: above 1 is better", baseline=self.baseline)

    @property
    def caption(self) -> str:
        """What lengths and remarks of the bars mean; empty where there are no bars."""
        bars = [bar for row in self.rows for bar in row.bars if bar.figure]
        title = self.findings.result.plan.candidate(self.baseline).title
        if any(bar.verdict == "open" for bar in bars):
            return _("Longer is better. Hatched or pale: no difference from {candidate} is proven.", candidate=title)
        if any(bar.remark for bar in bars):
            return _("Longer is better. Differences are from {candidate}.", candidate=title)
        return _("Longer is better.") if bars else ""

    @property
    def share_title(self) -> str:
        """Header of the column with the first choice's share of the bare device."""
        return _("disk speed")

    @property
    def share_explained(self) -> str:
        """Explanation of that column; empty if there is none."""
        if not (shares := [row for row in self.rows if row.share]):
            return ""
        text = N_("{title}: how much of the disk's own speed, without a filesystem, {candidate} reached")
        if shares[0].disks > 1:
            text = N_("{title}: how much of the speed of one of its disks, without a filesystem, {candidate} reached")
        return _(text, title=self.share_title, candidate=self.first)

    @property
    def by_workload(self) -> Table:
        """Ratios by workload, with the baseline's own figure and the share of the bare device."""
        compared = [name for name in self.candidates if any(name in row.ratios for row in self.rows)]
        shares = any(row.share for row in self.rows)
        lines = [(_("by workload"), _("weight"), self.baseline, *compared)]
        for row in self.rows:
            own = row.figures.get(self.baseline, "–")
            lines.append((row.title, number(f"{row.weight:g}"), own, *map(row.cell, compared)))
        if shares:
            column = (self.share_title, *(row.share_words or "–" for row in self.rows))
            lines = [(*line, cell) for line, cell in zip(lines, column)]
        signs = legend() if any(row.ratios for row in self.rows) else ""
        notes = tuple(filter(None, (signs, self.share_explained)))
        return Table(lines[0], tuple(lines[1:]), notes=notes, fixed=len(lines[0]) - len(compared))

    @property
    def by_age(self) -> Table:
        """Ratios of aged candidates to new ones, for all workloads together and for each."""
        known = {(ratio.workload, ratio.candidate): ratio for ratio in self.findings.age}
        names = tuple(dict.fromkeys(name for __, name in known))
        titles = {"": _("all together"), **{row.name: row.title for row in self.rows}}
        rows = tuple(
            (title, *(ratio_cell(known.get((workload, name))) for name in names)) for workload, title in titles.items()
        )
        notes = (_("Above 1 the aged one was better, in the same rounds."),)
        return Table((_("aged over new"), *names), rows, notes=notes)

    @property
    def also_measured(self) -> Table:
        """Table of further figures."""
        names = self.measured_candidates
        rows = ((_(title), *(figures.get(name, "–") for name in names)) for title, figures in self.extras.items())
        return Table((_("also measured"), *names), tuple(rows))

    @property
    def measured_candidates(self) -> tuple[str, ...]:
        """Candidates with figures, the baseline first."""
        known = set().union(*(row.figures for row in self.rows), *self.extras.values())
        return tuple(name for name in (self.baseline, *self.candidates) if name in known)

    @property
    def lists(self) -> Mapping[str, tuple[str, ...]]:
        """Title, to be translated where it is shown, to sentences, of sections that are not empty."""
        sections = {
            WHEN_A_DISK_FAILS: layout_texts(self.findings.result.plan),
            FAILED: self.failures,
            DOUBTS: (*self.doubts, *self.notes),
        }
        return {title: items for title, items in sections.items() if items}


def document(view: Presentation) -> Document:
    """The report in blocks."""
    charts = tuple((row.title, row.bars) for row in view.rows if row.bars)
    rounds = any(bar.rounds for __, bars in charts for bar in bars)
    ordered = (
        (row.title, tuple(row.ratios[name] for name in view.candidates if name in row.ratios)) for row in view.rows
    )
    by_workload = tuple((title, ratios) for title, ratios in ordered if ratios)
    return (
        AnswerBlock(view.answer.sign, view.answer.verdict, view.answer.certainty, view.below),
        Commands(_(SET_UP), view.answer.commands),
        Words((view.title,), strong=True),
        Figures(charts, p_("heading of figures", "Measured"), _(EACH_ROUND) if rounds else "", view.caption),
        Bullets("", tuple(reason.text for reason in view.reasons)),
        Facts(view.facts, _("How it was measured")),
        Ratios((("", view.overall),), view.baseline, view.axis_note, _("Overall")),
        Ratios(by_workload, view.baseline, title=_("Overall, by workload"), folded=True),
        *((view.by_age,) if view.findings.age else ()),
        view.by_workload,
        view.also_measured,
        *(Bullets(_(title), items) for title, items in view.lists.items()),
        Commands(_("Commands of the run"), view.measured, folded=len(view.measured) > 1),
        Commands(_("To repeat it"), (view.repeat,)),
    )


def post(view: Presentation) -> Document:
    """As much of the report as fits into a post, and a command for others to try.

    Its table has the best candidates first, and as many workloads as leave room for the verdict, the lines below it,
    the table's header, the subject and the command.
    """
    rows, plan = view.highlights(max(POST_LINES - len(view.below) - 4, LEAST_ROWS)), view.findings.result.plan
    ranked = dict.fromkeys((*(ratio.candidate for ratio in view.standing), *view.measured_candidates))
    names = [name for name in ranked if any(name in row.figures for row in rows)]
    header = (view.selection(rows) or _("Test"), *(plan.candidate(name).title for name in names))
    return (
        AnswerBlock(view.answer.sign, view.answer.verdict, view.answer.certainty, view.below),
        Table(header, tuple((row.title, *map(row.figure, names)) for row in rows)),
        Words((view.in_short,)),
        Commands("", (view.attempt,) if view.attempt else ()),
    )


def present(findings: Findings) -> Presentation:
    """The report of a result. Before it leaves the machine, `findings` must go through `privacy.harmless`."""
    result, analysis = findings.result, findings.analysis
    plan = result.plan
    baseline = findings.baseline
    ranked = [ratio.candidate for ratio in analysis.overall if ratio.candidate != baseline]
    others = [c.name for c in plan.candidates if c.name not in (baseline, *ranked)]
    title = _(plan.recipe.title)
    if plan.drive and plan.drive.model:
        title = p_("title of a report", "{recipe} on {disk}", recipe=title, disk=plan.drive.model)
    return Presentation(
        findings=findings,
        title=title,
        answer=findings.answer,
        ended=_(ENDED[result.outcome]),
        reasons=findings.reasons,
        facts=tuple(_facts(findings)),
        baseline=baseline,
        candidates=(*ranked, *others),
        standing=analysis.standing,
        rows=tuple(_rows(findings)),
        first=findings.first,
        extras=dict(_extras(findings)),
        failures=tuple(_failures(findings)),
        doubts=tuple(doubt.text for doubt in findings.doubts),
        notes=tuple(_notes(findings)),
        measured=tuple(shlex.join(c.argv) for c in plan.commands if c.candidate),
        repeat=repeat_command(plan),
        attempt="" if plan.recipe.own else attempt_command(plan),
    )


def run_text(rounds: int, elapsed_s: float, outcome: Outcome, discarded: int = 0) -> str:
    """Duration of a run, and how it ended: `3 rounds, 7 min, stopped early`."""
    parts = (
        rounds_text(rounds),
        duration_text(elapsed_s) if elapsed_s else "",
        n_("{count} discarded", "{count} discarded", discarded) if discarded else "",
        _(OUTCOMES[outcome]),
    )
    return ", ".join(filter(None, parts))


def name_drive(drive: Drive) -> str:
    """Model, size and kind: `ST8000AS0002, 8.00 TB, hard disk`."""
    return ", ".join((drive.model or _("a disk without a model name"), *size_and_kind(drive)))


def size_and_kind(drive: Drive) -> tuple[str, ...]:
    """`8.00 TB` and `hard disk`, as far as they are known."""
    size = size_text(drive.size_bytes) if drive.size_bytes else ""
    return tuple(filter(None, (size, _(DRIVE_KINDS.get(drive.kind, "")))))


def describe_drive(drive: Drive) -> str:
    """The same with its connection: `ST8000AS0002, 8.00 TB, hard disk, SATA, 5980 rpm`."""
    bus = "" if drive.bus in ("other", "nvme") else drive.bus.upper()
    parts = (
        name_drive(drive),
        f"{bus} ({drive.bridge})" if bus and drive.bridge else bus,
        _("{count} rpm", count=drive.rpm) if drive.rpm else "",
        _("firmware {version}", version=drive.firmware) if drive.firmware else "",
    )
    return ", ".join(part for part in parts if part)


def describe_smr(drive: Drive) -> str:
    """The verdict with its evidence in a line; empty for other drives than hard disks."""
    verdict = drive.smr
    if verdict.kind == "not-a-hard-disk" or (drive.kind != "hdd" and verdict.kind == "unknown"):
        return ""
    if verdict.kind == "unknown":
        return _("unknown whether it is shingled")
    evidence = "; ".join(shown(item.text).rstrip(".\u3002") for item in verdict.evidence if verdict.sign(item) == "✓")
    return verdict.sentence(flash=drive.flash) + (f": {evidence}" if evidence else "")


AFTERWARDS: Mapping[str, str] = {
    "image": N_("{place}, removed afterwards"),
    "device": N_("{place}; left empty, without a filesystem"),
    "directory": N_("{place}; nothing is formatted"),
}
"""What a run does with the place that it measures on, by kind of target."""


def place_text(plan: Plan) -> str:
    """What is measured on: `a scratch image of 2 GiB on ext4 in /var/tmp`; without paths where they are hidden."""
    target, members = plan.target, plan.target.members
    if target.kind == "directory":
        directories = ", ".join(candidate.directory for candidate in plan.candidates)
        return _("directories of their own in {directories}", directories=directories)
    if target.kind == "image":
        return _images_text(target)
    paths = ", ".join(
        p_("a device and its size", "{path} of {size}", path=member.path, size=size_text(member.size_bytes))
        for member in members
        if member.path
    )
    if target.others:
        devices = n_("{count} device itself", "{count} devices themselves", len(members))
    else:
        devices = _("the device itself")
    return f"{devices}: {paths}" if paths else devices


def _images_text(target: Target) -> str:
    size, members = binary_text(target.size_bytes), target.members
    if target.others:
        text = n_("{count} scratch image of {size}", "{count} scratch images of {size}", len(members), size=size)
    else:
        text = _("a scratch image of {size}", size=size)
    if target.host_filesystem:
        text = p_("scratch images", "{images} on {filesystem}", images=text, filesystem=target.host_filesystem)
    paths = ", ".join(dict.fromkeys(member.path for member in members if member.path))
    return p_("scratch images", "{images} in {directories}", images=text, directories=paths) if paths else text


def memory_text(plan: Plan) -> str:
    """Memory limit of measured programs; empty if all use direct I/O."""
    if all(workload.job.direct for workload in plan.recipe.workloads):
        return ""
    if not plan.memory_limit_bytes:
        return _("no memory limit for measured programs")
    size = binary_text(plan.memory_limit_bytes)
    return _("{size} for measured programs, page cache included", size=size)


def repeat_command(plan: Plan) -> str:
    """One command that measures the same again."""
    if plan.target.kind == "image":
        target = _images(plan.target)
    elif plan.target.kind == "directory":
        target = _directories(plan)
    else:
        paths = (member.path or name for member, name in zip(plan.target.members, plan.target.stand_ins))
        target = f"{'devices' if plan.target.others else 'device'}:{','.join(paths)}"
    words = ["fswizard", "run", plan.recipe.name]
    if plan.target.kind != "directory":
        words += [*_candidates(plan), "--baseline", plan.baseline]
    words += ["--target", target, "--time", f"{plan.time_limit_s:.0f}s"]
    words += ["--rounds", f"{plan.minimum_rounds}..{plan.maximum_rounds}", "--seed", str(plan.seed)]
    jobs = [workload.job for workload in plan.recipe.workloads]
    if plan.memory_limit_bytes:
        words += ["--memory-limit", binary_size_text(plan.memory_limit_bytes)]
    elif not all(job.direct for job in jobs):
        words += ["--memory-limit", "none"]
    if plan.write_budget_bytes != usual_budget_bytes(plan.drive):
        budget = plan.write_budget_bytes
        words += ["--write-budget", "none" if budget is None else decimal_size_text(budget)]
    if plan.needs:
        words += ["--need", ",".join(plan.needs)]
    return shlex.join(words)


def attempt_command(plan: Plan) -> str:
    """One command that compares the same on another machine, without target, limits or order of this run."""
    words = ["fswizard", "run", plan.recipe.name]
    if plan.target.kind == "directory":
        return shlex.join([*words, "--target", _directories(plan)])
    words += _candidates(plan)
    if plan.target.others:
        words += ["--target", f"images:{len(plan.target.members)}x{binary_size_text(plan.recipe.image_bytes)}"]
    return shlex.join(words)


def _candidates(plan: Plan) -> tuple[str, ...]:
    names = "; ".join(candidate.name for candidate in plan.beside or plan.candidates)
    return ("--candidates", names, *(["--aged"] if plan.beside else []))


def _directories(plan: Plan) -> str:
    return "dir:" + ",".join(candidate.directory for candidate in plan.candidates)


def _images(target: Target) -> str:
    """A value for --target, without directories if they are hidden."""
    size, where = binary_size_text(target.size_bytes), target.path
    if target.others:
        paths = [member.path for member in target.members]
        count = f"{len(paths)}x" if len(set(paths)) == 1 else ""
        size, where = f"{count}{size}", ",".join(paths if not count else paths[:1]) if where else ""
    return f"{'images' if target.others else 'image'}:{size}" + (f"@{where}" if where else "")


def _facts(findings: Findings) -> Iterator[tuple[str, str]]:
    result = findings.result
    plan, environment = result.plan, result.environment
    if plan.drive is not None:
        yield _("Disk"), describe_drive(plan.drive)
        if plan.drive.serial:
            yield _("Serial"), plan.drive.serial
        if smr := describe_smr(plan.drive):
            yield p_("how a disk records", "Recording"), smr
    yield p_("where, in a list of facts", "Measured"), _measured_on(result)
    yield _("Recipe"), f"{_(plan.recipe.title)} ({plan.recipe.name})"
    discarded = len(result.discarded_rounds)
    yield _("Rounds"), run_text(findings.analysis.rounds, result.elapsed_s, result.outcome, discarded)
    if written := written_text(result):
        yield _("Written"), written
    if system := _system(result):
        yield _("System"), system
    tools = [f"{name} {version}" for name, version in environment.tools.items() if version]
    if environment.version:
        tools.append(f"fswizard {environment.version}")
    if tools:
        yield _("Tools"), ", ".join(tools)
    if environment.started:
        yield _("Date"), environment.started[:10]


def _measured_on(result: Result) -> str:
    plan = result.plan
    if plan.target.kind == "directory":
        return _("in existing directories; nothing was formatted")
    wiped = result.outcome not in ("killed", "running") and not any(
        doubt.code == "not-wiped" for doubt in result.doubts
    )
    if plan.target.kind == "device" and wiped:
        return p_("where, in a list of facts", "on {place}, left wiped", place=place_text(plan))
    return p_("where, in a list of facts", "on {place}", place=place_text(plan))


def _system(result: Result) -> str:
    environment, limit_bytes = result.environment, result.plan.memory_limit_bytes
    limited = limit_bytes and not any(doubt.code == "fits-in-memory" for doubt in result.doubts)
    memory = p_("of a machine", "{size} memory", size=binary_text(environment.memory_bytes))
    if limited:
        limit = binary_text(limit_bytes)
        memory = _("{memory}, {size} of it for measured programs", memory=memory, size=limit)
    parts = (
        f"Linux {environment.kernel}" if environment.kernel else "",
        environment.distribution,
        environment.processor,
        memory if environment.memory_bytes else "",
        p_("of a machine", "host {name}", name=environment.host) if environment.host else "",
    )
    return ", ".join(part for part in parts if part)


def _rows(findings: Findings) -> Iterator[Row]:
    plan = findings.result.plan
    for workload in plan.recipe.workloads:
        ratios = {
            ratio.candidate: ratio
            for ratio in findings.analysis.by_workload
            if ratio.workload == workload.name and (ratio.candidate != ratio.baseline or ratio.verdict == "failed")
        }
        known = {s.candidate: s for s in findings.summaries if s.primary and s.workload == workload.name}
        summaries = {candidate.name: known[candidate.name] for candidate in plan.candidates if candidate.name in known}
        if summaries or ratios:
            figures = {name: _figure(workload, summary.median) for name, summary in summaries.items()}
            share = known[findings.first].of_bare_device if findings.first in known else None
            bars = tuple(_bars(findings, workload, ratios, summaries))
            disks = len(plan.target.members)
            yield Row(workload.name, _(workload.title), workload.weight, figures, ratios, share, disks, bars)


def _figure(workload: Workload, value: float) -> str:
    return figure_text(value, workload.metric.unit, counted(workload.job.counts))


def _bars(
    findings: Findings, workload: Workload, ratios: Mapping[str, Ratio], summaries: Mapping[str, Summary]
) -> Iterator[Bar]:
    result, plan = findings.result, findings.result.plan
    higher = workload.metric.better == "higher"
    failed = {name: ratio for name, ratio in ratios.items() if ratio.verdict == "failed"}
    medians = {name: summary.median for name, summary in summaries.items() if name not in failed}
    samples = [s for s in result.samples if s.primary and s.status == "ok" and s.workload == workload.name]
    ordered = sorted(medians, key=lambda name: medians[name], reverse=higher)
    for name in ordered:
        best, own = medians[ordered[0]], medians[name]
        length = _length(own, best, higher=higher)
        figure = _figure(workload, own)
        ratio = ratios.get(name)
        verdict: Verdict = ratio.verdict if ratio else "alike" if name == findings.baseline else "open"
        remark = speed_text(ratio.ratio, workload.metric.unit) if ratio and ratio.differs else ""
        if workload.job.direct and name in result.kept_in_memory:
            remark, verdict = p_("beside a figure", "in memory"), "open"
        rounds = tuple(
            RoundFigure(s.round, _figure(workload, s.value), _length(s.value, best, higher=higher))
            for s in samples
            if s.candidate == name and s.round not in result.discarded_rounds
        )
        yield Bar(name, plan.candidate(name).title, kind_of(plan, name), figure, length, remark, verdict, rounds)
    for name, ratio in failed.items():
        yield Bar(name, plan.candidate(name).title, kind_of(plan, name), "", 0.0, ratio.why, "failed")


def _length(own: float, best: float, *, higher: bool) -> float:
    """Length of a bar, where that of the best is 1."""
    better, other = (own, best) if higher else (best, own)
    return better / other if other else 1.0


def _extras(findings: Findings) -> Iterator[tuple[str, Mapping[str, str]]]:
    """Further figures: the worst stall, the slowest syncs, the peak space used, and sums over the workloads."""
    most: dict[str, float] = {}
    stalls: dict[str, float] = {}
    sums: dict[str, dict[str, float]] = {m.name: {} for m in (CPU, MKFS_TIME, PREALLOCATION_TIME, UNPLUG_TIME)}
    syncs: dict[str, dict[str, float]] = {metric.name: {} for metric in SYNCS}
    clocks: dict[str, dict[str, float]] = {RETURNED.name: {}, DURATION.name: {}}
    both = {summary.workload for summary in findings.summaries if summary.metric == RETURNED.name}
    for summary in findings.summaries:
        if is_stall(summary.metric) and summary.worst:
            stalls[summary.candidate] = max(stalls.get(summary.candidate, 0.0), summary.worst)
        if summary.metric in syncs:
            slowest = syncs[summary.metric]
            slowest[summary.candidate] = max(slowest.get(summary.candidate, 0.0), summary.median)
        if summary.metric == USED.name:  # it includes the files of earlier workloads
            most[summary.candidate] = max(most.get(summary.candidate, 0.0), summary.median)
        elif summary.metric in clocks and summary.workload in both:
            total = clocks[summary.metric]
            total[summary.candidate] = total.get(summary.candidate, 0.0) + summary.median
        elif not summary.primary and summary.metric in sums:
            total = sums[summary.metric]
            total[summary.candidate] = total.get(summary.candidate, 0.0) + summary.median
    plan = findings.result.plan
    unplug = sums[UNPLUG_TIME.name] if plan.drive and plan.drive.unpluggable else {}
    unplugging = N_("time until safe to unplug")
    if plan.target.kind == "directory":
        unplugging = N_("time until safe to unplug (sync alone)")
    for title, text, values in (
        (WORST_STALL, stall_text, stalls),
        (N_("median sync"), seconds_text, syncs[SYNC_MEDIAN.name]),
        (N_("99 % of syncs within"), seconds_text, syncs[SYNC_P99.name]),
        (N_("99.9 % of syncs within"), seconds_text, syncs[SYNC_P999.name]),
        (N_("write amplification"), three_digits, write_amplification(findings.summaries)),
        (N_("until programs return"), seconds_text, clocks[RETURNED.name]),
        (N_("until it is on disk"), seconds_text, clocks[DURATION.name]),
        (N_("CPU time per round"), seconds_text, sums[CPU.name]),
        (N_("mkfs time"), seconds_text, sums[MKFS_TIME.name]),
        (N_("preallocation time"), seconds_text, sums[PREALLOCATION_TIME.name]),
        (N_("peak space used"), size_text, most),
        (unplugging, seconds_text, unplug),
    ):
        if values:
            yield title, {name: text(value) for name, value in values.items()}


def _failures(findings: Findings) -> Iterator[str]:
    titles = {workload.name: _(workload.title) for workload in findings.result.plan.recipe.workloads}
    for one in findings.result.failures:
        yield _(
            "{candidate}: {reason} ({where}, round {round}, {kind}).",
            candidate=one.candidate,
            reason=shown(one.text).rstrip(".\u3002"),
            where=titles.get(one.workload, _("formatting or mounting")),
            round=one.round,
            kind=one.kind,
        )
    known = {failure.candidate for failure in findings.result.failures}
    for ratio in findings.analysis.overall:
        if ratio.verdict == "failed" and ratio.candidate not in known:
            yield f"{ratio.candidate}: {shown(ratio.text) or _('failed')}"


def _notes(findings: Findings) -> Iterator[str]:
    ratios = [r for r in findings.analysis.by_workload if r.verdict != "failed"]
    for workload in findings.result.plan.recipe.workloads:
        other = {r.baseline for r in ratios if r.workload == workload.name} - {findings.baseline}
        if other:
            yield _("{test}: ratios are to {candidate}.", test=_(workload.title), candidate=min(other))
    few_rounds = any(doubt.code == "few-rounds" for doubt in findings.doubts)
    if ratios and not few_rounds and all(ratio.low is None for ratio in ratios):
        rounds = max(ratio.rounds for ratio in ratios)
        yield n_(
            "No intervals: they need {needed}, and there is only one.",
            "No intervals: they need {needed}, and only {count} can be compared.",
            rounds,
            needed=rounds_text(FIRST_LOOK),
        )
    decided = [ratio for ratio in ratios if ratio.low is not None and ratio.verdict != "open"]
    if len({ratio.workload for ratio in ratios if ratio.low is not None}) > 1 and decided:
        yield _("At most 1 in 12 of what is called faster or slower by test may be wrong.")
