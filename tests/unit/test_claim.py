"""What root asks the kernel and programs in the moment before it writes, where no loop device can stand for a disk."""

from __future__ import annotations

import fcntl
import os
import subprocess
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace

import pytest

from fswizard.disks import as_root, claim
from fswizard.drives.may_erase import Facts, Probed
from fswizard.errors import Missing, Refused
from fswizard.model.plan import Member
from fswizard.system.block_device import Device

DEVICE = Device("sdb", "sdb", "8:16", diskseq=7, size_bytes=8 << 30, zones="none")


@pytest.mark.parametrize(
    ("minor", "kernel", "words"),
    [
        (16, (7, 8 << 30, 0), ""), (16, (8, 8 << 30, 0), "no longer the disk"),
        (16, (7, 8 << 20, 0), "no longer the disk"), (32, (7, 8 << 30, 0), "no longer the disk"),
        (16, (7, 8 << 30, 1), "read-only"),
    ],
)  # fmt: skip
def test_the_kernel_says_which_disk_is_open(
    minor: int, kernel: tuple[int, int, int], words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    requests = (claim.BLKGETDISKSEQ, claim.BLKGETSIZE64, claim.BLKROGET)
    said = dict(zip(requests, (number.to_bytes(8, "little") for number in kernel)))
    monkeypatch.setattr(fcntl, "ioctl", lambda descriptor, request, room: said[request])
    monkeypatch.setattr(os, "fstat", lambda descriptor: SimpleNamespace(st_rdev=os.makedev(8, minor)))
    with pytest.raises(Refused, match=words) if words else nullcontext():
        claim._check_open(0, DEVICE)


def test_a_node_that_is_no_device_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "sdb"
    file.touch()
    monkeypatch.setattr("fswizard.system.block_device.path_of", lambda name: str(file))
    with pytest.raises(Refused, match="The kernel doesn't say which disk it is"):
        claim._open(DEVICE, os.O_RDONLY)


def test_a_disk_that_was_pulled_is_refused_with_the_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fswizard.system.block_device.path_of", lambda name: str(tmp_path / name))
    with pytest.raises(Refused, match="No such file"):
        claim._open(DEVICE, os.O_RDONLY)


@pytest.mark.parametrize("code", [0, 4, 8 | 64])
def test_the_device_is_in_use_nowhere_else_by_any_path_to_it_and_does_not_fail(
    code: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[tuple[str, int]] = []

    def open_it(device: Device, flags: int) -> int:
        opened.append((device.name, flags))
        return os.open(os.devnull, os.O_RDONLY)

    facts = Facts(DEVICE, {"sdb": Probed()}, reported={"Z84": "serial number"}, paths=("sdc",))
    monkeypatch.setattr(claim, "_open", open_it)
    monkeypatch.setattr(claim, "_probe", lambda path: Probed())
    monkeypatch.setattr(claim, "_devices", lambda descriptor, kind: 0)
    monkeypatch.setattr(as_root, "run", lambda argv, limit_s: subprocess.CompletedProcess(argv, code))
    monkeypatch.setattr(claim, "find", lambda number: DEVICE)
    monkeypatch.setattr(claim.disk_facts, "read", lambda device, contents: facts)
    monkeypatch.setattr(claim.disk_facts, "openers", lambda facts, without_pid, anywhere: [])
    with pytest.raises(Refused, match="sdb reports that it is failing") if code > 8 else nullcontext():
        claimed = claim.claim(Member("/dev/sdb", DEVICE.size_bytes, "", DEVICE.number, DEVICE.diskseq, "Z84"), "")
        claimed.require_same(unused=True)
        claimed.detach()
    unused = [(name, os.O_RDONLY | os.O_EXCL) for name in ("sdb", "sdc")]
    looked = [("sdb", os.O_RDONLY), ("sdb", os.O_RDWR | os.O_EXCL), unused[1]]
    assert opened == (looked if code > 8 else [*looked, ("sdb", os.O_RDWR), *unused])


def test_a_disk_that_does_not_answer_is_refused_and_a_missing_smartctl_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    def run(argv: Sequence[str], timeout_s: float) -> subprocess.CompletedProcess[bytes]:
        raise subprocess.TimeoutExpired(argv, timeout_s)

    monkeypatch.setattr(as_root, "run", run)
    with pytest.raises(Refused, match="smartctl did not answer within 10 s: the disk may be failing"):
        claim._failing("sdb")

    def missing(argv: Sequence[str], timeout_s: float) -> subprocess.CompletedProcess[bytes]:
        raise Missing("there is no smartctl")

    monkeypatch.setattr(as_root, "run", missing)
    assert not claim._failing("sdb")
