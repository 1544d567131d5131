"""Results of several machines as one statement, in groups that can be compared. Pure."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from fswizard.language import N_, _
from fswizard.model.analysis import Analysis, Ratio
from fswizard.model.pool import (
    Estimate,
    Group,
    Heterogeneity,
    LeftOut,
    Pool,
    Setting,
    Split,
    Study,
    StudyCandidate,
)
from fswizard.stats.discoveries import ERROR, controlled
from fswizard.stats.random_effects import Mean, random_effects
from fswizard.stats.ratios import POOL_WEIGHT, with_interval

_Pair = tuple[str, str, str]
"""Candidate, baseline, and workload or empty for all of them."""
_Entry = tuple[Study, Estimate]
"""An estimate, after the result that it comes from."""


@dataclass(frozen=True, slots=True)
class _Machine:
    """A machine's mean logarithm for a pair, with its standard error."""

    mean: float
    error: float


def pool(studies: Mapping[str, Study]) -> Pool:
    """Groups of results that belong together; `studies` by name of the result.

    Several results of one machine count as one, and the same run counts once. Another run with the same figures, to
    the last digit and under whatever names, is left out.
    """
    copy = N_("The figures are those of another result, so it looks like a copy.")
    left_out = [LeftOut(name, c.unfit) for name, c in studies.items() if c.unfit]
    groups: dict[Setting, dict[tuple[str, str, str], Study]] = {}
    known: dict[tuple[Setting, frozenset[tuple[float, float]]], tuple[str, str, str]] = {}
    for name, run in studies.items():
        if not run.unfit:
            setting = replace(run.setting, recipe="", baseline=replace(run.setting.baseline, title=""))
            identity = (run.machine, run.started, run.model)
            figures = frozenset((abs(each.mean), each.error) for each in run.estimates if each.error)
            if figures and known.setdefault((setting, figures), identity) != identity:
                left_out.append(LeftOut(name, copy))
            else:
                groups.setdefault(setting, {}).setdefault(identity, run)
    pooled = [_group(list(group.values())) for group in groups.values()]
    return Pool(tuple(sorted(pooled, key=lambda group: (-group.machines, -group.results))), tuple(left_out))


def _group(members: Sequence[Study]) -> Group:
    names = _names(members)
    setting = members[0].setting
    baseline = names[replace(setting.baseline, title="")]
    entries = _entries(members, names, baseline)
    machines = len({member.machine for member in members})
    order, analysis = _analysis(entries, baseline, machines)
    compared = [name for name in order if (name, baseline, "") in entries]
    best = next((name for name in compared if name != baseline), "")
    titles: dict[str, str] = {}
    for candidate in (each for member in members for each in member.candidates):
        name = names[replace(candidate, title="")]
        titles[name] = candidate.title + name.removeprefix(candidate.name)
    return Group(
        setting,
        members[0].recipe_title,
        machines,
        len(members),
        titles,
        {name: title for member in members for name, title in member.workloads.items()},
        analysis,
        tuple(_heterogeneity(name, baseline, entries, members) for name in compared),
        _splits(entries.get((best, baseline, ""), [])),
        sum(not member.machine for member in members),
    )


def _analysis(entries: Mapping[_Pair, list[_Entry]], baseline: str, machines: int) -> tuple[Sequence[str], Analysis]:
    """Candidates, best first, and all ratios between them."""
    measured = dict.fromkeys(name for *pair, workload in entries if not workload for name in pair)
    pairs, others = len(measured) * (len(measured) - 1) // 2, max(1, len(measured) - 1)
    means = {pair: _mean(_machines(several)) for pair, several in entries.items()}
    levels = {baseline: 0.0} | {c: means[c, b, w].mean for c, b, w in means if b == baseline and not w}
    order = sorted(measured, key=lambda name: -levels.get(name, -math.inf))
    overall = [_ratio((n, baseline, ""), means, ERROR / pairs) for n in order if (n, baseline, "") in means]
    if baseline in measured:
        overall.insert(0, Ratio(baseline, baseline, "", 1.0, 1.0, 1.0, machines, "tie"))
    couples = []
    for one, other in combinations(order, 2):
        if (one, other, "") in means:
            couples.append(_ratio((one, other, ""), means, ERROR / pairs))
        elif (other, one, "") in means:
            couples.append(_ratio((other, one, ""), means, ERROR / pairs).turned())
    judged = Analysis(pairs=tuple(couples), rounds=machines)
    leaders = judged.unbeaten(order)
    parts = [_ratio(pair, means, ERROR / others) for pair in means if pair[2] and pair[1] == baseline]
    return order, replace(
        judged,
        overall=tuple(sorted(overall, key=lambda ratio: -ratio.ratio)),
        by_workload=controlled(parts, lambda ratio: ratio.workload, ERROR),
        leaders=leaders,
        dropped=tuple(name for name in order if name not in leaders),
        tied=judged.all_tie(leaders),
    )


def _names(members: Sequence[Study]) -> dict[StudyCandidate, str]:
    """A name for each candidate: the most frequent way to make one keeps the short name, others get a longer one."""
    counts = Counter(replace(candidate, title="") for member in members for candidate in member.candidates)
    names: dict[StudyCandidate, str] = {}
    usual: dict[str, StudyCandidate] = {}
    baseline = replace(members[0].setting.baseline, title="")
    for candidate, __ in [(baseline, 0), *counts.most_common()]:
        first = usual.setdefault(candidate.name, candidate)
        if candidate == first:
            names[candidate] = candidate.name
        else:
            other = _("formatted or mounted differently") if candidate.made != first.made else _("direct I/O differs")
            names[candidate] = f"{candidate.name} ({other})"
    return names


def _entries(members: Sequence[Study], names: Mapping[StudyCandidate, str], baseline: str) -> dict[_Pair, list[_Entry]]:
    """Estimates by pair, in which the baseline comes second and other candidates are in the order of their names."""
    entries: dict[_Pair, list[_Entry]] = {}
    for member in members:
        known = {candidate.name: names[replace(candidate, title="")] for candidate in member.candidates}
        for estimate in member.estimates:
            if estimate.error is None:
                continue
            one, other = known[estimate.candidate], known[estimate.baseline]
            turned = one == baseline or (other != baseline and one > other)
            pair = (other, one) if turned else (one, other)
            directed = replace(estimate, mean=-estimate.mean) if turned else estimate
            entries.setdefault((*pair, estimate.workload), []).append((member, directed))
    return entries


def _machines(entries: Sequence[_Entry]) -> list[_Machine]:
    """Each machine's mean, and its standard error from the noise within its runs.

    A few rounds say little of a run's noise, and those that luck has stopped early show too little of it. So it is
    steadied by that of all runs, as within a run by that of all pairs.
    """
    spreads = [(each.rounds, (each.error or 0.0) ** 2 * each.rounds) for __, each in entries]
    common = math.fsum((b - 1) * v for b, v in spreads) / sum(b - 1 for b, __ in spreads)
    by_machine: dict[str, list[tuple[float, float]]] = {}
    for (study, estimate), (b, own) in zip(entries, spreads):
        steadied = (POOL_WEIGHT * common + (b - 1) * own) / (POOL_WEIGHT + b - 1) / b
        by_machine.setdefault(study.machine, []).append((estimate.mean, steadied))
    return [
        _Machine(
            math.fsum(mean for mean, __ in results) / len(results),
            math.sqrt(math.fsum(variance for __, variance in results)) / len(results),
        )
        for results in by_machine.values()
    ]


def _mean(machines: Iterable[_Machine]) -> Mean:
    return random_effects([(machine.mean, machine.error) for machine in machines])


def _ratio(pair: _Pair, means: Mapping[_Pair, Mean], chance: float) -> Ratio:
    mean = means[pair]
    ratio = Ratio(*pair, math.exp(mean.mean), rounds=mean.places)
    if mean.places < 2:
        return ratio
    # Runs stop when luck makes a lead look clear, each a little too soon, and the sooner the larger the lead is. No
    # number of machines averages out that standard error. Source of the two numbers: simulation.
    stopped = max(0.0075, 0.075 * abs(mean.mean))
    half = mean.half_width(chance) * math.hypot(1.0, stopped / mean.error)
    return with_interval(ratio, mean.mean, half)


def _heterogeneity(
    name: str, baseline: str, entries: Mapping[_Pair, Sequence[_Entry]], members: Sequence[Study]
) -> Heterogeneity:
    machines = _machines(entries[name, baseline, ""])
    ahead = sum(machine.mean > 0 for machine in machines)
    failed = {member.machine for member in members if name in member.failed}
    return Heterogeneity(name, _mean(machines).between, ahead, len(machines), len(failed))


def _splits(entries: Sequence[_Entry]) -> tuple[Split, ...]:
    """A pair by disk models, if there are several; those with most machines first."""
    by_model: dict[str, list[_Entry]] = {}
    for study, estimate in entries:
        by_model.setdefault(study.model, []).append((study, estimate))
    if len(by_model) < 2:
        return ()
    means = {("", "", str(n)): _mean(_machines(several)) for n, several in enumerate(by_model.values())}
    ratios = controlled([_ratio(pair, means, ERROR) for pair in means], lambda ratio: ratio.workload, ERROR)
    splits = [Split(model, ratio) for model, ratio in zip(by_model, ratios)]
    return tuple(sorted(splits, key=lambda split: -split.ratio.rounds))
