"""The loop device of a scratch image in a run that was started as root, made by ioctl (linux/loop.h).

It is locked, with the lock that udev respects, from before it has contents until it is removed. So udev does not probe
it, makes no links to it, and offers it to no automounter. It vanishes with the last process that has it open.
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
from fswizard.system.block_device import HERE, SECTOR_BYTES

LOCK_LIMIT_S = 5.0
"""Time limit for taking the lock; udev briefly holds a shared one while it probes a device."""
PAUSE_S = 0.01
CONTROL = "/dev/loop-control"
LOOP_CLR_FD = 0x4C01
LOOP_GET_STATUS64 = 0x4C05
LOOP_CONFIGURE = 0x4C0A
LOOP_CTL_ADD = 0x4C80
LOOP_CTL_REMOVE = 0x4C81
AUTOCLEAR = 4
DIRECT_IO = 16
CONFIG = struct.Struct("=I56xI64s176x")
"""`struct loop_config`: descriptor of the file, flags, and displayed file name."""
PUNCHED_BYTES = 1 << 20
TAKEN = (errno.EBUSY, errno.EEXIST, errno.ENOENT, errno.ENXIO)
"""Error numbers if another process has the device, or removed it."""
NUMBERS = range(1000, 1256)
"""Loop device numbers of runs. They are not shared with others, as disabled discards cannot be enabled again."""


@dataclass(frozen=True, slots=True)
class LoopDevice:
    """A loop device that is removed by its last close."""

    descriptor: int
    name: str
    file: ScratchFile

    @property
    def lock(self) -> int:
        """Descriptor that holds the lock."""
        return self.descriptor

    @property
    def path(self) -> str:
        return f"/dev/{self.name}"

    def require_same(self, *, unused: bool) -> None:
        """Raise RunFailed if the size of the image changed or, with `unused`, if anything else uses the device.

        Takes the lock again, as a killed program may have released it.
        """
        _lock(self.descriptor, self.name)
        self.file.require_size()
        if not unused:
            return
        try:
            with root():  # fails if it is mounted in any namespace, or part of another device
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
    """Attach a loop device to an image, with direct I/O."""
    with root():
        _remove(*NUMBERS)  # leftovers of killed runs
        for number in NUMBERS:
            try:
                return _attach(file, number)
            except OSError as error:
                if error.errno not in TAKEN:
                    raise
    raise Missing(_("The kernel offers no loop device."), _("Run `modprobe loop` as root, or leave the container."))


def _attach(file: ScratchFile, number: int) -> LoopDevice:
    """Attach the loop device `number`. Raises OSError, with an errno of `TAKEN` if it is in use.

    As `file` is open with O_DIRECT, the kernel uses the sector size of the disk below, which direct I/O needs
    (loop_configure in drivers/block/loop.c).
    """
    name = f"loop{number}"
    path = f"/dev/{name}"
    _control(LOOP_CTL_ADD, number)
    if not os.path.exists(path):  # a container's /dev does not follow the kernel
        major, minor = HERE.text(f"/sys/block/{name}/dev").split(":")
        os.mknod(path, stat.S_IFBLK | 0o600, os.makedev(int(major), int(minor)))
    device = os.open(path, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
    try:
        _lock(device, name)
        fcntl.ioctl(device, LOOP_CONFIGURE, CONFIG.pack(file.descriptor, AUTOCLEAR | DIRECT_IO, b"fswizard"))
        _keep_blocks(device, name, file.descriptor)
        file.require_direct_io(name)
        if HERE.number(f"/sys/block/{name}/loop/autoclear") != 1:
            raise RunFailed(_("{device} would outlive the run.", device=name))
    except BaseException:
        _clear(device, number)
        raise
    return LoopDevice(device, name, file)


@contextmanager
def unlocked(lock: int) -> Iterator[None]:
    """Release the lock while a program runs that takes it itself and would wait for it."""
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
    """Remove the loop devices with these numbers unless they are in use."""
    for number in numbers:
        with contextlib.suppress(OSError):
            _control(LOOP_CTL_REMOVE, number)


def _control(order: int, number: int) -> None:
    with open(CONTROL, "rb", buffering=0) as control:
        fcntl.ioctl(control, order, number)


def _lock(device: int, name: str) -> None:
    """Lock the device. Raises RunFailed if another program still has the lock after `LOCK_LIMIT_S`."""
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
    """Disable discards of the device, which would punch holes into the image.

    Raises Refused if the device still frees blocks, as in a container with a read-only /sys.
    """
    with contextlib.suppress(OSError):
        Path(f"/sys/block/{name}/queue/discard_max_bytes").write_text("0")
    with contextlib.suppress(OSError):  # expected: the device refuses
        system_calls.punch_hole(device, 0, PUNCHED_BYTES)
    os.fsync(image)
    status = os.fstat(image)
    if status.st_blocks * SECTOR_BYTES < status.st_size:
        raise Refused(
            _("Loop devices give up the room of their image here."),
            _("Keeping it takes Linux 5.19 and a /sys that can be written."),
        )
