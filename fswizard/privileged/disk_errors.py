"""Errors as the kernel counts and logs them: of disks, of what is made of disks, and of the filesystem on them.

What filesystems count is read from a closed list of places, chosen by the catalogue.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Literal
from uuid import UUID

from fswizard.privileged import pools
from fswizard.privileged.block_device import HERE, Tree
from fswizard.privileged.protocol import Refusal

if TYPE_CHECKING:
    from fswizard.privileged.volumes import Volume

WARNINGS = "warning_count"
OF_DISKS = ("read_errs", "write_errs", "flush_errs", "read_errors", "write_errors")
"""Requests that the disk below did not carry out; btrfs, bcachefs and ZFS count them apart from their own errors."""
CP_ERROR, CP_FSCK = 0x8, 0x10
"""Of a checkpoint of F2FS: it saw an error, or wants fsck (kernel: Documentation/ABI/testing/sysfs-fs-f2fs)."""
KERNEL_ERROR = 3
"""Priority in the kernel log: errors and worse (linux/kern_levels.h), of the kernel itself: what programs write to its
log has a facility, and with that a higher number."""
NO_FAULT = re.compile(r"operation not supported error|:\((DISCARD|SECURE_ERASE|WRITE_ZEROES)\)")
"""A way of zeroing or discarding that the device lacks: zeros are written instead (block/blk-core.c)."""
Writer = Literal["disk", "filesystem"]
FORMS: Sequence[tuple[Writer, str]] = (
    ("disk", r"(?:\w+: )?[\w/ ]+ error, dev DEVICE, sector \d"),  # block/blk-mq.c; until 5.15 blk-core.c
    ("disk", r"Buffer I/O error on dev(?:ice)? DEVICE, logical block "),  # fs/buffer.c; fs/ext4/page-io.c
    ("disk", r"sd \d+:\d+:\d+:\d+: \[DEVICE\] "),  # drivers/scsi
    ("disk", r"virtio_blk virtio\d+: \[DEVICE\] "),  # drivers/block/virtio_blk.c
    ("disk", r"DEVICE: [^:]+\(0x[0-9a-f]+\) @ LBA \d+, "),  # drivers/nvme/host/core.c
    ("disk", r"md/(?:raid\d*|linear):?DEVICE: (?:Disk failure on )?DEVICE"),  # drivers/md/raid*.c, md-linear.c
    ("disk", r"device-mapper: [\w -]+: DEVICE: "),  # drivers/md/dm-*.c
    ("filesystem", r"EXT[234]-fs (?:error )?\((?:device )?DEVICE\)"),
    ("filesystem", r"JBD2: .* (?:for|on) DEVICE-\d+(?: is corrupt)?\.?$"),
    ("filesystem", r"Aborting journal on device DEVICE-\d+\.$"),  # fs/jbd2/journal.c
    ("filesystem", r"BTRFS:? \w+ \(device DEVICE[) ]"),
    ("filesystem", r"XFS \(DEVICE\): "),
    ("filesystem", r"DEVICE: writeback error on inode \d+, offset \d+, sector "),  # fs/iomap
    ("filesystem", r"bcachefs \(DEVICE[) ]"),
    ("filesystem", r"F2FS-fs \(DEVICE\): "),
    ("filesystem", r"NILFS (?:error )?\((?:device )?DEVICE\): "),
    ("filesystem", r"(?:ex)?FAT-fs \(DEVICE\): "),
    ("filesystem", r"ntfs3(?:: DEVICE|\(DEVICE\)): "),
    ("filesystem", r"NTFS-fs error \(device DEVICE\): "),
    ("filesystem", r"UDF-fs: error \(device DEVICE\): "),
    ("filesystem", r"ERROR: \(device DEVICE\): "),  # fs/jfs/super.c
    ("filesystem", r"VFS: Busy inodes after unmount of DEVICE[. ]"),  # fs/super.c
)
"""How errors begin in the kernel's log, Linux 5.10 to 6.18, and who writes them. No other line counts: those about
processes hold names that anybody may choose, such as that of a disk, but none begins like these."""
_FORMS = [(writer, re.compile(form.replace("DEVICE", r"([\w!.-]+)"))) for writer, form in FORMS]
MAXIMUM_LINES = 100
FS_INFO, UUID_AT = 0x8400941F, 16
"""BTRFS_IOC_FS_INFO and its field `fsid` (linux/btrfs.h)."""


class DiskErrors:
    """What the kernel has reported, since this was made, of disks and of the filesystem on them."""

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
        own = set(self._devices())
        disks, hosts = own.union(self._all), set(self._hosts)
        new = []
        for line, writer, names in self._errors():
            of_disk = names & (disks if writer == "disk" else hosts)
            about = [(names & own, self.lines), (of_disk, self._disk_lines)]
            kept = [lines for named, lines in about if named and len(lines) < MAXIMUM_LINES]
            for lines in kept:
                lines.append(line)
            if kept:
                new.append(line)
        return new

    def forget(self) -> None:
        """Another filesystem is on the devices from here on."""
        self.read()
        self.lines.clear()

    def note(self, counted: Mapping[str, int]) -> None:
        """What the filesystem has counted speaks of its disk where that did not do what it was asked to."""
        names = [name for name in OF_DISKS if counted.get(name)]
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

    def _errors(self) -> Iterator[tuple[str, Writer, set[str]]]:
        """New errors, who wrote them, and the devices they name. Records are `priority,sequence,time,flags;text`."""
        while self.log is not None:
            try:
                record = os.read(self.log, 8192).decode("utf-8", "backslashreplace")
            except BlockingIOError:
                break
            except BrokenPipeError:
                continue  # older records were overwritten; the next read goes on after them
            head, _, text = record.partition(";")
            line = text.partition("\n")[0]
            if int(head.split(",")[0]) > KERNEL_ERROR or NO_FAULT.search(line):
                continue
            for writer, form in _FORMS:
                if match := form.match(line):
                    yield line, writer, set(filter(None, match.groups()))
                    break

    def _counted(self) -> Iterator[tuple[str, int]]:
        for name in self._hosts:
            for counter, count in of_filesystem(name, self._tree).items():
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


def disks_of(descriptor: int) -> tuple[str, ...]:
    """Kernel names of the block devices that an open file's filesystem lies on; none where that is on no disk."""
    number = os.fstat(descriptor).st_dev
    if name := HERE.device_of(f"{os.major(number)}:{os.minor(number)}"):
        return (name,)
    with contextlib.suppress(OSError):  # only btrfs knows this request
        answer = fcntl.ioctl(descriptor, FS_INFO, bytes(1024))
        uuid = UUID(bytes=answer[UUID_AT : UUID_AT + 16])
        return HERE.names(f"/sys/fs/btrfs/{uuid}/devices")
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


def _grown(before: Iterable[tuple[str, int]], now: Iterable[tuple[str, int]]) -> list[str]:
    then = dict(before)
    return [f"{counter} grew by {count - then[counter]}" for counter, count in now if count > then.get(counter, count)]


def read_counters(volume: Volume, kinds: Sequence[str]) -> dict[str, int]:
    """Counters by name; Refusal where a kind is not on the list, or where the kernel writes something new."""
    counters: dict[str, int] = {}
    for kind in kinds:
        if kind not in (*KINDS, ZPOOL):
            raise Refusal("refused", f"no such counters: {kind!r:.40}")
        try:
            counters |= pools.counters(volume.pool) if kind == ZPOOL else KINDS[kind](volume.device.name, HERE)
        except ValueError as error:
            raise Refusal("failed", f"the kernel's counters cannot be read: {error}") from error
    return counters


def of_filesystem(device: str, tree: Tree = HERE) -> dict[str, int]:
    """Every counter of errors that the filesystem on a device keeps, whichever it is; warnings are none."""
    counters: dict[str, int] = {}
    for kind in KINDS.values():
        with contextlib.suppress(ValueError):
            counters |= kind(device, tree)
    return {name: count for name, count in counters.items() if name != WARNINGS}


def _ext4(device: str, tree: Tree) -> dict[str, int]:
    """kernel: Documentation/ABI/testing/sysfs-fs-ext4."""
    directory = f"/sys/fs/ext4/{device}"
    texts = {name: tree.text(f"{directory}/{name}") for name in ("errors_count", WARNINGS)}
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
