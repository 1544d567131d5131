"""Figures that every run of a recipe has alike, so that posts about different disks can be compared."""

from __future__ import annotations

import statistics

from fswizard.language import p_
from fswizard.model.metrics import BYTES_WRITTEN, DURATION, FILE_RATE, OPERATION_RATE
from fswizard.model.recipe import Workload
from fswizard.model.result import Result
from fswizard.model.units import count_text, figure_text

KINDS = ("writes", "unpacks", "searches", "saves", "deletes")
"""In the order in which they stand; each with the sync that puts the work on the disk."""
_BY_OPERATION = {"untar": "unpacks", "find": "searches", "delete": "deletes", "delete-onto": "deletes"}


def fixed_figures(result: Result, candidate: str) -> tuple[str, ...]:
    """`writes 98.2 MB/s` and the like, of a candidate's medians; what the recipe does not measure is left out."""
    words: dict[str, str] = {}
    for workload in result.plan.recipe.workloads:
        kind = _kind(workload)
        value = _median(result, candidate, workload.name, kind) if kind and kind not in words else None
        if value:
            words[kind] = _text(value, kind)
    return tuple(words[kind] for kind in KINDS if kind in words)


def _kind(workload: Workload) -> str:
    job = workload.job
    if job.fill_percent:
        return ""
    operation = job.activity.split(" ")[0]
    if operation == "copy-onto" and job.strain == "stream":
        return "writes"
    return "saves" if job.counts == "saves" else _BY_OPERATION.get(operation, "")


def _median(result: Result, candidate: str, workload: str, kind: str) -> float | None:
    """Per second; None where there are no figures."""
    figures: dict[str, list[float]] = {}
    for s in result.samples:
        counts = s.round and s.round not in result.discarded_rounds and s.status == "ok"
        if counts and (s.candidate, s.workload) == (candidate, workload):
            figures.setdefault(s.metric, []).append(s.value)
    medians = {metric: statistics.median(values) for metric, values in figures.items()}
    if kind == "saves":
        return medians.get(OPERATION_RATE.name)
    if kind == "writes":
        duration_s = medians.get(DURATION.name)
        return medians.get(BYTES_WRITTEN.name, 0.0) / duration_s if duration_s else None
    return medians.get(FILE_RATE.name)


def _text(value: float, kind: str) -> str:
    match kind:
        case "writes":
            return p_("figure of a card", "writes {rate}", rate=figure_text(value, "B/s"))
        case "unpacks":
            return p_("figure of a card", "unpacks {count} files/s", count=count_text(value))
        case "searches":
            return p_("figure of a card", "searches {count} files/s", count=count_text(value))
        case "saves":
            return p_("figure of a card", "saves {rate}", rate=figure_text(value, "1/s"))
    return p_("figure of a card", "deletes {count} files/s", count=count_text(value))


def counted(things: str) -> str:
    """What a rate counts, as `Job.counts` names it."""
    known = {
        "operations": p_("counted by a rate", "operations"),
        "reads": p_("counted by a rate", "reads"),
        "writes": p_("counted by a rate", "writes"),
        "accesses": p_("counted by a rate", "accesses"),
        "saves": p_("counted by a rate", "saves"),
    }
    return known.get(things, things)
