"""Where a probe may write: a scratch file without a name, or a device on which nothing is found."""

from __future__ import annotations

import contextlib
import fcntl
import math
import mmap
import os
import stat
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from fswizard.drives.devices import DeviceTarget, find_device, losses, refusals
from fswizard.drives.disks import drive_of
from fswizard.drives.machine import HERE, Machine, mount_of, mounts
from fswizard.drives.probe import BLOCK_BYTES, ProbePlan
from fswizard.errors import Refused, UsageError
from fswizard.model.drive import Drive
from fswizard.model.text import safe
from fswizard.model.units import size_text
from fswizard.system import clock, host
from fswizard.system.block_stats import counters

DEFAULT_TIME_S = 180.0
LISTEN_BYTES = 512 << 20
MINIMUM_BYTES = 64 << 20
_PRESS_BYTES = 256 << 30
"""Some 8,000 bands of 30 MiB: with fewer, cleaning one frees so much of the cache that no cliff shows."""
_LISTEN_SHARE = 0.45
"""Of the time: five stalls at 240 writes take some 45 s on the published disks."""
_LIKELY_RATE_BYTES_S = 200_000_000
"""No shingled disk is faster; bounds what a probe can write in its time."""
_MAXIMUM_BYTES = 40 << 30
"""The published cliffs come between 17 and 31 GiB."""
_IN_PLACE = ("ext2", "ext3", "ext4", "xfs", "jfs", "vfat", "exfat", "ntfs3", "btrfs")
"""Filesystems that overwrite in place; btrfs does so for a file marked for it."""
_RESERVING = ("ext4", "xfs", "btrfs")
"""Those that reserve space without writing it, so that the cliff can be pressed for."""
_FS_IOC_GETFLAGS, _FS_IOC_SETFLAGS, _FS_NOCOW_FL = 0x80086601, 0x40086602, 0x00800000
_FOREIGN_SHARE = 0.25
"""So much more than the probe's own traffic means that somebody else was at work."""
_BUSY_SHARE = 0.2
"""Share of the time in which programs wait for a processor (PSI) from which on it may have hidden stalls."""


@dataclass(frozen=True, slots=True)
class ProbeTarget:
    """A plan, the disk it is about, and how to open and to watch it."""

    plan: ProbePlan
    drive: Drive
    device: DeviceTarget | None
    """What is written to; None where that is a scratch file in the plan's directory."""
    serial: str
    """By which the device was confirmed."""

    @contextlib.contextmanager
    def scratch_file(self) -> Iterator[int]:
        """An open file without a name in the plan's directory; it is gone afterwards, and whatever ends the program."""
        flags = os.O_RDWR | os.O_DSYNC | os.O_CLOEXEC
        try:
            descriptor = os.open(self.plan.path, flags | os.O_TMPFILE | os.O_DIRECT, 0o600)
        except OSError:
            descriptor = _unlinked(self.plan.path, flags)
        try:
            _write_in_place(descriptor)
            if self.plan.press_bytes:
                os.posix_fallocate(descriptor, 0, self.plan.press_bytes)
            yield descriptor
        finally:
            os.close(descriptor)

    def watch(self) -> Callable[[int], str]:
        """Says later, for the bytes written by the probe, whether somebody else used the disk meanwhile."""
        before = _traffic_bytes(self.drive.name)

        def disturbed(written_bytes: int) -> str:
            foreign = _traffic_bytes(self.drive.name) - before - written_bytes
            if before and foreign > _FOREIGN_SHARE * max(written_bytes, 1):
                return f"other programs read or wrote {size_text(foreign)} on the same disk meanwhile."
            return ""

        return disturbed

    def watch_processor(self) -> Callable[[], str]:
        """Says later whether programs waited for a processor so long that the disk's own stalls may be hidden."""
        before_s, started_s = host.this.pressure_total_s("cpu"), clock.monotonic()

        def busy() -> str:
            waited_s, passed_s = host.this.pressure_total_s("cpu") - before_s, clock.monotonic() - started_s
            if waited_s <= _BUSY_SHARE * passed_s:
                return ""
            share = min(100, round(100 * waited_s / max(passed_s, 1e-6)))
            return f"the processor was busy {share} % of the time, which hides stalls: probe again when it is idle."

        return busy


def find_target(
    path: str, *, serial: str = "", time_limit_s: float = DEFAULT_TIME_S, maximum_bytes: int | None = None
) -> ProbeTarget:
    """Decides what a probe would do at `path`, a directory or a block device; nothing is written.

    A device needs its serial number in `serial`. Raises FswizardError where the probe would be unsafe or useless.
    """
    mode = _mode(path)
    device = find_device(path) if stat.S_ISBLK(mode) else None
    drive = device.drive if device else drive_of(path)
    if drive is None:
        raise UsageError(f"{safe(path)} isn't on a disk, or is on several.", "`fswizard drives` lists the disks.")
    if drive.flash:
        raise UsageError(f"{drive.name} has no platters, so it isn't shingled.")
    if drive.zone_model == "host-managed":
        raise UsageError(
            f"{drive.name} reports zones that must be written in order: it is shingled, and a probe can't tell more."
        )
    bytes_ = min(_MAXIMUM_BYTES, int(time_limit_s * _LIKELY_RATE_BYTES_S)) if maximum_bytes is None else maximum_bytes
    if device:
        _require_unused(device, serial)
        press = _whole_blocks(device.size_bytes)
        path, listen = device.path, min(LISTEN_BYTES, press)
    elif stat.S_ISDIR(mode):
        listen, press = _scratch_bytes(path, bytes_)
    else:
        raise UsageError(f"{safe(path)} is neither a directory nor a device.")
    listen_s, pieces = _LISTEN_SHARE * time_limit_s, pieces_of_a_block(drive.name)
    plan = ProbePlan(path, listen, listen_s, device is None, press, time_limit_s, bytes_, pieces)
    return ProbeTarget(plan, drive, device, serial)


def pieces_of_a_block(name: str, machine: Machine = HERE) -> int:
    """Into how many commands the kernel cuts a block for a disk. Every page of a block is a segment of its own."""
    queue = f"/sys/block/{name}/queue"
    most_pages = BLOCK_BYTES // mmap.PAGESIZE
    command_pages = machine.number(f"{queue}/max_sectors_kb") * 1024 // mmap.PAGESIZE or most_pages
    segments = machine.number(f"{queue}/max_segments") or most_pages
    return math.ceil(most_pages / min(most_pages, command_pages, segments))


def _mode(path: str) -> int:
    try:
        return Path(path).stat().st_mode
    except OSError as error:
        raise UsageError(f"{safe(path)} cannot be used: {error.strerror}.") from error


def _scratch_bytes(directory: str, maximum_bytes: int) -> tuple[int, int]:
    """How much of a scratch file is listened to, and its size: a quarter of what is free at most."""
    mount = mount_of(os.path.realpath(directory), mounts())
    if mount is None or mount.kind not in _IN_PLACE:
        kind = mount.kind if mount else "this filesystem"
        hint = "Name a directory on ext4, XFS or btrfs, or an unused device."
        raise UsageError(f"{safe(kind)} doesn't write in place, so a probe would show nothing.", hint)
    if not os.access(directory, os.W_OK | os.X_OK):
        raise UsageError(f"{safe(directory)} cannot be written to.", "Name a directory of your own on that disk.")
    quarter = host.this.space(directory).free_bytes // 4
    listen = _whole_blocks(min(LISTEN_BYTES, maximum_bytes // 4, quarter))
    if listen < MINIMUM_BYTES:
        hint = f"A probe needs at least {size_text(4 * MINIMUM_BYTES)} free."
        raise UsageError(f"{safe(directory)} has too little free space for a probe.", hint)
    return listen, _whole_blocks(min(_PRESS_BYTES, quarter)) if mount.kind in _RESERVING else 0


def _whole_blocks(size_bytes: int) -> int:
    return size_bytes // BLOCK_BYTES * BLOCK_BYTES


def _require_unused(device: DeviceTarget, serial: str) -> None:
    """Refused for a device that is not safe to write to."""
    if against := refusals(device, minimum_bytes=MINIMUM_BYTES):
        raise Refused(" ".join(refusal.text for refusal in against), against[0].hint)
    if not device.empty:
        raise Refused(f"{device.name} is not empty. {' '.join(losses(device))}", "Probe a directory on it instead.")
    if serial not in device.identifiers:
        hint = f"Confirm it with `--erase {device.identifiers[0]}`."
        raise Refused(f"Anything on {device.name} ({device.drive.model}) would be overwritten.", hint)


def _unlinked(directory: str, flags: int) -> int:
    """The same where the filesystem knows no files without a name."""
    path = Path(directory, f".fswizard-probe-{os.getpid()}")
    try:
        descriptor = os.open(path, flags | os.O_CREAT | os.O_EXCL | os.O_DIRECT | os.O_NOFOLLOW, 0o600)
    except OSError as error:
        raise UsageError(f"No temporary file can be made in {safe(directory)}: {error.strerror}.") from error
    path.unlink()
    return descriptor


def _write_in_place(descriptor: int) -> None:
    """Asks btrfs not to move what is overwritten; must come before the first write."""
    with contextlib.suppress(OSError):
        flags = struct.unpack("l", fcntl.ioctl(descriptor, _FS_IOC_GETFLAGS, bytes(struct.calcsize("l"))))[0]
        fcntl.ioctl(descriptor, _FS_IOC_SETFLAGS, struct.pack("l", flags | _FS_NOCOW_FL))


def _traffic_bytes(name: str) -> int:
    """Bytes that a disk has read and written since it was attached; 0 where the kernel does not count."""
    counted = counters(name)
    return counted.read_bytes + counted.written_bytes if counted else 0
