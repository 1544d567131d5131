"""Disks whose zones must be written in order: who may be made there, in the plan and by root."""

from __future__ import annotations

import fcntl
from pathlib import Path
from typing import Any

import pytest

from fswizard.advice.commands import making
from fswizard.drives.machine import Machine
from fswizard.errors import UsageError
from fswizard.filesystems import catalogue, parse_candidate
from fswizard.model.plan import Target
from fswizard.privileged import block_device
from fswizard.privileged.grammar import ZONED, require_mkfs
from fswizard.privileged.protocol import Refusal
from fswizard.targets import zones

DISK = Target("device", "/dev/null", 8 << 40, number="8:16")


@pytest.fixture(autouse=True)
def host_managed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    queue = tmp_path / "sys/dev/block/8:16/queue"
    queue.mkdir(parents=True)
    (queue / "zoned").write_text("host-managed\n")
    monkeypatch.setattr(zones, "HERE", Machine(tmp_path))


@pytest.fixture(params=[1, 2], ids=["conventional first", "sequential first"])
def first_zone(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """Its type, as the kernel would report it."""

    def answer(descriptor: int, ask: int, buffer: bytearray) -> int:
        assert ask == block_device.BLKREPORTZONE
        assert len(buffer) == 16 + 64
        sector, count, _ = block_device.ZONE_REPORT.unpack_from(buffer)
        assert (sector, count) == (0, 1)
        block_device.ZONE.pack_into(buffer, block_device.ZONE_REPORT.size, 0, 131072, 0, request.param, 1, 0, 0, 131072)
        return 0

    monkeypatch.setattr(fcntl, "ioctl", answer)
    kind: int = request.param
    return kind


def test_only_what_knows_zones_is_made_on_a_device_with_zones() -> None:
    assert zones.must_keep_to_zones(DISK)
    assert not zones.must_keep_to_zones(Target("device", "/dev/null", 8 << 40, number="8:32"))
    assert not zones.must_keep_to_zones(Target("image", "/srv", 2 << 30, "btrfs"))
    for name, filesystem in catalogue().items():
        if filesystem.zones is None:
            with pytest.raises(UsageError, match="must be written in order") as raised:
                zones.made_for_zones(parse_candidate(name), DISK)
            assert raised.value.hint == "These support zones: btrfs, f2fs."
    commands = making(zones.made_for_zones(parse_candidate("btrfs"), DISK))
    assert commands == (("mkfs.btrfs", "-O", "zoned", "-L", "data", "/dev/disk/by-id/DISK"),)


def test_f2fs_needs_a_place_for_its_metadata(first_zone: int) -> None:
    candidate = parse_candidate("f2fs:noatime")
    tried = zones.worth_trying_on_zones(("ext4", "xfs", "btrfs:noatime"), DISK)
    if first_zone == block_device.CONVENTIONAL_ZONE:
        arguments = zones.made_for_zones(candidate, DISK).mkfs_arguments(scratch=True)
        assert "-m" in arguments
        assert "-t" not in arguments, "mkfs.f2fs refuses to leave zones as they are"
        assert tried == ("btrfs:noatime", "f2fs"), "of a recipe stays what fits, and what else fits joins"
    else:
        with pytest.raises(UsageError, match="can be written anywhere"):
            zones.made_for_zones(candidate, DISK)
        assert tried == ("btrfs:noatime",)


@pytest.mark.parametrize("filesystem", catalogue())
def test_root_makes_nothing_else_there(filesystem: str) -> None:
    known = catalogue()[filesystem]
    with pytest.raises(Refusal):
        require_mkfs(filesystem, parse_candidate(filesystem).mkfs_arguments(scratch=True), zoned=True)
    assert (known.zones is not None) == (filesystem in ZONED)
    if known.zones is not None:
        made: Any = parse_candidate(filesystem).filesystem.on_zones(known.zones)
        arguments = [part for pair in (*made.mkfs_arguments, *made.scratch_arguments) for part in pair if part]
        assert require_mkfs(filesystem, arguments, zoned=True) == known.mkfs_program
