"""A disk or partition that the person gave up for formatting: every check as root, the locks, and its identity."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import stat
import struct
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass

from fswizard.privileged import disk_checks, programs
from fswizard.privileged.disk_checks import Device
from fswizard.privileged.protocol import Refusal

BLKROGET, BLKGETSIZE64, BLKGETDISKSEQ = 0x125E, 0x80081272, 0x80081280
LOOK_LIMIT_S = 10
FAILING = 8
"""Bit 3 of smartctl's exit status."""
FOUND, NOTHING, AMBIVALENT = 0, 2, 8
"""Exit codes of blkid -p."""
BTRFS_SUPERBLOCK, BTRFS_MAGIC = 65536, b"_BHRfS_M"


@dataclass(frozen=True, slots=True)
class ClaimedDevice:
    """Held open from claim to detach, so that the kernel gives neither its number nor its name to another disk."""

    descriptor: int
    lock: int
    """The whole disk, locked as udev and other programs of this kind respect it."""
    device: Device
    diskseq: int
    size_bytes: int
    empty: bool
    """Neither a filesystem nor a partition table nor any other mark was found on it."""
    zoned: bool = False
    """Its zones must be written in order."""
    direct_io: bool = True

    @property
    def name(self) -> str:
        return self.device.name

    @property
    def path(self) -> str:
        return self.device.path

    @property
    def descriptors(self) -> tuple[int, ...]:
        """What whoever works on it needs."""
        return (self.descriptor,)

    @property
    def log_names(self) -> tuple[str, ...]:
        """By which the kernel's log may call it."""
        return self.device.names

    def require_same(self, *, unused: bool) -> None:
        """Refusal where the path leads to another disk by now, or, with `unused`, where anything else uses it.

        A mkfs that was ended may not have given back the lock.
        """
        _take(self.lock, self.device)
        descriptor = _open(self.device, os.O_RDONLY | (os.O_EXCL if unused else 0))
        try:
            _check_open(descriptor, self.device, self.diskseq, self.size_bytes)
        finally:
            os.close(descriptor)

    def open_alone(self) -> int:
        """For direct, synchronous writes, while which nobody else can mount it; Refusal as `require_same`."""
        descriptor = _open(self.device, os.O_WRONLY | os.O_EXCL | os.O_DIRECT | os.O_DSYNC)
        _check_open(descriptor, self.device, self.diskseq, self.size_bytes)
        return descriptor

    def detach(self) -> None:
        os.close(self.descriptor)
        os.close(self.lock)


def claim(number: str, diskseq: int, size_bytes: int, serial: str, shown: str) -> ClaimedDevice:
    """The device `number`, for formatting; Refusal, with nothing written, where anything stands against it.

    `shown` is the type of what the person was told lies there, as libblkid names it; empty for nothing.
    """
    device = disk_checks.find(number)
    disk_checks.check(device, diskseq=diskseq, size_bytes=size_bytes)
    lock = _lock(device)
    try:
        _check_health(device)
        exclusive = _open(device, os.O_RDWR | os.O_EXCL)
        try:
            _check_open(exclusive, device, diskseq, size_bytes)
            disk_checks.check(device, diskseq=diskseq, size_bytes=size_bytes)
            found, signatures = _looked(device), _signatures(device)
            disk_checks.check_serial(device, serial, found)
            disk_checks.check_shown(device, shown, found)
            disk_checks.check_contents(device, found, signatures, _btrfs_devices(exclusive))
            disk_checks.check_tables(device, found)
            disk_checks.check_open(device, os.readlink("/proc/self"))
            descriptor = _open(device, os.O_RDWR)
        finally:
            os.close(exclusive)
        empty = not (signatures or "TYPE" in found or "PTTYPE" in found)
        zoned = disk_checks.zone_model(device) == disk_checks.HOST_MANAGED
        claimed = ClaimedDevice(descriptor, lock, device, diskseq, size_bytes, empty, zoned)
    except BaseException:
        os.close(lock)
        raise
    return claimed


def _lock(device: Device) -> int:
    try:
        lock = os.open(device.disk_path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError as error:
        raise Refusal("refused", f"{device.disk} cannot be opened: {error.strerror}") from error
    try:
        _take(lock, device)
    except Refusal:
        os.close(lock)
        raise
    return lock


def _take(lock: int, device: Device) -> None:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        raise Refusal("refused", f"{device.disk} is locked by another program that works on it") from error


def _open(device: Device, flags: int) -> int:
    """With O_EXCL the kernel refuses what is mounted in any namespace, swap, or below a volume or array."""
    try:
        descriptor = os.open(device.path, flags | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError as error:
        raise Refusal("refused", f"{device.name} is in use or cannot be opened: {error.strerror}") from error
    status = os.fstat(descriptor)
    if not stat.S_ISBLK(status.st_mode) or status.st_rdev != device.rdev:
        os.close(descriptor)
        raise Refusal("refused", f"{device.path} is not the block device {device.number}")
    return descriptor


def _check_open(descriptor: int, device: Device, diskseq: int, size_bytes: int) -> None:
    if _asked(descriptor, BLKGETDISKSEQ, 8) != diskseq or _asked(descriptor, BLKGETSIZE64, 8) != size_bytes:
        raise Refusal("refused", f"{device.name} is not the disk any more that was chosen")
    if _asked(descriptor, BLKROGET, 4):
        raise Refusal("refused", f"{device.name} is read-only")


def _asked(descriptor: int, request: int, length: int) -> int:
    try:
        answer = fcntl.ioctl(descriptor, request, bytes(length))
    except OSError as error:
        raise Refusal("refused", f"the kernel does not tell what disk it is: {error.strerror}") from error
    return int.from_bytes(answer, "little" if struct.pack("=H", 1)[0] else "big")


def _run(argv: list[str]) -> subprocess.CompletedProcess[bytes]:
    try:
        return subprocess.run(
            [programs.find(argv[0]), *argv[1:]], env=programs.ROOT_ENVIRONMENT, stdin=subprocess.DEVNULL,
            capture_output=True, timeout=LOOK_LIMIT_S, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired as error:
        raise Refusal(
            "refused", f"{argv[0]} did not answer within {LOOK_LIMIT_S} s: the disk may be failing"
        ) from error


def _looked(device: Device) -> Mapping[str, str]:
    """`blkid -p`, in its own words."""
    done = _run(["blkid", "-p", "-o", "export", device.path])
    if done.returncode == AMBIVALENT:
        raise Refusal("refused", f"{device.name} bears the marks of several filesystems at once")
    if done.returncode not in (FOUND, NOTHING) or done.stderr:
        raise Refusal("refused", f"what lies on {device.name} cannot be told")
    lines = done.stdout.decode("utf-8", "backslashreplace").replace("\\ ", " ").splitlines()
    return dict(line.split("=", 1) for line in lines if "=" in line)


def _signatures(device: Device) -> frozenset[str]:
    """Types of everything that wipefs finds, also where one hides the other."""
    done = _run(["wipefs", "--no-act", "--json", device.path])
    if done.returncode or done.stderr:
        raise Refusal("refused", f"what lies on {device.name} cannot be told")
    try:
        found = json.loads(done.stdout or b"{}").get("signatures", [])
        return frozenset(str(signature["type"]) for signature in found)
    except (ValueError, KeyError, AttributeError, TypeError) as error:
        raise Refusal("refused", f"what lies on {device.name} cannot be told") from error


def _btrfs_devices(descriptor: int) -> int:
    """How many devices the btrfs has that starts here; 0 where there is none."""
    block = os.pread(descriptor, 4096, BTRFS_SUPERBLOCK)
    return int(struct.unpack_from("<Q", block, 0x88)[0]) if block[0x40:0x48] == BTRFS_MAGIC else 0


def _check_health(device: Device) -> None:
    """A disk that says that it is failing is refused; one that says nothing is not."""
    with contextlib.suppress(FileNotFoundError):
        try:
            code = _run(["smartctl", "--health", device.disk_path]).returncode
        except Refusal as refusal:
            if refusal.code == "missing":
                return
            raise
        if code & FAILING:
            raise Refusal("refused", f"{device.disk} reports that it is failing")
