"""Decide whether a run on images needs root privileges, and why."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping, Sequence
from functools import cache

from fswizard.disks import rights
from fswizard.disks.bus import Bus, BusError, is_allowed, loops
from fswizard.disks.exact_commands import mount_options
from fswizard.disks.rights import State
from fswizard.errors import FswizardError
from fswizard.language import _
from fswizard.model.filesystem import Candidate
from fswizard.system import mounts
from fswizard.system.block_device import HERE

FILESYSTEMS = frozenset({"ext2", "ext3", "ext4", "xfs", "btrfs", "f2fs", "exfat", "udf"})
"""Filesystems that a user can make on a file with write access for themselves and that udisks2 mounts by that name.

FAT32 is excluded because udisks2 always adds `flush`, and NTFS because udisks2 chooses the driver.
"""
ALLOWED: Mapping[str, str] = {
    "": "noatime nodiratime relatime strictatime lazytime sync dirsync nodiscard",
    "btrfs": "compress compress-force datacow nodatacow datasum nodatasum space_cache autodefrag noautodefrag",
    "f2fs": "compress_algorithm compress_log_size compress_extension alloc_mode",
    "xfs": "inode32 largeio wsync",
}
"""Mount options that udisks2 allows, by filesystem (empty for all).

Source: NEWS of udisks2, and data/builtin_mount_options.conf of 2.9.4. `discard` is excluded, as it would punch holes
into the image.
"""
SINCE_2_10_90: Mapping[str, str] = {
    "ext3": "commit", "ext4": "commit", "f2fs": "compress_chksum atgc gc_merge nogc_merge",
}  # fmt: skip
"""Those that it allows in addition since that version."""


def why_root(candidates: Sequence[Candidate]) -> str:
    """Short reason why a run on an image needs root, such as `data=writeback`; empty if it does not."""
    if os.geteuid() == 0:
        return _("root started fswizard")
    for candidate in candidates:
        if candidate.array:
            return candidate.array.layout.title
        name = candidate.filesystem.name
        if name not in FILESYSTEMS:
            return candidate.filesystem.title
        if name == "btrfs" and _has_unreadable_mounts():
            return _("mkfs.btrfs can't read the file of a mounted loop device")
        allowed = allowed_options(name)
        for option in mount_options(candidate):
            if option.partition("=")[0] not in allowed:
                return option
    return udisks()[1]


def image_rights() -> State:
    """How scratch images are attached and mounted: by udisks2, or as root where it is unavailable."""
    return "udisks" if not udisks()[1] and os.geteuid() else rights.state()


def allowed_options(filesystem: str) -> frozenset[str]:
    """Names of the mount options that udisks2 allows here for a filesystem."""
    allowed = f"{ALLOWED['']} {ALLOWED.get(filesystem, '')}"
    if udisks()[0] >= (2, 10, 90):
        allowed += f" {SINCE_2_10_90.get(filesystem, '')}"
    return frozenset(allowed.split())


def _has_unreadable_mounts() -> bool:
    """Whether mkfs.btrfs would fail, as it examines the file of every mounted loop device."""
    mounted = {mount.device for mount in mounts.current()}
    unreadable = [name for name, file in loops().items() if not os.path.exists(file)]
    return any(HERE.text(f"/sys/block/{name}/dev") in mounted for name in unreadable)


@cache
def udisks() -> tuple[tuple[int, ...], str]:
    """Version of udisks2, and the reason why this process can't use it; empty if it can."""
    try:
        bus = Bus()
    except BusError:
        return (), _("no D-Bus")
    with contextlib.closing(bus), contextlib.suppress(FswizardError):
        version = bus.version()
        why_not = "" if is_allowed() else _("udisks2 serves the session at this machine's own screen alone")
        return version, why_not
    return (), _("udisks2 is not installed")
