"""What age costs candidates that were measured new beside it, in the same rounds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from fswizard.model.analysis import ALIKE, LEVEL, Ratio
from fswizard.model.result import Result
from fswizard.stats.intervals import compare
from fswizard.stats.table import tables_of, without


def age_ratios(result: Result) -> tuple[Ratio, ...]:
    """Each aged candidate over the new one, for all workloads together and then for each; those that both can do."""
    return tuple(_ratios(result)) if result.plan.beside else ()


def _ratios(result: Result) -> Iterator[Ratio]:
    plan = result.plan
    tables = tables_of(replace(result, plan=replace(plan, candidates=plan.measured, beside=())))
    failed = tables.failed.by_workload
    alone = {name: without(table, failed.get(name, ())) for name, table in tables.by_workload.items()}
    for workload, table in {"": tables.standing, **alone}.items():
        pairs = [(c.name, c.as_new) for c in plan.aged if c.name in table and c.as_new in table]
        yield from compare(table, workload, pairs, alike=LEVEL if workload else ALIKE)
