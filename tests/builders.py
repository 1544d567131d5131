"""Builders for test data: name what matters to the test, the rest has sensible values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from fswizard.engines.fio import FioJob
from fswizard.model.analysis import Analysis, Answer
from fswizard.model.drive import Drive, Evidence, SmrKind, SmrVerdict
from fswizard.model.filesystem import Candidate, Feature, Filesystem
from fswizard.model.metrics import THROUGHPUT, Metric
from fswizard.model.plan import Plan, Target
from fswizard.model.recipe import Recipe, Workload
from fswizard.model.result import Environment, Result, Sample
from fswizard.model.result_file import encoded, lines


def make_drive(smr: SmrKind = "cmr", **fields: Any) -> Drive:
    defaults: dict[str, Any] = {
        "name": "sdb",
        "size_bytes": 8_001_563_222_016,
        "model": "ST8000AS0002-1NA17Z",
        "serial": "Z8400000",
        "kind": "hdd",
        "bus": "sata",
        "rotational": True,
        "rpm": 5980,
        "smr": SmrVerdict(smr, "strong", (Evidence("model-table", smr, "strong", "our table names this family"),)),
    }
    return Drive(**{**defaults, **fields})


def make_filesystem(name: str = "ext4", **fields: Any) -> Filesystem:
    defaults: dict[str, Any] = {
        "title": name,
        "summary": f"{name} for tests",
        "mkfs_program": f"mkfs.{name}",
        "mount_type": name,
        "features": (Feature("checksums", "yes" if name == "btrfs" else "no", "test"),),
    }
    return Filesystem(name=name, **{**defaults, **fields})


def make_candidate(name: str = "ext4") -> Candidate:
    filesystem, _, options = name.partition(":")
    return Candidate(name, make_filesystem(filesystem), (), tuple(o for o in options.split(",") if o))


def make_workload(name: str = "write", metric: Metric = THROUGHPUT, weight: float = 1.0, **fields: Any) -> Workload:
    defaults: dict[str, Any] = {"engine": "fio", "job": FioJob("write", 1 << 20, 64 << 20), "seconds": 2.0}
    return Workload(name, name.capitalize(), metric=metric, weight=weight, **{**defaults, **fields})


def make_recipe(workloads: Sequence[Workload] = (), **fields: Any) -> Recipe:
    defaults: dict[str, Any] = {"image_bytes": 2 << 30, "minutes": 3.0}
    return Recipe(
        name=fields.pop("name", "quick"),
        title="Quick look",
        why="A first impression.",
        workloads=tuple(workloads) or (make_workload(),),
        **{**defaults, **fields},
    )


def make_plan(candidates: Sequence[str] = ("ext4", "xfs"), workloads: Sequence[Workload] = (), **fields: Any) -> Plan:
    defaults: dict[str, Any] = {
        "baseline": candidates[0],
        "target": Target("image", "/var/tmp", 2 << 30, "ext4"),
        "time_limit_s": 180.0,
        "seconds_per_trial": 4.0,
    }
    return Plan(
        recipe=fields.pop("recipe", None) or make_recipe(workloads),
        candidates=tuple(make_candidate(name) for name in candidates),
        **{**defaults, **fields},
    )


def make_samples(
    figures: Mapping[str, Sequence[float]], workload: str = "write", metric: Metric = THROUGHPUT, primary: bool = True
) -> tuple[Sample, ...]:
    """`figures` holds, for each candidate, its value in round 1, 2, …"""
    return tuple(
        Sample(number, candidate, workload, metric.name, value, metric.unit, metric.better, primary=primary)
        for candidate, values in figures.items()
        for number, value in enumerate(values, 1)
    )


def make_result(figures: Mapping[str, Sequence[float]] | None = None, **fields: Any) -> Result:
    """A finished run of one workload; `figures` as for `make_samples`."""
    figures = figures or {"ext4": (100.0, 101.0, 99.0), "xfs": (120.0, 121.0, 119.0)}
    result = Result(
        environment=Environment("0.1.0", "2026-01-02T03:04:05Z", "6.1.0", "Debian GNU/Linux 12 (bookworm)", "box"),
        plan=make_plan(tuple(figures)),
        samples=make_samples(figures),
        outcome="finished",
        elapsed_s=60.0,
    )
    return replace(result, **fields)


def write_result(path: Path, result: Result, analysis: Analysis | None = None, answer: Answer | None = None) -> None:
    """Write the file of a whole result; `analysis` and `answer` are shown in the history."""
    path.write_bytes(b"".join(map(encoded, lines(result, analysis, answer))))
