"""What one result brings to a pool. Pure."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from itertools import combinations

from fswizard.language import N_
from fswizard.model.plan import Plan
from fswizard.model.pool import DiskClass, Estimate, Setting, Study, StudyCandidate
from fswizard.model.result import Result
from fswizard.model.result_file import recipe_digest
from fswizard.stats.comparison import made
from fswizard.stats.ratios import estimates
from fswizard.stats.table import Tables, tables_of, without

SHINGLED = ("host-managed", "host-aware", "drive-managed")


def study_of(result: Result) -> Study:
    """The part of a result that pooling needs; `unfit` says why it cannot be pooled, if so."""
    plan, environment = result.plan, result.environment
    tables = tables_of(result)
    failed = tuple(tables.failed.overall)
    pairs = tuple(_estimates(plan, tables))
    compared = any(pair.error is not None and not pair.workload for pair in pairs)
    candidates = tuple(_candidates(result))
    drive, target = plan.drive, plan.target
    return Study(
        Setting(
            plan.recipe.name,
            recipe_digest(plan.recipe),
            target.kind,
            target.size_bytes if target.kind == "image" else 0,
            len(target.members),
            plan.memory_limit_bytes,
            DiskClass(drive.kind, not drive.flash and drive.smr.kind in SHINGLED) if drive else DiskClass(),
            next(candidate for candidate in candidates if candidate.name == plan.baseline),
        ),
        plan.recipe.title,
        environment.machine or environment.host,
        environment.started,
        drive.model if drive else "",
        candidates,
        {workload.name: workload.title for workload in plan.recipe.workloads if workload.weight > 0},
        pairs,
        failed,
        _unfit(result, informative=compared or bool(failed)),
    )


def _unfit(result: Result, *, informative: bool) -> str:
    if result.environment.source:
        return N_("its figures were measured elsewhere, not in rounds.")
    if result.plan.target.kind == "directory":
        return N_("it compares directories as they were, which no other machine has.")
    if result.outcome == "failed":
        return N_("a fault ended the run, so its figures may be wrong.")
    return "" if informative else N_("it has fewer than two rounds of two filesystems.")


def _candidates(result: Result) -> Iterator[StudyCandidate]:
    cached = result.kept_in_memory
    for candidate in result.plan.candidates:
        digest = hashlib.sha256(repr(made(candidate)).encode()).hexdigest()[:12]
        yield StudyCandidate(candidate.name, candidate.title, digest, candidate.name not in cached)


def _estimates(plan: Plan, tables: Tables) -> Iterator[Estimate]:
    """Estimates for all pairs over all workloads, and for each pair with the baseline at each weighted workload."""
    yield from estimates(tables.standing, "", len(plan.candidates), combinations(tables.standing, 2), tables.parts)
    for workload in plan.recipe.workloads:
        if workload.weight > 0:
            table = without(tables.by_workload[workload.name], tables.failed.by_workload[workload.name])
            pairs = [(name, plan.baseline) for name in table if name != plan.baseline]
            yield from estimates(table, workload.name, len(plan.candidates), pairs)
