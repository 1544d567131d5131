"""Errors of disks and of their filesystems, from the counters and the log of the kernel.

Each filesystem that the kernel counts errors of has a reader, which finds nothing on a device with another one.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence

from fswizard.system.block_device import HERE, Tree, look_at

WARNINGS = "warning_count"
OF_DISKS = ("read_errs", "write_errs", "flush_errs", "read_errors", "write_errors")
"""Counters of requests that the disk failed; btrfs and ZFS count them separately from their own errors."""
CP_ERROR, CP_FSCK = 0x8, 0x10
"""Flags of an F2FS checkpoint: error seen, fsck needed (kernel: Documentation/ABI/testing/sysfs-fs-f2fs)."""
KERNEL_ERROR = 3
"""Highest priority number of kernel errors in the kernel log (linux/kern_levels.h). Messages that programs write there
include a facility and have higher numbers."""
FAILED_REQUEST = re.compile(r"(?:\w+: )?[\w/ ]+ error, dev ([\w!.-]+), sector \d")
"""Log line of the block layer for a request that a disk failed (block/blk-mq.c; until 5.15 blk-core.c)."""
NO_FAULT = re.compile(r"operation not supported error|:\((DISCARD|SECURE_ERASE|WRITE_ZEROES)\)")
"""Failed requests that are no errors: the device lacks the operation, and zeros are written instead."""
MAXIMUM_LINES = 100


class DiskErrors:
    """Collects disk errors from its creation on: failed requests in the log, and counters that grew."""

    def __init__(self, devices: Callable[[], Sequence[str]], hosts: Sequence[str] = (), tree: Tree = HERE) -> None:
        """`devices` returns the current devices of the filesystem; `hosts` are the devices below its image.

        Errors counted by the filesystem on `hosts` are also attributed to the disk.
        """
        self._tree, self._devices = tree, devices
        self._hosts = _with_lower(hosts, tree)
        self._all = _with_lower((*devices(), *hosts), tree)
        self._log = _open_log()
        self._lines: list[str] = []
        self._before = dict(self._counts())

    def note(self, counted: Mapping[str, int]) -> None:
        """Add the counters of a filesystem that mean that its disk failed requests."""
        self._lines += [f"{name}: {counted[name]}" for name in OF_DISKS if counted.get(name)]

    def of_disks(self) -> list[str]:
        """One line for each sign of a disk error; empty if there is none."""
        self._lines = [*self._lines, *self._failed_requests()][:MAXIMUM_LINES]
        errors = list(self._lines)
        for name, count in self._counts():
            before = self._before.get(name, count)
            if count > before:
                errors.append(f"{name} grew by {count - before}")
        return errors

    def close(self) -> None:
        if self._log is not None:
            os.close(self._log)

    def _failed_requests(self) -> Iterator[str]:
        """New kernel log lines about failed requests. Records are `priority,sequence,time,flags;text`."""
        names = {*self._devices(), *self._all}
        while self._log is not None:
            try:
                record = os.read(self._log, 8192).decode("utf-8", "backslashreplace")
            except BlockingIOError:
                break
            except BrokenPipeError:
                continue  # older records were overwritten; the next read continues after them
            head, _, text = record.partition(";")
            line = text.partition("\n")[0]
            match = FAILED_REQUEST.match(line)
            if int(head.split(",")[0]) <= KERNEL_ERROR and match and match[1] in names and not NO_FAULT.search(line):
                yield line

    def _counts(self) -> Iterator[tuple[str, int]]:
        """Error counters of the filesystems on `hosts`, and of the arrays below them."""
        for name in self._hosts:
            for counter, count in of_filesystem(name, self._tree).items():
                if counter != WARNINGS:
                    yield f"{name}: {counter}", count
        for name in self._all:
            for member in self._tree.names(f"/sys/block/{name}/md"):
                if member.startswith("dev-"):
                    yield f"{name}: errors of {member}", self._tree.number(f"/sys/block/{name}/md/{member}/errors")


def _with_lower(names: Sequence[str], tree: Tree) -> list[str]:
    """`names`, their whole disks, and all devices that these are composed of."""
    devices = list(dict.fromkeys(names))
    for name in devices:  # grows during the loop
        lower = (look_at(name, tree).disk, *tree.names(f"/sys/class/block/{name}/slaves"))
        devices += [each for each in lower if each not in devices]
    return devices


def _open_log() -> int | None:
    """Open the kernel log at its end; None if it cannot be read."""
    try:
        log = os.open("/dev/kmsg", os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        os.lseek(log, 0, os.SEEK_END)
    except OSError:
        return None
    return log


def of_filesystem(device: str, tree: Tree = HERE) -> dict[str, int]:
    """All error counters of the filesystem on a device, by name; empty if it counts none."""
    counters: dict[str, int] = {}
    for read in (_ext4, _btrfs, _f2fs):
        with contextlib.suppress(ValueError):
            counters |= read(device, tree)
    return counters


def _ext4(device: str, tree: Tree) -> dict[str, int]:
    """Errors and warnings of ext4 (kernel: Documentation/ABI/testing/sysfs-fs-ext4)."""
    texts = {name: tree.text(f"/sys/fs/ext4/{device}/{name}") for name in ("errors_count", WARNINGS)}
    return {name: int(text) for name, text in texts.items() if text}


def _btrfs(device: str, tree: Tree) -> dict[str, int]:
    """Counters as in `btrfs device stats`, summed over all devices of the filesystem."""
    counters = Counter[str]()
    for uuid in tree.names("/sys/fs/btrfs"):
        if device in tree.names(f"/sys/fs/btrfs/{uuid}/devices"):
            for number in tree.names(f"/sys/fs/btrfs/{uuid}/devinfo"):
                lines = tree.lines(f"/sys/fs/btrfs/{uuid}/devinfo/{number}/error_stats")
                counters.update({name: int(count) for name, count in map(str.split, filter(None, lines))})
    return counters


def _f2fs(device: str, tree: Tree) -> dict[str, int]:
    status = tree.text(f"/sys/fs/f2fs/{device}/stat/cp_status")
    if not status:
        return {}
    bits = int(status, 16)
    return {"checkpoint_error": int(bool(bits & CP_ERROR)), "needs_fsck": int(bool(bits & CP_FSCK))}
