"""The cost of age: ratios of aged candidates to new ones measured in the same rounds."""

from __future__ import annotations

from dataclasses import replace

from fswizard.model.analysis import ALIKE, LEVEL, Ratio
from fswizard.model.result import Result
from fswizard.stats.intervals import compare
from fswizard.stats.table import ALL, tables_of


def age_ratios(result: Result) -> tuple[Ratio, ...]:
    """Each aged candidate over its new version, for all workloads together and for each workload that both can do."""
    plan = result.plan
    if not plan.beside:
        return ()
    tables = tables_of(replace(result, plan=replace(plan, candidates=plan.measured, beside=())))
    ratios: list[Ratio] = []
    pairs = [(candidate.name, candidate.as_new) for candidate in plan.aged]
    for workload, table in tables.standing.items():
        ratios += compare(table, workload, pairs, alike=ALIKE if workload == ALL else LEVEL)
    return tuple(ratios)
