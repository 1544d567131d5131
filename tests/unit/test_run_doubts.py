"""Doubts that are known before anything is measured, each caused, and each with what can be done about it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fswizard.engines.fio import FioJob
from fswizard.engines.overflow import OverflowJob
from fswizard.engines.tree import TreeJob
from fswizard.filesystems import parse_candidates
from fswizard.model.metrics import DURATION
from fswizard.model.plan import Member, Plan, Target
from fswizard.model.recipe import Workload
from fswizard.session import doubts
from tests.builders import make_drive, make_plan, make_workload
from tests.fakes.host import ModelHost, use

DIRECT = make_workload("write")
OVERFLOW = make_workload("overflow", engine="overflow", job=OverflowJob(64 << 20, 60.0))
BUFFERED = make_workload("copy", DURATION, engine="tree", job=TreeJob("copy", "mixed", 100, 1 << 20))
ON_DEVICE = Target("device", "/dev/disk/by-id/x", 64 << 30)


def said(plan: Plan, **machine: Any) -> dict[str, str]:
    """The texts of the doubts about a plan on a machine, by code."""
    with use(ModelHost(memory=8 << 30, **machine)):
        return {doubt.code: doubt.text for doubt in doubts.before(plan)}


def plan(*workloads: Any, **fields: Any) -> Plan:
    return make_plan(workloads=workloads or (DIRECT,), **{"target": ON_DEVICE, **fields})


def image(size: int = 64 << 30, filesystem: str = "ext4") -> Target:
    return Target("image", "/var/tmp", size, filesystem)


SHINGLED = {"drive": make_drive("drive-managed")}


@pytest.mark.parametrize(
    ("plan_of", "machine", "code", "doubted"),
    [
        ({}, {}, "fresh-only", True),
        ({"target": Target("directory", "/home", 64 << 30, "ext4")}, {}, "fresh-only", False),
        ({}, {"battery": True}, "on-battery", True),
        ({}, {}, "governor", False),
        ({}, {"slowed": True}, "governor", True),
        ({**SHINGLED, "writes_bytes_per_trial": 4 << 30}, {}, "cache-not-exceeded", True),
        ({**SHINGLED, "writes_bytes_per_trial": 500 << 30}, {}, "cache-not-exceeded", False),
        ({"drive": make_drive("cmr"), "writes_bytes_per_trial": 4 << 30}, {}, "cache-not-exceeded", False),
        ({"target": image(filesystem="btrfs")}, {}, "image-on-btrfs", True),
        ({"target": image(filesystem="")}, {}, "image-on-unknown", True),
    ],
)
def test_a_doubt_stands_where_it_is_caused_and_nowhere_else(
    plan_of: dict[str, Any], machine: dict[str, Any], code: str, doubted: bool
) -> None:
    assert (code in said(plan(**plan_of), **machine)) is doubted


def test_a_small_btrfs_and_discard_on_an_image_are_doubted() -> None:
    def small(target: Target, workload: Workload = BUFFERED) -> list[str]:
        made = replace(plan(workload, target=target), candidates=parse_candidates("ext4; btrfs:noatime; xfs"))
        return [code for code in said(made) if code.startswith("small-")]

    assert small(image(2 << 30)) == ["small-btrfs:noatime"]
    assert not small(image(4 << 30))
    assert not small(image(2 << 30), DIRECT), "one large file needs little metadata"
    assert not small(Target("directory", "")), "nobody makes what is mounted"
    asking = ("ext4:discard", "btrfs:discard=async", "btrfs:nodiscard", "xfs")
    text = said(plan(candidates=asking, target=image()))["discard-on-image"]
    assert text.startswith("ext4:discard, btrfs:discard=async: ")
    assert "discard-on-image" not in said(plan(candidates=asking))
    assert "discard-on-image" not in said(plan(candidates=asking[2:], target=image()))


def test_data_that_fit_into_memory_here_or_of_the_host_are_named_with_their_workload() -> None:
    virtual = make_drive(kind="virtual")
    assert said(plan(DIRECT, BUFFERED, drive=virtual))["fits-in-host-memory"].startswith("Write: ")
    assert "fits-in-host-memory" in said(plan(target=image(filesystem="zfs")))
    assert "fits-in-host-memory" not in said(plan(BUFFERED, drive=virtual))
    synced = make_workload("log", job=FioJob("write", 4096, 64 << 20, fsync=1))
    assert "fits-in-host-memory" not in said(plan(synced, drive=virtual))
    assert "fits-in-host-memory" not in said(plan(drive=make_drive(), target=image()))

    def told(*workloads: Workload, memory_bytes: int = 8 << 30, limit_bytes: int = 0, limited: bool = False) -> str:
        with use(ModelHost(memory=memory_bytes)):
            found = [*doubts.fits_in_memory(plan(*workloads, memory_limit_bytes=limit_bytes), limited=limited)]
        return found[0].text if found else ""

    assert told(DIRECT, BUFFERED).startswith("Copy: ")
    assert told(BUFFERED, limit_bytes=256 << 20)
    assert not told(BUFFERED, limit_bytes=256 << 20, limited=True)
    assert told(BUFFERED, limited=True), "what could be limited was not"
    assert not told(DIRECT) and not told(OVERFLOW), "direct access goes past the memory"
    stream = FioJob("write", 1 << 20, 64 << 20, direct=False)
    assert told(make_workload("stream", job=stream)), "fio's, where it is not direct"
    assert not told(make_workload("stream", job=stream), memory_bytes=32 << 20)
    assert not told(make_workload("stream", job=replace(stream, fsync=1)))


def test_locations_on_different_disks_or_on_one_filesystem_are_doubted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    disks = {"/a": "sda", "/b": "sdb", "/c": "sdb"}
    monkeypatch.setattr(doubts, "_disk_under", disks.get)

    def codes(*paths: str) -> list[str]:
        (first, *_) = parse_candidates("ext4")
        candidates = tuple(replace(first, name=path, directory=path) for path in paths)
        return [*said(replace(plan(target=Target("directory", "")), candidates=candidates))]

    assert "different-disks" in codes("/a", "/b")
    assert "different-disks" not in codes("/b", "/c")
    assert "one-filesystem" in codes(str(tmp_path), str(tmp_path.parent))
    assert "one-filesystem" not in codes(str(tmp_path), "/proc")


def over_images(*directories: str, candidates: str = "btrfs:raid1; ext4") -> Plan:
    first, *others = (Member(directory, 2 << 30, "ext4") for directory in directories)
    target = Target("image", first.path, first.size_bytes, "ext4", others=tuple(others))
    spread = tuple(candidate.on(len(directories)) for candidate in parse_candidates(candidates))
    return replace(plan(target=target), candidates=spread)


def test_images_that_share_a_disk_and_arrays_not_synchronised_are_doubtful(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "members-on-one-disk" in said(over_images(str(tmp_path), str(tmp_path)))
    monkeypatch.setattr(doubts, "combined_drive", lambda path: make_drive(name=path.replace("/", "")))
    assert "members-on-one-disk" not in said(over_images("/first", "/second"))
    assert "members-on-one-disk" in said(over_images("/first", "/second", "/first"))
    directory = str(tmp_path)
    assert "not-synchronised" not in said(over_images(directory, directory))
    raid5 = over_images(directory, directory, directory, candidates="md:raid5+ext4")
    assert "not-synchronised" in said(raid5)
