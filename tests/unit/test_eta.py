"""How long a run takes: what is expected, the order of its trials, what is left; and the course of a workload."""

from __future__ import annotations

import math
import statistics
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import pytest

from fswizard import recipes
from fswizard.model.estimates import SLOWER, another_round_fits, filling_s, on_disk_s, trial_overhead_s
from fswizard.model.events import RoundFinished, RunEnded, RunStarted, StepProgressed, StepStarted
from fswizard.model.plan import Trial
from fswizard.model.recipe import Workload
from fswizard.progress.eta import Eta
from fswizard.progress.workload_events import Progress, SeriesRecorder
from tests.builders import make_plan, make_workload
from tests.recording import recorded


def make_eta(trial_s: float, minimum_rounds: int = 3, **fields: Any) -> Eta:
    """Of a plan whose trials take time beside their workloads alone, unless some are given, and without a limit."""
    usual = {"workloads": [make_workload(seconds=0.0)], "time_limit_s": 0, "preparation_s": 0}
    timing = {"seconds_per_trial": trial_s, "minimum_rounds": minimum_rounds}
    return Eta(make_plan(**{**usual, **timing, **fields}))


def test_the_outlook_is_what_is_expected_corrected_by_what_is_measured_within_the_limits() -> None:
    assert make_eta(10, preparation_s=5).outlook(0.0, None) == (0.0, 65.0)
    eta = make_eta(10)
    for number in range(2):
        eta.trial_begins(number * 20)
        eta.trial_ends(number * 20 + 20)
    assert eta.trial_s == 20
    assert eta.outlook(40, None)[1] == 4 * 20
    eta = make_eta(10, minimum_rounds=2, maximum_rounds=2, time_limit_s=10_000)
    assert eta.outlook(0.0, None) == (0.0, 40.0)
    eta.trial_begins(0.0)
    eta.trial_ends(10.0)
    assert eta.outlook(10.0, None) == (0.25, 30.0)
    eta = make_eta(10, time_limit_s=1000)
    eta.trials_ahead(6, 12, 4)
    assert eta.outlook(0.0, None)[1] == 40
    eta.trial_begins(0.0)
    eta.trial_ends(10.0)
    assert eta.outlook(10.0, None)[1] == 30
    eta.trials_ahead(2, None, 2)
    assert eta.outlook(10.0, None)[1] == 20, "without a guess, time does not count where writes end the run"
    assert make_eta(20, time_limit_s=10).outlook(0, None)[1] == 3 * 2 * 20


def test_the_share_done_never_goes_back_and_time_left_shrinks() -> None:
    eta, shares = make_eta(1), []
    for number in range(6):
        eta.trial_begins(number * 30)
        shares.append(eta.outlook(number * 30 + 15, 0.5)[0])
        eta.trial_ends(number * 30 + 30)
        shares.append(eta.outlook(number * 30 + 30, None)[0])
    assert shares == sorted(shares)
    assert shares[-1] == 1.0
    eta = make_eta(10, minimum_rounds=1)
    eta.trial_begins(0)
    assert eta.outlook(2, None)[1] > eta.outlook(8, None)[1] > 0


def test_the_guess_lies_between_the_least_and_the_most_and_the_first_trial_corrects_it() -> None:
    eta = make_eta(10, time_limit_s=180)
    eta.trials_ahead(1, None, 100)
    eta.trial_begins(90)
    assert eta.outlook(90, None)[1] == pytest.approx(math.sqrt((90 + 10) * 180) - 90)
    workloads = [make_workload(name, seconds=10.0) for name in ("one", "two", "three")]
    eta = make_eta(32, minimum_rounds=1, workloads=workloads)
    assert eta.outlook(0, None)[1] == 64
    eta.trial_begins(0)
    eta.step_begins(0, 10, "one")
    eta.step_begins(30, 10, "two")
    assert eta.trial_s == pytest.approx(2 + 30 + 2 * 10 * (2 + 30) / (2 + 10))


@pytest.mark.parametrize(("likely", "left_s"), [(2, 20), (9, 90), (60, 90)])
def test_what_the_figures_make_likely_is_counted_to_within_the_time_limit(likely: int, left_s: float) -> None:
    eta = make_eta(10, time_limit_s=180)
    eta.trials_ahead(1, likely, 100)
    eta.trial_begins(90)
    assert eta.outlook(90, None)[1] == left_s


def replayed() -> Iterator[tuple[float, float]]:
    """Of a run that was recorded: the time left as it looked, and as it was, whenever it was told.

    From the second round on the forecast is right: how often it is has tests of its own.
    """
    events = list(recorded("six-rounds"))
    started, ended = events[0], events[-1]
    assert isinstance(started, RunStarted) and isinstance(ended, RunEnded)
    plan = started.plan
    all_trials = len({(e.step.round, e.step.candidate) for e in events if isinstance(e, StepStarted) and e.step.round})
    eta, trial, gone, likely = Eta(plan), Trial(0, ""), 0, None
    survivors = {candidate.name for candidate in plan.candidates}
    for event in events:
        if isinstance(event, StepStarted):
            now = Trial(event.step.round, event.step.candidate)
            if now != trial:
                if trial.candidate:
                    eta.trial_ends(event.at_s)
                    gone += 1
                if now.round > trial.round:
                    least, most = (
                        max(1, rounds - trial.round) for rounds in (plan.minimum_rounds, plan.maximum_rounds)
                    )
                    eta.trials_ahead(least * len(survivors), likely, most * len(survivors))
                if now.candidate:
                    eta.trial_begins(event.at_s)
                trial = now
            eta.step_begins(event.at_s, event.step.expected_s, event.step.workload)
        elif isinstance(event, RoundFinished):
            survivors = set(event.survivors)
            likely = all_trials - gone - 1 if event.round >= plan.minimum_rounds else None
        elif isinstance(event, StepProgressed):
            yield eta.outlook(event.at_s, event.fraction)[1], ended.at_s - event.at_s


def test_time_left_and_trials_of_a_recorded_run_come_close_to_what_they_were() -> None:
    outlooks = list(replayed())
    whole_s = outlooks[0][1]
    assert 1 / 1.5 < outlooks[0][0] / whole_s < 1.5
    errors = [abs(looked - was) / whole_s for looked, was in outlooks]
    assert statistics.mean(errors) < 0.2
    assert max(errors[-len(errors) // 10 :]) < 0.1
    taken: defaultdict[str, list[float]] = defaultdict(list)
    rounds: list[float] = []
    candidates, before, workloads = 0, None, tuple[Workload, ...]()
    for event in recorded("six-rounds"):
        if isinstance(event, RunStarted):
            candidates, workloads = len(event.plan.candidates), event.plan.recipe.workloads
        elif isinstance(event, StepStarted):
            if before is not None and before.step.stage == "workload":
                taken[before.step.workload].append(event.at_s - before.at_s)
            if not rounds and event.step.round:
                rounds.append(event.at_s)
            before = event
        elif isinstance(event, RoundFinished) and event.round <= 3:
            rounds.append(event.at_s)
    for workload in workloads:
        took = statistics.median(taken[workload.name])
        assert close(workload.seconds + 0.2, took + 0.2, MEMORY_BEFORE_IT), workload.name
    trial_s = trial_overhead_s(KIND) + sum(workload.seconds for workload in workloads)
    assert close(trial_s, (rounds[3] - rounds[0]) / 3 / candidates, 1.5)


KIND = "unknown"
"""The recorded machine does not tell what disk it has."""
MEMORY_BEFORE_IT = 3.0
"""How many times as fast as the SSD of the estimates it writes large files, as its host takes them into memory."""


def close(expected: float, took: float, factor: float) -> bool:
    return took / factor < expected < took * factor


@pytest.mark.parametrize("name", ["quick", "desktop-ssd", "archive-disk"])
def test_a_hard_disk_takes_longer_for_what_has_no_time_of_its_own(name: str) -> None:
    for workload in recipes.find(name).workloads:
        on_ssd, on_hdd = (on_disk_s(workload.job, workload.seconds, slower) for slower in (1.0, SLOWER["hdd"]))
        assert on_ssd == workload.seconds
        assert on_ssd < on_hdd <= 3 * on_ssd
    assert filling_s(1 << 30, "hdd") > filling_s(1 << 30, "ssd") > filling_s(1 << 30, "nvme")


@pytest.mark.parametrize(
    ("rounds", "now_s", "trials_s", "fits"),
    [(2, 150, 40, True), (2, 201, 40, False), (3, 56, 40, True), (3, 57, 40, False), (12, 10, 1, False)],
)
def test_the_minimum_of_rounds_is_gone_through_past_the_limit_and_another_begins_only_when_it_will_end_in_time(
    rounds: int, now_s: float, trials_s: float, fits: bool
) -> None:
    plan = make_plan(time_limit_s=100, minimum_rounds=3, maximum_rounds=12)
    assert another_round_fits(plan, rounds, now_s=now_s, trials_s=trials_s) == fits


def taken(*told: Progress, begins_s: float = 0.0, at_s: tuple[float, ...] = (0.5, 1.5, 2.5)) -> SeriesRecorder:
    course = SeriesRecorder()
    course.begin(begins_s)
    for progress, moment_s in zip(told, at_s):
        course.take(progress, moment_s)
    return course


def test_each_second_of_the_work_alone_has_the_mean_of_what_was_told_in_it() -> None:
    rates, at_s = (1000.0, 2000.0, 1234.5, 1234.5), (100.2, 100.7, 101.1, 101.9)
    course = taken(*(Progress(0.5, rate) for rate in rates), begins_s=100.0, at_s=at_s)
    assert (course.unit, course.rates) == ("B/s", (1500.0, 1230.0))
    course = taken(*(Progress(0.5, rate, "1/s") for rate in (10.0, None, 30.0)))
    assert (course.unit, course.rates) == ("1/s", (10.0, 0.0, 30.0))
    assert taken(Progress(0.5)).rates == ()
    course = SeriesRecorder()
    course.take(Progress(0.1, 77.0), 1.0)
    course.begin(2.0)
    course.take(Progress(0.5, 10.0, "1/s"), 2.5)
    course.begin(3.0)  # the sync
    course.take(Progress(1.0, 5e6, "B/s"), 3.5)
    assert (course.unit, course.rates) == ("1/s", (10.0,))
