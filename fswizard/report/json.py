"""One JSON document for programs, described by result.schema.json beside this file."""

from __future__ import annotations

import json
import shlex
from dataclasses import asdict
from typing import Any

from fswizard.model.drive import Drive
from fswizard.model.filesystem import Candidate
from fswizard.model.judgement import Findings, Ratio
from fswizard.model.layout import Array
from fswizard.model.plan import FORMAT, MOUNTING, Plan, Target

SCHEMA = 1


def render(findings: Findings) -> str:
    return json.dumps(document(findings), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def document(findings: Findings) -> dict[str, Any]:
    """The report as plain JSON values."""
    result, judgement, advice = findings.result, findings.judgement, findings.advice
    return {
        "schema": SCHEMA,
        "environment": asdict(result.environment),
        "drive": _drive(result.plan.drive) if result.plan.drive else None,
        "plan": _plan(result.plan),
        "outcome": result.outcome,
        "elapsed_s": result.elapsed_s,
        "rounds": judgement.rounds,
        "discarded_rounds": list(result.discarded_rounds),
        "samples": [asdict(sample) for sample in result.samples],
        "throughput_series": [asdict(series) for series in result.throughput_series],
        "failures": [asdict(failure) for failure in result.failures],
        "ratios": [_ratio(ratio) for ratio in judgement.by_workload],
        "overall": [_ratio(ratio, "workload") for ratio in judgement.overall],
        "doubts": [asdict(doubt) for doubt in findings.doubts],
        "advice": asdict(advice) | {"reasons": [reason.text for reason in advice.reasons]},
    }


def _fields(value: object, *names: str) -> dict[str, Any]:
    return {name: getattr(value, name) for name in names}


def _drive(drive: Drive) -> dict[str, Any]:
    known = _fields(drive, "name", "model", "serial", "firmware", "size_bytes", "kind", "bus", "bridge", "rpm")
    smr = asdict(drive.smr)
    return known | {"smr": {name: smr[name] for name in ("kind", "confidence", "evidence")}}


def _plan(plan: Plan) -> dict[str, Any]:
    names = ("name", "title", "engine", "weight")
    return {
        "recipe": plan.recipe.name,
        "title": plan.recipe.title,
        "workloads": [
            _fields(each, *names) | {"metric": asdict(each.metric), "job": asdict(each.job)}
            for each in plan.recipe.workloads
        ],
        "candidates": [_candidate(candidate, plan) for candidate in plan.candidates],
        "target": _target(plan.target),
        **_fields(plan, "baseline", "needs", "time_limit_s", "minimum_rounds", "maximum_rounds", "seed"),
    }


def _candidate(candidate: Candidate, plan: Plan) -> dict[str, Any]:
    return {
        "name": candidate.name,
        "filesystem": candidate.filesystem.name,
        "mkfs": " && ".join(map(shlex.join, plan.commands_for(candidate.name, FORMAT))),
        "mount": " && ".join(map(shlex.join, plan.commands_for(candidate.name, MOUNTING))),
        "array": _array(candidate.array, plan.target) if candidate.array else None,
    }


def _target(target: Target) -> dict[str, Any]:
    members = [_fields(member, "path", "size_bytes", "host_filesystem") for member in target.members]
    return {"kind": target.kind, **members[0], "members": members}


def _array(array: Array, target: Target) -> dict[str, Any]:
    options = {option.name: array.option(option.name) for option in array.layout.options}
    known = _fields(array, "degraded", "members", "survives")
    return known | {"layout": array.layout.name, "options": options, "room_bytes": target.room_bytes(array)}


def _ratio(ratio: Ratio, *without: str) -> dict[str, Any]:
    """`ratio`, `low` and `high` are null where nothing could be compared, or where there are too few rounds."""
    values = asdict(ratio) | {"ratio": ratio.ratio if ratio.verdict != "failed" or ratio.ratio > 0 else None}
    return {name: value for name, value in values.items() if name not in without}
