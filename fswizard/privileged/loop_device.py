"""Loop devices, by ioctl (linux/loop.h)."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import stat
import struct
from dataclasses import dataclass
from pathlib import Path

from fswizard.privileged.images import Image
from fswizard.privileged.protocol import Refusal

LOOP_SET_FD = 0x4C00
LOOP_CLR_FD = 0x4C01
LOOP_SET_STATUS64 = 0x4C04
LOOP_GET_STATUS64 = 0x4C05
LOOP_SET_DIRECT_IO = 0x4C08
LOOP_SET_BLOCK_SIZE = 0x4C09
LOOP_CONFIGURE = 0x4C0A
LOOP_CTL_GET_FREE = 0x4C82
AUTOCLEAR = 4
DIRECT_IO = 16
INFO = struct.Struct("=5Q4I64s64s32s2Q")
WANTED = INFO.pack(0, 0, 0, 0, 0, 0, 0, 0, AUTOCLEAR | DIRECT_IO, b"fswizard", b"", b"", 0, 0)
CONFIG = struct.Struct(f"=2I{INFO.size}s64x")
SAFE_BLOCK_BYTES = 4096
"""Direct I/O works with it on every disk; tried where the kernel's default of 512 refuses direct I/O."""
ATTEMPTS = 16


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
    """Another program may take the free device first: then the next free one is tried."""
    with open("/dev/loop-control", "rb", buffering=0) as control:
        for _ in range(ATTEMPTS):
            name = f"loop{fcntl.ioctl(control, LOOP_CTL_GET_FREE)}"
            device = _open(name)
            try:
                _configure(device, image.descriptor, block_bytes)
                flags = _status(device)[8]
                return LoopDevice(device, name, bool(flags & DIRECT_IO), image)
            except OSError as error:
                os.close(device)
                if error.errno != errno.EBUSY:
                    raise
    raise Refusal("failed", "no loop device could be had: other programs took them")


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
    with contextlib.suppress(OSError):  # what came of it is read back
        fcntl.ioctl(device, LOOP_SET_DIRECT_IO, 1)


def _status(device: int) -> tuple[int, ...]:
    return INFO.unpack(fcntl.ioctl(device, LOOP_GET_STATUS64, bytes(INFO.size)))
