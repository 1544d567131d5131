from __future__ import annotations

from collections.abc import Mapping, Sequence

from fswizard.model.result import Failure
from fswizard.stats import Decision, decide, judge
from tests.builders import make_plan, make_result


def decision(figures: Mapping[str, Sequence[float]], minimum: int = 3, maximum: int = 12) -> Decision:
    plan = make_plan(tuple(figures), minimum_rounds=minimum, maximum_rounds=maximum)
    return decide(judge(make_result(figures, plan=plan)), plan)


def test_before_the_minimum_of_rounds_nobody_is_dropped_and_nothing_stops() -> None:
    assert decision({"ext4": (100.0,) * 4, "xfs": (900.0,) * 4}, minimum=5) == Decision(("xfs", "ext4"))


def test_one_proven_ahead_of_all_others_ends_the_run() -> None:
    assert decision({"ext4": (100.0,) * 3, "xfs": (900.0,) * 3}) == Decision(("xfs",), "one-left")


def test_when_all_that_are_left_tie_the_run_ends() -> None:
    figures = {"ext4": (100.0,) * 3, "xfs": (101.0,) * 3, "btrfs": (10.0,) * 3}
    assert decision(figures) == Decision(("xfs", "ext4"), "all-tie")


def test_an_open_race_goes_on_without_those_who_lost() -> None:
    figures = {"ext4": (100.0, 120.0, 90.0), "xfs": (101.0, 95.0, 119.0), "btrfs": (1.0, 1.0, 1.0)}
    assert decision(figures) == Decision(("xfs", "ext4"))


def test_the_greatest_number_of_rounds_ends_even_an_open_race() -> None:
    figures = {"ext4": (100.0, 120.0, 90.0, 80.0), "xfs": (101.0, 95.0, 119.0, 100.0)}
    assert decision(figures, maximum=4).stop == "rounds"
    assert decision(figures, maximum=5).stop == ""


def test_a_candidate_alone_gets_its_minimum_of_rounds() -> None:
    assert decision({"ext4": (100.0, 100.0)}) == Decision(("ext4",))
    assert decision({"ext4": (100.0, 100.0, 100.0)}) == Decision(("ext4",), "one-left")


def test_when_everybody_failed_there_is_nothing_to_go_on_with() -> None:
    failures = tuple(Failure(1, name, "write", "EIO", "It failed.") for name in ("ext4", "xfs"))
    result = make_result({"ext4": (), "xfs": ()}, failures=failures)
    assert decide(judge(result), result.plan) == Decision((), "none-left")


def test_a_failure_in_the_first_round_leaves_the_minimum_of_rounds_to_the_other() -> None:
    failure = Failure(1, "xfs", "write", "EIO", "It failed.")
    result = make_result({"ext4": (100.0, 100.0), "xfs": ()}, failures=(failure,))
    assert decide(judge(result), result.plan) == Decision(("ext4",))


def test_who_left_the_run_for_other_reasons_keeps_nobody_waiting() -> None:
    figures = {"ext4": (100.0, 120.0, 90.0), "xfs": (101.0, 95.0, 119.0), "btrfs": (1.0, 1.0, 1.0)}
    result = make_result(figures)
    assert decide(judge(result), result.plan, {"ext4", "btrfs"}) == Decision(("ext4",), "one-left")


def test_who_lost_to_a_candidate_that_failed_afterwards_is_back_in_the_race() -> None:
    figures = {"ext4": (100.0, 100.0, 100.0, 100.0), "xfs": (101.0, 95.0, 119.0), "btrfs": (900.0,) * 4}
    failure = Failure(5, "btrfs", "write", "ENOSPC", "It was full.")
    plan = make_plan(tuple(figures))
    assert decide(judge(make_result(figures)), plan).survivors == ("btrfs",)
    assert set(decide(judge(make_result(figures, failures=(failure,))), plan).survivors) == {"ext4", "xfs"}
