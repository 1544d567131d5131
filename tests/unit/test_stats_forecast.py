"""What more rounds would bring: said only where it can be known, and true about as often as it says."""

from __future__ import annotations

import random
import sys
from dataclasses import replace
from typing import Any

import pytest

from fswizard.model.analysis import Analysis, Ratio
from fswizard.model.forecast import LIKELY, UNLIKELY, Close, Forecast
from fswizard.model.plan import Plan
from fswizard.model.result import Result
from fswizard.report.plan import plan_facts
from fswizard.results import all_results, new_path
from fswizard.session import settles_text
from fswizard.stats import analyse, decide, forecast
from fswizard.stats.forecast import foresee
from tests.bench.forecasts import Told, drawn, recorded, simulated, spliced
from tests.builders import make_drive, make_plan, make_recipe, make_result, make_workload, write_result


def measured(rounds: int, noise: float, truth: tuple[float, ...] = (100.0, 100.0)) -> Result:
    rng = random.Random(rounds)
    figures = {
        name: [level * (1 + rng.gauss(0, noise)) for _ in range(rounds)]
        for name, level in zip(("ext4", "xfs", "btrfs"), truth)
    }
    return make_result(figures, plan=make_plan(tuple(figures), maximum_rounds=12))


def outlook(result: Result) -> Forecast:
    analysis = analyse(result)
    made = forecast(result, analysis, decide(analysis, result.plan).survivors, trial_s=30.0)
    assert made is not None
    return made


@pytest.mark.parametrize("rounds", [1, 12])
def test_without_intervals_rounds_to_come_or_another_candidate_nothing_is_forecast(rounds: int) -> None:
    result = measured(rounds, 0.05)
    assert forecast(result, analyse(result), analyse(result).leaders) is None
    result = measured(4, 0.05)
    assert forecast(result, analyse(result), ["ext4"]) is None


def test_what_shows_already_is_settled_soon_what_noise_holds_is_said_early_and_chances_rise() -> None:
    result = measured(4, 0.04, (100.0, 110.0))
    assert analyse(result).leaders == ("xfs", "ext4")
    made = outlook(result)
    assert made.enough is not None and made.enough <= 5
    assert made.settled[made.enough - 1] >= LIKELY
    assert made.seconds(made.enough) == pytest.approx(30.0 * made.trials[made.enough - 1])
    made = outlook(measured(6, 0.3, (100.0, 101.0, 99.0)))
    assert made.enough is None
    assert made.changed[-1] < UNLIKELY
    assert {frozenset((close.one, close.other)) for close in made.close} == {
        frozenset(pair) for pair in (("ext4", "xfs"), ("ext4", "btrfs"), ("xfs", "btrfs"))
    }
    result = measured(5, 0.05, (100.0, 104.0, 92.0))
    made = outlook(result)
    assert len(made.settled) == len(made.changed) == len(made.trials) == 7
    assert list(made.settled) == sorted(made.settled) and list(made.trials) == sorted(made.trials)
    assert made == outlook(result)


CLOSE = (Close("XFS", "ext4", 0.9, 0.028),)


def test_it_is_said_in_minutes_or_rounds_and_what_noise_holds_by_name() -> None:
    likely = Forecast((0.2, 0.83), (0.5, 0.9), (2, 4))
    assert "2 rounds" in likely.text and "83 %" in likely.text
    assert "5 min" in replace(likely, trial_s=75).text
    assert "XFS" in Forecast((0.0, 0.05), (0.0, 0.1), (2, 4), CLOSE, trial_s=450).text


def test_what_resuming_would_bring_is_offered_with_time_for_likely_rounds() -> None:
    made = Forecast((0.2, 0.83), (0.5, 0.9), (2, 4), trial_s=75)
    assert "5 min" in made.offer and "83 %" in made.offer
    assert replace(made, settled=tuple(0.0 for _ in made.settled)).offer == "", "nobody is asked to wait for nothing"
    made = Forecast((0.2, 0.83, 0.9), (0.5, 0.9, 0.9), (4, 6, 7), trial_s=75)
    assert 2 * 4 * 75 < made.limit_s < 3 * 4 * 75


@pytest.mark.parametrize(("low", "high", "near"), [(0.92, 1.09, True), (0.9, 1.05, False), (0.95, 1.11, False)])
def test_near_are_those_whose_interval_lies_within_ten_percent(low: float, high: float, near: bool) -> None:
    analysis = Analysis(pairs=(Ratio("xfs", "ext4", "", 1.0, low, high, 5),))
    assert analysis.all_near(("xfs", "ext4")) is near
    assert not analysis.all_near(("xfs",)) and not analysis.all_near(("xfs", "ext4", "btrfs"))


def came_true(said: list[tuple[float, bool]], low: float, high: float) -> float:
    some = [came for chance, came in said if low <= chance < high]
    return sum(some) / len(some)


@pytest.mark.slow  # a minute
def test_what_is_said_with_80_percent_comes_true_in_70_to_90_percent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules[foresee.__module__], "FUTURES", 100)
    told = Told()
    for number in range(300):
        simulated(drawn(number), 1, told)
    assert 0.7 <= came_true(told.settled, 0.7, 0.9) <= 0.9
    assert 0.7 <= came_true(told.enough, 0.7, 0.9) <= 0.9
    assert came_true(told.close, 0.7, 1.1) >= 0.8
    assert came_true(told.within, 0.0, 1.1) >= 0.7


def test_few_comparisons_come_out_otherwise_than_was_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """The small sibling of the test above: both of the sure kinds of forecast."""
    monkeypatch.setattr(sys.modules[foresee.__module__], "FUTURES", 40)
    told = Told()
    for number in range(12):
        simulated(drawn(number), 1, told)
    assert came_true(told.settled, 0.9, 1.1) >= 0.8
    assert came_true(told.settled, 0.0, 0.1) <= 0.1
    assert came_true(told.changed, 0.0, UNLIKELY) <= 0.1


@pytest.mark.slow  # two minutes
def test_recorded_runs_that_are_said_to_settle_do_so_more_often_than_not() -> None:
    """Less often than is said, as bursts of noise do not show before they come."""
    told = Told()
    recorded(map(spliced, range(300)), told)
    assert came_true(told.settled, 0.5, 1.1) > 0.5
    assert came_true(told.settled, 0.0, 0.1) < 0.05


# What an earlier result tells before a run


pytestmark = pytest.mark.usefixtures("state")

DISK = make_drive()
PLAN = make_plan(("ext4", "xfs", "btrfs"), drive=DISK, time_limit_s=180.0, seconds_per_trial=10.0)


def kept(noise: float, plan: Plan = PLAN, started: str = "2026-01-02T03:04:05Z", rounds: int = 4) -> None:
    rng = random.Random(1)
    figures = {c.name: [100 * (1 + rng.gauss(0, noise)) for _ in range(rounds)] for c in plan.candidates}
    result = make_result(figures, plan=plan)
    write_result(new_path(plan), replace(result, environment=replace(result.environment, started=started)))


def least(text: str) -> int:
    words, _, rest = text.partition(" % or more, if figures vary as on 2026-")
    assert rest
    return int(words.removeprefix("differences of "))


def test_the_noise_of_the_last_time_tells_what_can_be_settled_in_the_time() -> None:
    kept(0.03)
    in_three_minutes, in_one = (settles_text(replace(PLAN, time_limit_s=s), all_results()) for s in (180.0, 90.0))
    assert in_three_minutes.endswith("2026-01-02")
    assert 5 < least(in_three_minutes) < least(in_one) < 30
    assert ("Settles", in_three_minutes) in plan_facts(PLAN, settles=in_three_minutes).rows
    kept(0.2)
    kept(0.001, started="2026-02-03T04:05:06Z")
    assert settles_text(PLAN, all_results()) == "differences of 5 % or more, if figures vary as on 2026-02-03"


@pytest.mark.parametrize(
    "other",
    [
        {"drive": make_drive(serial="another")},
        {"drive": None},
        {"recipe": make_recipe(name="everyday")},
        {"workloads": [make_workload(weight=2.0)]},
        {"target": replace(PLAN.target, kind="device")},
    ],
    ids=str,
)
def test_another_disk_or_other_work_says_nothing(other: dict[str, Any]) -> None:
    kept(0.03, make_plan(("ext4", "xfs", "btrfs"), **{"drive": DISK, **other}))
    assert settles_text(PLAN, all_results()) == ""


def test_one_round_or_a_damaged_file_says_nothing() -> None:
    kept(0.03, rounds=1)
    assert settles_text(PLAN, all_results()) == ""
    kept(0.03)
    path = all_results()[0].path
    path.write_bytes(path.read_bytes().splitlines(keepends=True)[0])
    assert settles_text(PLAN, all_results()[:1]) == ""
    assert settles_text(PLAN, all_results()) == ""
    assert "Settles" not in dict(plan_facts(PLAN).rows)
