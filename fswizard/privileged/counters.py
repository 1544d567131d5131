"""What filesystems count as errors of their own: a closed list of places, chosen by the catalogue."""

from __future__ import annotations

import contextlib
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

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


def read(volume: Volume, kinds: Sequence[str]) -> dict[str, int]:
    """Counters by name; Refusal where a kind is not on the list, or where the kernel writes something new."""
    found: dict[str, int] = {}
    for kind in kinds:
        if kind not in (*KINDS, ZPOOL):
            raise Refusal("refused", f"no such counters: {kind!r:.40}")
        try:
            found |= pools.counters(volume.pool) if kind == ZPOOL else KINDS[kind](volume.device.name, HERE)
        except ValueError as error:
            raise Refusal("failed", f"the kernel's counters cannot be read: {error}") from error
    return found


def of_filesystem(device: str, tree: Tree = HERE) -> dict[str, int]:
    """Every counter of errors that the filesystem on a device keeps, whichever it is; warnings are none."""
    found: dict[str, int] = {}
    for kind in KINDS.values():
        with contextlib.suppress(ValueError):
            found |= kind(device, tree)
    return {name: count for name, count in found.items() if name != WARNINGS}


def _ext4(device: str, tree: Tree) -> dict[str, int]:
    """kernel: Documentation/ABI/testing/sysfs-fs-ext4."""
    directory = f"/sys/fs/ext4/{device}"
    texts = {name: tree.text(f"{directory}/{name}") for name in ("errors_count", WARNINGS)}
    return {name: int(text) for name, text in texts.items() if text}


def _btrfs(device: str, tree: Tree) -> dict[str, int]:
    """As `btrfs device stats` shows them, of all its devices together."""
    found = Counter[str]()
    for uuid in tree.names("/sys/fs/btrfs"):
        if device in tree.names(f"/sys/fs/btrfs/{uuid}/devices"):
            for number in tree.names(f"/sys/fs/btrfs/{uuid}/devinfo"):
                lines = tree.lines(f"/sys/fs/btrfs/{uuid}/devinfo/{number}/error_stats")
                found.update({name: int(count) for name, count in map(str.split, filter(None, lines))})
    return found


def _f2fs(device: str, tree: Tree) -> dict[str, int]:
    status = tree.text(f"/sys/fs/f2fs/{device}/stat/cp_status")
    if not status:
        return {}
    bits = int(status, 16)
    return {"checkpoint_error": int(bool(bits & CP_ERROR)), "needs_fsck": int(bool(bits & CP_FSCK))}


def _bcachefs(device: str, tree: Tree) -> dict[str, int]:
    """Of reads, writes and checksums since it was made."""
    found: dict[str, int] = {}
    for uuid in tree.names("/sys/fs/bcachefs"):
        for member in tree.names(f"/sys/fs/bcachefs/{uuid}"):
            directory = f"/sys/fs/bcachefs/{uuid}/{member}"
            if member.startswith("dev-") and tree.real(f"{directory}/block").endswith(f"/{device}"):
                since_made = tree.text(f"{directory}/io_errors").rpartition("IO errors since")[0]
                pairs = re.findall(r"(\w+):\s*(\d+)", since_made)
                found |= {f"{name}_errors": int(count) for name, count in pairs}
    return found


KINDS: Mapping[str, Callable[[str, Tree], dict[str, int]]] = {
    "ext4-sysfs": _ext4,
    "btrfs-sysfs": _btrfs,
    "f2fs-sysfs": _f2fs,
    "bcachefs-sysfs": _bcachefs,
}
ZPOOL = "zpool-status"
