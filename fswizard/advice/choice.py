"""Which measured candidates may be recommended, and with which certainty."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from fswizard.language import N_, _, listing
from fswizard.model.analysis import ALIKE_AT_THE_END, Analysis, AnswerKind, Ratio
from fswizard.model.filesystem import Candidate
from fswizard.model.needs import feature_noun
from fswizard.model.plan import Plan
from fswizard.model.recipe import Workload
from fswizard.model.result import Result
from fswizard.model.units import speed_text, times_text

Names = tuple[str, ...]


@dataclass(slots=True)
class Choice:
    """The candidates of a run, classified by whether they may be recommended."""

    result: Result
    analysis: Analysis
    plan: Plan
    kind: AnswerKind
    names: Names
    """The candidate to use; then those that may be as good, or over which its lead depends on a test."""
    first: Candidate
    """The candidate to use; the baseline without `names`."""
    eligible: Names
    """Measured candidates that are safe and meet the needs, best first."""
    others: list[str]
    """Eligible candidates without the first choice."""
    lacking: Mapping[str, Names]
    """Unmet needs by measured candidate."""
    unsafe: Mapping[str, Names]
    """Options that may lose data in a crash, by measured candidate."""
    in_memory: Names
    """Measured candidates that cached direct writes in memory and so cannot be compared with the others."""
    tests: list[Workload]
    """The workloads with weight."""
    unit: str
    """Unit for the wording of overall speeds: that of rates if all tests have one."""

    def title(self, name: str) -> str:
        return self.plan.candidate(name).title

    def titles(self, names: Sequence[str]) -> str:
        return listing([self.title(name) for name in names])

    def by_test(self, rival: str) -> list[tuple[Workload, Ratio]]:
        """The tests in which the first choice was compared with a rival, with its ratio to the rival."""
        parts = [(test, self.analysis.at_workload(self.names[0], rival, test.name)) for test in self.tests]
        return [(test, ratio) for test, ratio in parts if ratio]

    def speed(self, ratio: float) -> str:
        """An overall ratio as text: `21 % faster`."""
        return speed_text(ratio, self.unit)

    def comparison(self, pair: Ratio) -> str:
        """An overall ratio with its reference: `21 % faster than ext4`, `8× as fast as ext4`."""
        rival = self.title(pair.baseline)
        if pair.ratio >= 1.995:  # the limit from which on `speed_text` counts in times
            return _("{times} as fast as {candidate}", times=times_text(pair.ratio), candidate=rival)
        if 1 / 1.005 <= pair.ratio <= 1.005:
            return _("as fast as {candidate}", candidate=rival)
        return _("{speed} than {candidate}", speed=self.speed(pair.ratio), candidate=rival)

    def excluded(self) -> Iterator[str]:
        """A sentence for each measured candidate that may not be recommended."""
        for name, options in self.unsafe.items():
            text = N_("{candidate} is not recommended: with {options} a crash may lose data.")
            yield _(text, candidate=self.title(name), options=listing(options))
        for name in self.in_memory:
            text = N_("{candidate} kept direct writes in memory, so its figures can't be compared with the others.")
            yield _(text, candidate=self.title(name))
        for name, needs in self.lacking.items():
            missing = []
            for need in needs:
                feature = self.plan.candidate(name).filesystem.feature(need)
                partly = f" ({_(feature.value)})" if feature and feature.value != "no" else ""
                missing.append(feature_noun(need) + partly)
            yield _("{candidate} lacks {features}.", candidate=self.title(name), features=listing(missing))


def choose(result: Result, analysis: Analysis) -> Choice:
    """Select candidates by needs and safety first, then by speed."""
    plan = result.plan
    measured = [ratio.candidate for ratio in analysis.overall if ratio.verdict != "failed"]
    if not analysis.overall and analysis.rounds:
        measured = [*analysis.leaders]  # one alone, which has no ratio
    if result.outcome == "failed":
        measured = []
    candidates = [plan.candidate(name) for name in measured]
    lacking = {candidate.name: needs for candidate in candidates if (needs := candidate.lacking(plan.needs))}
    unsafe = {candidate.name: risky for candidate in candidates if (risky := candidate.unsafe_options)}
    in_memory = [name for name in measured if name in result.cached_in_memory]
    if in_memory == measured:
        in_memory = []  # they can still be compared with each other
    eligible = tuple(name for name in measured if name not in {*lacking, *unsafe, *in_memory})

    best = analysis.unbeaten(eligible)  # no other is proven to beat them
    names = tuple(sorted(best, key=lambda name: name != plan.baseline))
    kind: AnswerKind = "open"
    if not measured:
        all_failed = result.failures and not analysis.leaders
        kind = "failed" if all_failed or result.outcome == "failed" else "nothing"
    elif not eligible:
        kind = "excluded"
    elif len(eligible) == 1:
        kind = "only" if len(analysis.overall) > 1 else "open"  # nothing speaks for the only one that was measured
    elif len(best) == 1:
        kind = "winner"
    elif analysis.all_within(best):
        kind = "alike"
    else:
        if analysis.all_within(best, ALIKE_AT_THE_END):
            kind = "alike"
        for name in best:  # a lead that is proven says more, though it depends on a test
            others = tuple(other for other in best if other != name)
            if all(analysis.dependence(name, other) for other in others):
                kind, names = "depends", (name, *others)
                break
    tests = [workload for workload in plan.recipe.workloads if workload.weight > 0]
    return Choice(
        result=result,
        analysis=analysis,
        plan=plan,
        kind=kind,
        names=names,
        first=plan.candidate(names[0] if names else plan.baseline),
        eligible=eligible,
        others=[name for name in eligible if name not in names[:1]],
        lacking=lacking,
        unsafe=unsafe,
        in_memory=tuple(in_memory),
        tests=tests,
        unit="1/s" if all(test.metric.unit.endswith("/s") for test in tests) else "s",
    )
