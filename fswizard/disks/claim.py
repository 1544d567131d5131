"""A disk or partition that the user gave up for formatting: every check as root, the locks, and its identity."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import struct
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass, replace

from fswizard.disks import as_root
from fswizard.drives import disk_facts, may_erase
from fswizard.drives.may_erase import Finding, Probed
from fswizard.errors import Missing, Refused
from fswizard.language import _
from fswizard.model.text import safe
from fswizard.system.block_device import HERE, Device, look_at, path_of
from fswizard.system.system_calls import closing

BLKROGET, BLKGETSIZE64, BLKGETDISKSEQ = 0x125E, 0x80081272, 0x80081280
LOOK_LIMIT_S = 10
GONE = (errno.ENOENT, errno.ENXIO, errno.ENODEV, errno.ENOMEDIUM)
"""Error numbers of opening a device after its disk was pulled."""
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
    paths: tuple[str, ...]
    """Kernel names of the device on other paths to its disk."""
    direct_io: bool = True

    @property
    def name(self) -> str:
        return self.device.name

    @property
    def path(self) -> str:
        return self.device.path

    def require_same(self, *, unused: bool) -> None:
        """Refused where the path leads to another disk by now, or, with `unused`, where anything else uses it.

        A mkfs that was ended may not have given back the lock.
        """
        _flock(self.lock, self.device)
        with closing(_open(self.device, os.O_RDONLY | (os.O_EXCL if unused else 0))):
            if unused:
                _require_unused(self.paths)

    def detach(self) -> None:
        os.close(self.descriptor)
        os.close(self.lock)


def claim(number: str, diskseq: int, size_bytes: int, identifier: str, shown: str) -> ClaimedDevice:
    """The device `number`, for formatting; Refused, with nothing written, where anything stands against it.

    `identifier` is what was typed to confirm it, and `shown` the type of what the user was shown, as libblkid names
    it; empty for nothing.
    """
    device = find(number)
    # At first sight: it names who uses it, where O_EXCL would say no more than that somebody does.
    facts = disk_facts.read(device, dict.fromkeys(device.names, Probed()))
    _refuse([*may_erase.changes(facts, diskseq, size_bytes), *may_erase.findings(facts)])
    with contextlib.ExitStack() as undo:
        lock = _open(look_at(device.disk), os.O_RDONLY)
        undo.callback(os.close, lock)
        _flock(lock, device)
        failing = _failing(device.disk)
        with closing(_open(device, os.O_RDWR | os.O_EXCL)) as exclusive:
            contents = {name: _probe(path_of(name)) for name in device.names}
            own = contents[device.name]
            contents[device.name] = replace(own, devices=_devices(exclusive, own.type))
            facts = disk_facts.read(find(number), contents)
            _require_unused(facts.paths)
            openers = disk_facts.openers(facts, besides=os.readlink("/proc/self"), anywhere=True)
            facts = replace(facts, uses=[*facts.uses, *openers, *failing])
            _refuse([
                *may_erase.changes(facts, diskseq, size_bytes, shown),
                *may_erase.findings(facts, typed=identifier),
            ])  # fmt: skip
            descriptor = _open(device, os.O_RDWR)
        undo.pop_all()  # the lock is kept
    return ClaimedDevice(descriptor, lock, device, facts.paths)


def find(number: str) -> Device:
    """The block device that the kernel knows by `major:minor`; Refused where it knows none."""
    if name := HERE.device_of(number):
        return look_at(name)
    raise Refused(_("There is no block device {number}.", number=safe(number)[:40]))


def _refuse(findings: Iterable[Finding]) -> None:
    """Refused with the first of the findings, the weightiest."""
    for finding in findings:
        raise Refused(_("{finding}.", finding=safe(finding.text)), safe(finding.hint))


def _require_unused(names: Iterable[str]) -> None:
    for name in names:
        os.close(_open(look_at(name), os.O_RDONLY | os.O_EXCL))


def _flock(lock: int, device: Device) -> None:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        raise Refused(_("{disk} is locked by another program.", disk=device.disk)) from error


def _open(device: Device, flags: int) -> int:
    """A descriptor of the device as it was looked at; Refused where there is another disk, or a read-only one.

    With O_EXCL the kernel refuses what is mounted in any namespace, swap, or below a volume or array.
    """
    try:
        descriptor = os.open(device.path, flags | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError as error:
        if error.errno in GONE:
            raise Refused(
                _("{name} is gone, or is now another disk.", name=device.name), _("Was it unplugged?")
            ) from error
        raise Refused(
            _("{name} is in use or cannot be opened: {reason}.", name=device.name, reason=error.strerror),
            _("End what uses it, or plug it in again."),
        ) from error
    with contextlib.ExitStack() as undo:
        undo.callback(os.close, descriptor)
        _check_open(descriptor, device)
        undo.pop_all()
    return descriptor


def _check_open(descriptor: int, device: Device) -> None:
    number = os.fstat(descriptor).st_rdev
    asked = [(BLKGETDISKSEQ, 8), (BLKGETSIZE64, 8), (BLKROGET, 4)]
    try:
        answers = [fcntl.ioctl(descriptor, request, bytes(length)) for request, length in asked]
    except OSError as error:
        raise Refused(_("The kernel doesn't say which disk it is: {reason}.", reason=error.strerror)) from error
    diskseq, size_bytes, read_only = (int.from_bytes(answer, sys.byteorder) for answer in answers)
    known = device.number, device.diskseq, device.size_bytes
    if (f"{os.major(number)}:{os.minor(number)}", diskseq, size_bytes) != known:
        raise Refused(_("{disk} is no longer the disk that was chosen.", disk=device.name), _("Choose again."))
    if read_only:
        raise Refused(_("{name} is read-only.", name=device.name), _("It may be failing: check its health first."))


def _run(*argv: str) -> subprocess.CompletedProcess[bytes]:
    try:
        return as_root.run(argv, LOOK_LIMIT_S)
    except subprocess.TimeoutExpired as error:
        text = _(
            "{program} did not answer within {limit} s: the disk may be failing.", program=argv[0], limit=LOOK_LIMIT_S
        )
        raise Refused(text) from error


def _probe(path: str) -> Probed:
    looked = _run("blkid", "-p", "-o", "udev", path)
    listed = _run("wipefs", "--no-act", "--noheadings", "--output", "TYPE", path)
    if looked.returncode not in (FOUND, NOTHING, AMBIVALENT) or looked.stderr or listed.returncode or listed.stderr:
        return Probed(unread=True)
    lines = looked.stdout.decode("utf-8", "surrogateescape").splitlines()
    properties = dict(line.split("=", 1) for line in lines if "=" in line)
    if looked.returncode == AMBIVALENT:
        properties.setdefault("ID_FS_AMBIVALENT", "several")
    return Probed(properties, frozenset(listed.stdout.decode("utf-8", "backslashreplace").split()))


def _devices(descriptor: int, kind: str) -> int:
    """How many devices the btrfs or bcachefs has that starts here; 0 where there is none."""
    if kind == "bcachefs":
        return os.pread(descriptor, 4096, BCACHEFS_SUPERBLOCK)[NR_DEVICES]
    block = os.pread(descriptor, 4096, BTRFS_SUPERBLOCK)
    return int(struct.unpack_from("<Q", block, 0x88)[0]) if block[0x40:0x48] == BTRFS_MAGIC else 0


def _failing(disk: str) -> list[Finding]:
    """What the disk says of itself where it fails; where smartctl is missing, nobody asks it."""
    try:
        fails = _run("smartctl", "--health", path_of(disk)).returncode & FAILING
    except Missing:
        return []
    return [may_erase.found("failing", device=disk)] if fails else []
