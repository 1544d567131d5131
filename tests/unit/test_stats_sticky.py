"""Noise that sticks to a candidate over the rounds is noticed, told, and proves less."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence

import numpy as np
import pytest

from fswizard.model.result import Result
from fswizard.stats import analyse, doubts
from fswizard.stats.sticky import MOST_KEPT, Stickiness, stickiness
from fswizard.stats.table import tables_of
from tests.bench.error_rates import NOISES
from tests.bench.many import Noise, sticky, widening
from tests.builders import make_plan, make_result, make_samples, make_workload

WAVE = (0.03, 0.05, 0.08, 0.10, 0.12, 0.13, 0.11, 0.09, 0.06, 0.04)
"""Leads of one candidate, as slow waves bring them."""


def ahead(leads: Sequence[float]) -> Result:
    rng = random.Random(1)
    rounds = [rng.gauss(0, 0.1) for _ in leads]
    figures = {
        "ext4": [100 * math.exp(luck) for luck in rounds],
        "xfs": [100 * math.exp(luck + lead) for luck, lead in zip(rounds, leads)],
    }
    return make_result(figures)


def told(result: Result) -> dict[str, str]:
    return {doubt.code: doubt.text for doubt in doubts(result, tables_of(result), analyse(result), ())}


def test_the_same_figures_prove_less_in_an_order_in_which_they_stick() -> None:
    mixed = [WAVE[i] for i in (0, 4, 8, 3, 9, 5, 1, 6, 2, 7)]
    in_waves, at_random = (analyse(result).of("xfs") for result in (ahead(WAVE), ahead(mixed)))
    assert in_waves is not None and at_random is not None
    assert at_random.verdict == "faster"
    assert in_waves.verdict == "undecided"
    assert in_waves.ratio == pytest.approx(at_random.ratio)
    assert "sticky-noise" not in told(ahead(mixed))
    assert "intervals are 4.0 times as wide" in told(ahead(WAVE))["sticky-noise"]


def test_what_all_candidates_have_in_common_does_not_stick_to_one() -> None:
    rng = random.Random(2)
    table = {f"c{i}": {n: 0.3 * n + rng.gauss(0, 0.01) for n in range(12)} for i in range(3)}
    assert not stickiness(table, range(12)).proven


@pytest.mark.parametrize(("candidates", "rounds"), [(1, 12), (3, 2)])
def test_of_one_candidate_or_two_rounds_nothing_is_said(candidates: int, rounds: int) -> None:
    table = {f"c{i}": {n: float(n * i) for n in range(rounds)} for i in range(candidates)}
    assert stickiness(table, range(rounds)) == Stickiness()


def test_figures_that_never_change_widen_nothing() -> None:
    assert stickiness({"a": dict.fromkeys(range(6), 1.0), "b": dict.fromkeys(range(6), 2.0)}, range(6)).widening == 1


def test_who_left_the_run_takes_no_part() -> None:
    rng = random.Random(3)
    table = {f"c{i}": {n: rng.gauss(0, 0.1) for n in range(8)} for i in range(3)}
    left = {**table, "left": {n: float(n) for n in range(4)}}
    assert stickiness(left, range(8)) == stickiness(table, range(8))


def shown(noise: Noise, candidates: int, rounds: int, runs: int = 2000) -> float:
    """Share of runs in which it is said that noise sticks."""
    figures = noise(np.random.default_rng(1), (runs, rounds, candidates))
    parts = figures if figures.ndim == 4 else figures[None]
    return float(widening(parts, np.ones((runs, candidates), bool))[1].mean())


@pytest.mark.parametrize("candidates", [2, 3, 6])
@pytest.mark.parametrize("rounds", [4, 6, 12])
@pytest.mark.parametrize("name", [name for name in NOISES if "sticks" not in name])
def test_where_nothing_sticks_it_is_seldom_said(name: str, rounds: int, candidates: int) -> None:
    assert shown(NOISES[name][0], candidates, rounds) < 0.045


@pytest.mark.parametrize(
    ("candidates", "rounds", "workloads", "least"), [(2, 12, 1, 0.5), (3, 12, 1, 0.8), (6, 6, 1, 0.6), (2, 8, 6, 0.6)]
)
def test_where_noise_sticks_it_is_said_after_some_rounds(
    candidates: int, rounds: int, workloads: int, least: float
) -> None:
    assert shown(sticky(0.03, 0.8, workloads), candidates, rounds) > least


@pytest.mark.parametrize("workloads", [1, 3])
@pytest.mark.parametrize("share", [0.0, 0.8])
def test_arrays_tell_it_as_the_program_does(share: float, workloads: int) -> None:
    parts = sticky(0.03, share, workloads)(np.random.default_rng(1), (30, 12, 3)).reshape(workloads, 30, 12, 3)
    wider = []
    for run in range(30):
        for rounds in (2, 3, 5, 12):
            tables = [{f"c{c}": dict(enumerate(part[run, :rounds, c].tolist())) for c in range(3)} for part in parts]
            table = {f"c{c}": dict(enumerate(parts.mean(axis=0)[run, :rounds, c].tolist())) for c in range(3)}
            found = stickiness(table, range(rounds), tables)
            widened, proven = widening(parts[:, run : run + 1, :rounds], np.ones((1, 3), bool))
            assert (found.widening, found.proven) == (pytest.approx(widened[0]), proven[0])
            wider.append(found.widening)
    assert max(wider) <= math.sqrt((1 + MOST_KEPT) / (1 - MOST_KEPT)) + 1e-9


def test_several_workloads_show_it_sooner_than_their_mean() -> None:
    names = ("write", "delete", "find", "unpack")
    plan = make_plan(workloads=[make_workload(name) for name in names])
    parts = sticky(0.03, 0.8, len(names))(np.random.default_rng(1), (20, 7, 2))
    by_workload = overall = 0
    for run in range(20):
        figures = [dict(zip(("ext4", "xfs"), np.exp(part[run].T).tolist())) for part in parts]
        samples = tuple(sample for name, one in zip(names, figures) for sample in make_samples(one, name))
        result = make_result(plan=plan, samples=samples)
        by_workload += "sticky-noise" in told(result)
        overall += stickiness(tables_of(result).standing, range(1, 8)).proven
    assert by_workload >= overall + 5
