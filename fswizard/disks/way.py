"""Whether a run on images can do without root's rights, and why not."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping, Sequence
from functools import cache

from fswizard.disks.bus import Bus, BusError
from fswizard.disks.exact_commands import mount_options
from fswizard.language import _
from fswizard.model.filesystem import Candidate
from fswizard.model.plan import Target

FILESYSTEMS = frozenset({"ext2", "ext3", "ext4", "xfs", "btrfs", "f2fs", "exfat", "udf"})
"""What a user can make on a file of theirs such that they may write to it, and what udisks2 mounts by that name.

FAT32 is left out, as udisks2 always adds `flush`, and NTFS, as udisks2 chooses the driver.
"""
ALLOWED: Mapping[str, Mapping[tuple[int, ...], str]] = {
    "": {(): "noatime nodiratime relatime strictatime lazytime sync dirsync nodiscard"},
    "btrfs": {
        (): "compress compress-force datacow nodatacow datasum nodatasum space_cache",
        (2, 9, 3): "autodefrag noautodefrag",
    },
    "ext3": {(2, 10, 90): "commit"},
    "ext4": {(2, 10, 90): "commit"},
    "f2fs": {
        (): "compress_algorithm compress_log_size compress_extension alloc_mode",
        (2, 10, 90): "compress_chksum atgc gc_merge nogc_merge",
    },
    "xfs": {(): "inode32 largeio wsync"},
}
"""Mount options that udisks2 allows for every filesystem and for some, by the version from which on it does: its NEWS,
and data/builtin_mount_options.conf in 2.9.0.

`discard` is left out: it would punch holes into the image."""


def why_root(target: Target, candidates: Sequence[Candidate]) -> str:
    """Why a run on images needs root's rights, in a few words such as `data=writeback`; empty where it does not."""
    if os.geteuid() == 0:
        return _("root started fswizard")
    if len(target.members) > 1:
        return _("several images")
    for candidate in candidates:
        if candidate.array:
            return candidate.array.layout.title
        name = candidate.filesystem.name
        if name not in FILESYSTEMS:
            return candidate.filesystem.title
        allowed = allowed_options(name)
        for option in mount_options(candidate):
            if option.partition("=")[0] not in allowed:
                return option
    return udisks()[1]


def allowed_options(filesystem: str) -> frozenset[str]:
    """Names of the mount options that udisks2 allows for a filesystem on this machine."""
    allowed: list[str] = []
    for kind in ("", filesystem):
        for since, names in ALLOWED.get(kind, {}).items():
            if udisks()[0] >= since:
                allowed += names.split()
    return frozenset(allowed)


@cache
def udisks() -> tuple[tuple[int, ...], str]:
    """Version of udisks2, and why it can't be used from here, in words; empty where it can."""
    try:
        bus = Bus()
    except BusError:
        return (), _("no D-Bus")
    with contextlib.closing(bus), contextlib.suppress(BusError):
        version = bus.version()
        why_not = "" if bus.is_allowed() else _("udisks2 serves the session at this machine's own screen alone")
        return version, why_not
    return (), _("udisks2 is not installed")
