from __future__ import annotations

from collections import Counter

import pytest

from fswizard.session.session import another_round_fits, trial_order
from tests.builders import make_plan


def test_a_round_tries_every_survivor_once() -> None:
    plan = make_plan(("ext4", "xfs", "btrfs"), seed=7)
    assert sorted(trial.candidate for trial in trial_order(plan, 1, {"ext4", "btrfs"})) == ["btrfs", "ext4"]
    assert {trial.round for trial in trial_order(plan, 4, {"ext4", "xfs"})} == {4}


def test_the_same_seed_gives_the_same_order_and_other_seeds_give_others() -> None:
    names = {"ext4", "xfs", "btrfs"}
    orders = [trial_order(make_plan(tuple(sorted(names)), seed=seed), 1, names) for seed in (1, 1, *range(2, 30))]
    assert orders[0] == orders[1]
    assert len(set(orders)) == 6


@pytest.mark.parametrize("seed", range(20))
def test_every_second_round_goes_backwards_through_the_one_before(seed: int) -> None:
    plan = make_plan(("ext4", "xfs", "btrfs", "f2fs"), seed=seed)
    survivors = {"ext4", "btrfs", "f2fs"}
    there = [trial.candidate for trial in trial_order(plan, 3, {*survivors, "xfs"}) if trial.candidate in survivors]
    back = [trial.candidate for trial in trial_order(plan, 4, survivors)]
    assert back == there[::-1]


def test_every_candidate_comes_first_about_as_often() -> None:
    plan = make_plan(("ext4", "xfs", "btrfs"), seed=3)
    first = Counter(trial_order(plan, number, {"ext4", "xfs", "btrfs"})[0].candidate for number in range(1, 601))
    assert all(150 < count < 250 for count in first.values())


def test_the_minimum_of_rounds_is_gone_through_past_the_limit_but_not_for_ever() -> None:
    plan = make_plan(time_limit_s=100, minimum_rounds=3, maximum_rounds=12)
    assert another_round_fits(plan, 2, now_s=150, round_s=40)
    assert not another_round_fits(plan, 2, now_s=201, round_s=40)


def test_beyond_the_minimum_a_round_begins_only_when_it_will_end_in_time() -> None:
    plan = make_plan(time_limit_s=100, minimum_rounds=3, maximum_rounds=12)
    assert another_round_fits(plan, 3, now_s=60, round_s=40)
    assert not another_round_fits(plan, 3, now_s=61, round_s=40)
    assert not another_round_fits(plan, 12, now_s=10, round_s=1)
