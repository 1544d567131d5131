"""Errors as the kernel counts and logs them: of disks, and of the filesystem on them.

What filesystems count is read from a closed list of places, chosen by the catalogue.
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
"""Requests that the disk below did not carry out; btrfs, bcachefs and ZFS count them apart from their own errors."""
SHARED = "ioerr_cnt"
"""Counter of a SCSI or SATA disk to which asking it for its health adds, too."""
CP_ERROR, CP_FSCK = 0x8, 0x10
"""Of a checkpoint of F2FS: it saw an error, or wants fsck (kernel: Documentation/ABI/testing/sysfs-fs-f2fs)."""
KERNEL_ERROR = 3
"""Priority in the kernel log: errors and worse (linux/kern_levels.h), of the kernel itself: what programs write to its
log has a facility, and with that a higher number."""
FAILED_REQUEST = re.compile(r"(?:\w+: )?[\w/ ]+ error, dev ([\w!.-]+), sector \d")
"""How the kernel's block layer logs a request that a disk did not carry out (block/blk-mq.c; until 5.15 blk-core.c)."""
NO_FAULT = re.compile(r"operation not supported error|:\((DISCARD|SECURE_ERASE|WRITE_ZEROES)\)")
"""A way of zeroing or discarding that the device lacks: zeros are written instead (block/blk-core.c)."""
MAXIMUM_LINES = 100


class DiskErrors:
    """What speaks of disks that erred since this was made: requests that failed, and counters that grew."""

    def __init__(self, devices: Callable[[], Sequence[str]], hosts: Sequence[str] = (), tree: Tree = HERE) -> None:
        """`devices` names those that a filesystem lies on now, and `hosts` are those that its image lies on.

        What the filesystem on `hosts` counts is the disk's fault, too.
        """
        self._tree, self._devices = tree, devices
        self._hosts = _with_lower(hosts, tree)
        self._all = _with_lower((*devices(), *hosts), tree)
        self._log = _open_log()
        self._found: list[str] = []
        self._before = dict(self._counts())

    def note(self, counted: Mapping[str, int]) -> None:
        """What a filesystem has counted speaks of its disk where that did not do what it was asked to."""
        self._found += [f"{name}: {counted[name]}" for name in OF_DISKS if counted.get(name)]

    def of_disks(self, *, suspected: bool = False) -> list[str]:
        """In words, all that speaks of a disk that erred; empty where nothing does.

        Where one is `suspected`, as after an I/O error, a count that others add to as well is enough.
        """
        self._found = [*self._found, *self._failed_requests()][:MAXIMUM_LINES]
        found = list(self._found)
        for name, count in self._counts():
            before = self._before.get(name, count)
            if count > before and (found or suspected or not name.endswith(SHARED)):
                found.append(f"{name} grew by {count - before}")
        return found

    def close(self) -> None:
        if self._log is not None:
            os.close(self._log)

    def _failed_requests(self) -> Iterator[str]:
        """New lines of the kernel's log about the devices. Records are `priority,sequence,time,flags;text`."""
        names = {*self._devices(), *self._all}
        while self._log is not None:
            try:
                record = os.read(self._log, 8192).decode("utf-8", "backslashreplace")
            except BlockingIOError:
                break
            except BrokenPipeError:
                continue  # older records were overwritten; the next read goes on after them
            head, _, text = record.partition(";")
            line = text.partition("\n")[0]
            match = FAILED_REQUEST.match(line)
            if int(head.split(",")[0]) <= KERNEL_ERROR and match and match[1] in names and not NO_FAULT.search(line):
                yield line

    def _counts(self) -> Iterator[tuple[str, int]]:
        """All counters that speak of the disks; those that others add to as well come last."""
        for name in self._hosts:
            for counter, count in of_filesystem(name, self._tree).items():
                yield f"{name}: {counter}", count
        for name in self._all:
            for member in self._tree.names(f"/sys/block/{name}/md"):
                if member.startswith("dev-"):
                    yield f"{name}: errors of {member}", self._tree.number(f"/sys/block/{name}/md/{member}/errors")
        for name in self._all:
            with contextlib.suppress(ValueError):
                yield f"{name}: {SHARED}", int(self._tree.text(f"/sys/block/{name}/device/{SHARED}") or "0", 16)


def _with_lower(names: Sequence[str], tree: Tree) -> list[str]:
    """Block devices, the disks that they are parts of, and everything that they are made of."""
    devices = list(dict.fromkeys(names))
    for name in devices:  # to which those below it are added
        lower = (look_at(name, tree).disk, *tree.names(f"/sys/class/block/{name}/slaves"))
        devices += [each for each in lower if each not in devices]
    return devices


def _open_log() -> int | None:
    """The kernel log from here on; None where it cannot be read."""
    try:
        log = os.open("/dev/kmsg", os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        os.lseek(log, 0, os.SEEK_END)
    except OSError:
        return None
    return log


def of_filesystem(device: str, tree: Tree = HERE) -> dict[str, int]:
    """Every counter of errors that the filesystem on a device keeps, whichever it is; warnings are none."""
    counters: dict[str, int] = {}
    for kind in KINDS.values():
        with contextlib.suppress(ValueError):
            counters |= kind(device, tree)
    counters.pop(WARNINGS, None)
    return counters


def _ext4(device: str, tree: Tree) -> dict[str, int]:
    """kernel: Documentation/ABI/testing/sysfs-fs-ext4."""
    texts = {name: tree.text(f"/sys/fs/ext4/{device}/{name}") for name in ("errors_count", WARNINGS)}
    return {name: int(text) for name, text in texts.items() if text}


def _btrfs(device: str, tree: Tree) -> dict[str, int]:
    """As `btrfs device stats` shows them, of all its devices together."""
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


def _bcachefs(device: str, tree: Tree) -> dict[str, int]:
    """Of reads, writes and checksums since it was made."""
    counters: dict[str, int] = {}
    for uuid in tree.names("/sys/fs/bcachefs"):
        for member in tree.names(f"/sys/fs/bcachefs/{uuid}"):
            directory = f"/sys/fs/bcachefs/{uuid}/{member}"
            if member.startswith("dev-") and tree.real(f"{directory}/block").endswith(f"/{device}"):
                since_made = tree.text(f"{directory}/io_errors").rpartition("IO errors since")[0]
                pairs = re.findall(r"(\w+):\s*(\d+)", since_made)
                counters |= {f"{name}_errors": int(count) for name, count in pairs}
    return counters


KINDS: Mapping[str, Callable[[str, Tree], dict[str, int]]] = {
    "ext4-sysfs": _ext4,
    "btrfs-sysfs": _btrfs,
    "f2fs-sysfs": _f2fs,
    "bcachefs-sysfs": _bcachefs,
}
ZPOOL = "zpool-status"
