"""Findings built by hand, for the reports: three workloads, and four candidates, one of them failed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import chain
from typing import Any

from fswizard.disks import exact_commands
from fswizard.model.analysis import Analysis, Answer, Findings, Ratio, Reason, Verdict
from fswizard.model.codec import from_json, to_json
from fswizard.model.metrics import BYTES_WRITTEN, DEVICE_WRITTEN, DURATION, IOPS, THROUGHPUT, WORST_LATENCY
from fswizard.model.result import Doubt, Environment, Failure, Sample, ThroughputSeries
from fswizard.stats import summarise
from tests.builders import make_drive, make_plan, make_result, make_samples, make_workload

WORKLOADS = (
    make_workload("large-files", metric=THROUGHPUT, weight=2.0),
    make_workload("random-append", metric=IOPS),
    make_workload("delete-tree", metric=DURATION),
)
FIGURES: dict[str, dict[str, tuple[float, ...]]] = {
    "large-files": {
        "ext4": (180e6, 181e6, 179e6),
        "xfs": (187e6, 188e6, 186e6),
        "btrfs:noatime": (184e6, 185e6, 183e6),
        "": (190e6,),
    },
    "random-append": {
        "ext4": (652.0, 650.0, 655.0),
        "xfs": (1290.0, 1300.0, 1285.0),
        "btrfs:noatime": (482.0, 480.0, 485.0),
    },
    "delete-tree": {
        "ext4": (1.25, 1.26, 1.24),
        "xfs": (1.76, 1.77, 1.75),
        "btrfs:noatime": (1.34, 1.35, 1.33),
    },
}
RATIOS: dict[str, dict[str, tuple[float, Verdict]]] = {
    "xfs": {"large-files": (1.04, "alike"), "random-append": (1.98, "faster"), "delete-tree": (0.71, "slower")},
    "btrfs:noatime": {
        "large-files": (1.02, "alike"),
        "random-append": (0.74, "slower"),
        "delete-tree": (0.93, "slower"),
    },
}
OVERALL: tuple[tuple[str, float, float, float, Verdict], ...] = (
    ("xfs", 1.21, 1.15, 1.28, "faster"),
    ("btrfs:noatime", 1.012, 0.96, 1.06, "open"),
    ("ext4", 1.0, 1.0, 1.0, "alike"),
)
FAILURE = Failure(1, "nilfs2", "large-files", "ENOSPC", "The volume was full, the cleaner could not keep up.")


ENVIRONMENT = Environment(
    "0.1.0", "2026-01-02T03:04:05Z", "6.1.0-18-amd64", "Debian GNU/Linux 12 (bookworm)", "annes-box",
    "AMD Ryzen 5 5600G", 16 << 30, {"fio": "3.33", "mkfs.xfs": "6.1.0"},
)  # fmt: skip


def make_findings(**fields: Any) -> Findings:
    """A run as in the program's sketches."""
    names = ("ext4", "xfs", "btrfs:noatime", "nilfs2")
    plan = make_plan(names, WORKLOADS, drive=make_drive("drive-managed", firmware="RT17"), seed=7)
    making = (exact_commands.making(each, plan.target.placeholders) for each in plan.candidates)
    plan = replace(plan, commands=tuple(chain(*making)))
    result = make_result(
        plan=plan,
        samples=tuple(_samples()),
        throughput_series=(ThroughputSeries(1, "xfs", "random-append", "1/s", (512.0, 0.0, 498.0)),),
        failures=(FAILURE,),
        environment=ENVIRONMENT,
        elapsed_s=431.0,
    )
    return replace(Findings(result, _analysis(), DOUBTS, ANSWER, REASONS, summarise(result)), **fields)


DOUBTS = (Doubt("cache-not-exceeded", "The cache of this shingled disk was not exceeded (4 of about 20 GB)."),)
ANSWER = Answer(
    "winner",
    "Use XFS: 21 % faster than ext4 here",
    ("xfs",),
    Ratio("xfs", "ext4", "", 1.21, 1.15, 1.28, 3, "faster"),
    0.15,
    "by at least 15 %",
    behind=("btrfs:noatime", "ext4"),
    lines=("Faster in 1 of 3 tests, slower in 1.", "Choose Btrfs instead if you want checksums and snapshots."),
)
REASONS = (
    Reason("excluded", "NILFS2 lacks quotas."),
    Reason("cost", "It loses when deleting a tree: it takes 1.4 × as long."),
)


def _samples() -> list[Sample]:
    samples: list[Sample] = []
    for workload in WORKLOADS:
        samples += make_samples(FIGURES[workload.name], workload.name, workload.metric)
    samples = [replace(sample, primary=False) if not sample.candidate else sample for sample in samples]
    for candidate, stall_s, written in (("ext4", 0.62, 1.05e9), ("xfs", 0.31, 1.01e9)):
        for metric, value in ((WORST_LATENCY, stall_s), (BYTES_WRITTEN, 1e9), (DEVICE_WRITTEN, written)):
            samples.append(Sample(1, candidate, "random-append", metric.name, value, metric.unit, metric.better))
    return samples


def _analysis() -> Analysis:
    by_workload = tuple(
        Ratio(candidate, "ext4", workload, ratio, ratio / 1.04, ratio * 1.04, 3, verdict)
        for candidate, ratios in RATIOS.items()
        for workload, (ratio, verdict) in ratios.items()
    )
    overall = [Ratio(name, "ext4", "", ratio, low, high, 3, verdict) for name, ratio, low, high, verdict in OVERALL]
    failed = Ratio("nilfs2", "ext4", "", 0.0, verdict="failed", text="volume full, the cleaner could not keep up")
    return Analysis(by_workload, (*overall, failed), ("xfs",), rounds=3)


def with_result(findings: Findings | None = None, plan: Mapping[str, Any] | None = None, **fields: Any) -> Findings:
    """Findings with these fields of the result and its plan."""
    findings = findings or make_findings()
    changed = replace(findings.result.plan, **(plan or {}))
    return replace(findings, result=replace(findings.result, plan=changed, **fields))


def renamed(findings: Findings, new_names: Mapping[str, str]) -> Findings:
    """The same findings with every text that is exactly one of these replaced, such as a candidate's name."""

    def change(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: change(item) for key, item in value.items()}
        if isinstance(value, list):
            return [change(item) for item in value]
        return new_names.get(value, value) if isinstance(value, str) else value

    return from_json(Findings, change(to_json(findings)))
