"""The loop device on a scratch image of a run that was started as root, made by ioctl (linux/loop.h).

It is locked as udev respects it, from before there is anything on it until it is gone: so udev looks at nothing that
lies on it, gives it no names, and shows it to no automounter. It vanishes with the last process that has it open.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import stat
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from fswizard.disks.as_root import root
from fswizard.disks.scratch_file import ScratchFile
from fswizard.errors import Missing, Refused, RunFailed
from fswizard.language import _
from fswizard.system import clock, system_calls
from fswizard.system.block_device import SECTOR_BYTES

LOCK_LIMIT_S = 5.0
"""udev holds a shared lock on a device for a moment, while it looks at what was made or written."""
PAUSE_S = 0.01
CONTROL = "/dev/loop-control"
LOOP_CLR_FD = 0x4C01
LOOP_GET_STATUS64 = 0x4C05
LOOP_SET_DIRECT_IO = 0x4C08
LOOP_CONFIGURE = 0x4C0A
LOOP_CTL_ADD = 0x4C80
LOOP_CTL_REMOVE = 0x4C81
AUTOCLEAR = 4
DIRECT_IO = 16
CONFIG = struct.Struct("=I56xI64s176x")
"""Of `struct loop_config` the file, the flags, and the name that is shown for the file."""
STATUS_BYTES, FLAGS_AT = 232, 52
"""Of `struct loop_info64`."""
PUNCHED_BYTES = 1 << 20
TAKEN = (errno.EBUSY, errno.EEXIST, errno.ENOENT, errno.ENXIO)
"""Another has the device, or took it away meanwhile."""
NUMBERS = range(1000, 1256)
"""Numbers of runs' own devices: the refusal to discard can never be taken back."""


@dataclass(frozen=True, slots=True)
class LoopDevice:
    """A loop device that vanishes with its last user."""

    descriptor: int
    name: str
    direct_io: bool
    file: ScratchFile

    @property
    def lock(self) -> int:
        """Descriptor by which it is locked."""
        return self.descriptor

    @property
    def path(self) -> str:
        return f"/dev/{self.name}"

    def require_same(self, *, unused: bool) -> None:
        """RunFailed where the image was cut off or grew, or, with `unused`, where the kernel says that it is used.

        A program that was ended may not have given back the lock.
        """
        _lock(self.descriptor, self.name)
        self.file.require_size()
        if not unused:
            return
        try:
            with root():  # as the kernel says, in whatever namespace it is mounted, or below something else
                os.close(os.open(self.path, os.O_RDWR | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW))
        except OSError as error:
            raise RunFailed(
                _("Something else uses {device}: {reason}.", device=self.path, reason=error.strerror),
                _("Find what uses this run's own mounts, end it, and run again."),
            ) from error

    def detach(self) -> None:
        with root():
            _clear(self.descriptor, int(self.name.removeprefix("loop")))
        self.file.close()


def attach(file: ScratchFile) -> LoopDevice:
    """A loop device on an image, with direct I/O where the filesystem below takes it."""
    if not os.path.exists(CONTROL):
        hint = _("Run `modprobe loop` as root, or leave the container.")
        raise Missing(_("The kernel offers no loop devices."), hint)
    with root():
        _remove(*NUMBERS)  # what runs left that were killed
        for number in NUMBERS:
            try:
                return _attach(file, number)
            except OSError as error:
                if error.errno not in TAKEN:
                    raise
    raise RunFailed(_("No loop device is free: all are in use."))


def _attach(file: ScratchFile, number: int) -> LoopDevice:
    """OSError, among others with an errno of `TAKEN`, where it cannot be had.

    Its sectors are those of the disk below, as direct I/O needs: the kernel sees to it, since `file` is open with
    O_DIRECT (loop_configure in drivers/block/loop.c).
    """
    name = f"loop{number}"
    path = f"/dev/{name}"
    _control(LOOP_CTL_ADD, number)
    if not os.path.exists(path):  # a container's /dev does not follow the kernel
        major, minor = map(int, Path(f"/sys/block/{name}/dev").read_text().split(":"))
        os.mknod(path, stat.S_IFBLK | 0o600, os.makedev(major, minor))
    device = os.open(path, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
    try:
        _lock(device, name)
        fcntl.ioctl(device, LOOP_CONFIGURE, CONFIG.pack(file.descriptor, AUTOCLEAR, b"fswizard"))
        with contextlib.suppress(OSError):  # whether it is there is read back
            fcntl.ioctl(device, LOOP_SET_DIRECT_IO, 1)
        _keep_blocks(device, name, file.descriptor)
        status = fcntl.ioctl(device, LOOP_GET_STATUS64, bytes(STATUS_BYTES))
        (flags,) = struct.unpack_from("=I", status, FLAGS_AT)
        if not flags & AUTOCLEAR:
            raise RunFailed(_("{device} would outlive the run.", device=name))
    except BaseException:
        _clear(device, number)
        raise
    return LoopDevice(device, name, bool(flags & DIRECT_IO), file)


@contextmanager
def unlocked(lock: int) -> Iterator[None]:
    """For a program that locks the disk itself, and would wait for our lock."""
    fcntl.flock(lock, fcntl.LOCK_UN)
    try:
        yield
    finally:
        fcntl.flock(lock, fcntl.LOCK_EX)


def _clear(device: int, number: int) -> None:
    with contextlib.suppress(OSError):
        fcntl.ioctl(device, LOOP_CLR_FD)
    os.close(device)
    _remove(number)


def _remove(*numbers: int) -> None:
    """Remove these devices, as far as nobody uses them."""
    for number in numbers:
        with contextlib.suppress(OSError):
            _control(LOOP_CTL_REMOVE, number)


def _control(order: int, number: int) -> None:
    with open(CONTROL, "rb", buffering=0) as control:
        fcntl.ioctl(control, order, number)


def _lock(device: int, name: str) -> None:
    """Lock it for good; RunFailed where another program keeps it locked."""
    deadline = clock.monotonic() + LOCK_LIMIT_S
    while True:
        try:
            fcntl.flock(device, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError as error:
            if clock.monotonic() > deadline:
                raise RunFailed(_("{device} is locked by another program.", device=name)) from error
        clock.sleep(PAUSE_S)


def _keep_blocks(device: int, name: str, image: int) -> None:
    """Have the device refuse to discard, and write zeros itself, where it would punch holes into the image.

    Refused where it gives blocks back all the same: in a container /sys may be read-only.
    """
    with contextlib.suppress(OSError):
        Path(f"/sys/block/{name}/queue/discard_max_bytes").write_text("0")
    with contextlib.suppress(OSError):  # as it should be
        system_calls.punch_hole(device, 0, PUNCHED_BYTES)
    os.fsync(image)
    status = os.fstat(image)
    if status.st_blocks * SECTOR_BYTES < status.st_size:
        raise Refused(
            _("Loop devices give up the room of their image here."),
            _("Keeping it takes Linux 5.19 and a /sys that can be written."),
        )
