from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from fswizard.advice import conclude
from fswizard.filesystems import parse_candidates
from fswizard.importers.published import find
from fswizard.model.judgement import Advice
from fswizard.model.result import Doubt, Failure, Result
from tests.builders import make_result


def run(figures: Mapping[str, Sequence[float]], **fields: Any) -> Result:
    """A finished run of real candidates from the catalogue."""
    result = make_result(figures)
    plan = replace(result.plan, candidates=parse_candidates("; ".join(figures)))
    return replace(result, plan=plan, **fields)


def advice(figures: Mapping[str, Sequence[float]], needs: Sequence[str] = (), **fields: Any) -> Advice:
    return conclude(run(figures, **fields), needs=needs).advice


CLEAR = {"ext4": (100.0,) * 3, "xfs": (120.0,) * 3, "btrfs": (80.0,) * 3}
SAME = {"ext4": (100.0, 101.0, 99.0), "xfs": (101.0, 101.0, 99.0), "btrfs": (101.0, 101.0, 99.0)}
OPEN = {"ext4": (100.0, 111.0, 99.0), "xfs": (110.0, 101.0, 119.5), "btrfs": (31.0, 31.0, 29.0)}


def test_a_proven_winner_is_told_with_its_ratio_interval_and_rounds() -> None:
    found = advice(CLEAR)
    low, high = 1.2 * math.exp(-7.54 * 0.005 / math.sqrt(3)), 1.2 * math.exp(7.54 * 0.005 / math.sqrt(3))
    assert found.headline == f"XFS for this disk and this use: 1.20 × ext4 ({low:.2f} to {high:.2f}), 3 rounds."
    assert (found.choice, found.tie) == (("xfs",), False)


def test_a_winning_baseline_is_told_over_the_next_best() -> None:
    found = advice({"ext4": (120.0,) * 3, "xfs": (100.0,) * 3, "btrfs": (80.0,) * 3})
    assert found.headline.startswith("ext4 for this disk and this use: 1.20 × xfs, the next best (")


def test_where_nothing_differs_features_decide() -> None:
    found = advice(SAME)
    assert found.tie and set(found.choice) == {"ext4", "xfs", "btrfs"}
    assert found.headline == (
        "No difference that matters here (all within 5 %). Choose by features: ext4 can shrink, "
        "XFS can copy without taking room twice, Btrfs has checksums and snapshots."
    )


def test_in_a_tie_what_the_user_compares_with_comes_first() -> None:
    assert advice(SAME).choice[0] == "ext4"
    assert advice({"xfs:noatime": (101.0,) * 3, "xfs": (100.0,) * 3}).choice[0] == "xfs:noatime"  # the baseline here


def test_a_tie_of_options_keeps_it_plain() -> None:
    found = advice({"ext4": (100.0,) * 5, "ext4:noatime": (101.0,) * 5})
    assert found.headline == "No difference that matters here (all within 5 %). Keep it plain: ext4."


def test_a_tie_among_some_names_them_and_tells_who_is_slower() -> None:
    found = advice({**SAME, "btrfs": (50.0, 51.0, 49.0)})
    assert "No difference that matters between ext4 and xfs (within 5 %)." in found.headline
    assert "Slower: btrfs (0.50 × ext4)." in [reason.text for reason in found.reasons]


def test_an_open_race_says_what_is_known_and_that_time_would_tell() -> None:
    found = advice(OPEN)
    assert found.headline.startswith("No clear winner after 3 rounds between xfs and ext4: xfs looks 1.07 × ext4 (")
    assert found.headline.endswith("More time would tell.")
    assert (found.choice, found.tie) == (("xfs", "ext4"), False)
    assert "Slower: btrfs (0.28 × xfs)." in [reason.text for reason in found.reasons]


def test_after_the_last_round_more_time_is_not_promised() -> None:
    rng = random.Random(2)
    figures = {name: [math.exp(rng.gauss(4, 0.2)) for _ in range(12)] for name in ("ext4", "xfs")}
    assert advice(figures).headline.endswith("The difference is too small for the noise of this machine.")


def test_too_few_rounds_are_called_so() -> None:
    found = advice({"ext4": (100.0,), "xfs": (110.0,)})
    assert found.headline == (
        "Too early to tell: 1 round, and a judgement takes 3. "
        "So far xfs looks best (1.10 × ext4), which chance alone can do."
    )


def test_two_that_do_not_differ_are_not_told_apart() -> None:
    found = advice({"ext4": (100.0,), "xfs": (100.3,)})
    assert found.headline == "Too early to tell: 1 round, and a judgement takes 3. So far xfs and ext4 do not differ."
    found = advice({"ext4": (100.0, 110.0, 90.0), "xfs": (110.3, 89.0, 101.0)})
    assert "between xfs and ext4: xfs looks level with ext4 (0." in found.headline
    assert "1.00 ×" not in found.headline


def test_single_figures_from_elsewhere_are_not_called_a_run_that_needs_time() -> None:
    single = find("smr-attic")
    found = conclude(single)
    assert found.advice.headline == "1 round to compare: nilfs2 looks best (1.05 × btrfs), which chance alone can do."
    assert not any("more time" in doubt.text for doubt in found.doubts)
    nothing = conclude(replace(single, samples=()))
    assert nothing.advice.headline == "Nothing can be compared: no two candidates have figures for the same work."


def test_one_candidate_has_nothing_to_be_compared_with() -> None:
    found = advice({"ext4": (100.0,) * 3})
    assert found.headline == "Only ext4 was measured: there is nothing to compare it with. Add a candidate."
    assert found.choice == ("ext4",)


def test_nothing_measured() -> None:
    found = advice({"ext4": (), "xfs": ()})
    assert found.headline == "Nothing was measured that could be judged: the run ended too early."
    assert (found.choice, found.commands) == ((), ())


def test_everything_failed() -> None:
    failures = tuple(Failure(1, name, "write", "ENOSPC", "The volume was full.") for name in ("ext4", "xfs"))
    found = advice({"ext4": (), "xfs": ()}, failures=failures)
    assert found.headline == "No candidate could do this work here; the failures say why."
    assert [reason.text for reason in found.reasons] == [
        "ext4 failed: The volume was full.",
        "XFS failed: The volume was full.",
    ]
    assert found.choice == ()


def test_the_only_one_that_did_not_fail() -> None:
    failure = Failure(1, "xfs", "write", "ENOSPC", "The volume was full.")
    found = advice({"ext4": (100.0,) * 3, "xfs": ()}, failures=(failure,))
    assert found.headline == "ext4 for want of others: no other candidate has figures to compare."


def test_a_shingled_disk_whose_cache_was_not_exceeded_limits_the_headline() -> None:
    doubt = Doubt("cache-not-exceeded", "The cache was not exceeded.")
    assert ", as long as the disk's cache lasts: 1.20 × ext4" in advice(CLEAR, doubts=(doubt,)).headline


def test_needs_come_before_speed() -> None:
    found = advice(CLEAR, needs=["checksums"])
    assert found.choice == ("btrfs",)
    assert found.headline.startswith("Btrfs: the only one measured that has checksums, 0.80 × ext4 (")
    assert "XFS was faster but does not offer in full: checksums (metadata only)." in [r.text for r in found.reasons]


def test_among_those_that_meet_the_needs_the_fastest_is_told() -> None:
    found = advice(CLEAR, needs=["shrink"])
    assert found.headline.startswith("ext4 for this disk and this use, the fastest that can shrink: 1.25 × btrfs")


def test_when_nobody_meets_the_needs_nobody_is_recommended() -> None:
    found = advice(CLEAR, needs=["windows"])
    assert found.headline == "No candidate that was measured works with Windows. Compare others, or ask for less."
    assert (found.choice, found.commands) == ((), ())


@pytest.mark.parametrize("option", ["nobarrier", "data=writeback", "nojournal"])
def test_what_may_lose_data_is_never_recommended_however_fast(option: str) -> None:
    fast = f"ext4:{option}"
    found = advice({"ext4": (100.0,) * 3, fast: (200.0,) * 3, "xfs": (120.0,) * 3})
    assert found.choice == ("xfs",)
    (text,) = [reason.text for reason in found.reasons if reason.code == "excluded"]
    assert text == (
        f"ext4 ({option}) is not recommended: with {option} a crash may lose data. "
        "It was faster; XFS is the best safe one."
    )


def test_a_safe_value_of_an_option_is_not_mistaken_for_an_unsafe_one() -> None:
    assert advice({"ext4": (100.0,) * 3, "ext4:data=journal": (200.0,) * 3}).choice == ("ext4:data=journal",)


def test_when_all_are_unsafe_none_is_recommended() -> None:
    found = advice({"ext4:nobarrier": (100.0,) * 3, "ext4:data=writeback": (120.0,) * 3})
    assert found.choice == ()
    assert "none is recommended" in found.headline


def test_after_a_fault_nothing_is_recommended() -> None:
    found = advice({"ext4": (100.0,) * 3, "xfs": (150.0,) * 3}, outcome="failed")
    assert found.headline == "A fault ended the run after 3 rounds, so nothing is recommended. See to the fault first."
    assert (found.choice, found.commands) == ((), ())
