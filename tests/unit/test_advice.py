"""What is concluded from a run: the headline, its reasons and commands, and how weights and needs change it."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from fswizard.advice import conclude
from fswizard.disks.set_up import why_not_set_up
from fswizard.errors import UsageError
from fswizard.filesystems import parse_candidates
from fswizard.model.analysis import Advice, Findings, Ratio
from fswizard.model.codec import from_json, to_json
from fswizard.model.metrics import BYTES_WRITTEN, DEVICE_WRITTEN, DURATION
from fswizard.model.plan import Member, Target
from fswizard.model.result import Doubt, Failure, Result, Sample
from fswizard.report.presentation import present
from fswizard.stats import analyse
from tests.builders import make_drive, make_plan, make_result, make_samples, make_workload

Figures = Mapping[str, Sequence[float]]

CLEAR = {"ext4": (100.0,) * 3, "xfs": (120.0,) * 3, "btrfs": (80.0,) * 3}
SAME = {"ext4": (100.0, 101.0, 99.0), "xfs": (101.0, 101.0, 99.0), "btrfs": (101.0, 101.0, 99.0)}
OPEN = {"ext4": (100.0, 111.0, 99.0), "xfs": (115.0, 95.0, 129.5), "btrfs": (31.0, 31.0, 29.0)}
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
    assert 1.08 < found.shrunk().ratio < 1.11
    assert replace(found, rounds=3).shrunk().ratio == pytest.approx(1.13, abs=0.005)
    assert replace(found, low=1.12, high=1.14).shrunk().ratio == pytest.approx(1.13, abs=0.001)
    assert replace(found, verdict="undecided").shrunk().ratio == 1.13
    turned = replace(found, ratio=1 / 1.13, low=1.01 / 1.13**2, high=1 / 1.01, verdict="slower")
    assert turned.shrunk().ratio == pytest.approx(1 / found.shrunk().ratio)


CARDS: dict[str, tuple[Figures, dict[str, Any], str, int]] = {
    "a proven winner": (CLEAR, {}, "Use XFS: 20 % faster than ext4 here", 4),
    "a baseline that wins is kept, and told over the next best": (
        {"ext4": (120.0,) * 3, "xfs": (100.0,) * 3, "btrfs": (80.0,) * 3}, {}, "Use ext4: XFS is 17 % slower here", 4),
    "twice as fast is not told in percent": (
        {"ext4": (100.0,) * 3, "xfs": (210.0,) * 3}, {}, "Use XFS: 2.1× as fast as ext4 here", 4),
    "a tie keeps what is plain": (SAME, {}, "Use ext4: XFS and Btrfs are no faster (within 2 %)", 4),
    "a tie of options keeps the one without": (
        {"ext4": (100.0,) * 5, "ext4:noatime": (101.0,) * 5}, {},
        "Use ext4: ext4 (noatime) is no faster (within 2 %)", 4),
    "an open race keeps the baseline and says how far the others may be": (
        {"ext4": (100.0, 104.0, 99.0), "xfs": (103.0, 101.0, 109.5), "btrfs": (31.0, 31.0, 29.0)}, {},
        "Use ext4: XFS is within 21 % of it, no clear winner", 0),
    "where anything may be true, no percentage is named": (OPEN, {}, "Use ext4: no clear winner", 0),
    "of several that may be anything, more than one are undecided": (
        {"exfat": (100.0, 130.0, 90.0), "ext4": (101.0, 88.0, 135.0), "f2fs": (99.0, 128.0, 101.0)}, {},
        "Use exFAT: no clear winner", 0),
    "too few rounds are called so": ({"ext4": (100.0,), "xfs": (110.0,)}, {}, "Use ext4: too early to tell", 0),
    "one candidate has nothing to be compared with": (
        {"ext4": (100.0,) * 3}, {}, "Use ext4: nothing else was measured", 0),
    "cancelled before the others were measured": (
        {"ext4": (100.0,) * 3, "xfs": ()}, {"outcome": "cancelled"}, "Use ext4: nothing else was measured", 0),
    "nothing measured before it was cancelled": (
        NOTHING, {"outcome": "cancelled"}, "Run it again: it ended before there was a result", 0),
    "everything failed": (NOTHING, full("ext4", "xfs"), "Nothing to choose: every filesystem failed here", 0),
    "the only one that did not fail": (
        {"ext4": (100.0,) * 3, "xfs": ()}, full("xfs"), "Use ext4: the others failed", 2),
    "nobody meets the needs": (CLEAR, {"needs": ["windows"]}, "Nothing fits: none here has Windows support", 0),
    "needs come before speed": (
        CLEAR, {"needs": ["checksums"]}, "Use Btrfs: the only one here that has checksums", 4),
    "needs come before speed, also after one round": (
        {"ext4": (100.0,), "btrfs": (80.0,)}, {"needs": ["checksums"]},
        "Use Btrfs: the only one here that has checksums", 4),
    "among those that meet the needs the fastest": (
        CLEAR, {"needs": ["shrink"]}, "Use ext4: 25 % faster than Btrfs, the fastest with shrinking", 4),
    "after a fault the disk comes first": (
        {"ext4": (100.0,) * 3, "xfs": (150.0,) * 3}, {"outcome": "failed"},
        "Check this disk first: a fault ended the run", 0),
    "an error that the run recorded is what ended it": (
        {"ext4": (100.0,) * 3, "xfs": (150.0,) * 3},
        {"outcome": "failed", "fault": "This needs root.", "remedy": "Log in as root."},
        "No result: an error ended the run", 0),
    "a shingled disk whose cache was not exceeded limits the verdict and the confidence": (
        CLEAR, {"doubts": (Doubt("cache-not-exceeded", "The cache was not exceeded."),)},
        "Use XFS: 20 % faster than ext4 while the disk's cache lasts", 3),
}  # fmt: skip


@pytest.mark.parametrize(("figures", "fields", "verdict", "confidence"), CARDS.values(), ids=CARDS)
def test_a_card_says_what_to_do_and_how_sure(
    figures: Figures, fields: dict[str, Any], verdict: str, confidence: int
) -> None:
    found = advice(figures, **fields)
    assert (found.card.verdict, found.card.confidence) == (verdict, confidence)
    assert len(found.card.verdict) <= 60
    assert found.card.why
    assert max(map(len, found.card.lines)) <= 74
    if not found.choice:
        assert (found.card.commands, found.card.confidence) == ((), 0)
        return
    (named,) = parse_candidates(found.choice[0])
    kind = named.filesystem.name
    assert named.title in found.card.verdict
    assert all(command.startswith(f"mkfs.{kind} ") or f"  {kind}  " in command for command in found.card.commands)
    assert found.card.commands


def test_on_flash_a_card_tells_who_writes_at_least_twice_as_much() -> None:
    samples = [
        Sample(1, name, "write", metric.name, value, "B", "lower")
        for name, factor in (("ext4", 5.8), ("xfs", 2.7), ("btrfs", 22.7))
        for metric, value in ((BYTES_WRITTEN, 1e9), (DEVICE_WRITTEN, factor * 1e9))
    ]
    result = run(CLEAR)

    def wear(*without: str, **disk: Any) -> str:
        kept = tuple(s for s in (*result.samples, *samples) if s.candidate not in without)
        candidates = tuple(c for c in result.plan.candidates if c.name not in without)
        plan = replace(result.plan, drive=make_drive(**disk), candidates=candidates)
        return conclude(replace(result, plan=plan, samples=kept)).advice.card.wear

    assert "Btrfs writes 22.7" in wear(kind="nvme")
    assert "ext4 writes 5.80" in wear("btrfs", kind="ssd")
    assert wear(kind="hdd") == ""


def test_in_a_tie_all_are_the_choice_and_what_the_user_compares_with_comes_first() -> None:
    found = advice(SAME)
    assert found.tie and set(found.choice) == {"ext4", "xfs", "btrfs"} and found.choice[0] == "ext4"
    assert advice({"xfs:noatime": (101.0,) * 3, "xfs": (100.0,) * 3}).choice[0] == "xfs:noatime"  # the baseline here
    rng = random.Random(10)
    result = make_result({name: [100 * math.exp(rng.gauss(0, 0.033)) for _ in range(8)] for name in ("ext4", "xfs")})
    analysis = analyse(result)
    assert not analysis.all_tie(analysis.leaders) and analysis.all_near(analysis.leaders)
    near = conclude(result).advice
    assert set(near.choice) == set(analysis.leaders) and not near.tie


def test_an_open_race_has_all_who_may_win_for_its_choice_and_says_whether_time_may_settle_it() -> None:
    found = advice(OPEN)
    assert "XFS" in texts(found, "noise")[0]
    assert (found.choice, found.tie) == (("ext4", "xfs"), False)
    rng = random.Random(2)
    many = {name: [math.exp(rng.gauss(4, 0.2)) for _ in range(12)] for name in ("ext4", "xfs")}
    assert len(texts(advice(many), "noise")) == 1, "all rounds are over"


def test_a_baseline_that_is_out_is_not_kept_and_directories_are_never_formatted() -> None:
    level = {"xfs": (100.0, 105.0, 99.0, 102.0), "btrfs": (105.0, 101.0, 109.5, 103.0)}
    found = advice({"ext4": (30.0, 31.0, 29.0, 30.0), **level})
    assert found.choice == ("btrfs", "xfs")
    assert found.card.commands[0] == "mkfs.btrfs -L data /dev/disk/by-id/DISK"
    result = run(WRITES, DELETES)
    places = tuple(replace(c, directory=f"/mnt/{c.name}", name=f"{c.name} (x)") for c in result.plan.candidates)
    samples = tuple(replace(s, candidate=f"{s.candidate} (x)") for s in result.samples)
    plan = replace(result.plan, candidates=places, baseline="ext4 (x)")
    compared = conclude(replace(result, plan=plan, samples=samples)).advice
    assert compared.choice == ("xfs (x)",)
    assert compared.card.commands == ()


@pytest.mark.parametrize(
    ("write", "times", "remarks"),
    [
        ({"ext4": (154e6,) * 3, "xfs": (114e6,) * 3}, {"ext4": (0.551,) * 3, "xfs": (0.642,) * 3},
         ["26 % slower", "17 % slower"]),
        ({"ext4": (114e6,) * 3, "xfs": (154e6,) * 3}, {"ext4": (0.325,) * 3, "xfs": (0.286,) * 3},
         ["35 % faster", "14 % faster"]),
        ({"ext4": (100e6,) * 3, "xfs": (103e6, 71e6, 140e6)}, {"ext4": (0.325,) * 3, "xfs": (0.326,) * 3}, ["", ""]),
    ],
)  # fmt: skip
def test_a_bar_says_what_is_proven_of_winners_and_losers_alike(
    write: Figures, times: Figures, remarks: Sequence[str]
) -> None:
    view = present(conclude(run(write, times)))
    bars = [{bar.candidate: bar.remark for bar in row.bars} for row in view.rows]
    assert bars == [{"ext4": "", "xfs": remark} for remark in remarks]
    assert ("differences are from ext4" in view.caption) == any(remarks)


def test_each_that_failed_and_each_that_lacks_a_need_is_among_the_reasons() -> None:
    assert len(texts(run(NOTHING, **full("ext4", "xfs")), "failure")) == 2
    assert any("XFS" in text and "checksums" in text for text in texts(advice(CLEAR, needs=["checksums"])))


@pytest.mark.parametrize("option", ["nobarrier", "data=writeback", "nojournal"])
def test_what_may_lose_data_is_never_recommended_however_fast(option: str) -> None:
    found = advice({"ext4": (100.0,) * 3, f"ext4:{option}": (200.0,) * 3, "xfs": (120.0,) * 3})
    assert found.choice == ("xfs",)
    (excluded,) = texts(found, "excluded")
    assert excluded.startswith(f"ext4 ({option})")


def test_when_all_are_unsafe_none_is_recommended_and_a_safe_value_is_not_taken_for_unsafe() -> None:
    found = advice(UNSAFE)
    assert found.choice == ()
    assert advice({"ext4": (100.0,) * 3, "ext4:data=journal": (200.0,) * 3}).choice == ("ext4:data=journal",)


@pytest.mark.parametrize(
    ("write", "delete", "speed", "cost"),
    [
        (WRITES, DELETES, "Faster than ext4: Write (2× as fast).", "Delete: 40 % slower than ext4."),
        ({"ext4": (300.0,) * 3, "xfs": (100.0,) * 3}, QUICKER_DELETES, "Faster than XFS: Write (3× as fast).",
         "Delete: 2× slower than XFS."),
        ({"ext4": (100.0,) * 3, "xfs": (80.0,) * 3}, QUICKER_DELETES, "",
         "Write: 20 % slower than ext4."),
    ],
    ids=["a winner", "a winning baseline from its own side", "a lost throughput as speed"],
)  # fmt: skip
def test_what_a_winner_gains_and_what_it_costs(write: Figures, delete: Figures, speed: str, cost: str) -> None:
    result = run(write, delete)
    (cost_told,) = texts(result, "cost")
    assert cost_told == cost
    assert not speed or texts(result, "speed") == [speed]


@pytest.mark.parametrize(
    ("felt", "told"),
    [
        (stalls(("ext4", 1, 0.6), ("xfs", 1, 0.1), ("xfs", 2, 0.3), ("ext4", 2, 0.2), ("xfs", 4, 30.0)), 1),
        (stalls(("ext4", 1, 0.06), ("xfs", 1, 0.01)), 0),
        (stalls(("ext4", 1, 0.6), ("xfs", 1, 0.5)), 0),
    ],
    ids=["over the rounds that both have", "that nobody feels", "that hardly differ"],
)
def test_the_worst_stall_is_told_where_it_matters(felt: tuple[Sample, ...], told: int) -> None:
    result = run(WRITES, DELETES)
    found = texts(replace(result, samples=result.samples + felt), "stall")
    assert len(found) == told and all("0.3 s" in text for text in found)


def test_reasons_name_another_baseline_what_others_offer_and_where_mount_options_go() -> None:
    write, delete = {"ext4": (), "xfs": (100.0,) * 3, "btrfs": (50.0,) * 3}, {"xfs": (1.0,) * 3, "btrfs": (1.0,) * 3}
    told = texts(run(write, delete, failures=(Failure(1, "ext4", "write", "EIO", "It failed."),)), "failure")
    assert any("ext4" in text and "xfs" in text for text in told)
    (feature,) = texts(run({**WRITES, "btrfs": (50.0,) * 3}, {**DELETES, "btrfs": (20.0,) * 3}), "feature")
    assert "shrinking (ext4)" in feature and "(Btrfs)" in feature
    (use,) = texts(run({"ext4": (100.0,) * 3, "ext4:noatime": (200.0,) * 3}), "use")
    assert "noatime" in use


@pytest.mark.parametrize(
    ("fast", "commands"),
    [
        ("btrfs:noatime,compress=zstd:1",
         ("mkfs.btrfs -L data /dev/disk/by-id/DISK", "LABEL=data  /mnt/data  btrfs  noatime,compress=zstd:1  0  0")),
        ("ext4:packed_meta_blocks",
         ("mkfs.ext4 -E packed_meta_blocks=1 -m 0 -L data /dev/disk/by-id/DISK",
          "LABEL=data  /mnt/data  ext4  defaults  0  2")),
        ("ext4:noatime", ("LABEL=data  /mnt/data  ext4  noatime  0  2",)),
        ("zfs:atime=off", ("zpool create -O atime=off POOL /dev/disk/by-id/DISK",)),
    ],
    ids=["placeholders alone", "options of mkfs", "nothing is formatted where only mount options differ",
         "a pool needs no line in fstab"],
)  # fmt: skip
def test_the_commands_format_and_mount(fast: str, commands: tuple[str, ...]) -> None:
    assert advice({"ext4": (100.0,) * 3, fast: (200.0,) * 3}).card.commands == commands


def over_four_disks(figures: Figures) -> Result:
    result = run(figures)
    target = Target("device", "/d", 1_000_000_000, others=(Member("/d", 1_000_000_000),) * 3)
    candidates = tuple(candidate.on(4) for candidate in result.plan.candidates)
    return replace(result, plan=replace(result.plan, candidates=candidates, target=target))


def test_an_array_that_is_advised_is_made_whole_of_disks_by_their_stable_names() -> None:
    result = over_four_disks({"md:raid5+ext4": (300.0,) * 3, "md:raid5,degraded+ext4": (100.0,) * 3})
    create, mkfs, fstab = conclude(result).advice.card.commands
    assert create.startswith("mdadm --create") and "missing" not in create
    assert mkfs.startswith("mkfs.ext4") and fstab.startswith("LABEL=data")
    assert texts(result, "use") == []
    figures = {"md:raid5,chunk=64K+ext4:noatime": (900.0,) * 3, "ext4": (1.0,) * 3}
    assert conclude(over_four_disks(figures)).advice.card.commands == (
        "mdadm --create /dev/md/ARRAY --level=5 --raid-devices=4 --chunk=64K --bitmap=internal "
        "/dev/disk/by-id/DISK-1 /dev/disk/by-id/DISK-2 /dev/disk/by-id/DISK-3 /dev/disk/by-id/DISK-4",
        "mkfs.ext4 -E stride=16,stripe_width=48 -m 0 -L data /dev/md/ARRAY",
        "LABEL=data  /mnt/data  ext4  noatime  0  2",
    )


def test_what_encryption_costs_is_said_of_the_same_filesystem_and_its_commands_open_it_at_each_start() -> None:
    figures = {"luks,discards=on+xfs": (50.0,) * 4, "xfs": (100.0,) * 4, "ext4": (400.0,) * 4, "luks+f2fs": (1.0,) * 4}
    result = run(figures)
    (text,) = texts(result, "encryption")
    assert "XFS on LUKS, discards=on" in text and "2×" in text
    assert making_of(run({"luks,workqueues=off,discards=on+xfs:noatime": (900.0,) * 3, "ext4": (1.0,) * 3})) == (
        "cryptsetup luksFormat --type=luks2 --cipher=aes-xts-plain64 --key-size=512 /dev/disk/by-id/DISK",
        "cryptsetup open --perf-no_read_workqueue --perf-no_write_workqueue --allow-discards /dev/disk/by-id/DISK data",
        "mkfs.xfs -L data /dev/mapper/data",
        "# for /etc/crypttab:",
        "data  /dev/disk/by-id/DISK  none  luks,no-read-workqueue,no-write-workqueue,discard",
        "# for /etc/fstab:",
        "LABEL=data  /mnt/data  xfs  noatime  0  0",
    )


def making_of(result: Result) -> tuple[str, ...]:
    """The commands for what won, which is not set up by the program itself."""
    found = conclude(result).advice
    assert "by hand" in why_not_set_up(result.plan.candidate(found.choice[0]))
    return found.card.commands


def test_over_several_disks_room_and_redundancy_stand_beside_speed() -> None:
    result = over_four_disks({"ext4": (100.0,) * 3, "md:raid10+ext4": (300.0,) * 3, "md:raid6+ext4": (200.0,) * 3})
    held, more = texts(result, "redundancy")
    assert "2.00 GB" in held and "RAID 6 (md) (2)" in more
    held, more = texts(over_four_disks({"ext4": (900.0,) * 3, "btrfs:raid1": (300.0,) * 3}), "redundancy")
    assert "1.00 GB" in held and "Btrfs raid1 (1)" in more
    assert texts(run(WRITES, DELETES), "redundancy") == []


def test_a_failed_disk_is_measured_and_never_recommended_which_the_headline_says() -> None:
    figures = {"md:raid5,degraded+ext4": (900.0,) * 3, "md:raid5+ext4": (300.0,) * 3, "ext4": (100.0,) * 3}
    found = conclude(over_four_disks(figures)).advice
    assert found.choice == ("md:raid5+ext4",)
    assert len(texts(found, "excluded")) == 1
    missing = {"md:raid5,degraded+ext4": (900.0,) * 3, "btrfs:raid1,degraded": (300.0,) * 3}
    assert conclude(over_four_disks(missing)).advice.choice == ()
    beside = conclude(over_four_disks({**missing, "md:raid5+ext4": (950.0,) * 3})).advice
    assert beside.choice == ("md:raid5+ext4",)


def test_other_weights_and_needs_rank_anew_and_findings_survive_the_way_to_json_and_back() -> None:
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
    findings = conclude(run(WRITES, DELETES))
    assert from_json(Findings, to_json(findings)) == findings
    assert {summary.metric for summary in findings.summaries} == {"throughput", "duration"}
    doubts = (Doubt("on-battery", "Battery."), Doubt("few-rounds", "As the run said."))
    result = make_result({"ext4": (100.0,), "xfs": (110.0,)}, doubts=doubts)
    assert [doubt.code for doubt in conclude(result).doubts] == ["on-battery", "few-rounds"]


@pytest.mark.parametrize(
    ("wishes", "words", "hint"),
    [
        *(({"weights": {"write": weight}}, "The weight of write", "") for weight in (-1.0, math.nan, math.inf)),
        ({"weights": {"write": 0}}, "Every test has weight 0", ""),
        ({"weights": {"wirte": 1.0}}, "no test wirte", "It has: write."),
        ({"needs": ("teleport",)}, "say nothing about teleport", "Known: checksums."),
    ],
)
def test_senseless_and_unknown_wishes_are_refused_with_what_there_is(
    wishes: dict[str, Any], words: str, hint: str
) -> None:
    with pytest.raises(UsageError, match=words) as refused:
        conclude(make_result(), **wishes)
    assert not hint or refused.value.hint == hint
