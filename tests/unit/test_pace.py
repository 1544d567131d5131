from __future__ import annotations

from fswizard.bench.pace import Pace
from tests.builders import make_plan


def test_the_first_outlook_is_what_the_plan_expects() -> None:
    pace = Pace(make_plan(time_limit_s=0, seconds_per_trial=10, preparation_s=5, minimum_rounds=3))
    fraction, left_s = pace.outlook(0.0, None)
    assert (fraction, left_s) == (0.0, 65.0)


def test_what_is_measured_corrects_what_was_expected() -> None:
    pace = Pace(make_plan(time_limit_s=0, seconds_per_trial=10, preparation_s=0, minimum_rounds=3))
    for number in range(2):
        pace.trial_begins(number * 20)
        pace.trial_ends(number * 20 + 20)
    assert pace.trial_s == 20
    assert pace.outlook(40, None)[1] == 4 * 20


def test_the_share_done_never_goes_back_and_never_passes_one() -> None:
    pace = Pace(make_plan(time_limit_s=0, seconds_per_trial=1, preparation_s=0, minimum_rounds=3))
    shares = []
    for number in range(6):
        pace.trial_begins(number * 30)
        shares.append(pace.outlook(number * 30 + 15, 0.5)[0])
        pace.trial_ends(number * 30 + 30)
        shares.append(pace.outlook(number * 30 + 30, None)[0])
    assert shares == sorted(shares)
    assert shares[-1] == 1.0


def test_time_left_shrinks_within_a_trial() -> None:
    pace = Pace(make_plan(time_limit_s=0, seconds_per_trial=10, preparation_s=0, minimum_rounds=1))
    pace.trial_begins(0)
    assert pace.outlook(2, None)[1] > pace.outlook(8, None)[1] > 0


def test_while_more_rounds_may_come_the_time_limit_is_counted_to() -> None:
    pace = Pace(make_plan(time_limit_s=180, seconds_per_trial=1, preparation_s=0, minimum_rounds=3))
    pace.trials_ahead(1)
    pace.trial_begins(90)
    assert pace.outlook(90, None) == (0.5, 90)


def test_the_minimum_of_rounds_may_take_longer_than_the_limit() -> None:
    pace = Pace(make_plan(time_limit_s=10, seconds_per_trial=20, preparation_s=0, minimum_rounds=3))
    assert pace.outlook(0, None)[1] == 3 * 2 * 20
