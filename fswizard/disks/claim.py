"""Claim a disk or partition that the user confirmed for formatting: all checks as root, locks, and identity."""

from __future__ import annotations

import contextlib
import fcntl
import os
import struct
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass, replace

from fswizard.disks import as_root
from fswizard.drives import disk_facts, may_erase
from fswizard.drives.contents import AMBIVALENT, FOUND, NOTHING, properties_in
from fswizard.drives.may_erase import Finding, Probed
from fswizard.errors import Missing, Refused
from fswizard.language import _
from fswizard.model.plan import Member
from fswizard.model.text import safe
from fswizard.system.block_device import HERE, Device, look_at, path_of
from fswizard.system.system_calls import closing

BLKROGET, BLKGETSIZE64, BLKGETDISKSEQ = 0x125E, 0x80081272, 0x80081280
PROBE_LIMIT_S = 10
"""Timeout of the programs that probe a disk."""
FAILING = 8
"""Bit 3 of smartctl's exit status."""
BTRFS_SUPERBLOCK, BTRFS_MAGIC = 65536, b"_BHRfS_M"
BCACHEFS_SUPERBLOCK, NR_DEVICES = 4096, 123


@dataclass(frozen=True, slots=True)
class ClaimedDevice:
    """A device that stays open from claim to detach, so that the kernel reuses neither its number nor its name."""

    descriptor: int
    lock: int
    """Descriptor of the whole disk, with the lock that udev and partitioning programs respect."""
    device: Device
    paths: tuple[str, ...]
    """Kernel names of the same device on other multipath paths."""

    @property
    def name(self) -> str:
        return self.device.name

    @property
    def path(self) -> str:
        return self.device.path

    def require_same(self, *, unused: bool) -> None:
        """Raise Refused if the path now leads to another disk or, with `unused`, if anything else uses the device.

        Takes the lock again, as a killed mkfs may have released it.
        """
        _flock(self.lock, self.device)
        with closing(_open(self.device, os.O_RDONLY | (os.O_EXCL if unused else 0))):
            if unused:
                _require_unused(self.paths)

    def detach(self) -> None:
        os.close(self.descriptor)
        os.close(self.lock)


def claim(member: Member, content_type: str) -> ClaimedDevice:
    """Claim a confirmed device for formatting. Raises Refused, with nothing written, if a check fails.

    `content_type` is the libblkid type of the contents that the user saw; empty for none.
    """
    device = find(member.number)
    # Checked before opening, because this names the users of the device; O_EXCL only fails.
    facts = disk_facts.read(device, dict.fromkeys(device.names, Probed()))
    _refuse([*may_erase.changes(facts, member.diskseq, member.size_bytes), *may_erase.findings(facts)])
    with contextlib.ExitStack() as undo:
        lock = _open(look_at(device.disk), os.O_RDONLY)
        undo.callback(os.close, lock)
        _flock(lock, device)
        failing = _failing(device.disk)
        with closing(_open(device, os.O_RDWR | os.O_EXCL)) as exclusive:
            contents = {name: _probe(path_of(name)) for name in device.names}
            probed = contents[device.name]
            contents[device.name] = replace(probed, devices=_devices(exclusive, probed.type))
            facts = disk_facts.read(find(member.number), contents)
            _require_unused(facts.paths)
            openers = disk_facts.openers(facts, without_pid=os.readlink("/proc/self"), anywhere=True)
            facts = replace(facts, uses=[*facts.uses, *openers, *failing])
            _refuse([
                *may_erase.changes(facts, member.diskseq, member.size_bytes, content_type),
                *may_erase.findings(facts, typed=member.identifier),
            ])  # fmt: skip
            descriptor = _open(device, os.O_RDWR)
        undo.pop_all()  # keep the lock
    return ClaimedDevice(descriptor, lock, device, facts.paths)


def find(number: str) -> Device:
    """Block device with the number `major:minor`. Raises Refused if there is none."""
    if name := HERE.device_of(number):
        return look_at(name)
    raise Refused(_("There is no block device {number}.", number=safe(number)[:40]))


def _refuse(findings: Iterable[Finding]) -> None:
    """Raise Refused for the first finding, which is the most important one."""
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
    """Open the device. Raises Refused if it is gone, another disk, read-only or in use.

    With O_EXCL the kernel rejects devices that are mounted in any namespace, used as swap, or part of another device.
    """
    try:
        descriptor = os.open(device.path, flags | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError as error:
        raise Refused(
            _("{name} is gone, in use or can't be opened: {reason}.", name=device.name, reason=error.strerror),
            _("End what uses it, or plug it in again."),
        ) from error
    with contextlib.ExitStack() as undo:
        undo.callback(os.close, descriptor)
        _check_open(descriptor, device)
        undo.pop_all()
    return descriptor


def _check_open(descriptor: int, device: Device) -> None:
    number = os.fstat(descriptor).st_rdev
    requests = [(BLKGETDISKSEQ, 8), (BLKGETSIZE64, 8), (BLKROGET, 4)]
    try:
        answers = [fcntl.ioctl(descriptor, request, bytes(length)) for request, length in requests]
    except OSError as error:
        raise Refused(_("The kernel doesn't say which disk it is: {reason}.", reason=error.strerror)) from error
    diskseq, size_bytes, read_only = (int.from_bytes(answer, sys.byteorder) for answer in answers)
    expected = device.number, device.diskseq, device.size_bytes
    if (f"{os.major(number)}:{os.minor(number)}", diskseq, size_bytes) != expected:
        raise Refused(_("{disk} is no longer the disk that was chosen.", disk=device.name), _("Choose again."))
    if read_only:
        raise Refused(_("{name} is read-only.", name=device.name), _("It may be failing: check its health first."))


def _run(*argv: str) -> subprocess.CompletedProcess[bytes]:
    try:
        return as_root.run(argv, PROBE_LIMIT_S)
    except subprocess.TimeoutExpired as error:
        text = _(
            "{program} did not answer within {limit} s: the disk may be failing.", program=argv[0], limit=PROBE_LIMIT_S
        )
        raise Refused(text) from error


def _probe(path: str) -> Probed:
    probed = _run("blkid", "-p", "-o", "udev", path)
    listed = _run("wipefs", "--no-act", "--noheadings", "--output", "TYPE", path)
    if probed.returncode not in (FOUND, NOTHING, AMBIVALENT) or probed.stderr or listed.returncode or listed.stderr:
        return Probed(unread=True)
    properties = properties_in(probed.stdout)
    if probed.returncode == AMBIVALENT:
        properties.setdefault("ID_FS_AMBIVALENT", "several")
    return Probed(properties, frozenset(listed.stdout.decode("utf-8", "backslashreplace").split()))


def _devices(descriptor: int, kind: str) -> int:
    """Number of devices of the btrfs or bcachefs on the device; 0 if there is neither."""
    if kind == "bcachefs":
        return os.pread(descriptor, 4096, BCACHEFS_SUPERBLOCK)[NR_DEVICES]
    block = os.pread(descriptor, 4096, BTRFS_SUPERBLOCK)
    return int(struct.unpack_from("<Q", block, 0x88)[0]) if block[0x40:0x48] == BTRFS_MAGIC else 0


def _failing(disk: str) -> list[Finding]:
    """Finding if the disk reports its own failure; without smartctl it is not queried."""
    try:
        fails = _run("smartctl", "--health", path_of(disk)).returncode & FAILING
    except Missing:
        return []
    return [may_erase.make_finding("failing", device=disk)] if fails else []
