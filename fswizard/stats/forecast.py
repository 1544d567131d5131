"""What more rounds are likely to bring: the run is played on many times over, decided as it is decided."""

from __future__ import annotations

import math
import random
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from statistics import NormalDist

from fswizard.model.analysis import TIE, Analysis, Ratio
from fswizard.model.forecast import LIKELY, Close, Forecast
from fswizard.model.plan import FIRST_LOOK, Plan
from fswizard.model.result import Result
from fswizard.stats.analyse import Decision, decide
from fswizard.stats.ratios import LEAST_DEVIATION, all_rounds, critical, fit, in_the_run, verdict
from fswizard.stats.table import Table, Tables, tables_of

FUTURES = 200
"""Number of simulated futures: it gives chances to about 3 %."""
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

    None before there are intervals, with fewer than two candidates, if no round is left, and for imported figures.
    `trial_s` is the duration of a trial, `tables` are those of the result.
    """
    if result.environment.source:
        return None
    return foresee((tables or tables_of(result)).standing, analysis, result.plan, candidates, trial_s=trial_s)


def foresee(
    table: Table, analysis: Analysis, plan: Plan, candidates: Collection[str], *, trial_s: float = 0.0
) -> Forecast | None:
    """The same for a table of overall scores and its analysis."""
    ahead = plan.maximum_rounds - analysis.rounds
    known = tuple(name for name in analysis.leaders if name in candidates and name in table)
    if ahead < 1 or len(known) < 2 or analysis.rounds < plan.minimum_rounds:
        return None
    if any(pair.low is None for pair in _among(analysis.pairs, known)):
        return None
    game = _Game(analysis, plan, known, table)
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
    if candidates < 2 or rounds < FIRST_LOOK or noise.freedom < 1 or result.environment.source:
        return None
    likely, part = NormalDist().inv_cdf(LIKELY), 2 / (9 * noise.freedom)
    least_squares = (1 - part - likely * math.sqrt(part)) ** 3  # chi-square's quantile by Wilson and Hilferty (1931)
    deviation = max(LEAST_DEVIATION, math.sqrt(2 * noise.residual_mean_square / least_squares))
    return max(TIE - 1, math.expm1((critical(candidates, rounds) + likely) * deviation / math.sqrt(rounds)))


class _Game:
    """The run as it stands, where each future begins."""

    def __init__(self, analysis: Analysis, plan: Plan, known: tuple[str, ...], table: Table) -> None:
        self.analysis, self.plan, self.known = analysis, plan, known
        noise = fit(table)
        self.measured = in_the_run(table, max(all_rounds(table)))
        self.rounds = analysis.rounds
        self.levels = {name: noise.effects[name] for name in known}
        self.middle = math.fsum(self.levels.values()) / len(known)
        self.squares, self.freedom = noise.residual_sum, max(1, noise.freedom)
        self._halves: dict[int, dict[tuple[str, str], float]] = {}

    @property
    def variance(self) -> float:
        """Variance of a cell, as estimated now."""
        return max(self.squares / self.freedom, LEAST_DEVIATION**2 / 2)

    def halves(self, rounds: int) -> Mapping[tuple[str, str], float]:
        """Half the interval of each open pair after `rounds` rounds, with the noise as estimated now."""
        if rounds not in self._halves:
            started_with = len(self.plan.candidates)
            later = critical(started_with, rounds, left=len(self.known))
            halves = self._halves[rounds] = {}
            for pair in _among(self.analysis.pairs, self.known):
                if pair.verdict == "undecided" and pair.low and pair.high:
                    now = critical(started_with, pair.rounds, left=self.measured)
                    narrower = later / now * math.sqrt(pair.rounds / rounds)
                    halves[pair.candidate, pair.baseline] = math.log(pair.high / pair.low) / 2 * narrower
        return self._halves[rounds]


class _Future:
    """One way in which the run may continue; all are equally likely."""

    def __init__(self, game: _Game, rng: random.Random, ahead: int) -> None:
        # Four more degrees of freedom than the figures have: without them, what was said with 80 % came true in 92 %
        # (`tests/bench/forecasts.py`).
        surer = (game.freedom + 4) / game.freedom
        variance = max(surer * game.squares / rng.gammavariate(surer * game.freedom / 2, 2), LEAST_DEVIATION**2 / 2)
        self.truth = _true_levels(game, variance, rng)
        self.settled_after = math.inf
        self.answers: list[Answer] = []
        self.trials: list[int] = []
        sums = {name: level * game.rounds for name, level in game.levels.items()}
        squares, freedom, trials = game.squares, game.freedom, 0
        survivors: Sequence[str] = game.known
        analysis, deviation = game.analysis, math.sqrt(variance)
        for j in range(1, ahead + 1):
            if self.settled_after == math.inf:
                trials += len(survivors)
                for name in survivors:
                    sums[name] += self.truth[name] + rng.gauss(0.0, deviation)
                squares += variance * rng.gammavariate((len(survivors) - 1) / 2, 2)
                freedom += len(survivors) - 1
                noisier = math.sqrt(max(squares / freedom, LEAST_DEVIATION**2 / 2) / game.variance)
                means = {name: sums[name] / (game.rounds + j) for name in survivors}
                pairs = _later(analysis.pairs, means, game.halves(game.rounds + j), noisier)
                analysis = replace(analysis, pairs=pairs, rounds=game.rounds + j)
                decision = decide(analysis, game.plan, survivors)
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
    pairs: Sequence[Ratio], means: Mapping[str, float], halves: Mapping[tuple[str, str], float], noisier: float
) -> tuple[Ratio, ...]:
    """The pairs, of which open ones have their later intervals."""
    later = list(pairs)
    for number, pair in enumerate(pairs):
        half = halves.get((pair.candidate, pair.baseline))
        if half is not None and pair.candidate in means and pair.baseline in means:
            middle = means[pair.candidate] - means[pair.baseline]
            low, high = math.exp(middle - half * noisier), math.exp(middle + half * noisier)
            later[number] = replace(pair, ratio=math.exp(middle), low=low, high=high, verdict=verdict(low, high))
    return tuple(later)


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
