"""Block devices below a root, the machine's own or a recorded one: as the kernel describes them."""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import stat
import struct
from dataclasses import dataclass
from pathlib import Path

from fswizard.privileged.refusal import Refusal

SECTOR_BYTES = 512
"""Unit of st_blocks and of sizes in sysfs, whatever the disk's own sectors are."""
FS_IOC_GETFLAGS, FS_IOC_SETFLAGS, FS_NOCOW_FL = 0x80086601, 0x40086602, 0x00800000
"""linux/fs.h"""


@dataclass(frozen=True, slots=True)
class Tree:
    """A place to read /sys, /proc, /etc and /dev from. What is not there gives an empty answer, never an error."""

    root: Path = Path("/")

    def path(self, path: str) -> Path:
        return self.root / path.lstrip("/")

    def bytes(self, path: str) -> bytes:
        try:
            return self.path(path).read_bytes()
        except OSError:
            return b""

    def text(self, path: str) -> str:
        """One attribute, without surrounding blanks; otherwise as it is: hostile, maybe."""
        return self.bytes(path).decode("utf-8", "backslashreplace").strip("\0 \t\r\n")

    def lines(self, path: str) -> list[str]:
        """Of a table such as /proc/swaps; a mount point in it may have other characters that end lines elsewhere."""
        return self.bytes(path).decode("utf-8", "surrogateescape").split("\n")

    def number(self, path: str, default: int = 0) -> int:
        try:
            return int(self.bytes(path))
        except ValueError:
            return default

    def names(self, path: str) -> tuple[str, ...]:
        """Entries of a directory, sorted."""
        try:
            return tuple(sorted(os.listdir(self.path(path))))
        except OSError:
            return ()

    def real(self, path: str) -> str:
        """`path` with all links resolved, as seen from below the root."""
        with contextlib.suppress(OSError, ValueError, RuntimeError):  # the last for links that lead to each other
            return "/" + str(self.path(path).resolve().relative_to(self.root.resolve()))
        return path

    def device_at(self, path: str) -> str:
        """Kernel name of the device that a path below /dev leads to, empty where it leads to none.

        On a recorded machine, whose /dev has no devices, by its name.
        """
        path = os.path.normpath(path) if path.startswith("/dev/") else ""
        if not path.startswith("/dev/") or path.startswith("/dev/shm/"):  # where anybody can lay links
            return ""
        real = self.real(path)
        name = real.removeprefix("/dev/").replace("/", "!")
        with contextlib.suppress(OSError, ValueError):
            whole = self.device_by(self.path(real).stat())
            return whole or (name if self.path(f"/sys/class/block/{name}").exists() else "")
        return ""

    def device_by(self, status: os.stat_result) -> str:
        """Kernel name of the device whose node has that status, empty if it is not a block device."""
        number = f"{os.major(status.st_rdev)}:{os.minor(status.st_rdev)}"
        return self.device_of(number) if stat.S_ISBLK(status.st_mode) else ""

    def device_of(self, number: str) -> str:
        """Kernel name of the device `major:minor`, empty where there is none."""
        link = f"/sys/dev/block/{number}"
        return os.path.basename(self.real(link)) if self.path(link).exists() else ""


HERE = Tree()


@dataclass(frozen=True, slots=True)
class Device:
    """A block device in sysfs."""

    name: str
    disk: str
    """The whole disk: `name` itself where that is one."""
    number: str
    """`major:minor`."""
    tree: Tree = HERE

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys((self.name, self.disk)))

    @property
    def partitions(self) -> tuple[str, ...]:
        """Of a whole disk."""
        disk = f"/sys/block/{self.name}"
        return tuple(name for name in self.tree.names(disk) if self.tree.path(f"{disk}/{name}/partition").exists())

    @property
    def path(self) -> str:
        return path_of(self.name)

    @property
    def disk_path(self) -> str:
        return path_of(self.disk)

    @property
    def usb_directory(self) -> str:
        """The USB device that its disk is behind: the nearest directory above with a vendor number; empty without."""
        directory = self.tree.real(f"/sys/block/{self.disk}")
        while "/usb" in directory and not self.tree.path(f"{directory}/idVendor").exists():
            directory = os.path.dirname(directory)
        return directory if "/usb" in directory else ""

    @property
    def size_bytes(self) -> int:
        return self.tree.number(f"/sys/class/block/{self.name}/size") * SECTOR_BYTES

    @property
    def zone_model(self) -> str:
        """The kernel's word: `none`, `host-aware`, `host-managed`; empty where it has none."""
        return self.tree.text(f"/sys/block/{self.disk}/queue/zoned")

    @property
    def backing_file(self) -> str:
        """The file behind a loop device; empty for other devices."""
        return self.tree.text(f"/sys/block/{self.disk}/loop/backing_file")


def path_of(name: str) -> str:
    """Of the device that the kernel calls `name`, in which `!` stands for a slash."""
    return f"/dev/{name.replace('!', '/')}"


def find(number: str, tree: Tree = HERE) -> Device:
    """The block device that the kernel knows by `major:minor`."""
    name = tree.device_of(number) if re.fullmatch(r"\d{1,6}:\d{1,8}", number, re.ASCII) else ""
    if not name:
        raise Refusal("refused", f"there is no block device {number!r:.40}")
    directory = tree.real(f"/sys/dev/block/{number}")
    partition = tree.path(f"{directory}/partition").exists()
    return Device(name, directory.split("/")[-2] if partition else name, number, tree)


def overwrite_in_place(descriptor: int) -> None:
    """Have btrfs overwrite a file in place; only before the first write. OSError on most other filesystems."""
    flags = struct.unpack("=l", fcntl.ioctl(descriptor, FS_IOC_GETFLAGS, bytes(struct.calcsize("=l"))))[0]
    fcntl.ioctl(descriptor, FS_IOC_SETFLAGS, struct.pack("=l", flags | FS_NOCOW_FL))
