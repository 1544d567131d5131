from __future__ import annotations

import math
import statistics
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from fswizard.model.events import RoundFinished, RunEnded, RunStarted, SampleTaken, StepProgressed, StepStarted
from fswizard.model.plan import Plan, Trial
from fswizard.model.result import Result
from fswizard.progress.eta import Eta
from fswizard.stats import judge, likely_trials
from tests import builders
from tests.builders import make_workload
from tests.recording import recorded


def make_plan(**fields: Any) -> Plan:
    """A plan whose trials take time beside their workloads alone, unless some are given."""
    return builders.make_plan(**{"workloads": [make_workload(seconds=0.0)], **fields})


def test_the_first_outlook_is_what_the_plan_expects() -> None:
    eta = Eta(make_plan(time_limit_s=0, seconds_per_trial=10, preparation_s=5, minimum_rounds=3))
    fraction, left_s = eta.outlook(0.0, None)
    assert (fraction, left_s) == (0.0, 65.0)


def test_what_is_measured_corrects_what_was_expected() -> None:
    eta = Eta(make_plan(time_limit_s=0, seconds_per_trial=10, preparation_s=0, minimum_rounds=3))
    for number in range(2):
        eta.trial_begins(number * 20)
        eta.trial_ends(number * 20 + 20)
    assert eta.trial_s == 20
    assert eta.outlook(40, None)[1] == 4 * 20


def test_the_share_done_never_goes_back_and_never_passes_one() -> None:
    eta = Eta(make_plan(time_limit_s=0, seconds_per_trial=1, preparation_s=0, minimum_rounds=3))
    shares = []
    for number in range(6):
        eta.trial_begins(number * 30)
        shares.append(eta.outlook(number * 30 + 15, 0.5)[0])
        eta.trial_ends(number * 30 + 30)
        shares.append(eta.outlook(number * 30 + 30, None)[0])
    assert shares == sorted(shares)
    assert shares[-1] == 1.0


def test_time_left_shrinks_within_a_trial() -> None:
    eta = Eta(make_plan(time_limit_s=0, seconds_per_trial=10, preparation_s=0, minimum_rounds=1))
    eta.trial_begins(0)
    assert eta.outlook(2, None)[1] > eta.outlook(8, None)[1] > 0


def test_while_nobody_knows_how_many_rounds_it_takes_the_guess_lies_between_the_least_and_the_most() -> None:
    eta = Eta(make_plan(time_limit_s=180, seconds_per_trial=10, preparation_s=0, minimum_rounds=3))
    eta.trials_ahead(1)
    eta.trial_begins(90)
    assert eta.outlook(90, None)[1] == pytest.approx(math.sqrt((90 + 10) * 180) - 90)


@pytest.mark.parametrize(("likely", "left_s"), [(2, 20), (9, 90), (60, 90)])
def test_what_the_figures_make_likely_is_counted_to_within_the_time_limit(likely: int, left_s: float) -> None:
    eta = Eta(make_plan(time_limit_s=180, seconds_per_trial=10, preparation_s=0, minimum_rounds=3))
    eta.trials_ahead(1, likely)
    eta.trial_begins(90)
    assert eta.outlook(90, None)[1] == left_s


def test_within_the_first_trial_what_its_workloads_took_corrects_what_is_ahead() -> None:
    workloads = [make_workload(name, seconds=10.0) for name in ("one", "two", "three")]
    plan = make_plan(workloads=workloads, time_limit_s=0, seconds_per_trial=32, preparation_s=0, minimum_rounds=1)
    eta = Eta(plan)
    assert eta.outlook(0, None)[1] == 64
    eta.trial_begins(0)
    eta.step_begins(0, 10, "one")
    eta.step_begins(30, 10, "two")
    assert eta.trial_s == pytest.approx(2 + 30 + 2 * 10 * (2 + 30) / (2 + 10))


def replayed() -> Iterator[tuple[float, float]]:
    """Of a run that was recorded: the time left as it looked, and as it was, whenever it was told."""
    events = list(recorded("quick"))
    started, ended = events[0], events[-1]
    assert isinstance(started, RunStarted) and isinstance(ended, RunEnded)
    plan = started.plan
    eta, result, trial, likely = Eta(plan), Result(started.environment, plan), Trial(0, ""), None
    survivors = {candidate.name for candidate in plan.candidates}
    for event in events:
        if isinstance(event, StepStarted):
            now = Trial(event.step.round, event.step.candidate)
            if now != trial:
                if trial.candidate:
                    eta.trial_ends(event.at_s)
                if now.round > trial.round:
                    eta.trials_ahead(max(1, plan.minimum_rounds - trial.round) * len(survivors), likely)
                if now.candidate:
                    eta.trial_begins(event.at_s)
                trial = now
            eta.step_begins(event.at_s, event.step.expected_s, event.step.workload)
        elif isinstance(event, SampleTaken):
            result = replace(result, samples=(*result.samples, event.sample))
        elif isinstance(event, RoundFinished):
            survivors = set(event.survivors)
            likely = likely_trials(judge(result), plan, survivors)
        elif isinstance(event, StepProgressed):
            yield eta.outlook(event.at_s, event.fraction)[1], ended.at_s - event.at_s


def test_the_time_left_of_a_recorded_run_comes_close_to_what_it_was() -> None:
    outlooks = list(replayed())
    whole_s = outlooks[0][1]
    assert 1 / 1.5 < outlooks[0][0] / whole_s < 1.5
    errors = [abs(looked - was) / whole_s for looked, was in outlooks]
    assert statistics.mean(errors) < 0.15
    assert max(errors[-len(errors) // 10 :]) < 0.02


def test_the_minimum_of_rounds_may_take_longer_than_the_limit() -> None:
    eta = Eta(make_plan(time_limit_s=10, seconds_per_trial=20, preparation_s=0, minimum_rounds=3))
    assert eta.outlook(0, None)[1] == 3 * 2 * 20
