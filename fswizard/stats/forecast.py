"""What more rounds are likely to bring: the run is played on many times over, decided as it is decided."""

from __future__ import annotations

import math
import random
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from statistics import NormalDist

from fswizard.model.analysis import TIE, Analysis, Hinge, Ratio
from fswizard.model.forecast import LIKELY, Close, Forecast
from fswizard.model.plan import FIRST_LOOK, Plan
from fswizard.model.result import Result
from fswizard.stats.analyse import Decision, decide
from fswizard.stats.hinges import Pair, reweighted
from fswizard.stats.ratios import LEAST_DEVIATION, all_rounds, critical, fit, in_the_run, with_interval
from fswizard.stats.table import Table, Tables, tables_of

FUTURES = 200
"""Number of simulated futures: it gives chances to about 3 %."""
LEAST_FREEDOM = 2
"""Degrees of freedom of the noise: by the two rounds of two candidates it is too often taken for small."""
MOST_DEVIATION = 1.0
"""Of a cell's logarithm: two rounds alone would allow any."""
SPREADS = (0.01, 0.05, 0.15)
"""Standard deviations of candidates' levels (logarithms), all equally likely before anything is measured: candidates
hardly differ, or by some 7 or 20 %."""

Answer = tuple[str, ...]


def forecast(
    result: Result,
    analysis: Analysis,
    candidates: Collection[str],
    *,
    trial_s: float = 0.0,
    tables: Tables | None = None,
) -> Forecast | None:
    """What the remaining rounds of the plan would bring to the `candidates` still in the run.

    None before there are intervals, with fewer than two candidates, and if no round is left.
    `trial_s` is the duration of a trial, `tables` are those of the result.
    """
    tables = tables or tables_of(result)
    return foresee(tables.standing, analysis, result.plan, candidates, tables=tables, trial_s=trial_s)


def foresee(
    table: Table,
    analysis: Analysis,
    plan: Plan,
    candidates: Collection[str],
    *,
    tables: Tables | None = None,
    trial_s: float = 0.0,
) -> Forecast | None:
    """The same for a table of overall scores and its analysis; without the tests' `tables` no lead hangs on a test."""
    ahead = plan.maximum_rounds - analysis.rounds
    known = tuple(name for name in analysis.leaders if name in candidates and name in table)
    if ahead < 1 or len(known) < 2 or analysis.rounds < plan.minimum_rounds:
        return None
    if any(pair.low is None for pair in _among(analysis.pairs, known)):
        return None
    game = _Game(analysis, plan, known, table, tables)
    if game.freedom < LEAST_FREEDOM:
        return None
    rng = random.Random(f"{plan.seed}/forecast/{analysis.rounds}")
    futures = [_Future(game, rng, ahead) for _ in range(FUTURES)]
    answer = _answer(analysis, decide(analysis, plan, known))
    return Forecast(
        tuple(_share(future.settled_after <= j for future in futures) for j in range(1, ahead + 1)),
        tuple(_share(future.answers[j] != answer for future in futures) for j in range(ahead)),
        tuple(math.fsum(future.trials[j] for future in futures) / FUTURES for j in range(ahead)),
        tuple(_close(plan, analysis, known, futures)),
        trial_s,
    )


def provable(result: Result, candidates: int, rounds: int) -> float | None:
    """The least difference that a run is likely to prove if its figures vary as those of `result`: 0.05 is 5 %.

    The noise is the 80 % quantile of what fits `result`. None if `result` shows too little of it, or for too few rounds
    or candidates.
    """
    table = tables_of(result).standing
    noise = fit(table)
    if candidates < 2 or rounds < FIRST_LOOK or noise.freedom < 1:
        return None
    likely, part = NormalDist().inv_cdf(LIKELY), 2 / (9 * noise.freedom)
    least_squares = (1 - part - likely * math.sqrt(part)) ** 3  # chi-square's quantile by Wilson and Hilferty (1931)
    deviation = max(LEAST_DEVIATION, math.sqrt(2 * noise.residual_mean_square / least_squares))
    return max(TIE - 1, math.expm1((critical(candidates, rounds) + likely) * deviation / math.sqrt(rounds)))


@dataclass(frozen=True, slots=True)
class _Reweighted:
    """How a pair stands with other weights, beside how it stands now."""

    workloads: tuple[str, ...]
    rest: Ratio
    """Without them."""
    further: float
    """Logarithm of its ratio over that of the pair now."""
    wider: float
    """Its interval over that of the pair now."""


class _Game:
    """The run as it stands, where each future begins."""

    def __init__(
        self, analysis: Analysis, plan: Plan, known: tuple[str, ...], table: Table, tables: Tables | None
    ) -> None:
        self.analysis, self.plan, self.known, self.tables = analysis, plan, known, tables
        noise = fit(table)
        self.measured = in_the_run(table, max(all_rounds(table)))
        self.rounds = analysis.rounds
        self.levels = {name: noise.effects[name] for name in known}
        self.middle = math.fsum(self.levels.values()) / len(known)
        self.squares, self.freedom = noise.residual_sum, max(1, noise.freedom)
        self._halves: dict[int, dict[Pair, float]] = {}

    @cached_property
    def reweighted(self) -> Mapping[Pair, Sequence[_Reweighted]]:
        """What a lead of each pair may hang on; made only where a future has a winner, as it takes longest."""
        return dict(_reweighted(self.analysis, self.plan, self.known, self.tables)) if self.tables else {}

    @property
    def variance(self) -> float:
        """Variance of a cell, as estimated now."""
        return max(self.squares / self.freedom, LEAST_DEVIATION**2 / 2)

    def halves(self, rounds: int) -> Mapping[Pair, float]:
        """Half the interval of each pair after `rounds` rounds, with the noise as estimated now."""
        if rounds not in self._halves:
            started_with = len(self.plan.candidates)
            later = critical(started_with, rounds, left=len(self.known))
            halves = self._halves[rounds] = {}
            for pair in _among(self.analysis.pairs, self.known):
                now = critical(started_with, pair.rounds, left=self.measured)
                halves[pair.candidate, pair.baseline] = _half(pair) * later / now * math.sqrt(pair.rounds / rounds)
        return self._halves[rounds]

    def hinges(
        self, winner: str, rivals: Iterable[str], means: Mapping[str, float], rounds: int, noisier: float
    ) -> Mapping[str, Hinge]:
        """What the winner's lead over each rival hangs on in a future, if its tests keep their distances from now."""
        found = {}
        for rival in rivals:
            for pair in ((winner, rival), (rival, winner)):
                sign = 1 if pair[0] == winner else -1
                for changed in self.reweighted.get(pair, ()):
                    middle = means[winner] - means[rival] + sign * changed.further
                    half = self.halves(rounds)[pair] * noisier * changed.wider
                    if with_interval(changed.rest, middle, half).verdict != "faster":
                        rest = changed.rest if sign == 1 else changed.rest.turned()
                        found[rival] = Hinge(changed.workloads, rest)
        return found


class _Future:
    """One way in which the run may continue; all are equally likely."""

    def __init__(self, game: _Game, rng: random.Random, ahead: int) -> None:
        drawn = game.squares / rng.gammavariate(game.freedom / 2, 2)
        variance = min(MOST_DEVIATION**2, max(drawn, LEAST_DEVIATION**2 / 2))
        self.truth = _true_levels(game, variance, rng)
        self.settled_after = math.inf
        self.answers: list[Answer] = []
        self.trials: list[int] = []
        sums = {name: level * game.rounds for name, level in game.levels.items()}
        squares, freedom, trials = game.squares, game.freedom, 0
        survivors: Sequence[str] = game.known
        analysis, deviation = replace(game.analysis, hinges={}), math.sqrt(variance)
        for j in range(1, ahead + 1):
            if self.settled_after == math.inf:
                trials += len(survivors)
                for name in survivors:
                    sums[name] += self.truth[name] + rng.gauss(0.0, deviation)
                squares += variance * rng.gammavariate((len(survivors) - 1) / 2, 2)
                freedom += len(survivors) - 1
                noisier = math.sqrt(max(squares / freedom, LEAST_DEVIATION**2 / 2) / game.variance)
                means = {name: sums[name] / (game.rounds + j) for name in survivors}
                rounds = game.rounds + j
                pairs = _later(analysis.pairs, means, game.halves(rounds), noisier)
                analysis = replace(analysis, pairs=pairs, rounds=rounds)
                decision = decide(analysis, game.plan, survivors)
                if decision.stop == "one-left":
                    rivals = [name for name in survivors if name not in decision.survivors]
                    hinges = game.hinges(decision.survivors[0], rivals, means, rounds, noisier)
                    decision = decide(replace(analysis, hinges=hinges), game.plan, survivors)
                survivors = decision.survivors
                answer = _answer(analysis, decision)
                if decision.stop in ("one-left", "all-tie"):
                    self.settled_after = j
            self.answers.append(answer)
            self.trials.append(trials)
        self.analysis = analysis


def _true_levels(game: _Game, variance: float, rng: random.Random) -> dict[str, float]:
    """A possible true level of each candidate, the nearer to their mean the more noise there is."""
    own = variance / game.rounds
    away = math.fsum((level - game.middle) ** 2 for level in game.levels.values())
    fits = [-(len(game.levels) - 1) * math.log(s * s + own) - away / (s * s + own) for s in SPREADS]
    (spread,) = rng.choices(SPREADS, [math.exp((fit - max(fits)) / 2) for fit in fits])
    weight = spread * spread / (spread * spread + own)
    return {
        name: game.middle + weight * (level - game.middle) + rng.gauss(0.0, math.sqrt(weight * own))
        for name, level in game.levels.items()
    }


def _later(
    pairs: Sequence[Ratio], means: Mapping[str, float], halves: Mapping[Pair, float], noisier: float
) -> tuple[Ratio, ...]:
    """The pairs, of which open ones have their later intervals."""
    later = list(pairs)
    for number, pair in enumerate(pairs):
        half = halves.get((pair.candidate, pair.baseline))
        if pair.verdict == "undecided" and half is not None and pair.candidate in means and pair.baseline in means:
            middle = means[pair.candidate] - means[pair.baseline]
            later[number] = with_interval(pair, middle, half * noisier)
    return tuple(later)


def _reweighted(
    analysis: Analysis, plan: Plan, known: tuple[str, ...], tables: Tables
) -> Iterator[tuple[Pair, list[_Reweighted]]]:
    """Each pair with what its lead, if it had one, may hang on."""
    now = {(pair.candidate, pair.baseline): pair for pair in _among(analysis.pairs, known) if _half(pair)}
    found = list(reweighted(plan, tables, list(now)))
    for pair, here in now.items():
        changed = [
            (group, leads[0][pair], lead[pair])
            for group, leads in found
            if pair in leads[0]
            for lead in leads
            if pair in lead
        ]
        yield (
            pair,
            [
                _Reweighted(group, rest, math.log(other.ratio / here.ratio), _half(other) / _half(here))
                for group, rest, other in changed
            ],
        )


def _half(ratio: Ratio) -> float:
    """Half of its interval, in logarithms; 0 without one."""
    return math.log(ratio.high / ratio.low) / 2 if ratio.low and ratio.high else 0.0


def _among(pairs: Sequence[Ratio], names: Collection[str]) -> list[Ratio]:
    return [pair for pair in pairs if pair.candidate in names and pair.baseline in names]


def _answer(analysis: Analysis, decision: Decision) -> Answer:
    """The answer that a user gets, without its figures."""
    names = tuple(sorted(decision.survivors))
    if analysis.all_tie(names):
        return ("tie", *names)
    return ("near" if analysis.all_near(names) else "", *names)


def _close(plan: Plan, analysis: Analysis, known: Collection[str], futures: Sequence[_Future]) -> Iterator[Close]:
    """Pairs that are likely to stay undecided."""
    for number, pair in enumerate(analysis.pairs):
        if pair.candidate in known and pair.baseline in known and pair.verdict == "undecided":
            chance = _share(future.analysis.pairs[number].verdict == "undecided" for future in futures)
            if chance >= LIKELY:
                apart = sorted(abs(future.truth[pair.candidate] - future.truth[pair.baseline]) for future in futures)
                one, other = (plan.candidate(name).title for name in (pair.candidate, pair.baseline))
                yield Close(one, other, chance, math.expm1(apart[int(LIKELY * FUTURES)]))


def _share(hits: Iterator[bool]) -> float:
    return sum(hits) / FUTURES
