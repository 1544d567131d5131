"""A scratch image, made by the user and out of reach of everybody once handed over, and the loop device on it.

Loop devices are made by ioctl (linux/loop.h).
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import stat
import struct
from dataclasses import dataclass
from pathlib import Path

from fswizard.privileged import programs
from fswizard.privileged.identity import User
from fswizard.privileged.protocol import Refusal

MINIMUM_BYTES = 64 << 20
READ_BYTES = 4 << 20
SECTOR_BYTES = 512
"""Unit of st_blocks."""
RELEASE_LIMIT_S = 5.0
"""Whoever handed it over closes it a moment later, and so do programs that index new files."""
LOOP_SET_FD = 0x4C00
LOOP_CLR_FD = 0x4C01
LOOP_SET_STATUS64 = 0x4C04
LOOP_GET_STATUS64 = 0x4C05
LOOP_SET_DIRECT_IO = 0x4C08
LOOP_SET_BLOCK_SIZE = 0x4C09
LOOP_CONFIGURE = 0x4C0A
LOOP_CTL_ADD = 0x4C80
LOOP_CTL_REMOVE = 0x4C81
AUTOCLEAR = 4
DIRECT_IO = 16
INFO = struct.Struct("=5Q4I64s64s32s2Q")
WANTED = INFO.pack(0, 0, 0, 0, 0, 0, 0, 0, AUTOCLEAR | DIRECT_IO, b"fswizard", b"", b"", 0, 0)
CONFIG = struct.Struct(f"=2I{INFO.size}s64x")
SAFE_BLOCK_BYTES = 4096
"""Direct I/O works with it on every disk; tried where the kernel's default of 512 refuses direct I/O."""
TAKEN = (errno.EBUSY, errno.EEXIST, errno.ENOENT, errno.ENXIO)
"""Another has the device, or took it away meanwhile."""
NUMBERS = range(1000, 1256)
"""Of the helper's own devices: one that was told to keep all blocks can never be told otherwise again."""


@dataclass(frozen=True, slots=True)
class Image:
    """A file without a name, which no other process has open."""

    descriptor: int
    size_bytes: int

    def require_same(self) -> None:
        """Refusal where it was cut off or grew: only root can have done that."""
        if os.fstat(self.descriptor).st_size != self.size_bytes:
            raise Refusal("failed", "the scratch image has changed its size")

    def read(self) -> None:
        """OSError where a block of it cannot be read from the disk below."""
        os.posix_fadvise(self.descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
        for offset in range(0, self.size_bytes, READ_BYTES):
            os.pread(self.descriptor, READ_BYTES, offset)
            os.posix_fadvise(self.descriptor, offset, READ_BYTES, os.POSIX_FADV_DONTNEED)

    def close(self) -> None:
        os.close(self.descriptor)


def take_image(given: int, user: User) -> Image:
    """The image behind a descriptor from the user, which is closed.

    Refusal unless it is the user's own, fully allocated, and open nowhere else. Root becomes its owner and opens it
    anew: with a descriptor kept back, the user could write to the device below a mounted filesystem. An owner could
    also open it anew through one of O_PATH, which `_require_alone` does not see.
    """
    try:
        status = os.fstat(given)
        _check_image(status, user)
        if fcntl.fcntl(given, fcntl.F_GETFL) & os.O_ACCMODE != os.O_RDWR:
            raise Refusal("refused", "the image is not open for reading and writing")
        os.fchown(given, 0, 0)
        os.fchmod(given, 0o600)
        if os.fstat(given).st_uid != 0:  # FAT mounted with `quiet` only says that it did
            raise Refusal("refused", "the filesystem below the image does not record file owners")
        descriptor = os.open(f"/proc/self/fd/{given}", os.O_RDWR | os.O_CLOEXEC)
    except OSError as error:
        raise Refusal("refused", f"the image cannot be made root's: {error.strerror}") from error
    finally:
        os.close(given)
    try:
        _require_alone(descriptor)
    except BaseException:
        os.close(descriptor)
        raise
    return Image(descriptor, status.st_size)


def _check_image(status: os.stat_result, user: User) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise Refusal("refused", "the image is not a regular file")
    if status.st_uid != user.uid:
        raise Refusal("refused", f"the image belongs to user {status.st_uid}")
    if status.st_nlink:
        raise Refusal("refused", "the image still has a name")
    if status.st_size < MINIMUM_BYTES:
        raise Refusal("refused", f"the image is smaller than {MINIMUM_BYTES >> 20} MiB")
    if status.st_blocks * SECTOR_BYTES < status.st_size:
        raise Refusal("refused", "the image is sparse: the kernel would take the missing blocks with root's rights")


def _require_alone(descriptor: int) -> None:
    """Refusal where another process has the image open: then the kernel gives no lease on it (fcntl(2)).

    The lock is held until the image is closed.
    """
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise Refusal("busy", "the image is already attached") from None
    error = programs.poll(lambda: _lease(descriptor), lambda error: error != errno.EAGAIN, RELEASE_LIMIT_S)
    if error == errno.EAGAIN:
        raise Refusal("busy", "another program has the image open")
    if error:
        raise Refusal("refused", f"can't tell whether another program has the image open: {os.strerror(error)}")


def _lease(descriptor: int) -> int:
    """The number of the error; 0 where nobody else has it open."""
    try:
        fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_WRLCK)
        fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_UNLCK)
    except OSError as error:
        return error.errno or errno.EIO
    return 0


@dataclass(frozen=True, slots=True)
class LoopDevice:
    """A loop device that vanishes with its last user."""

    descriptor: int
    name: str
    direct_io: bool
    image: Image

    @property
    def descriptors(self) -> tuple[int, ...]:
        """What whoever works on it needs."""
        return (self.descriptor, self.image.descriptor)

    @property
    def path(self) -> str:
        return f"/dev/{self.name}"

    @property
    def log_names(self) -> tuple[str, ...]:
        """By which the kernel's log may call it."""
        return (self.name,)

    def require_same(self, *, unused: bool) -> None:
        """The helper made it and holds it: nothing but the image's size can have changed."""
        self.image.require_same()

    def detach(self) -> None:
        self.clear()
        self.image.close()

    def clear(self) -> None:
        """Take the device away from the image."""
        with contextlib.suppress(OSError):
            fcntl.ioctl(self.descriptor, LOOP_CLR_FD)
        os.close(self.descriptor)
        _remove(int(self.name.removeprefix("loop")))


def attach(image: Image) -> LoopDevice:
    """A loop device on `image`, with direct I/O where the filesystem below takes it."""
    if not os.path.exists("/dev/loop-control"):
        raise Refusal("missing", "the kernel offers no loop devices (`modprobe loop`, or leave the container)")
    device = _attach(image, 0)
    if not device.direct_io:
        device.clear()
        device = _attach(image, SAFE_BLOCK_BYTES)
    return device


def _attach(image: Image, block_bytes: int) -> LoopDevice:
    """Another helper may take the device first: then the next one is tried."""
    _remove(*NUMBERS)  # what helpers left that were killed
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
            _configure(device, image.descriptor, block_bytes)
            _keep_blocks(name)
            flags = _status(device)[8]
            return LoopDevice(device, name, bool(flags & DIRECT_IO), image)
        except OSError as error:
            os.close(device)
            _remove(number)
            if error.errno not in TAKEN:
                raise
    raise Refusal("failed", "no loop device is free: all are in use")


def _remove(*numbers: int) -> None:
    """Remove these devices, as far as nobody uses them."""
    for number in numbers:
        with contextlib.suppress(OSError):
            _control(LOOP_CTL_REMOVE, number)


def _control(order: int, number: int) -> None:
    with open("/dev/loop-control", "rb", buffering=0) as control:
        fcntl.ioctl(control, order, number)


def _keep_blocks(name: str) -> None:
    """Have the device refuse to discard, and write zeros itself, where it would punch holes into the image.

    It writes with root's rights, so it could fill a hole with blocks that are reserved for root. Linux before 5.19
    punches them all the same.
    """
    with contextlib.suppress(OSError):  # in a container, /sys may be read-only
        Path(f"/sys/block/{name}/queue/discard_max_bytes").write_text("0")


def _open(name: str) -> int:
    path = f"/dev/{name}"
    if not os.path.exists(path):  # a container's /dev does not follow the kernel
        major, minor = map(int, Path(f"/sys/block/{name}/dev").read_text().split(":"))
        os.mknod(path, stat.S_IFBLK | 0o600, os.makedev(major, minor))
    return os.open(path, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)


def _configure(device: int, image: int, block_bytes: int) -> None:
    try:
        fcntl.ioctl(device, LOOP_CONFIGURE, CONFIG.pack(image, block_bytes, WANTED))
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTTY):
            raise
        _configure_in_steps(device, image, block_bytes)


def _configure_in_steps(device: int, image: int, block_bytes: int) -> None:
    """As kernels before 5.8 want it, and later ones that do not take direct I/O in one step."""
    fcntl.ioctl(device, LOOP_SET_FD, image)
    try:
        fcntl.ioctl(device, LOOP_SET_STATUS64, WANTED)
        if block_bytes:
            fcntl.ioctl(device, LOOP_SET_BLOCK_SIZE, block_bytes)
    except OSError:
        fcntl.ioctl(device, LOOP_CLR_FD)
        raise
    with contextlib.suppress(OSError):  # the result is read back
        fcntl.ioctl(device, LOOP_SET_DIRECT_IO, 1)


def _status(device: int) -> tuple[int, ...]:
    return INFO.unpack(fcntl.ioctl(device, LOOP_GET_STATUS64, bytes(INFO.size)))
