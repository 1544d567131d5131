"""One JSON document for programs, described by result.schema.json beside this file, which is made of the types here."""

from __future__ import annotations

import json
import shlex
from typing import Annotated, Any, Literal, TypedDict, TypeVar, cast

import msgspec

from fswizard.model.analysis import AnswerKind, Findings, MoreTime, Ratio, Verdict
from fswizard.model.drive import Bus, Confidence, DriveKind, Evidence, SmrKind
from fswizard.model.filesystem import Candidate
from fswizard.model.layout import Array
from fswizard.model.metrics import Metric
from fswizard.model.plan import FORMAT, MOUNTING, Plan, Target
from fswizard.model.result import Doubt, Environment, Failure, Outcome, Sample, ThroughputSeries

T = TypeVar("T")
Count = Annotated[int, msgspec.Meta(ge=0)]
Share = Annotated[float, msgspec.Meta(gt=0)]


class SmrReport(TypedDict):
    kind: SmrKind
    confidence: Confidence
    evidence: tuple[Evidence, ...]


class DriveReport(TypedDict):
    name: str
    model: str
    serial: str
    """Empty unless asked for."""
    firmware: str
    size_bytes: Count
    kind: DriveKind
    bus: Bus
    bridge: str
    rpm: int | None
    smr: SmrReport


class WorkloadReport(TypedDict):
    name: str
    title: str
    engine: str
    metric: Metric
    weight: Annotated[float, msgspec.Meta(ge=0)]
    job: dict[str, Any]


class ArrayReport(TypedDict):
    """How a candidate is spread over several devices, or the volume that it lies on."""

    layout: str
    options: dict[str, str]
    degraded: bool
    """Measured with one device missing."""
    members: Annotated[int, msgspec.Meta(ge=1)]
    survives: int
    """How many more devices may fail, whichever they are."""
    room_bytes: Count


class CandidateReport(TypedDict):
    name: str
    filesystem: str
    mkfs: str
    """As it was run, `DEVICE` standing for the device, or `DEVICE-1` and so on for several; empty where nothing was
    formatted."""
    mount: str
    array: ArrayReport | None


class MemberReport(TypedDict):
    path: str
    """Empty unless asked for."""
    size_bytes: Count
    host_filesystem: str


class TargetReport(MemberReport):
    kind: Literal["image", "device", "directory"]
    members: Annotated[tuple[MemberReport, ...], msgspec.Meta(min_length=1)]
    """Each device or image, the first one too."""


class PlanReport(TypedDict):
    recipe: str
    title: str
    workloads: tuple[WorkloadReport, ...]
    candidates: tuple[CandidateReport, ...]
    baseline: str
    target: TargetReport
    needs: tuple[str, ...]
    time_limit_s: float
    minimum_rounds: Count
    maximum_rounds: Count
    write_budget_bytes: Count | None
    """The run ends before it has written more; null for no limit."""
    seed: Count
    memory_limit_bytes: Count
    """Of all programs together that are measured and go through the page cache, which counts; 0 for no limit."""


class OverallReport(TypedDict):
    candidate: str
    baseline: str
    ratio: Share | None
    """Candidate over baseline, above 1 is better, also for latencies and durations; null where nothing could be
    compared."""
    low: Share | None
    """Lower end of the 95 % interval; null under two rounds."""
    high: Share | None
    """Upper end of the 95 % interval; null under two rounds."""
    rounds: Count
    verdict: Verdict
    text: str
    """Why, where the verdict is `failed`."""


class RatioReport(OverallReport):
    workload: str


class DiskShareReport(TypedDict):
    """What a candidate reached of the device's own figure, measured without a filesystem."""

    candidate: str
    workload: str
    ratio: Share
    low: Share | None
    """Lower end of the 95 % interval; null under two rounds, or where the device was measured once."""
    high: Share | None
    """Upper end of the 95 % interval; null as `low`."""
    rounds: Count


class AnswerReport(TypedDict):
    kind: AnswerKind
    choice: tuple[str, ...]
    """The candidate to use, then others that may be as good."""
    bound: Annotated[float, msgspec.Meta(ge=0)]
    """`winner`, `depends`: the least lead; `alike`: the largest difference; as a share."""
    behind: tuple[str, ...]
    """Candidates that are proven slower."""
    depends_on: tuple[str, ...]
    """`depends`: the workloads without which no lead is proven."""
    warning: str
    """Code of the doubt that matters most."""
    more: MoreTime | None
    """`open`: what more time would bring."""
    verdict: str
    lines: tuple[str, ...]
    commands: tuple[str, ...]
    reasons: tuple[str, ...]


class Report(TypedDict):
    """What `fswizard report --format json` prints. Durations are in seconds, sizes in bytes."""

    schema: Literal[2]
    answer: AnswerReport
    environment: Environment
    drive: DriveReport | None
    plan: PlanReport
    outcome: Outcome
    elapsed_s: Annotated[float, msgspec.Meta(ge=0)]
    rounds: Count
    discarded_rounds: tuple[Count, ...]
    samples: tuple[Sample, ...]
    throughput_series: tuple[ThroughputSeries, ...]
    failures: tuple[Failure, ...]
    ratios: tuple[RatioReport, ...]
    overall: tuple[OverallReport, ...]
    of_bare_device: tuple[DiskShareReport, ...]
    doubts: tuple[Doubt, ...]


def render(findings: Findings) -> str:
    document = msgspec.to_builtins(_report(findings), enc_hook=str.__str__)  # a translated sentence is a subclass
    return json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _of(kind: type[T], source: Any, **others: Any) -> T:
    """A part of the document: attributes of `source` with the same names, and the others."""
    fields = {name: others[name] if name in others else getattr(source, name) for name in kind.__annotations__}
    return cast(T, fields)


def _report(findings: Findings) -> Report:
    result, analysis = findings.result, findings.analysis
    drive = result.plan.drive
    return _of(
        Report,
        result,
        schema=2,
        drive=_of(DriveReport, drive, smr=_of(SmrReport, drive.smr)) if drive else None,
        plan=_plan(result.plan),
        rounds=analysis.rounds,
        ratios=[_ratio(RatioReport, ratio) for ratio in analysis.by_workload],
        overall=[_ratio(OverallReport, ratio) for ratio in analysis.overall],
        of_bare_device=[_of(DiskShareReport, s.of_bare_device) for s in findings.summaries if s.of_bare_device],
        doubts=findings.doubts,
        answer=_of(AnswerReport, findings.answer, reasons=[reason.text for reason in findings.reasons]),
    )


def _plan(plan: Plan) -> PlanReport:
    return _of(
        PlanReport,
        plan,
        recipe=plan.recipe.name,
        title=plan.recipe.title,
        workloads=[_of(WorkloadReport, workload) for workload in plan.recipe.workloads],
        candidates=[_candidate(candidate, plan) for candidate in plan.candidates],
        target=_of(TargetReport, plan.target, members=[_of(MemberReport, each) for each in plan.target.members]),
    )


def _candidate(candidate: Candidate, plan: Plan) -> CandidateReport:
    return _of(
        CandidateReport,
        candidate,
        filesystem=candidate.filesystem.name,
        mkfs=" && ".join(map(shlex.join, plan.commands_for(candidate.name, FORMAT))),
        mount=" && ".join(map(shlex.join, plan.commands_for(candidate.name, MOUNTING))),
        array=_array(candidate.array, plan.target) if candidate.array else None,
    )


def _array(array: Array, target: Target) -> ArrayReport:
    return _of(
        ArrayReport,
        array,
        layout=array.layout.name,
        options={option.name: array.option(option.name) for option in array.layout.options},
        room_bytes=target.room_bytes(array),
    )


def _ratio(kind: type[T], ratio: Ratio) -> T:
    compared = ratio.verdict != "failed" or ratio.ratio > 0
    return _of(kind, ratio, ratio=ratio.ratio if compared else None)
