from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from fswizard.advice import conclude
from fswizard.filesystems import parse_candidates
from fswizard.model.judgement import Advice
from fswizard.model.metrics import DURATION, Metric
from fswizard.model.plan import Member, Target
from fswizard.model.result import Failure, Result, Sample
from tests.builders import make_plan, make_result, make_samples, make_workload

LATENCY = Metric("append_latency", "s", "lower")
WRITES = {"ext4": (100.0,) * 3, "xfs": (200.0,) * 3}
DELETES = {"ext4": (10.0,) * 3, "xfs": (14.0,) * 3}


def run(write: Mapping[str, Sequence[float]], delete: Mapping[str, Sequence[float]]) -> Result:
    workloads = [make_workload("write"), make_workload("delete", DURATION)]
    plan = replace(make_plan(tuple(write), workloads), candidates=parse_candidates("; ".join(write)))
    return make_result(plan=plan, samples=make_samples(write) + make_samples(delete, "delete", DURATION))


def texts(result: Result, code: str) -> list[str]:
    return [reason.text for reason in conclude(result).advice.reasons if reason.code == code]


def single(figures: Mapping[str, Sequence[float]]) -> Advice:
    result = make_result(figures)
    return conclude(replace(result, plan=replace(result.plan, candidates=parse_candidates("; ".join(figures))))).advice


def stalls(*figures: tuple[str, int, float]) -> tuple[Sample, ...]:
    return tuple(Sample(number, name, "write", "worst_latency", value, "s", "lower") for name, number, value in figures)


def test_what_a_winner_gains_and_what_it_costs() -> None:
    result = run(WRITES, DELETES)
    assert texts(result, "speed") == ["Faster than ext4 at Write (2.00 ×)."]
    assert texts(result, "cost") == ["It loses at Delete: 1.40 × as long as ext4."]


def test_a_winning_baseline_is_told_from_its_own_side() -> None:
    result = run({"ext4": (300.0,) * 3, "xfs": (100.0,) * 3}, {"ext4": (10.0,) * 3, "xfs": (5.0,) * 3})
    assert texts(result, "speed") == ["Faster than xfs at Write (3.00 ×)."]
    assert texts(result, "cost") == ["It loses at Delete: 2.00 × as long as xfs."]


def test_a_lost_throughput_is_told_as_speed() -> None:
    result = run({"ext4": (100.0,) * 3, "xfs": (80.0,) * 3}, {"ext4": (10.0,) * 3, "xfs": (5.0,) * 3})
    (text,) = texts(result, "cost")
    assert text.startswith("It loses at Write: 0.80 × the speed of ext4 (0.7")


def test_the_worst_stall_is_told_over_the_rounds_that_both_have() -> None:
    felt = stalls(("ext4", 1, 0.6), ("ext4", 2, 0.2), ("xfs", 1, 0.1), ("xfs", 2, 0.3), ("xfs", 4, 30.0))
    result = run(WRITES, DELETES)
    assert texts(replace(result, samples=result.samples + felt), "stall") == [
        "Its worst stall was 300 ms, 0.50 × that of ext4 (600 ms)."
    ]


def test_stalls_that_nobody_feels_or_that_hardly_differ_are_passed_over() -> None:
    result = run(WRITES, DELETES)
    for felt in (stalls(("ext4", 1, 0.06), ("xfs", 1, 0.01)), stalls(("ext4", 1, 0.6), ("xfs", 1, 0.5))):
        assert texts(replace(result, samples=result.samples + felt), "stall") == []


def test_failures_are_told() -> None:
    result = run({**WRITES, "btrfs": ()}, DELETES)
    failure = Failure(1, "btrfs", "write", "ENOSPC", "The volume was full.")
    assert texts(replace(result, failures=(failure,)), "failure") == ["Btrfs failed: The volume was full."]


def test_another_baseline_than_asked_for_is_told() -> None:
    result = run({"ext4": (), "xfs": (100.0,) * 3, "btrfs": (50.0,) * 3}, {"xfs": (1.0,) * 3, "btrfs": (1.0,) * 3})
    failure = Failure(1, "ext4", "write", "EIO", "It failed.")
    assert "The baseline ext4 has no figures: ratios are to xfs instead." in texts(
        replace(result, failures=(failure,)), "failure"
    )


def test_what_the_others_offer_beside_speed() -> None:
    result = run({**WRITES, "btrfs": (50.0,) * 3}, {**DELETES, "btrfs": (20.0,) * 3})
    (text,) = texts(result, "feature")
    assert text == (
        "What XFS does not offer: ext4 can shrink; Btrfs has checksums, snapshots and compression, "
        "and can shrink and send changes to another disk."
    )


def test_the_commands_format_and_mount_with_placeholders_alone() -> None:
    found = single({"ext4": (100.0,) * 3, "btrfs:noatime,compress=zstd:1": (200.0,) * 3})
    assert found.commands == (
        "mkfs.btrfs /dev/DEVICE",
        "UUID=...  /mnt/archive  btrfs  noatime,compress=zstd:1  0  0",
    )


def test_options_of_mkfs_stand_in_the_command() -> None:
    found = single({"ext4": (100.0,) * 3, "ext4:packed_meta_blocks": (200.0,) * 3})
    assert found.commands[0] == "mkfs.ext4 -E packed_meta_blocks=1 /dev/DEVICE"


def test_where_only_mount_options_differ_nothing_is_formatted() -> None:
    found = single({"ext4": (100.0,) * 3, "ext4:noatime": (200.0,) * 3})
    assert found.commands == ("UUID=...  /mnt/archive  ext4  noatime  0  2",)
    (use,) = [reason.text for reason in found.reasons if reason.code == "use"]
    assert "put noatime into the fourth column" in use and "unmount it and mount it again" in use


def test_directories_are_compared_and_never_formatted() -> None:
    result = run(WRITES, DELETES)
    places = tuple(replace(c, directory=f"/mnt/{c.name}") for c in result.plan.candidates)
    found = conclude(replace(result, plan=replace(result.plan, candidates=places))).advice
    assert found.headline.startswith("XFS in /mnt/xfs for this use: 1.20 × ext4 (")
    assert found.commands == ()


def over_four_disks(figures: Mapping[str, Sequence[float]]) -> Result:
    result = make_result(figures)
    member = Member("/d", 1_000_000_000)
    target = Target("device", "/d", 1_000_000_000, others=(member,) * 3)
    candidates = tuple(candidate.on(4) for candidate in parse_candidates("; ".join(figures)))
    return replace(result, plan=replace(result.plan, candidates=candidates, target=target))


def test_over_several_disks_room_and_redundancy_stand_beside_speed() -> None:
    result = over_four_disks({"ext4": (100.0,) * 3, "md:raid10+ext4": (300.0,) * 3, "md:raid6+ext4": (200.0,) * 3})
    assert texts(result, "redundancy") == [
        "ext4 on RAID 10 (md) has 2.00 GB in all, and any 1 of the disks may fail.",
        "More disks may fail with ext4 on RAID 6 (md) (2).",
    ]
    alone = over_four_disks({"ext4": (900.0,) * 3, "btrfs:raid1": (300.0,) * 3})
    assert texts(alone, "redundancy") == [
        "ext4 has 1.00 GB in all, and no disk may fail.",
        "More disks may fail with Btrfs raid1 (1).",
    ]
    assert texts(run(WRITES, DELETES), "redundancy") == []


def test_a_failed_disk_is_measured_and_never_recommended() -> None:
    result = over_four_disks(
        {"md:raid5,degraded+ext4": (900.0,) * 3, "md:raid5+ext4": (300.0,) * 3, "ext4": (100.0,) * 3}
    )
    advice = conclude(result).advice
    assert advice.choice == ("md:raid5+ext4",)
    assert texts(result, "excluded") == [
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
    create, mkfs, fstab = conclude(
        over_four_disks({"md:raid5,chunk=64K+ext4:noatime": (900.0,) * 3, "ext4": (1.0,) * 3})
    ).advice.commands
    assert create == (
        "mdadm --create /dev/md/ARRAY --level=5 --raid-devices=4 --chunk=64K --bitmap=internal "
        "/dev/disk/by-id/DISK-1 /dev/disk/by-id/DISK-2 /dev/disk/by-id/DISK-3 /dev/disk/by-id/DISK-4"
    )
    assert mkfs == "mkfs.ext4 -E stride=16,stripe_width=48 /dev/md/ARRAY"
    assert fstab == "UUID=...  /mnt/archive  ext4  noatime  0  2"
