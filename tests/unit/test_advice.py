"""What is concluded from a run: the headline, its reasons and commands, and how weights and needs change it."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from fswizard.advice import conclude
from fswizard.errors import UsageError
from fswizard.filesystems import parse_candidates
from fswizard.importers.published import find
from fswizard.model.codec import from_json, to_json
from fswizard.model.judgement import Advice, Findings, Ratio
from fswizard.model.metrics import DURATION
from fswizard.model.plan import Member, Target
from fswizard.model.result import Doubt, Failure, Result, Sample
from fswizard.stats import judge
from tests.builders import make_plan, make_result, make_samples, make_workload

Figures = Mapping[str, Sequence[float]]

CLEAR = {"ext4": (100.0,) * 3, "xfs": (120.0,) * 3, "btrfs": (80.0,) * 3}
SAME = {"ext4": (100.0, 101.0, 99.0), "xfs": (101.0, 101.0, 99.0), "btrfs": (101.0, 101.0, 99.0)}
OPEN = {"ext4": (100.0, 111.0, 99.0), "xfs": (110.0, 101.0, 119.5), "btrfs": (31.0, 31.0, 29.0)}
NOTHING: Figures = {"ext4": (), "xfs": ()}
WRITES = {"ext4": (100.0,) * 3, "xfs": (200.0,) * 3}
DELETES = {"ext4": (10.0,) * 3, "xfs": (14.0,) * 3}
QUICKER_DELETES = {"ext4": (10.0,) * 3, "xfs": (5.0,) * 3}
UNSAFE = {"ext4:nobarrier": (100.0,) * 3, "ext4:data=writeback": (120.0,) * 3}


def run(write: Figures, delete: Figures | None = None, **fields: Any) -> Result:
    """A finished run of real candidates from the catalogue, of one workload or of two."""
    workloads = [make_workload("write"), make_workload("delete", DURATION)][: 1 + bool(delete)]
    plan = replace(make_plan(tuple(write), workloads), candidates=parse_candidates("; ".join(write)))
    samples = make_samples(write) + make_samples(delete or {}, "delete", DURATION)
    return make_result(plan=plan, samples=samples, **fields)


def advice(write: Figures, delete: Figures | None = None, needs: Sequence[str] = (), **fields: Any) -> Advice:
    return conclude(run(write, delete, **fields), needs=needs).advice


def texts(result: Result | Advice, code: str = "") -> list[str]:
    found = result if isinstance(result, Advice) else conclude(result).advice
    return [reason.text for reason in found.reasons if code in ("", reason.code)]


def full(*names: str) -> dict[str, Any]:
    return {"failures": tuple(Failure(1, name, "write", "ENOSPC", "The volume was full.") for name in names)}


def stalls(*figures: tuple[str, int, float]) -> tuple[Sample, ...]:
    return tuple(Sample(number, name, "write", "worst_latency", value, "s", "lower") for name, number, value in figures)


def test_a_lead_that_just_cleared_one_after_many_rounds_is_told_without_what_chance_added() -> None:
    found = Ratio("xfs", "ext4", "", 1.13, 1.01, 1.13**2 / 1.01, 12, "faster")
    assert 1.08 < found.shrunk < 1.11
    assert replace(found, rounds=3).shrunk == pytest.approx(1.13, abs=0.005)
    assert replace(found, low=1.12, high=1.14).shrunk == pytest.approx(1.13, abs=0.001)
    assert replace(found, verdict="undecided").shrunk == 1.13
    turned = replace(found, ratio=1 / 1.13, low=1.01 / 1.13**2, high=1 / 1.01, verdict="slower")
    assert turned.shrunk == pytest.approx(1 / found.shrunk)


def test_a_proven_winner_is_told_with_its_ratio_interval_and_rounds() -> None:
    found = advice(CLEAR)
    low, high = 1.2 * math.exp(-7.28 * 0.005 / math.sqrt(3)), 1.2 * math.exp(7.28 * 0.005 / math.sqrt(3))
    assert found.headline == f"XFS for this disk and this use: 1.20 × ext4 ({low:.2f} to {high:.2f}), 3 rounds."
    assert (found.choice, found.tie) == (("xfs",), False)


HEADLINES: dict[str, tuple[Figures, dict[str, Any], str]] = {
    "where nothing differs features decide": (
        SAME, {}, "No difference that matters here (all within 5 %). Choose by features: ext4 can shrink, "
        "XFS can copy without taking room twice, Btrfs has checksums and snapshots."),
    "a tie of options keeps it plain": (
        {"ext4": (100.0,) * 5, "ext4:noatime": (101.0,) * 5}, {},
        "No difference that matters here (all within 5 %). Keep it plain: ext4."),
    "too few rounds are called so": (
        {"ext4": (100.0,), "xfs": (110.0,)}, {}, "Too early to tell: 1 round, and a judgement takes 2. "
        "So far xfs looks best (1.10 × ext4), which chance alone can do."),
    "two that do not differ are not told apart": (
        {"ext4": (100.0,), "xfs": (100.3,)}, {},
        "Too early to tell: 1 round, and a judgement takes 2. So far xfs and ext4 do not differ."),
    "one candidate has nothing to be compared with": (
        {"ext4": (100.0,) * 3}, {}, "Only ext4 was measured: there is nothing to compare it with. Add a candidate."),
    "nothing measured": (NOTHING, {}, "Nothing was measured that could be judged: the run ended too early."),
    "everything failed": (
        NOTHING, full("ext4", "xfs"), "No candidate could do this work here; the failures say why."),
    "the only one that did not fail": (
        {"ext4": (100.0,) * 3, "xfs": ()}, full("xfs"),
        "ext4 for want of others: no other candidate has figures to compare."),
    "when nobody meets the needs nobody is recommended": (
        CLEAR, {"needs": ["windows"]},
        "No candidate that was measured works with Windows. Compare others, or ask for less."),
    "after a fault nothing is recommended": (
        {"ext4": (100.0,) * 3, "xfs": (150.0,) * 3}, {"outcome": "failed"},
        "A fault ended the run after 3 rounds, so nothing is recommended. See to the fault first."),
}  # fmt: skip


@pytest.mark.parametrize(("figures", "fields", "headline"), HEADLINES.values(), ids=HEADLINES)
def test_the_headline_where_there_is_no_winner(figures: Figures, fields: dict[str, Any], headline: str) -> None:
    assert advice(figures, **fields).headline == headline


BEGINNINGS: dict[str, tuple[Figures, dict[str, Any], str]] = {
    "a winning baseline is told over the next best": (
        {"ext4": (120.0,) * 3, "xfs": (100.0,) * 3, "btrfs": (80.0,) * 3}, {},
        "ext4 for this disk and this use: 1.20 × xfs, the next best ("),
    "an open race says what is known": (
        OPEN, {}, "No clear winner after 3 rounds between xfs and ext4: xfs looks 1.07 × ext4 ("),
    "a shingled disk whose cache was not exceeded limits the headline": (
        CLEAR, {"doubts": (Doubt("cache-not-exceeded", "The cache was not exceeded."),)},
        "XFS for this disk and this use, as long as the disk's cache lasts: 1.20 × ext4"),
    "needs come before speed": (
        CLEAR, {"needs": ["checksums"]}, "Btrfs: the only one measured that has checksums, 0.80 × ext4 ("),
    "among those that meet the needs the fastest is told": (
        CLEAR, {"needs": ["shrink"]}, "ext4 for this disk and this use, the fastest that can shrink: 1.25 × btrfs"),
}  # fmt: skip


@pytest.mark.parametrize(("figures", "fields", "beginning"), BEGINNINGS.values(), ids=BEGINNINGS)
def test_the_headline_begins_with_what_is_known(figures: Figures, fields: dict[str, Any], beginning: str) -> None:
    assert advice(figures, **fields).headline.startswith(beginning)


def test_in_a_tie_all_are_the_choice_and_what_the_user_compares_with_comes_first() -> None:
    found = advice(SAME)
    assert found.tie and set(found.choice) == {"ext4", "xfs", "btrfs"} and found.choice[0] == "ext4"
    assert advice({"xfs:noatime": (101.0,) * 3, "xfs": (100.0,) * 3}).choice[0] == "xfs:noatime"  # the baseline here


def test_a_tie_among_some_names_them_and_tells_who_is_slower() -> None:
    found = advice({**SAME, "btrfs": (50.0, 51.0, 49.0)})
    assert "No difference that matters between ext4 and xfs (within 5 %)." in found.headline
    assert "Slower: btrfs (0.50 × ext4)." in texts(found)


def test_an_open_race_has_all_who_may_win_for_its_choice_and_time_would_tell() -> None:
    found = advice(OPEN)
    assert found.headline.endswith("Another 2 min would not separate xfs from ext4 (probably under 6 % apart).")
    assert (found.choice, found.tie) == (("xfs", "ext4"), False)
    assert "Slower: btrfs (0.28 × xfs)." in texts(found)


def test_after_the_last_round_more_time_is_not_promised() -> None:
    rng = random.Random(2)
    figures = {name: [math.exp(rng.gauss(4, 0.2)) for _ in range(12)] for name in ("ext4", "xfs")}
    assert advice(figures).headline.endswith("The difference is too small for the noise of this machine.")


def test_two_that_do_not_differ_in_an_open_race_are_called_level() -> None:
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


@pytest.mark.parametrize(
    ("figures", "fields", "choice"),
    [
        ({"ext4": (100.0,) * 3}, {}, ("ext4",)),
        (CLEAR, {"needs": ["checksums"]}, ("btrfs",)),
        (NOTHING, {}, ()),
        (NOTHING, full("ext4", "xfs"), ()),
        (CLEAR, {"needs": ["windows"]}, ()),
        ({"ext4": (100.0,) * 3, "xfs": (150.0,) * 3}, {"outcome": "failed"}, ()),
    ],
)
def test_where_nothing_is_recommended_there_are_no_commands(
    figures: Figures, fields: dict[str, Any], choice: tuple[str, ...]
) -> None:
    found = advice(figures, **fields)
    assert found.choice == choice
    assert found.choice or found.commands == ()


def test_each_that_failed_and_each_that_lacks_a_need_is_among_the_reasons() -> None:
    assert texts(run(NOTHING, **full("ext4", "xfs"))) == [
        "ext4 failed: The volume was full.",
        "XFS failed: The volume was full.",
    ]
    needy = advice(CLEAR, needs=["checksums"])
    assert "XFS was faster but does not offer in full: checksums (metadata only)." in texts(needy)
    assert texts(run({**WRITES, "btrfs": ()}, DELETES, **full("btrfs")), "failure") == [
        "Btrfs failed: The volume was full."
    ]


@pytest.mark.parametrize("option", ["nobarrier", "data=writeback", "nojournal"])
def test_what_may_lose_data_is_never_recommended_however_fast(option: str) -> None:
    found = advice({"ext4": (100.0,) * 3, f"ext4:{option}": (200.0,) * 3, "xfs": (120.0,) * 3})
    assert found.choice == ("xfs",)
    assert texts(found, "excluded") == [
        f"ext4 ({option}) is not recommended: with {option} a crash may lose data. "
        "It was faster; XFS is the best safe one."
    ]


def test_a_safe_value_of_an_option_is_not_mistaken_for_an_unsafe_one() -> None:
    assert advice({"ext4": (100.0,) * 3, "ext4:data=journal": (200.0,) * 3}).choice == ("ext4:data=journal",)


def test_when_all_are_unsafe_none_is_recommended() -> None:
    found = advice(UNSAFE)
    assert found.choice == ()
    assert "none is recommended" in found.headline


@pytest.mark.parametrize(
    ("write", "delete", "speed", "cost"),
    [
        (WRITES, DELETES, "Faster than ext4 at Write (2.00 ×).", "It loses at Delete: 1.40 × as long as ext4."),
        ({"ext4": (300.0,) * 3, "xfs": (100.0,) * 3}, QUICKER_DELETES, "Faster than xfs at Write (3.00 ×).",
         "It loses at Delete: 2.00 × as long as xfs."),
        ({"ext4": (100.0,) * 3, "xfs": (80.0,) * 3}, QUICKER_DELETES, "",
         "It loses at Write: 0.80 × the speed of ext4 (0.7"),
    ],
    ids=["a winner", "a winning baseline from its own side", "a lost throughput as speed"],
)  # fmt: skip
def test_what_a_winner_gains_and_what_it_costs(write: Figures, delete: Figures, speed: str, cost: str) -> None:
    result = run(write, delete)
    (cost_told,) = texts(result, "cost")
    assert cost_told == cost if cost.endswith(".") else cost_told.startswith(cost)
    assert not speed or texts(result, "speed") == [speed]


@pytest.mark.parametrize(
    ("felt", "told"),
    [
        (
            stalls(("ext4", 1, 0.6), ("ext4", 2, 0.2), ("xfs", 1, 0.1), ("xfs", 2, 0.3), ("xfs", 4, 30.0)),
            ["Its worst stall was 300 ms, 0.50 × that of ext4 (600 ms)."],
        ),
        (stalls(("ext4", 1, 0.06), ("xfs", 1, 0.01)), []),
        (stalls(("ext4", 1, 0.6), ("xfs", 1, 0.5)), []),
    ],
    ids=["over the rounds that both have", "that nobody feels", "that hardly differ"],
)
def test_the_worst_stall_is_told_where_it_matters(felt: tuple[Sample, ...], told: list[str]) -> None:
    result = run(WRITES, DELETES)
    assert texts(replace(result, samples=result.samples + felt), "stall") == told


def test_another_baseline_than_asked_for_is_told() -> None:
    write, delete = {"ext4": (), "xfs": (100.0,) * 3, "btrfs": (50.0,) * 3}, {"xfs": (1.0,) * 3, "btrfs": (1.0,) * 3}
    told = texts(run(write, delete, failures=(Failure(1, "ext4", "write", "EIO", "It failed."),)), "failure")
    assert "The baseline ext4 has no figures: ratios are to xfs instead." in told


def test_what_the_others_offer_beside_speed() -> None:
    assert texts(run({**WRITES, "btrfs": (50.0,) * 3}, {**DELETES, "btrfs": (20.0,) * 3}), "feature") == [
        "What XFS does not offer: ext4 can shrink; Btrfs has checksums, snapshots and compression, "
        "and can shrink and send changes to another disk."
    ]


@pytest.mark.parametrize(
    ("fast", "commands"),
    [
        ("btrfs:noatime,compress=zstd:1",
         ("mkfs.btrfs /dev/DEVICE", "UUID=...  /mnt/archive  btrfs  noatime,compress=zstd:1  0  0")),
        ("ext4:packed_meta_blocks",
         ("mkfs.ext4 -E packed_meta_blocks=1 /dev/DEVICE", "UUID=...  /mnt/archive  ext4  defaults  0  2")),
        ("ext4:noatime", ("UUID=...  /mnt/archive  ext4  noatime  0  2",)),
    ],
    ids=["placeholders alone", "options of mkfs", "nothing is formatted where only mount options differ"],
)  # fmt: skip
def test_the_commands_format_and_mount(fast: str, commands: tuple[str, ...]) -> None:
    assert advice({"ext4": (100.0,) * 3, fast: (200.0,) * 3}).commands == commands


def test_where_only_mount_options_differ_it_is_said_where_they_go() -> None:
    (use,) = texts(run({"ext4": (100.0,) * 3, "ext4:noatime": (200.0,) * 3}), "use")
    assert "put noatime into the fourth column" in use and "unmount it and mount it again" in use


def test_directories_are_compared_and_never_formatted() -> None:
    result = run(WRITES, DELETES)
    places = tuple(replace(c, directory=f"/mnt/{c.name}") for c in result.plan.candidates)
    found = conclude(replace(result, plan=replace(result.plan, candidates=places))).advice
    assert found.headline.startswith("XFS in /mnt/xfs for this use: 1.20 × ext4 (")
    assert found.commands == ()


def over_four_disks(figures: Figures) -> Result:
    result = run(figures)
    target = Target("device", "/d", 1_000_000_000, others=(Member("/d", 1_000_000_000),) * 3)
    candidates = tuple(candidate.on(4) for candidate in result.plan.candidates)
    return replace(result, plan=replace(result.plan, candidates=candidates, target=target))


def test_over_several_disks_room_and_redundancy_stand_beside_speed() -> None:
    result = over_four_disks({"ext4": (100.0,) * 3, "md:raid10+ext4": (300.0,) * 3, "md:raid6+ext4": (200.0,) * 3})
    assert texts(result, "redundancy") == [
        "ext4 on RAID 10 (md) has 2.00 GB in all, and any 1 of the disks may fail.",
        "More disks may fail with ext4 on RAID 6 (md) (2).",
    ]
    assert texts(over_four_disks({"ext4": (900.0,) * 3, "btrfs:raid1": (300.0,) * 3}), "redundancy") == [
        "ext4 has 1.00 GB in all, and no disk may fail.",
        "More disks may fail with Btrfs raid1 (1).",
    ]
    assert texts(run(WRITES, DELETES), "redundancy") == []


def test_a_failed_disk_is_measured_and_never_recommended() -> None:
    figures = {"md:raid5,degraded+ext4": (900.0,) * 3, "md:raid5+ext4": (300.0,) * 3, "ext4": (100.0,) * 3}
    found = conclude(over_four_disks(figures)).advice
    assert found.choice == ("md:raid5+ext4",)
    assert texts(found, "excluded") == [
        "ext4 on RAID 5 (md) with one disk missing was measured to see what a failed disk costs."
    ]


def test_where_only_one_layout_or_none_has_all_its_disks_the_headline_says_so() -> None:
    missing = {"md:raid5,degraded+ext4": (900.0,) * 3, "btrfs:raid1,degraded": (300.0,) * 3}
    assert conclude(over_four_disks(missing)).advice.headline == (
        "Every layout was measured with a disk missing, to see what a failure costs: none is recommended."
    )
    beside = conclude(over_four_disks({**missing, "md:raid5+ext4": (950.0,) * 3})).advice
    assert beside.headline.startswith("ext4 on RAID 5 (md): the only one measured with all its disks, ")


def test_an_array_that_is_advised_is_made_of_disks_by_their_stable_names_and_synchronised() -> None:
    figures = {"md:raid5,chunk=64K+ext4:noatime": (900.0,) * 3, "ext4": (1.0,) * 3}
    assert conclude(over_four_disks(figures)).advice.commands == (
        "mdadm --create /dev/md/ARRAY --level=5 --raid-devices=4 --chunk=64K --bitmap=internal "
        "/dev/disk/by-id/DISK-1 /dev/disk/by-id/DISK-2 /dev/disk/by-id/DISK-3 /dev/disk/by-id/DISK-4",
        "mkfs.ext4 -E stride=16,stripe_width=48 /dev/md/ARRAY",
        "UUID=...  /mnt/archive  ext4  noatime  0  2",
    )


def test_other_weights_and_other_needs_rank_anew_without_measuring() -> None:
    result = run(WRITES, {"ext4": (10.0,) * 3, "xfs": (80.0,) * 3})
    assert conclude(result).advice.choice == ("ext4",)
    weighed = conclude(result, weights={"delete": 0})
    assert weighed.advice.choice == ("xfs",)
    recipe = weighed.result.plan.recipe
    assert (recipe.workload("write").weight, recipe.workload("delete").weight) == (1, 0)
    result = make_result({"ext4": (200.0,) * 3, "btrfs": (100.0,) * 3})
    assert conclude(result).advice.choice == ("ext4",)
    assert conclude(result, needs=("checksums",)).advice.choice == ("btrfs",)
    needy = replace(result, plan=replace(result.plan, needs=("checksums",)))
    assert conclude(needy, needs=()).advice.choice == ("ext4",)


@pytest.mark.parametrize(
    ("wishes", "words", "hint"),
    [
        *(({"weights": {"write": weight}}, "The weight of write", "") for weight in (-1.0, math.nan, math.inf)),
        ({"weights": {"write": 0}}, "No workload has any weight", ""),
        ({"weights": {"wirte": 1.0}}, "no workload wirte", "There are: write."),
        ({"needs": ("teleport",)}, "say nothing about teleport", "Known: checksums."),
    ],
)
def test_senseless_and_unknown_wishes_are_refused_with_what_there_is(
    wishes: dict[str, Any], words: str, hint: str
) -> None:
    with pytest.raises(UsageError, match=words) as refused:
        conclude(make_result(), **wishes)
    assert not hint or refused.value.hint == hint


def test_doubts_of_the_run_and_of_the_figures_stand_together_once() -> None:
    doubts = (Doubt("on-battery", "Battery."), Doubt("few-rounds", "As the run said."))
    result = make_result({"ext4": (100.0,), "xfs": (110.0,)}, doubts=doubts)
    assert [doubt.code for doubt in conclude(result).doubts] == ["on-battery", "few-rounds"]


def test_findings_survive_the_way_to_json_and_back() -> None:
    findings = conclude(run(WRITES, DELETES))
    assert from_json(Findings, to_json(findings)) == findings
    assert {summary.metric for summary in findings.summaries} == {"throughput", "duration"}


def test_within_ten_percent_is_an_answer_where_no_tie_is_proven() -> None:
    rng = random.Random(8)
    result = make_result({name: [100 * math.exp(rng.gauss(0, 0.033)) for _ in range(8)] for name in ("ext4", "xfs")})
    judgement = judge(result)
    assert not judgement.tied and judgement.all_near(judgement.leaders)
    found = conclude(result).advice
    assert found.headline.startswith("No difference above 10 %, so it does not matter here: ")
    assert found.choice == judgement.leaders and not found.tie
