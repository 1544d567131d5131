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
LOOP_CLR_FD = 0x4C01
LOOP_GET_STATUS64 = 0x4C05
LOOP_SET_DIRECT_IO = 0x4C08
LOOP_CONFIGURE = 0x4C0A
LOOP_CTL_ADD = 0x4C80
LOOP_CTL_REMOVE = 0x4C81
AUTOCLEAR = 4
DIRECT_IO = 16
INFO = struct.Struct("=5Q4I64s64s32s2Q")
CONFIG = struct.Struct(f"=2I{INFO.size}s64x")
SAFE_BLOCK_BYTES = 4096
"""Direct I/O works with it on every disk; tried where the kernel's default of 512 refuses direct I/O."""
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
        if os.fstat(self.file.descriptor).st_size != self.file.size_bytes:
            raise RunFailed(_("Something changed the size of the scratch image."), _("Nothing else may write to it."))
        if unused:
            require_unused(self.path)

    def detach(self) -> None:
        with root():
            _clear(self.descriptor, int(self.name.removeprefix("loop")))
        self.file.close()


def attach(file: ScratchFile) -> LoopDevice:
    """A loop device on an image, with direct I/O where the filesystem below takes it."""
    if not os.path.exists("/dev/loop-control"):
        hint = _("Run `modprobe loop` as root, or leave the container.")
        raise Missing(_("The kernel offers no loop devices."), hint)
    with root():
        device = _attach(file, 0)
        if not device.direct_io:
            _clear(device.descriptor, int(device.name.removeprefix("loop")))
            device = _attach(file, SAFE_BLOCK_BYTES)
    return device


def require_unused(path: str) -> None:
    """RunFailed where the device is mounted in any namespace, or below something else, as the kernel says."""
    try:
        with root():
            os.close(os.open(path, os.O_RDWR | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW))
    except OSError as error:
        raise RunFailed(
            _("Something else uses {device}: {reason}.", device=path, reason=error.strerror),
            _("Find what uses this run's own mounts, end it, and run again."),
        ) from error


@contextmanager
def unlocked(lock: int) -> Iterator[None]:
    """For a program that locks the disk itself, and would wait for our lock."""
    fcntl.flock(lock, fcntl.LOCK_UN)
    try:
        yield
    finally:
        fcntl.flock(lock, fcntl.LOCK_EX)


def drop_buffers(descriptor: int) -> None:
    """Nothing of the device is in memory from here on."""
    with root():
        os.fsync(descriptor)
        system_calls.drop_buffers(descriptor)


def _attach(file: ScratchFile, block_bytes: int) -> LoopDevice:
    """Another run may take the device first: then the next one is tried."""
    _remove(*NUMBERS)  # what runs left that were killed
    for number in NUMBERS:
        name = f"loop{number}"
        try:
            _control(LOOP_CTL_ADD, number)
            device = _open(name)
        except OSError as error:
            if error.errno not in TAKEN:
                raise
            continue
        try:
            _lock(device, name)
            _configure(device, file.descriptor, block_bytes)
            _keep_blocks(device, name, file.descriptor)
            flags = INFO.unpack(fcntl.ioctl(device, LOOP_GET_STATUS64, bytes(INFO.size)))[8]
            if not flags & AUTOCLEAR:
                raise RunFailed(_("{device} would outlive the run.", device=name))
            return LoopDevice(device, name, bool(flags & DIRECT_IO), file)
        except BaseException as error:
            _clear(device, number)
            if not isinstance(error, OSError) or error.errno not in TAKEN:
                raise
    raise RunFailed(_("No loop device is free: all are in use."))


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
    with open("/dev/loop-control", "rb", buffering=0) as control:
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


def _open(name: str) -> int:
    path = f"/dev/{name}"
    if not os.path.exists(path):  # a container's /dev does not follow the kernel
        major, minor = map(int, Path(f"/sys/block/{name}/dev").read_text().split(":"))
        os.mknod(path, stat.S_IFBLK | 0o600, os.makedev(major, minor))
    return os.open(path, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)


def _configure(device: int, image: int, block_bytes: int) -> None:
    """With direct I/O, in a second step where the kernel does not take it in one; whether it did is read back."""
    for flags in (AUTOCLEAR | DIRECT_IO, AUTOCLEAR):
        wanted = INFO.pack(0, 0, 0, 0, 0, 0, 0, 0, flags, b"fswizard", b"", b"", 0, 0)
        try:
            fcntl.ioctl(device, LOOP_CONFIGURE, CONFIG.pack(image, block_bytes, wanted))
        except OSError as error:
            if error.errno != errno.EINVAL or flags == AUTOCLEAR:
                raise
            continue
        with contextlib.suppress(OSError):
            fcntl.ioctl(device, LOOP_SET_DIRECT_IO, 1)
        return
