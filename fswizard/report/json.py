"""One JSON document for programs, described by result.schema.json beside this file."""

from __future__ import annotations

import dataclasses
import json
import shlex
from typing import Any

from fswizard.model.drive import Drive
from fswizard.model.filesystem import Candidate
from fswizard.model.judgement import Findings, Ratio
from fswizard.model.layout import Array
from fswizard.model.plan import FORMAT, MOUNTING, Plan, Target
from fswizard.model.recipe import Workload

SCHEMA = 1


def render(findings: Findings) -> str:
    return json.dumps(document(findings), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def document(findings: Findings) -> dict[str, Any]:
    """The report as plain JSON values."""
    result, judgement, advice = findings.result, findings.judgement, findings.advice
    plan = result.plan
    return {
        "schema": SCHEMA,
        "environment": dataclasses.asdict(result.environment),
        "drive": _drive(plan.drive) if plan.drive else None,
        "plan": _plan(plan),
        "outcome": result.outcome,
        "elapsed_s": result.elapsed_s,
        "rounds": judgement.rounds,
        "discarded_rounds": list(result.discarded_rounds),
        "samples": [dataclasses.asdict(sample) for sample in result.samples],
        "throughput_series": [dataclasses.asdict(series) for series in result.throughput_series],
        "failures": [dataclasses.asdict(failure) for failure in result.failures],
        "ratios": [_ratio(ratio) for ratio in judgement.by_workload],
        "overall": [_ratio(ratio) for ratio in judgement.overall],
        "doubts": [dataclasses.asdict(doubt) for doubt in findings.doubts],
        "advice": {
            "choice": list(advice.choice),
            "tie": advice.tie,
            "headline": advice.headline,
            "reasons": [reason.text for reason in advice.reasons],
            "commands": list(advice.commands),
        },
    }


def _drive(drive: Drive) -> dict[str, Any]:
    smr = drive.smr
    return {
        "name": drive.name,
        "model": drive.model,
        "serial": drive.serial,
        "firmware": drive.firmware,
        "size_bytes": drive.size_bytes,
        "kind": drive.kind,
        "bus": drive.bus,
        "bridge": drive.bridge,
        "rpm": drive.rpm,
        "smr": {
            "kind": smr.kind,
            "confidence": smr.confidence,
            "evidence": [dataclasses.asdict(evidence) for evidence in smr.evidence],
        },
    }


def _plan(plan: Plan) -> dict[str, Any]:
    return {
        "recipe": plan.recipe.name,
        "title": plan.recipe.title,
        "workloads": [_workload(workload) for workload in plan.recipe.workloads],
        "candidates": [_candidate(candidate, plan) for candidate in plan.candidates],
        "baseline": plan.baseline,
        "target": _target(plan.target),
        "needs": list(plan.needs),
        "time_limit_s": plan.time_limit_s,
        "minimum_rounds": plan.minimum_rounds,
        "maximum_rounds": plan.maximum_rounds,
        "seed": plan.seed,
    }


def _workload(workload: Workload) -> dict[str, Any]:
    return {
        "name": workload.name,
        "title": workload.title,
        "engine": workload.engine,
        "metric": dataclasses.asdict(workload.metric),
        "weight": workload.weight,
        "job": dataclasses.asdict(workload.job),
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
    known = ("path", "size_bytes", "host_filesystem")
    members = [{name: getattr(member, name) for name in known} for member in target.members]
    return {"kind": target.kind, **members[0], "members": members}


def _array(array: Array, target: Target) -> dict[str, Any]:
    return {
        "layout": array.layout.name,
        "options": {option.name: array.option(option.name) for option in array.layout.options},
        "degraded": array.degraded,
        "members": array.members,
        "survives": array.survives,
        "room_bytes": target.room_bytes(array),
    }


def _ratio(ratio: Ratio) -> dict[str, Any]:
    """`ratio`, `low` and `high` are null where nothing could be compared, or where there are too few rounds."""
    compared = ratio.verdict != "failed" or ratio.ratio > 0
    values = {
        "candidate": ratio.candidate,
        "baseline": ratio.baseline,
        "workload": ratio.workload,
        "ratio": ratio.ratio if compared else None,
        "low": ratio.low,
        "high": ratio.high,
        "rounds": ratio.rounds,
        "verdict": ratio.verdict,
        "text": ratio.text,
    }
    if not ratio.workload:
        del values["workload"]
    return values
