"""Which runs do without root's rights, and what is run instead."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from fswizard.disks import exact_commands as commands
from fswizard.disks import way
from fswizard.filesystems import parse_candidate, parse_candidates
from fswizard.model.plan import Target
from fswizard.system import mounts
from fswizard.system.block_device import Tree

IMAGE = Target("image", "/home/you", 1 << 30)


@pytest.fixture(autouse=True)
def _a_user_of_udisks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(way.os, "geteuid", lambda: 1000)
    monkeypatch.setattr(way, "why_no_udisks", lambda: "")


@pytest.mark.parametrize(
    ("names", "reason"),
    [
        ("ext4:noatime,inode-ratio=64k; xfs:agcount=16; f2fs; btrfs:compress=zstd:1", ""),
        ("xfs; ext4:data=writeback", "data=writeback"),
        ("ext4:commit=30", "commit=30"),
        ("zfs", "ZFS"),
        ("luks+ext4", "LUKS"),
    ],
)
def test_what_a_run_needs_root_for(names: str, reason: str) -> None:
    why = way.why_root(parse_candidates(names))
    assert (reason in why) if reason else why == ""


def test_root_itself_and_a_machine_without_a_session_do_not_go_through_udisks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(way, "why_no_udisks", lambda: "no D-Bus")
    assert way.why_root(parse_candidates("ext4:noatime")) == "no D-Bus"
    monkeypatch.setattr(way.os, "geteuid", lambda: 0)
    assert way.why_root(parse_candidates("ext4")) == "root started fswizard"


def test_mkfs_btrfs_looks_at_the_files_of_mounted_loop_devices(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    device = tmp_path / "sys/block/loop0/dev"
    device.parent.mkdir(parents=True)
    device.write_text("7:0\n")
    monkeypatch.setattr(way, "HERE", Tree(tmp_path))
    for file, mounted, why in (
        ("/nowhere/image", "7:0", "loop device"),
        ("/nowhere/image", "7:1", ""),
        ("/tmp/image (deleted)", "7:0", ""),
    ):
        monkeypatch.setattr(way, "loops", lambda file=file: {"loop0": file})
        monkeypatch.setattr(mounts, "current", lambda mounted=mounted: (SimpleNamespace(device=mounted),))
        reason = way.why_root(parse_candidates("btrfs"))
        assert (why in reason) if why else reason == ""
        assert way.why_root(parse_candidates("ext4")) == ""


def test_the_user_owns_what_is_made() -> None:
    ext4, f2fs = (commands.mkfs(parse_candidate(name), 1000, 1001, "") for name in ("ext4:inode-ratio=64k", "f2fs"))
    assert ext4.count("-E") == 1 and "root_owner=1000:1001" in " ".join(ext4)
    assert f2fs[-2:] == ("-R", "1000:1001")
