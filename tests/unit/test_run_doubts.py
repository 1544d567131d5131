"""Doubts that are known before anything is measured, each caused, and each with what can be done about it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fswizard.cli.run import plan_text
from fswizard.engines.fio import FioJob
from fswizard.engines.overflow import OverflowJob
from fswizard.engines.tree import TreeJob
from fswizard.filesystems import parse_candidates
from fswizard.model.metrics import DURATION
from fswizard.model.plan import Member, Plan, Target
from fswizard.model.recipe import Workload
from fswizard.session import doubts, idle_wait
from tests.builders import make_drive, make_plan, make_workload
from tests.fakes.host import ModelHost, use

DIRECT = make_workload("write")
OVERFLOW = make_workload("overflow", engine="overflow", job=OverflowJob(64 << 20, 60.0))
BUFFERED = make_workload("copy", DURATION, engine="tree", job=TreeJob("copy", "mixed", 100, 1 << 20))
ON_DEVICE = Target("device", "/dev/disk/by-id/x", 64 << 30)


def said(plan: Plan, **machine: Any) -> dict[str, str]:
    with use(ModelHost(memory=8 << 30, **machine)):
        return {doubt.code: doubt.text for doubt in doubts.before(plan)}


def plan(*workloads: Any, **fields: Any) -> Plan:
    return make_plan(workloads=workloads or (DIRECT,), **{"target": ON_DEVICE, **fields})


def image(size: int = 64 << 30, filesystem: str = "ext4") -> Target:
    return Target("image", "/var/tmp", size, filesystem)


def test_age_saved_power_a_cache_not_exceeded_too_little_time_and_what_happens_are_doubtful() -> None:
    ((code, text),) = said(plan()).items()
    assert code == "fresh-only"
    assert "measure again with --aged, or with the recipe fill" in text
    assert "fresh-only" not in said(plan(target=Target("directory", "/home", 64 << 30, "ext4")))
    assert "plug it in and run again" in said(plan(), battery=True)["on-battery"]
    assert "governor" not in said(plan(), speed="powersave"), "its driver raises the clock all the same"
    slow = said(plan(), speed="powersave", dynamic=False)
    assert "cpupower frequency-set -g performance" in slow["governor"]
    little = plan(drive=make_drive("drive-managed"), writes_bytes_per_trial=4 << 30)
    assert "the recipe cache-overflow shows it." in said(little)["cache-not-exceeded"]
    much = plan(drive=make_drive("drive-managed"), writes_bytes_per_trial=500 << 30)
    assert "cache-not-exceeded" not in said(much)
    assert "cache-not-exceeded" not in said(plan(drive=make_drive("cmr"), writes_bytes_per_trial=4 << 30))
    five = ("ext4", "xfs", "btrfs", "f2fs", "nilfs2")
    little, short, enough = (
        plan_text(make_plan(five, time_limit_s=limit_s, seconds_per_trial=10, preparation_s=5))
        for limit_s in (20, 100, 200)
    )
    assert "may be too short for the 2 rounds of a verdict: about 4 candidates would fit." in short
    assert "fswizard finishes them anyway, up to twice the limit." in short
    assert "20 s is too short for a verdict, which takes 2 rounds: give --time" in little
    assert "too short" not in enough
    busy = idle_wait.busy_machine("`updatedb` reads 40 MB/s").text
    assert "(`updatedb` reads 40 MB/s), which widens intervals: close them" in busy
    for doubt in (idle_wait.SUSPENDED, idle_wait.STOPPED, idle_wait.CLOCK_JUMP):
        assert "doesn't count; another replaces it" in doubt.text


@pytest.mark.parametrize(("host_filesystem", "code"), [("btrfs", "image-on-btrfs"), ("", "image-on-unknown")])
def test_an_image_is_named_after_the_filesystem_below_it(host_filesystem: str, code: str) -> None:
    told = said(plan(target=image(filesystem=host_filesystem)))
    assert "ratios carry over to the bare disk, absolute figures less so" in told[code]


def test_a_small_btrfs_is_said_to_be_slower_and_discard_not_measured_on_an_image() -> None:
    def small(target: Target, workload: Workload = BUFFERED) -> dict[str, str]:
        told = said(replace(plan(workload, target=target), candidates=parse_candidates("ext4; btrfs:noatime; xfs")))
        return {code: text for code, text in told.items() if code.startswith("small-")}

    ((code, text),) = small(image(2 << 30)).items()
    assert code == "small-btrfs:noatime"
    assert text.startswith("btrfs:noatime had 2 GiB: Btrfs is slower with small files below 4 GiB")
    assert not small(image(4 << 30))
    assert not small(image(2 << 30), DIRECT), "one large file needs little metadata"
    assert not small(Target("directory", "")), "nobody makes what is mounted"
    asking = ("ext4:discard", "btrfs:discard=async", "btrfs:nodiscard", "xfs")
    said_of = said(plan(candidates=asking, target=image()))["discard-on-image"]
    assert said_of.startswith("ext4:discard, btrfs:discard=async: a scratch image ignores")
    assert "measure its effect on a partition or a disk." in said_of
    assert "discard-on-image" not in said(plan(candidates=asking))
    assert "discard-on-image" not in said(plan(candidates=asking[2:], target=image()))


def test_data_that_fit_into_memory_here_or_of_the_host_are_named_with_their_workload() -> None:
    virtual = make_drive(kind="virtual")
    text = said(plan(DIRECT, BUFFERED, drive=virtual))["fits-in-host-memory"]
    assert text.startswith("Write: the host of this virtual disk may keep the data in memory")
    assert "zfs, below the image," in said(plan(target=image(filesystem="zfs")))["fits-in-host-memory"]
    assert "fits-in-host-memory" not in said(plan(BUFFERED, drive=virtual))
    synced = make_workload("log", job=FioJob("write", 4096, 64 << 20, fsync=1))
    assert "fits-in-host-memory" not in said(plan(synced, drive=virtual))
    assert "fits-in-host-memory" not in said(plan(drive=make_drive(), target=image()))

    def told(*workloads: Workload, memory_bytes: int = 8 << 30, limit_bytes: int = 0, limited: bool = False) -> str:
        with use(ModelHost(memory=memory_bytes)):
            found = [*doubts.fits_in_memory(plan(*workloads, memory_limit_bytes=limit_bytes), limited=limited)]
        return found[0].text if found else ""

    assert told(DIRECT, BUFFERED).startswith("Copy: the data fit into this machine's memory (8 GiB)")
    assert "a memory limit" in told(BUFFERED)
    assert "`fswizard doctor`" in told(BUFFERED, limit_bytes=256 << 20)
    assert not told(BUFFERED, limit_bytes=256 << 20, limited=True)
    assert told(BUFFERED, limited=True), "what could be limited was not"
    assert not told(DIRECT) and not told(OVERFLOW), "direct access goes past the memory"
    stream = FioJob("write", 1 << 20, 64 << 20, direct=False)
    assert told(make_workload("stream", job=stream)), "fio's, where it is not direct"
    assert not told(make_workload("stream", job=stream), memory_bytes=32 << 20)
    assert not told(make_workload("stream", job=replace(stream, fsync=1)))


def test_locations_on_different_disks_are_a_comparison_of_disks(monkeypatch: pytest.MonkeyPatch) -> None:
    disks = {"/a": "sda", "/b": "sdb", "/c": "sdb"}
    monkeypatch.setattr(doubts, "_disk_under", disks.get)
    (first, *_), told = parse_candidates("ext4"), {}
    for paths in (("/a", "/b"), ("/b", "/c")):
        candidates = tuple(replace(first, name=path, directory=path) for path in paths)
        made = replace(plan(), target=Target("directory", ""), candidates=candidates)
        told[paths] = [doubt.text for doubt in doubts.before(made) if doubt.code == "different-disks"]
    assert "different disks (sda, sdb)" in told["/a", "/b"][0]
    assert not told["/b", "/c"]


def test_directories_of_one_filesystem_are_told_to_be_one(tmp_path: Path) -> None:
    (first, *_) = parse_candidates("ext4")
    told = {}
    for paths in ((str(tmp_path), str(tmp_path.parent)), (str(tmp_path), "/proc")):
        candidates = tuple(replace(first, name=path, directory=path) for path in paths)
        made = replace(plan(), target=Target("directory", ""), candidates=candidates)
        told[paths[1]] = [doubt.text for doubt in doubts.before(made) if doubt.code == "one-filesystem"]
    assert f"{tmp_path} and {tmp_path.parent} lie on one filesystem" in told[str(tmp_path.parent)][0]
    assert not told["/proc"]


def over_images(*directories: str, candidates: str = "btrfs:raid1; ext4") -> Plan:
    first, *others = (Member(directory, 2 << 30, "ext4") for directory in directories)
    target = Target("image", first.path, first.size_bytes, "ext4", others=tuple(others))
    spread = tuple(candidate.on(len(directories)) for candidate in parse_candidates(candidates))
    return replace(plan(target=target), candidates=spread)


def test_images_that_share_a_disk_and_arrays_not_synchronised_are_doubtful(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    alike = said(over_images(str(tmp_path), str(tmp_path)))
    assert "The 2 scratch images share one disk" in alike["members-on-one-disk"]
    assert "give each image a disk of its own" in alike["members-on-one-disk"]
    monkeypatch.setattr(doubts, "place_of", lambda path: make_drive(name=path.replace("/", "")))
    assert "members-on-one-disk" not in said(over_images("/first", "/second"))
    assert "members-on-one-disk" in said(over_images("/first", "/second", "/first"))
    directory = str(tmp_path)
    assert "not-synchronised" not in said(over_images(directory, directory))
    text = said(over_images(directory, directory, directory, candidates="md:raid5+ext4"))["not-synchronised"]
    assert "until it ends, yours will be slower" in text
