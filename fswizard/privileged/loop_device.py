"""The loop device on a scratch image, made by ioctl (linux/loop.h).

It is locked as udev respects it, from before there is anything on it until it is gone: so udev looks at nothing that
lies on it, gives it no names, and shows it to no automounter.
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

from fswizard.privileged import programs, system_calls
from fswizard.privileged.block_device import SECTOR_BYTES
from fswizard.privileged.protocol import Refusal
from fswizard.privileged.scratch_image import Image

LOCK_LIMIT_S = 5.0
"""udev holds a shared lock on a device for a moment, while it looks at what was made or written."""
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
PUNCHED_BYTES = 1 << 20
TAKEN = (errno.EBUSY, errno.EEXIST, errno.ENOENT, errno.ENXIO)
"""Another has the device, or took it away meanwhile."""
NUMBERS = range(1000, 1256)
"""Numbers of the helper's own devices: the refusal to discard can never be taken back."""


@dataclass(frozen=True, slots=True)
class LoopDevice:
    """A loop device that vanishes with its last user."""

    descriptor: int
    name: str
    direct_io: bool
    image: Image

    @property
    def lock(self) -> int:
        """Descriptor by which it is locked."""
        return self.descriptor

    @property
    def descriptors(self) -> tuple[int, ...]:
        """Descriptors that a process needs to work on it."""
        return (self.descriptor, self.image.descriptor)

    @property
    def path(self) -> str:
        return f"/dev/{self.name}"

    @property
    def log_names(self) -> tuple[str, ...]:
        """By which the kernel's log may call it."""
        return (self.name,)

    def require_same(self, *, unused: bool) -> None:
        """The helper made it and holds it: nothing but the image's size can have changed.

        A mkfs that was ended may not have given back the lock.
        """
        _lock(self.descriptor, self.name)
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
            _lock(device, name)
            _configure(device, image.descriptor, block_bytes)
            _keep_blocks(device, name, image.descriptor)
            flags = INFO.unpack(fcntl.ioctl(device, LOOP_GET_STATUS64, bytes(INFO.size)))[8]
            if not flags & AUTOCLEAR:
                raise Refusal("failed", f"{name} would outlive the helper")
            return LoopDevice(device, name, bool(flags & DIRECT_IO), image)
        except BaseException as error:
            with contextlib.suppress(OSError):
                fcntl.ioctl(device, LOOP_CLR_FD)
            os.close(device)
            _remove(number)
            if not isinstance(error, OSError) or error.errno not in TAKEN:
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


def _lock(device: int, name: str) -> None:
    """Lock it for good; Refusal where another program keeps it locked."""

    def locked() -> bool:
        try:
            fcntl.flock(device, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    if not programs.poll(locked, bool, LOCK_LIMIT_S):
        raise Refusal("busy", f"{name} is locked by another program")


def _keep_blocks(device: int, name: str, image: int) -> None:
    """Have the device refuse to discard, and write zeros itself, where it would punch holes into the image.

    It writes with root's rights, so it could fill a hole with blocks that are reserved for root. Refusal where it gives
    blocks back all the same: Linux before 5.19 does, and in a container /sys may be read-only.
    """
    with contextlib.suppress(OSError):
        Path(f"/sys/block/{name}/queue/discard_max_bytes").write_text("0")
    with contextlib.suppress(OSError):  # as it should be
        system_calls.punch_hole(device, 0, PUNCHED_BYTES)
    os.fsync(image)
    status = os.fstat(image)
    if status.st_blocks * SECTOR_BYTES < status.st_size:
        text = "loop devices give up the room of their image here; that takes Linux 5.19 and a /sys that can be written"
        raise Refusal("refused", text)


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
