"""How often the analysis errs where the truth is known: simulated and recorded runs, thousands in tests/bench."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fswizard.advice import conclude
from fswizard.model.analysis import Ratio
from fswizard.model.plan import FIRST_LOOK
from fswizard.stats import analyse, comparison
from fswizard.stats.discoveries import AT_THE_END, ERROR, controlled
from fswizard.stats.ratios import WIDEST, compare, verdict
from tests.bench.carry_over import winners
from tests.bench.decisions import BANK, SIX_SHARED, TIE, replay
from tests.bench.discoveries import Case, scores
from tests.bench.error_rates import NOISES, PARTLY, bias, errors, partly
from tests.bench.many import Noise, Standing, bimodal, constants_of, look, narrower, one_noisy, pairs_of, play, widening
from tests.bench.many import normal as normal_noise
from tests.bench.recordings import FASTER, GAIN, SAME, Recording, load
from tests.bench.simulation import SCENARIOS, Scenario, Simulation, normal, plan_of
from tests.builders import make_plan, make_result, make_samples, make_workload

EQUAL = SCENARIOS[0]
STICKY = [name for name in NOISES if "sticks to a candidate" in name]


def likely(share: float, runs: int) -> float:
    """What a true share of errors stays below in all but one of a thousand samples."""
    return share + 3.1 * math.sqrt(share * (1 - share) / runs)


def slow(*values: tuple[int, ...]) -> list[Any]:
    return [pytest.param(*value, marks=pytest.mark.slow) for value in values]


@pytest.mark.parametrize(("candidates", "runs"), [(2, 2000), (4, 1000), *slow((3, 10_000), (6, 5000), (10, 2000))])
@pytest.mark.parametrize("name", NOISES)
def test_where_nothing_differs_one_run_in_twenty_errs_at_most(name: str, candidates: int, runs: int) -> None:
    """One in fourteen where noise differs between candidates; of noise that sticks to one see `test_stats_doubts`."""
    noise, most = NOISES[name]
    if name not in STICKY:
        missed, won = errors(candidates, noise, runs)
        assert missed <= likely(most, runs)
        assert won <= likely(most, runs)


@pytest.mark.parametrize(("times", "most"), [(1.0, 0.05), (10.0, 0.07)])
@pytest.mark.parametrize("truth", PARTLY)
def test_once_some_have_left_one_run_in_twenty_errs_at_most(truth: str, times: float, most: float) -> None:
    """Intervals of those that are left are narrower then."""
    assert partly(PARTLY[truth], times, 1000) <= likely(most, 1000)


@pytest.mark.parametrize("runs", [40, *slow((250,))])
@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.name)
def test_machines_that_err_otherwise_seldom_lead_astray(scenario: Scenario, runs: int) -> None:
    plan, missed = plan_of(3), 0
    for seed in range(runs):
        simulation = Simulation([100.0] * 3, scenario, random.Random(f"{scenario.name}/{seed}"))
        looks = list(simulation.play(plan, to_the_end=True))
        missed += any(simulation.misses(pair) for analysis, _ in looks for pair in analysis.pairs)
    assert missed / runs <= likely(0.07, runs)


@pytest.mark.parametrize("noise", [normal_noise(0.03, shared=1.0), bimodal(0.03), one_noisy(0.03, 10.0, shared=1.0)])
@pytest.mark.parametrize("truth", [(1.0, 1.1), (1.0, 1.05, 1.2, 0.9)])
def test_arrays_are_judged_as_the_program_judges(truth: tuple[float, ...], noise: Noise) -> None:
    """Each round that has intervals of those still in the run, while candidates leave."""
    figures = noise(np.random.default_rng(1), (20, 12, len(truth))) + np.log(truth)
    one, other = pairs_of(len(truth))
    for run in figures:
        standing = Standing.begin(1, len(truth))
        for rounds in range(FIRST_LOOK, 13):
            if rounds == 7:
                standing.alive[0, 0] = len(truth) < 3
            wider, _ = widening(run[None, None, :rounds], standing.alive)
            seen = look(run[None], rounds)
            together, errors = standing.estimates(seen, wider[:, None])
            constants = constants_of(standing.alive, rounds, True), constants_of(standing.alive, rounds, False)
            differences, half_widths = narrower(seen, errors, constants)
            table = {
                f"c{c}": {n: float(run[n, c]) for n in range(rounds if standing.alive[0, c] else 6)}
                for c in range(len(truth))
            }
            for pair in np.flatnonzero(together[0]):
                names = f"c{one[pair]}", f"c{other[pair]}"
                (ratio,) = compare(table, "", len(truth), [names])
                assert ratio.low is not None
                assert math.log(ratio.ratio) == pytest.approx(differences[0, pair])
                assert math.log(ratio.low) == pytest.approx(differences[0, pair] - min(half_widths[0, pair], WIDEST))


@pytest.mark.parametrize("runs", [60, *slow((400,))])
@pytest.mark.parametrize(("slower", "itself", "most"), [(0.05, False, 0.06), (0.2, False, 0.08), (0.2, True, 0.05)])
def test_who_slows_down_the_next_one_seldom_wins_unsaid(slower: float, itself: bool, most: float, runs: int) -> None:
    scenario = Scenario("", normal(0.03), carried=-math.log1p(slower), itself=itself)
    _, unsaid = winners((100.0, 100.0), scenario, runs)
    assert unsaid <= likely(most, runs)


def test_narrower_intervals_would_err_too_often() -> None:
    student = (4.30, 2.78, 2.45, 2.31, 2.23, 2.18, 2.14, 2.12, 2.10, 2.09, 2.07)
    outcome = play((1.0, 1.0), normal_noise(0.03), 1000, 1, constants=student, to_the_end=True)
    assert outcome.missed.mean() > 0.12


@pytest.mark.parametrize(("truth", "deviation"), [(1.1, 0.08), (1.1, 0.03), (1.2, 0.08), (1.5, 0.08)])
def test_the_ratio_of_a_winner_is_told_too_high_as_often_as_too_low(truth: float, deviation: float) -> None:
    assert abs(bias((1.0, truth), normal_noise(deviation), 10_000)[2]) < 0.012


def test_a_known_difference_lies_within_its_interval() -> None:
    held = found = 0
    for seed in range(200):
        simulation = Simulation((100.0, 115.0), EQUAL, random.Random(seed))
        *_, (analysis, decision) = simulation.play(plan_of(2))
        held += not any(map(simulation.misses, analysis.pairs))
        found += decision.survivors == ("c1",)
    assert held >= 0.95 * 200
    assert found >= 0.99 * 200


@pytest.mark.parametrize("weights", [{}, {"delete": 0.0}, {"write": 1.0, "delete": 5.0}], ids=str)
@pytest.mark.parametrize("runs", [100, *slow((300,))])
def test_intervals_hold_with_any_weights_though_workloads_err_together(weights: dict[str, float], runs: int) -> None:
    """A cell that is slow at one workload is slow at the other, too: added up as if apart, intervals are too narrow."""
    truth = {"write": {"ext4": 100.0, "xfs": 120.0}, "delete": {"ext4": 100.0, "xfs": 85.0}}
    workloads = [make_workload("write"), make_workload("delete")]
    plan, missed = make_plan(("ext4", "xfs"), workloads), 0
    counts = {"write": 1.0, "delete": 1.0, **weights}
    right = math.exp(
        sum(w * math.log(truth[n]["xfs"] / truth[n]["ext4"]) for n, w in counts.items()) / sum(counts.values())
    )
    for seed in range(runs):
        rng = random.Random(seed)
        figures: dict[str, dict[str, list[float]]] = {name: {"ext4": [], "xfs": []} for name in truth}
        for candidate in ("ext4", "xfs") * 6:
            luck = rng.gauss(0, 0.03)
            for name, one in figures.items():
                one[candidate].append(truth[name][candidate] * math.exp(luck + rng.gauss(0, 0.01)))
        samples = tuple(s for name, one in figures.items() for s in make_samples(one, name))
        looks = (
            conclude(make_result(plan=plan, samples=tuple(s for s in samples if s.round <= last)), weights=weights)
            for last in (3, 4, 5, 6)
        )
        ratios = [look.analysis.of("xfs") for look in looks]
        missed += any(not r.low <= right <= r.high for r in ratios if r and r.low is not None and r.high is not None)
    assert missed / runs <= likely(0.05, runs)


def test_the_simulation_judges_as_the_program_does() -> None:
    plan = plan_of(5)
    simulation = Simulation((100.0, 110.0, 90.0, 60.0, 101.0), Scenario("", normal(0.04)), random.Random(7))
    for played, _ in simulation.play(plan):
        # candidates that were dropped have fewer rounds, which a result shows as rounds without their samples
        figures = {name: tuple(math.exp(score) for score in cells.values()) for name, cells in simulation.table.items()}
        judged = analyse(make_result(figures, plan=plan))
        assert (judged.leaders, judged.dropped) == (played.leaders, played.dropped)
        for one, other in zip(judged.pairs, played.pairs):
            assert (one.candidate, one.baseline, one.rounds) == (other.candidate, other.baseline, other.rounds)
            assert one.high == pytest.approx(other.high)


def test_of_the_bank_of_races_six_apart_take_twenty_cells_and_loud_ties_are_left_open() -> None:
    answers = [comparison.answer() for comparison in BANK]
    assert answers.count(TIE) >= 5 and len(answers) - answers.count(TIE) >= 10
    score = replay("fswizard", [c for c in BANK if c.name == "three that are the same, 8 % noise"], 30)
    assert score.undecided == score.ties
    score = replay("fswizard", [SIX_SHARED], 100)
    assert score.right >= 0.99 * score.races
    assert score.cells <= 20 * score.races


def judged(path: Path) -> list[tuple[Recording, str, bool]]:
    recordings = load(path)
    ratios = [recording.ratio() for recording in recordings]
    return [(one, ratio.verdict, one.holds(ratio)) for one, ratio in zip(recordings, ratios)]


def test_of_recorded_runs_against_itself_few_have_a_winner_and_a_known_difference_is_found() -> None:
    told = judged(SAME)
    assert len(told) >= 100
    assert sum(verdict in ("faster", "slower") for _, verdict, _ in told) <= 0.05 * len(told)
    assert sum(held for _, _, held in told) >= 0.95 * len(told)
    told = judged(FASTER)
    assert len(told) >= 100
    assert {one.truth["ext4:nobarrier"] for one, _, _ in told} == {GAIN}
    assert sum(held for _, _, held in told) >= 0.95 * len(told)
    assert sum(verdict == "faster" for _, verdict, _ in told) >= 0.9 * len(told)
    assert "slower" not in {verdict for _, verdict, _ in told}


# Marks of many workloads


def ratios(*halves: float, ratio: float = 1.2, rounds: int = 6) -> list[Ratio]:
    """One for each workload, 20 % faster, with half of its interval given."""
    ends = [(ratio * math.exp(-half), ratio * math.exp(half)) for half in halves]
    return [Ratio("xfs", "ext4", f"w{n}", ratio, *end, rounds, verdict(*end)) for n, end in enumerate(ends)]


def marks(table: Sequence[Ratio], each: float = ERROR) -> list[str]:
    return [ratio.verdict for ratio in controlled(table, lambda ratio: ratio.workload, each)]


def width(table: Sequence[Ratio]) -> float:
    """Of the interval of xfs at the first workload."""
    ratio = next(ratio for ratio in table if (ratio.candidate, ratio.workload) == ("xfs", "one"))
    assert ratio.low is not None and ratio.high is not None
    return math.log(ratio.high / ratio.low)


BARELY, CLEARLY, OPEN = 0.18, 0.05, 0.3


def test_what_barely_clears_1_among_many_is_undecided_and_a_clear_difference_stays() -> None:
    (alone,) = ratios(BARELY)
    assert controlled([alone], lambda ratio: ratio.workload, ERROR) == (alone,)
    table = (Ratio("xfs", "ext4", "w0", 1.2, rounds=2), Ratio("xfs", "ext4", "w1", 0.0, verdict="failed"))
    assert controlled(table, lambda ratio: ratio.workload, ERROR) == table
    assert controlled((), lambda ratio: ratio.workload, ERROR) == ()
    assert [ratio.verdict for ratio in ratios(BARELY)] == ["faster"]
    assert marks(ratios(BARELY, *[OPEN] * 5)) == ["undecided"] * 6
    assert marks(ratios(BARELY, *[CLEARLY] * 5)) == ["faster"] * 6
    assert marks(ratios(CLEARLY, *[OPEN] * 11)) == ["faster", *["undecided"] * 11]
    assert marks(ratios(0.15, 0.15, OPEN, OPEN), AT_THE_END) == ["faster"] * 2 + ["undecided"] * 2
    assert marks(ratios(0.15, 0.15, OPEN, OPEN)) == ["undecided"] * 4


def test_marks_follow_from_the_intervals_that_are_shown() -> None:
    table = controlled(ratios(BARELY, CLEARLY, OPEN), lambda ratio: ratio.workload, ERROR)
    for ratio in table:
        assert ratio.low is not None and ratio.high is not None
        assert ratio.verdict == verdict(ratio.low, ratio.high)


def test_a_judgement_and_a_comparison_of_results_widen_what_is_one_of_many() -> None:
    figures = {"ext4": [100.0, 104.0, 96.0, 101.0, 98.0], "xfs": [110.0, 105.0, 112.0, 108.0, 115.0]}
    level = {"ext4": [100.0, 104.0, 96.0, 101.0, 98.0], "xfs": [103.0, 97.0, 101.0, 99.0, 100.0]}
    workloads = [make_workload(name) for name in ("one", "two", "three", "four")]
    samples = [s for w in workloads for s in make_samples(figures if w.name == "one" else level, w.name)]
    result = make_result(plan=make_plan(("ext4", "xfs"), workloads), samples=tuple(samples))
    of_one = tuple(sample for sample in samples if sample.workload == "one")
    alone = make_result(samples=of_one, plan=make_plan(("ext4", "xfs"), workloads[:1]))
    assert width(analyse(result).by_workload) > 1.1 * width(analyse(alone).by_workload)
    both = ([change.ratio for change in comparison.compare(some, some).changes] for some in (result, alone))
    assert width(next(both)) > 1.1 * width(next(both))


@pytest.mark.parametrize("runs", [150, pytest.param(2000, marks=pytest.mark.slow)])
def test_where_nothing_differs_one_report_in_twenty_marks_a_workload_wrongly(runs: int) -> None:
    alone, together = scores(Case(2, 6, 0, 0.0, 0.08), runs)
    most = 0.05 + 3.1 * math.sqrt(0.05 * 0.95 / runs)
    assert together.wrong_tables / runs <= most
    assert together.wrong_tables < alone.wrong_tables


@pytest.mark.parametrize("runs", [120, pytest.param(1000, marks=pytest.mark.slow)])
def test_true_differences_are_still_found(runs: int) -> None:
    alone, together = scores(Case(2, 6, 3, 0.3, 0.08), runs)
    assert together.wrong_share / runs <= 0.05
    assert together.found >= 0.95 * alone.found
