"""Whether an answer survives without each of its tests, as these are a sample of what people do."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from fswizard.model.analysis import Hinge, Ratio
from fswizard.model.plan import Plan
from fswizard.stats.ratios import compare
from fswizard.stats.table import Tables, overall_table, shares, without

Pair = tuple[str, str]
"""A candidate and the one that it is compared with."""


def hinges(plan: Plan, tables: Tables, winner: str, rivals: Iterable[str]) -> Mapping[str, Hinge]:
    """Rival to what the winner's proven lead over it hangs on; those are left out over whom it stands by itself.

    A lead stands if it stays proven without each test, without all tests of one kind, and with each weight halved and
    doubled. Of several tests that it hangs on, the one counts without which least is left of it.
    """
    pairs = [(winner, rival) for rival in rivals]
    weights = _weights(plan, tables)
    proven = [pair for pair, lead in _leads(plan, tables, pairs, weights).items() if lead.verdict == "faster"]
    weak: dict[str, list[Hinge]] = {}
    for group, leads in reweighted(plan, tables, proven):
        for pair in leads[0]:
            if any(lead[pair].verdict != "faster" for lead in leads if pair in lead):
                gains = {name: _gain(plan, tables, pair, name) for name in group}
                by_gain = tuple(sorted(group, key=lambda name: -gains[name]))
                weak.setdefault(pair[1], []).append(Hinge(by_gain, leads[0][pair]))
    return {rival: min(found, key=lambda hinge: hinge.rest.ratio) for rival, found in weak.items()}


def reweighted(
    plan: Plan, tables: Tables, pairs: Sequence[Pair]
) -> Iterator[tuple[tuple[str, ...], Sequence[Mapping[Pair, Ratio]]]]:
    """Each group of tests with the pairs' ratios over all others, then with each of its weights halved and doubled."""
    weights = _weights(plan, tables)
    for group in _groups(plan, weights):
        rest = {name: 0.0 if name in group else weight for name, weight in weights.items()}
        others = [{**weights, name: weights[name] * factor} for name in group for factor in (0.5, 2.0)]
        yield group, [_leads(plan, tables, pairs, changed) for changed in (rest, *others)]


def _weights(plan: Plan, tables: Tables) -> Mapping[str, float]:
    return {w.name: w.weight for w in plan.recipe.workloads if w.weight > 0 and tables.by_workload.get(w.name)}


def _leads(plan: Plan, tables: Tables, pairs: Sequence[Pair], weights: Mapping[str, float]) -> Mapping[Pair, Ratio]:
    parts = shares(tables.by_workload, weights)
    table = without(overall_table(parts), tables.failed.overall)
    ratios = compare(table, "", len(plan.candidates), pairs, parts)
    return {(ratio.candidate, ratio.baseline): ratio for ratio in ratios}


def _gain(plan: Plan, tables: Tables, pair: Pair, workload: str) -> float:
    ratios = compare(tables.by_workload[workload], workload, len(plan.candidates), [pair])
    return next((ratio.ratio for ratio in ratios), 0.0)


def _groups(plan: Plan, weights: Mapping[str, float]) -> Sequence[tuple[str, ...]]:
    """Each test by itself, and all of one kind together; a group of all tests says nothing."""
    kinds: dict[str, list[str]] = {}
    for workload in plan.recipe.workloads:
        if workload.name in weights and workload.job.activity:
            kinds.setdefault(workload.job.activity, []).append(workload.name)
    groups = dict.fromkeys([*((name,) for name in weights), *(tuple(names) for names in kinds.values())])
    return [group for group in groups if len(group) < len(weights)]
