"""Errors of disks since a moment, as the kernel counts and logs them: apart from those of the filesystem on them."""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from uuid import UUID

from fswizard.privileged import counters
from fswizard.privileged.block_device import HERE, Tree

KERNEL_ERROR = 3
"""Priority in the kernel log: errors and worse (linux/kern_levels.h)."""
NO_FAULT = re.compile(
    r"operation not supported error|:\((DISCARD|SECURE_ERASE|WRITE_ZEROES)\)|^workqueue: Failed to create a rescuer"
)
"""A way of zeroing or discarding that the device has not: whoever asked writes zeros instead (block/blk-core.c); and
a mount that was killed while it began (kernel/workqueue.c)."""
MAXIMUM_LINES = 100
FS_INFO, UUID_AT = 0x8400941F, 16
"""BTRFS_IOC_FS_INFO and its field `fsid` (linux/btrfs.h)."""


class DiskErrors:
    """What the kernel has told, since this was made, of disks and of the filesystem on them."""

    def __init__(self, devices: Callable[[], Sequence[str]], hosts: Sequence[str] = (), tree: Tree = HERE) -> None:
        """`devices` names those that the filesystem lies on now, and `hosts` are those that its image lies on.

        Of `hosts`, errors of the filesystem count as the disk's, too.
        """
        self._tree = tree
        self._devices = devices
        self._hosts = self._with_lower(hosts)
        self._all = list(dict.fromkeys((*self._with_lower(devices()), *self._hosts)))
        self.log = _open_log()
        self.lines: list[str] = []
        """Of the kernel's log, naming one of the devices, since `forget`."""
        self._disk_lines: list[str] = []
        self._before = [*self._counted()]
        self._shared_before = [*self._shared_counts()]

    def _with_lower(self, names: Sequence[str]) -> list[str]:
        return list(dict.fromkeys(lower for name in names for lower in lower_devices(name, self._tree)))

    def read(self) -> list[str]:
        """New lines of the kernel's log that are errors of the devices, or of what is below them."""
        names = self._devices()
        own = rf"\b({_any_of(names)})\b"
        disk = rf"(?:error, dev |error on dev |\[|^)({_any_of([*names, *self._all])})\b|\b({_any_of(self._hosts)})\b"
        found = []
        for line in self._errors():
            about = [(own, self.lines), (disk, self._disk_lines)]
            kept = [lines for pattern, lines in about if re.search(pattern, line) and len(lines) < MAXIMUM_LINES]
            for lines in kept:
                lines.append(line)
            if kept:
                found.append(line)
        return found

    def forget(self) -> None:
        """Another filesystem is on the devices from here on."""
        self.read()
        self.lines.clear()

    def note(self, counted: Mapping[str, int]) -> None:
        """What the filesystem has counted speaks of its disk where that did not do what it was asked to."""
        names = [name for name in counters.OF_DISKS if counted.get(name)]
        self._disk_lines += [f"{name}: {counted[name]}" for name in names if len(self._disk_lines) < MAXIMUM_LINES]

    def of_disks(self, *, suspected: bool = False) -> list[str]:
        """In words, all that speaks of a disk that erred; empty where nothing does.

        Where one is `suspected`, as after an I/O error, a count that others add to as well is enough.
        """
        self.read()
        certain = [*self._disk_lines, *_grown(self._before, self._counted())]
        shared = _grown(self._shared_before, self._shared_counts())
        return [*certain, *shared] if certain or suspected else []

    def close(self) -> None:
        if self.log is not None:
            os.close(self.log)

    def _errors(self) -> Iterator[str]:
        """Records are `priority,sequence,time,flags;text`."""
        while self.log is not None:
            try:
                record = os.read(self.log, 8192).decode("utf-8", "backslashreplace")
            except BlockingIOError:
                break
            except BrokenPipeError:
                continue  # older records were overwritten; the next read goes on after them
            head, _, text = record.partition(";")
            if int(head.split(",")[0]) % 8 <= KERNEL_ERROR and not NO_FAULT.search(text):
                yield text.partition("\n")[0]

    def _counted(self) -> Iterator[tuple[str, int]]:
        for name in self._hosts:
            for counter, count in counters.of_filesystem(name, self._tree).items():
                yield f"{name}: {counter}", count
        for name in self._all:
            for member in self._tree.names(f"/sys/block/{name}/md"):
                if member.startswith("dev-"):
                    yield f"{name}: errors of {member}", self._tree.number(f"/sys/block/{name}/md/{member}/errors")

    def _shared_counts(self) -> Iterator[tuple[str, int]]:
        """Of SCSI and SATA: asking such a disk for its health adds to it, too."""
        for name in self._all:
            with contextlib.suppress(ValueError):
                count = self._tree.text(f"/sys/block/{name}/device/ioerr_cnt")
                yield f"{name}: ioerr_cnt", int(count or "0", 16)


def disks_of(descriptor: int, tree: Tree = HERE) -> tuple[str, ...]:
    """Kernel names of the block devices that an open file's filesystem lies on; none where that is on no disk."""
    number = os.fstat(descriptor).st_dev
    if name := tree.device_of(f"{os.major(number)}:{os.minor(number)}"):
        return (name,)
    with contextlib.suppress(OSError):  # what is no btrfs does not know the question
        answer = fcntl.ioctl(descriptor, FS_INFO, bytes(1024))
        uuid = UUID(bytes=answer[UUID_AT : UUID_AT + 16])
        return tree.names(f"/sys/fs/btrfs/{uuid}/devices")
    return ()


def lower_devices(name: str, tree: Tree = HERE) -> Iterator[str]:
    """A block device, the disk that it is a part of, and everything that it is made of."""
    yield name
    directory = tree.real(f"/sys/class/block/{name}")
    if tree.path(f"{directory}/partition").exists():
        yield from lower_devices(directory.split("/")[-2], tree)
    for member in tree.names(f"{directory}/slaves"):
        yield from lower_devices(member, tree)


def _open_log() -> int | None:
    """The kernel log from here on; None where it cannot be read."""
    try:
        log = os.open("/dev/kmsg", os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        os.lseek(log, 0, os.SEEK_END)
    except OSError:
        return None
    return log


def _any_of(names: Iterable[str]) -> str:
    return "|".join(map(re.escape, names)) or "(?!)"


def _grown(before: Iterable[tuple[str, int]], now: Iterable[tuple[str, int]]) -> list[str]:
    then = dict(before)
    return [f"{counter} grew by {count - then[counter]}" for counter, count in now if count > then.get(counter, count)]
