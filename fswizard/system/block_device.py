"""Block devices as the kernel describes them, on this machine or on a recorded one."""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import stat
import struct
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing_extensions import Self

SECTOR_BYTES = 512
"""Unit of st_blocks and of sizes in sysfs, independent of the sector size of the disk."""
UDEV = "/run/udev/data"
FS_IOC_GETFLAGS, FS_IOC_SETFLAGS, FS_NOCOW_FL = 0x80086601, 0x40086602, 0x00800000
"""linux/fs.h"""


@dataclass(frozen=True, slots=True)
class Tree:
    """Root directory to read /sys, /proc, /etc and /dev from. Missing files read as empty, without an error."""

    root: Path = Path("/")

    def path(self, path: str) -> Path:
        return self.root / path.lstrip("/")

    def directory(self, path: str) -> Self:
        """A `Tree` with the directory as its root, to read its files by name."""
        return replace(self, root=self.path(path))

    def bytes(self, path: str) -> bytes:
        try:
            return self.path(path).read_bytes()
        except OSError:
            return b""

    def text(self, path: str) -> str:
        """Stripped content of a file, which is not sanitised and may be hostile."""
        return self.bytes(path).decode("utf-8", "backslashreplace").strip("\0 \t\r\n")

    def lines(self, path: str) -> list[str]:
        """Lines of a table such as /proc/swaps, split at newlines only, as mount points may contain others."""
        return self.bytes(path).decode("utf-8", "surrogateescape").split("\n")

    def number(self, path: str) -> int:
        """Content of a file as a number; 0 if it is none."""
        try:
            return int(self.bytes(path))
        except ValueError:
            return 0

    def names(self, path: str) -> tuple[str, ...]:
        """Entries of a directory, sorted."""
        try:
            return tuple(sorted(os.listdir(self.path(path))))
        except OSError:
            return ()

    def real(self, path: str) -> str:
        """`path` with all links resolved, as seen from below the root."""
        with contextlib.suppress(OSError, ValueError, RuntimeError):  # RuntimeError: links in a loop
            return "/" + str(self.path(path).resolve().relative_to(self.root.resolve()))
        return path

    def device_at(self, path: str) -> str:
        """Kernel name of the device at a path in /dev; empty if it leads to none.

        On a recorded machine, which has no device nodes, the name of the file decides.
        """
        path = os.path.normpath(path) if path.startswith("/dev/") else ""
        if not path.startswith("/dev/") or path.startswith("/dev/shm/"):  # world-writable
            return ""
        real = self.real(path)
        name = real.removeprefix("/dev/").replace("/", "!")
        with contextlib.suppress(OSError, ValueError):
            name_by_number = self.device_by(self.path(real).stat())
            return name_by_number or (name if self.path(f"/sys/class/block/{name}").exists() else "")
        return ""

    def device_by(self, status: os.stat_result) -> str:
        """Kernel name of the device with a node of this status; empty if it is no block device."""
        number = f"{os.major(status.st_rdev)}:{os.minor(status.st_rdev)}"
        return self.device_of(number) if stat.S_ISBLK(status.st_mode) else ""

    def device_of(self, number: str) -> str:
        """Kernel name of the device `major:minor`; empty if there is none."""
        link = f"/sys/dev/block/{number}"
        known = re.fullmatch(r"\d{1,6}:\d{1,8}", number, re.ASCII) and self.path(link).exists()
        return os.path.basename(self.real(link)) if known else ""

    def udev(self, name: str, kind: str) -> list[str]:
        """Entries of one kind in the udev database for the device `name`: E properties, S links in /dev, I age.

        Links are listed even if they currently lead to another device.
        """
        number = self.text(f"/sys/class/block/{name}/dev")
        return [line[2:] for line in self.lines(f"{UDEV}/b{number}") if line.startswith(f"{kind}:")]

    def properties(self, name: str) -> dict[str, str]:
        """Udev properties of the block device `name`; empty if udev does not run."""
        return dict(entry.split("=", 1) for entry in self.udev(name, "E") if "=" in entry)


HERE = Tree()


@dataclass(frozen=True, slots=True)
class Device:
    """Snapshot of a disk or partition.

    `disk` is the whole disk, which may be the device itself. `number` is `major:minor`. `diskseq` is the kernel's
    sequence number of this attachment of the disk; 0 before Linux 5.15. `zones` is `none`, `host-aware` or
    `host-managed`. `file` is the backing file of a loop device. Only a whole disk has `partitions`.
    """

    name: str
    disk: str
    number: str
    diskseq: int = 0
    size_bytes: int = 0
    zones: str = ""
    read_only: bool = False
    file: str = ""
    partitions: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys((self.name, self.disk)))

    @property
    def path(self) -> str:
        return path_of(self.name)


def path_of(name: str) -> str:
    """Path of a device by its kernel name, which has `!` for slashes."""
    return f"/dev/{name.replace('!', '/')}"


def look_at(name: str, tree: Tree = HERE) -> Device:
    """Read a block device by its kernel name."""
    block = tree.directory(f"/sys/class/block/{name}")
    parent = os.path.basename(os.path.dirname(tree.real(f"/sys/class/block/{name}")))
    disk = parent if block.path("partition").exists() else name
    whole = tree.directory(f"/sys/class/block/{disk}")
    return Device(
        name=name,
        disk=disk,
        number=block.text("dev"),
        diskseq=whole.number("diskseq"),
        size_bytes=block.number("size") * SECTOR_BYTES,
        zones=whole.text("queue/zoned"),
        read_only=bool(block.number("ro") or whole.number("ro")),
        file=whole.text("loop/backing_file"),
        partitions=tuple(each for each in block.names("") if block.path(f"{each}/partition").exists()),
    )


def decoded(text: str) -> str:
    r"""Decode a text of udev, which has `\x20` for a blank."""
    encoded = text.encode("utf-8", "surrogateescape")
    plain = re.sub(rb"\\x([0-9a-fA-F]{2})", lambda match: bytes((int(match[1], 16),)), encoded)
    return plain.decode("utf-8", "surrogateescape")


def overwrite_in_place(descriptor: int) -> None:
    """Disable copy-on-write for an empty file on btrfs. Raises OSError on most other filesystems."""
    flags = struct.unpack("=l", fcntl.ioctl(descriptor, FS_IOC_GETFLAGS, bytes(struct.calcsize("=l"))))[0]
    fcntl.ioctl(descriptor, FS_IOC_SETFLAGS, struct.pack("=l", flags | FS_NOCOW_FL))
