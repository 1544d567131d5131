"""Findings for the reports: three workloads, and four candidates, one of them failed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fswizard.advice import conclude
from fswizard.model.analysis import Findings
from fswizard.model.codec import from_json, to_json
from fswizard.model.metrics import BYTES_WRITTEN, DEVICE_WRITTEN, DURATION, IOPS, THROUGHPUT, WORST_LATENCY
from fswizard.model.recipe import PlannedCommand
from fswizard.model.result import Doubt, Environment, Failure, Sample, ThroughputSeries
from tests.builders import make_drive, make_plan, make_result, make_samples, make_workload

WORKLOADS = (
    make_workload("large-files", metric=THROUGHPUT, weight=2.0),
    make_workload("random-append", metric=IOPS),
    make_workload("delete-tree", metric=DURATION),
)
FIGURES = (
    {
        "ext4": (180e6, 181e6, 179e6),
        "xfs": (187e6, 188e6, 186e6),
        "btrfs:noatime": (184e6, 185e6, 183e6),
        "": (190e6,),
    },
    {
        "ext4": (652.0, 650.0, 655.0),
        "xfs": (1290.0, 1300.0, 1285.0),
        "btrfs:noatime": (482.0, 480.0, 485.0),
    },
    {
        "ext4": (1.25, 1.26, 1.24),
        "xfs": (1.76, 1.77, 1.75),
        "btrfs:noatime": (1.34, 1.35, 1.33),
    },
)
FAILURE = Failure(1, "nilfs2", "large-files", "ENOSPC", "The volume was full, the cleaner could not keep up.")


def make_findings() -> Findings:
    """A run as in the program's sketches."""
    command = PlannedCommand(("mkfs.xfs", "DEVICE"), candidate="xfs")
    candidates = ("ext4", "xfs", "btrfs:noatime", "nilfs2")
    drive = make_drive("drive-managed", firmware="RT17")
    samples: list[Sample] = []
    for workload, figures in zip(WORKLOADS, FIGURES):
        samples += make_samples(figures, workload.name, workload.metric)
    for metric, *values in ((WORST_LATENCY, 0.62, 0.31), (BYTES_WRITTEN, 1e9, 1e9), (DEVICE_WRITTEN, 2e9, 1e9)):
        samples += make_samples({"ext4": values[:1], "xfs": values[1:]}, "random-append", metric, primary=False)
    return conclude(
        make_result(
            plan=make_plan(candidates, WORKLOADS, drive=drive, seed=7, commands=(command, command)),
            samples=tuple(samples),
            throughput_series=(ThroughputSeries(1, "xfs", "random-append", "1/s", (512.0, 0.0, 498.0)),),
            failures=(FAILURE,),
            doubts=(Doubt("cache-not-exceeded", "The cache of this shingled disk was not exceeded."),),
            environment=Environment(
                *("0.1.0", "2026-01-02T03:04:05Z", "6.1.0-18-amd64", "Debian GNU/Linux 12 (bookworm)", "annes-box"),
                *("AMD Ryzen 5 5600G", 16 << 30, {"fio": "3.33", "mkfs.xfs": "6.1.0"}),
            ),
            elapsed_s=431.0,
        )
    )


def renamed(findings: Findings, new_names: Mapping[str, str]) -> Findings:
    """The same findings with every text that is exactly one of these replaced, such as a candidate's name."""

    def change(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: change(item) for key, item in value.items()}
        if isinstance(value, list):
            return [change(item) for item in value]
        return new_names.get(value, value) if isinstance(value, str) else value

    return from_json(Findings, change(to_json(findings)))
