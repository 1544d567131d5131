"""What more time would bring: rounds, seconds and the bound then, by the formula, and nothing where nothing is open."""

from __future__ import annotations

import math
import random

import pytest

from fswizard.model.analysis import ALIKE, MoreTime
from fswizard.model.result import Result
from fswizard.stats import more_time
from fswizard.stats.intervals import Contrast, contrasts
from fswizard.stats.table import ALL, tables_of
from tests.builders import make_plan, make_result

NAMES = ("ext4", "xfs", "btrfs")


def measured(rounds: int, noise: float, candidates: int = 2, seed: int = 1, **plan: int) -> Result:
    rng, names = random.Random(seed), NAMES[:candidates]
    figures = {name: [100 * rng.lognormvariate(0, noise) for _ in range(rounds)] for name in names}
    return make_result(figures, plan=make_plan(names, **plan))


def offered(result: Result, *candidates: str) -> MoreTime:
    made = more_time(result, candidates or NAMES[:2])
    assert made is not None
    return made


def noise(result: Result) -> Contrast:
    (contrast,) = contrasts(tables_of(result).standing[ALL], [("ext4", "xfs")])
    return contrast


def test_rounds_seconds_and_bound_are_those_of_the_formula() -> None:
    result = measured(6, 0.06)
    made, contrast = offered(result), noise(result)
    half_widths = [contrast.half_width(contrast.threshold, n) for n in (6, 5 + made.rounds, 6 + made.rounds)]
    assert half_widths[0] > half_widths[1] > math.log(ALIKE) >= half_widths[2]
    assert made.bound == pytest.approx(math.expm1(half_widths[2]))
    assert made.seconds == made.rounds * 2 * result.trial_s
    assert made.seconds < made.limit_s < made.seconds + made.seconds / made.rounds


def test_as_many_rounds_again_at_most_and_no_more_than_the_run_may_have() -> None:
    loud = measured(5, 0.3)
    assert offered(loud).rounds == 5 and offered(loud).bound > ALIKE - 1
    assert offered(measured(5, 0.3, maximum_rounds=7)).rounds == 2
    assert more_time(measured(5, 0.3, maximum_rounds=5), NAMES[:2]) is None


@pytest.mark.parametrize(
    ("result", "candidates"),
    [
        (measured(1, 0.1), NAMES[:2]),
        (measured(6, 0.005), NAMES[:2]),
        (make_result({"ext4": (100.0, 101.0, 99.0), "xfs": (150.0, 151.0, 149.0)}), NAMES[:2]),
        (measured(6, 0.1), ("ext4",)),
        (measured(2, 3.0), NAMES[:2]),
    ],
)
def test_nothing_is_offered_without_intervals_where_all_is_known_or_no_bound_can_be_foretold(
    result: Result, candidates: tuple[str, ...]
) -> None:
    assert more_time(result, candidates) is None


def test_the_widest_interval_decides_and_those_that_left_do_not_count() -> None:
    three = measured(6, 0.1, 3)
    assert offered(three, *NAMES).seconds == offered(three, *NAMES).rounds * 3 * three.trial_s
    assert offered(three, *NAMES).bound >= offered(three).bound
