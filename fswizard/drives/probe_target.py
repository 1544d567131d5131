"""Targets of a probe: a scratch file without a name, or an empty device."""

from __future__ import annotations

import contextlib
import math
import mmap
import os
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from fswizard.drives.devices import DeviceTarget, find_device, losses, refusals
from fswizard.drives.disks import drive_of
from fswizard.drives.machine import HERE, Machine, mount_of, mounts
from fswizard.drives.probe import BLOCK_BYTES, ProbePlan
from fswizard.errors import Refused, UsageError
from fswizard.language import _, in_english, shown
from fswizard.model.drive import Drive
from fswizard.model.text import safe
from fswizard.model.units import size_text
from fswizard.privileged import block_device
from fswizard.system import clock, host
from fswizard.system.block_stats import counters

DEFAULT_TIME_S = 180.0
LISTEN_BYTES = 512 << 20
MINIMUM_BYTES = 64 << 20
_MAXIMUM_BYTES = 40 << 30
"""Default limit, as the published cliffs come between 17 and 31 GiB."""
_IN_PLACE = ("ext2", "ext3", "ext4", "xfs", "jfs", "vfat", "exfat", "ntfs3", "btrfs")
"""Filesystems that overwrite in place; btrfs does so for files with a flag."""


@dataclass(frozen=True, slots=True)
class ProbeTarget:
    """A plan, its disk, and how to open and to watch it."""

    plan: ProbePlan
    drive: Drive
    device: DeviceTarget | None
    """The device to write to, or None for a scratch file in the plan's directory."""
    serial: str
    """Serial number that confirmed the device."""

    @contextlib.contextmanager
    def scratch_file(self) -> Iterator[int]:
        """An open file without a name in the plan's directory, which vanishes with the block or the program."""
        flags = os.O_RDWR | os.O_DSYNC | os.O_CLOEXEC
        try:
            descriptor = os.open(self.plan.path, flags | os.O_TMPFILE | os.O_DIRECT, 0o600)
        except OSError:
            descriptor = _unlinked(self.plan.path, flags)
        try:
            with contextlib.suppress(OSError):
                block_device.overwrite_in_place(descriptor)
            if self.plan.press_bytes:
                os.posix_fallocate(descriptor, 0, self.plan.press_bytes)
            yield descriptor
        finally:
            os.close(descriptor)

    def watch(self) -> Callable[[int], str]:
        """A function that says, in English, for the bytes written by the probe, whether others used the disk."""
        before = _traffic_bytes(self.drive.name)

        @in_english()
        def disturbed(written_bytes: int) -> str:
            foreign = _traffic_bytes(self.drive.name) - before - written_bytes
            if before and foreign > 0.25 * max(written_bytes, 1):
                return _("Other programs read or wrote {size} on the same disk meanwhile.", size=size_text(foreign))
            return ""

        return disturbed

    def watch_processor(self) -> Callable[[], str]:
        """A function that says, in English, whether programs waited so long for a processor (PSI) that stalls may be
        hidden."""
        before_s, started_s = host.this.pressure_total_s("cpu"), clock.monotonic()

        @in_english()
        def busy() -> str:
            waited_s, passed_s = host.this.pressure_total_s("cpu") - before_s, clock.monotonic() - started_s
            if waited_s <= 0.2 * passed_s:
                return ""
            share = min(100, round(100 * waited_s / max(passed_s, 1e-6)))
            return _(
                "The processor was busy {share} % of the time, which hides stalls: probe again when it is idle.",
                share=share,
            )

        return busy


def find_target(
    path: str, *, serial: str = "", time_limit_s: float = DEFAULT_TIME_S, maximum_bytes: int | None = None
) -> ProbeTarget:
    """The target for a probe at `path`, a directory or a block device; nothing is written.

    A device needs its serial number in `serial`. Raises FswizardError if the probe would be unsafe or useless.
    """
    try:
        mode = Path(path).stat().st_mode
    except OSError as error:
        raise UsageError(_("{path} cannot be used: {reason}.", path=safe(path), reason=error.strerror)) from error
    device = find_device(path) if stat.S_ISBLK(mode) else None
    drive = device.drive if device else drive_of(path)
    if drive is None:
        raise UsageError(
            _("{path} isn't on a disk, or is on several.", path=safe(path)), _("`fswizard drives` lists the disks.")
        )
    if drive.flash:
        raise UsageError(_("{disk} has no platters, so it isn't shingled.", disk=drive.name))
    if drive.zone_model == "host-managed":
        raise UsageError(
            _(
                "{disk} reports zones that must be written in order: it is shingled, and a probe can't tell more.",
                disk=drive.name,
            )
        )
    # No shingled disk is faster than 200 MB/s.
    bytes_ = min(_MAXIMUM_BYTES, int(time_limit_s * 200_000_000)) if maximum_bytes is None else maximum_bytes
    if device:
        _require_unused(device, serial)
        press = _whole_blocks(device.size_bytes)
        path, listen = device.path, min(LISTEN_BYTES, press)
    elif stat.S_ISDIR(mode):
        listen, press = _scratch_bytes(path, bytes_)
    else:
        raise UsageError(_("{path} is neither a directory nor a device.", path=safe(path)))
    # Five stalls at 240 writes take some 45 s on the published disks.
    listen_s, pieces = 0.45 * time_limit_s, pieces_of_a_block(drive.name)
    plan = ProbePlan(path, listen, listen_s, device is None, press, time_limit_s, bytes_, pieces)
    return ProbeTarget(plan, drive, device, serial)


def pieces_of_a_block(name: str, machine: Machine = HERE) -> int:
    """Number of commands into which the kernel cuts a block for a disk; every page of a block is a segment."""
    queue = f"/sys/block/{name}/queue"
    most_pages = BLOCK_BYTES // mmap.PAGESIZE
    command_pages = machine.number(f"{queue}/max_sectors_kb") * 1024 // mmap.PAGESIZE or most_pages
    segments = machine.number(f"{queue}/max_segments") or most_pages
    return math.ceil(most_pages / min(most_pages, command_pages, segments))


def _scratch_bytes(directory: str, maximum_bytes: int) -> tuple[int, int]:
    """Spans of a scratch file to listen and to press, at most a quarter of the free space."""
    mount = mount_of(os.path.realpath(directory), mounts())
    if mount is None or mount.kind not in _IN_PLACE:
        kind = safe(mount.kind) if mount else _("this filesystem")
        hint = _("Name a directory on ext4, XFS or btrfs, or an unused device.")
        text = _("{filesystem} doesn't write in place, so a probe would show nothing.", filesystem=kind)
        raise UsageError(text, hint)
    if not os.access(directory, os.W_OK | os.X_OK):
        hint = _("Name a directory of your own on that disk.")
        raise UsageError(_("{path} cannot be written to.", path=safe(directory)), hint)
    quarter = host.this.space(directory).free_bytes // 4
    listen = _whole_blocks(min(LISTEN_BYTES, maximum_bytes // 4, quarter))
    if listen < MINIMUM_BYTES:
        hint = _("A probe needs at least {size} free.", size=size_text(4 * MINIMUM_BYTES))
        raise UsageError(_("{path} has too little free space for a probe.", path=safe(directory)), hint)
    if mount.kind not in ("ext4", "xfs", "btrfs"):  # others cannot reserve space without writing it
        return listen, 0
    # Some 8,000 bands of 30 MiB: with fewer, cleaning one frees so much of the cache that no cliff shows.
    return listen, _whole_blocks(min(256 << 30, quarter))


def _whole_blocks(size_bytes: int) -> int:
    return size_bytes // BLOCK_BYTES * BLOCK_BYTES


def _require_unused(device: DeviceTarget, serial: str) -> None:
    """Raise Refused if a device is not safe to write to."""
    if against := refusals(device, minimum_bytes=MINIMUM_BYTES):
        raise Refused(" ".join(refusal.text for refusal in against), against[0].hint)
    if not device.empty:
        text = " ".join((_("{device} is not empty.", device=device.name), *map(shown, losses(device))))
        raise Refused(text, _("Probe a directory on it instead."))
    if serial not in device.identifiers:
        hint = _("Confirm it with `--erase {identifier}`.", identifier=device.identifiers[0])
        text = _("Anything on {device} ({model}) would be overwritten.", device=device.name, model=device.drive.model)
        raise Refused(text, hint)


def _unlinked(directory: str, flags: int) -> int:
    """A deleted file, on filesystems that cannot make one without a name."""
    path = Path(directory, f".fswizard-probe-{os.getpid()}")
    try:
        descriptor = os.open(path, flags | os.O_CREAT | os.O_EXCL | os.O_DIRECT | os.O_NOFOLLOW, 0o600)
    except OSError as error:
        text = _("No temporary file can be made in {path}: {reason}.", path=safe(directory), reason=error.strerror)
        raise UsageError(text) from error
    path.unlink()
    return descriptor


def _traffic_bytes(name: str) -> int:
    """Bytes that a disk has read and written since it was attached, or 0 if the kernel does not count."""
    counted = counters(name)
    return counted.read_bytes + counted.written_bytes if counted else 0
