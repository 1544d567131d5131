"""Whether an answer survives without each of its tests, as these are a sample of what people do."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from fswizard.model.analysis import Hinge, Ratio
from fswizard.model.plan import Plan
from fswizard.stats.rules import Rule
from fswizard.stats.table import Tables, overall_table, shares, without


def hinges(plan: Plan, tables: Tables, rule: Rule, winner: str, rivals: Iterable[str]) -> Mapping[str, Hinge]:
    """Rival to what the winner's proven lead over it hangs on; those are left out over whom it stands by itself.

    A lead stands if it stays proven without each test, without all tests of one kind, and with each weight halved and
    doubled. Of several tests that it hangs on, the one counts without which least is left of it.
    """
    names = [candidate.name for candidate in plan.candidates]
    weights = {w.name: w.weight for w in plan.recipe.workloads if w.weight > 0 and tables.by_workload.get(w.name)}

    def lead(changed: Mapping[str, float], rival: str) -> Ratio | None:
        parts = shares(tables.by_workload, changed)
        table = without(overall_table(parts), tables.failed.overall)
        return next(iter(rule.compare(table, "", len(names), [(winner, rival)], parts)), None)

    def gain(workload: str, rival: str) -> float:
        table = tables.by_workload[workload]
        return next((r.ratio for r in rule.compare(table, workload, len(names), [(winner, rival)])), 0.0)

    found = {}
    for rival in rivals:
        known = lead(weights, rival)
        if known is None or known.verdict != "faster":
            continue
        weak = []
        for group in _groups(plan, weights):
            rest = lead({name: 0.0 if name in group else weight for name, weight in weights.items()}, rival)
            others = [{**weights, name: weights[name] * factor} for name in group for factor in (0.5, 2.0)]
            ratios = [rest, *(lead(changed, rival) for changed in others)]
            if rest is not None and any(ratio is not None and ratio.verdict != "faster" for ratio in ratios):
                weak.append(Hinge(tuple(sorted(group, key=lambda name: -gain(name, rival))), rest))
        if weak:
            found[rival] = min(weak, key=lambda hinge: hinge.rest.ratio)
    return found


def _groups(plan: Plan, weights: Mapping[str, float]) -> Sequence[tuple[str, ...]]:
    """Each test by itself, and all of one kind together; a group of all tests says nothing."""
    kinds: dict[str, list[str]] = {}
    for workload in plan.recipe.workloads:
        if workload.name in weights and workload.job.activity:
            kinds.setdefault(workload.job.activity, []).append(workload.name)
    groups = dict.fromkeys([*((name,) for name in weights), *(tuple(names) for names in kinds.values())])
    return [group for group in groups if len(group) < len(weights)]
