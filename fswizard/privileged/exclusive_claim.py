"""A disk or partition that the user gave up for formatting: every check as root, the locks, and its identity."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import stat
import struct
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from fswizard.disks import as_root
from fswizard.errors import Missing
from fswizard.privileged import block_device, disk_checks, disk_identity
from fswizard.privileged.block_device import Device
from fswizard.privileged.in_use import Finding, Probed
from fswizard.privileged.refusal import Refusal
from fswizard.privileged.system_calls import closing

BLKROGET, BLKGETSIZE64, BLKGETDISKSEQ = 0x125E, 0x80081272, 0x80081280
LOOK_LIMIT_S = 10
FAILING = 8
"""Bit 3 of smartctl's exit status."""
FOUND, NOTHING, AMBIVALENT = 0, 2, 8
"""Exit codes of blkid -p."""
BTRFS_SUPERBLOCK, BTRFS_MAGIC = 65536, b"_BHRfS_M"
BCACHEFS_SUPERBLOCK, NR_DEVICES = 4096, 123


@dataclass(frozen=True, slots=True)
class ClaimedDevice:
    """Held open from claim to detach, so that the kernel gives neither its number nor its name to another disk."""

    descriptor: int
    lock: int
    """The whole disk, locked as udev and other programs of this kind respect it."""
    device: Device
    diskseq: int
    size_bytes: int
    direct_io: bool = True

    @property
    def name(self) -> str:
        return self.device.name

    @property
    def path(self) -> str:
        return self.device.path

    @property
    def descriptors(self) -> tuple[int, ...]:
        """Descriptors that a process needs to work on it."""
        return (self.descriptor,)

    @property
    def log_names(self) -> tuple[str, ...]:
        """By which the kernel's log may call it."""
        return self.device.names

    def require_same(self, *, unused: bool) -> None:
        """Refusal where the path leads to another disk by now, or, with `unused`, where anything else uses it.

        A mkfs that was ended may not have given back the lock.
        """
        _flock(self.lock, self.device)
        with closing(_open(self.device, os.O_RDONLY | (os.O_EXCL if unused else 0))) as descriptor:
            _check_open(descriptor, self.device, self.diskseq, self.size_bytes)

    def detach(self) -> None:
        os.close(self.descriptor)
        os.close(self.lock)


@dataclass(frozen=True, slots=True)
class Claimable:
    """A device that could be claimed."""

    device: Device
    diskseq: int
    size_bytes: int
    contents: Probed


def inspect(number: str) -> Claimable:
    """The device `number` and its contents, not locked; Refusal where `claim` would find anything against it."""
    device = block_device.find(number)
    diskseq, size_bytes = device.tree.number(f"/sys/block/{device.disk}/diskseq"), device.size_bytes
    check_identity(device, diskseq, size_bytes)
    refuse(disk_checks.findings(device, {}))
    with closing(_open(device, os.O_RDONLY | os.O_EXCL)) as exclusive:
        _check_open(exclusive, device, diskseq, size_bytes)
        probed = _probe_all(exclusive, device)
        _refuse_used(device, probed)
    refuse(disk_identity.findings(device))
    return Claimable(device, diskseq, size_bytes, probed[device.name])


def claim(number: str, diskseq: int, size_bytes: int, serial: str, shown: str) -> ClaimedDevice:
    """The device `number`, for formatting; Refusal, with nothing written, where anything stands against it.

    `shown` is the type of what the user was shown, as libblkid names it; empty for nothing.
    """
    device = block_device.find(number)
    check_identity(device, diskseq, size_bytes)
    refuse(disk_checks.findings(device, {}))
    with contextlib.ExitStack() as undo:
        try:
            lock = os.open(device.disk_path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
        except OSError as error:
            raise Refusal("refused", f"{device.disk} cannot be opened: {error.strerror}") from error
        undo.callback(os.close, lock)
        _flock(lock, device)
        _check_health(device)
        with closing(_open(device, os.O_RDWR | os.O_EXCL)) as exclusive:
            _check_open(exclusive, device, diskseq, size_bytes)
            check_identity(device, diskseq, size_bytes)
            probed = _probe_all(exclusive, device)
            contents = probed[device.name]
            check_serial(device, serial)
            if contents.type and contents.type != shown:  # udev's database may be older than the contents
                text = f"{device.name} holds {contents.type}, but you were shown {shown or 'nothing'}"
                raise Refusal("refused", text)
            _refuse_used(device, probed)
            descriptor = _open(device, os.O_RDWR)
        undo.pop_all()  # the lock is kept
    return ClaimedDevice(descriptor, lock, device, diskseq, size_bytes)


def _probe_all(descriptor: int, device: Device) -> dict[str, Probed]:
    """Contents of the open device and of its disk."""
    probed = {name: _probe(path) for name, path in zip(device.names, (device.path, device.disk_path))}
    own = probed[device.name]
    return {**probed, device.name: replace(own, devices=_devices(descriptor, own.type))}


def _refuse_used(device: Device, probed: Mapping[str, Probed]) -> None:
    refuse(disk_checks.findings(device, probed))
    refuse(disk_checks.openers(device, os.readlink("/proc/self"), anywhere=True))


def refuse(findings: Iterable[Finding]) -> None:
    """Refusal with the first of the findings, the weightiest."""
    for finding in findings:
        raise Refusal("refused", finding.text)


def check_identity(device: Device, diskseq: int, size_bytes: int) -> None:
    seen = device.tree.text(f"/sys/block/{device.disk}/diskseq")
    if seen != str(diskseq) or not diskseq:
        raise Refusal("refused", f"{device.disk} is no longer the disk that was chosen, or the kernel cannot tell")
    if device.size_bytes != size_bytes:
        raise Refusal("refused", f"{device.name} has changed its size since it was chosen")


def check_serial(device: Device, serial: str) -> None:
    """The user must have typed exactly what confirms this disk and no other: its serial number, as a rule."""
    known = disk_identity.identifiers(device)
    if serial not in known:
        refuse(disk_identity.findings(device))
        kind = next(iter(known.values()), disk_identity.SERIAL)
        raise Refusal("refused", f"{serial!r:.80} is not the {kind} of {device.name}")


def _flock(lock: int, device: Device) -> None:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        raise Refusal("refused", f"{device.disk} is locked by another program") from error


def _open(device: Device, flags: int) -> int:
    """With O_EXCL the kernel refuses what is mounted in any namespace, swap, or below a volume or array."""
    try:
        descriptor = os.open(device.path, flags | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError as error:
        raise Refusal("refused", f"{device.name} is in use or cannot be opened: {error.strerror}") from error
    status = os.fstat(descriptor)
    number = f"{os.major(status.st_rdev)}:{os.minor(status.st_rdev)}"
    if not stat.S_ISBLK(status.st_mode) or number != device.number:
        os.close(descriptor)
        raise Refusal("refused", f"{device.path} is not the block device {device.number}")
    return descriptor


def _check_open(descriptor: int, device: Device, diskseq: int, size_bytes: int) -> None:
    if _ask_kernel(descriptor, BLKGETDISKSEQ, 8) != diskseq or _ask_kernel(descriptor, BLKGETSIZE64, 8) != size_bytes:
        raise Refusal("refused", f"{device.name} is no longer the disk that was chosen")
    if _ask_kernel(descriptor, BLKROGET, 4):
        raise Refusal("refused", f"{device.name} is read-only")


def _ask_kernel(descriptor: int, request: int, length: int) -> int:
    try:
        answer = fcntl.ioctl(descriptor, request, bytes(length))
    except OSError as error:
        raise Refusal("refused", f"the kernel doesn't say which disk it is: {error.strerror}") from error
    return int.from_bytes(answer, "little" if struct.pack("=H", 1)[0] else "big")


def _run(argv: list[str]) -> subprocess.CompletedProcess[bytes]:
    try:
        return as_root.run(argv, LOOK_LIMIT_S)
    except subprocess.TimeoutExpired as error:
        text = f"{argv[0]} did not answer within {LOOK_LIMIT_S} s: the disk may be failing"
        raise Refusal("refused", text) from error


def _probe(path: str) -> Probed:
    looked, listed = _run(["blkid", "-p", "-o", "udev", path]), _run(["wipefs", "--no-act", "--json", path])
    if looked.returncode not in (FOUND, NOTHING, AMBIVALENT) or looked.stderr or listed.returncode or listed.stderr:
        raise Refusal("refused", f"the contents of {path} are unknown")
    lines = looked.stdout.decode("utf-8", "surrogateescape").splitlines()
    try:
        marks = json.loads(listed.stdout or b"{}").get("signatures", [])
        signatures = frozenset(str(mark["type"]) for mark in marks)
    except (ValueError, KeyError, AttributeError, TypeError) as error:
        raise Refusal("refused", f"the contents of {path} are unknown") from error
    properties = dict(line.split("=", 1) for line in lines if "=" in line)
    if looked.returncode == AMBIVALENT:
        properties.setdefault("ID_FS_AMBIVALENT", "several")
    return Probed(properties, signatures)


def _devices(descriptor: int, kind: str) -> int:
    """How many devices the btrfs or bcachefs has that starts here; 0 where there is none."""
    if kind == "bcachefs":
        return os.pread(descriptor, 4096, BCACHEFS_SUPERBLOCK)[NR_DEVICES]
    block = os.pread(descriptor, 4096, BTRFS_SUPERBLOCK)
    return int(struct.unpack_from("<Q", block, 0x88)[0]) if block[0x40:0x48] == BTRFS_MAGIC else 0


def _check_health(device: Device) -> None:
    """A disk that says that it is failing is refused; one that says nothing is not."""
    with contextlib.suppress(FileNotFoundError):
        try:
            code = _run(["smartctl", "--health", device.disk_path]).returncode
        except Missing:
            return
        if code & FAILING:
            raise Refusal("refused", f"{device.disk} reports that it is failing")
