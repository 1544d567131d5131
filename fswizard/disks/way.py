"""Decide whether a run on images needs root privileges, and why."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping, Sequence
from functools import cache

from fswizard.disks import rights
from fswizard.disks.bus import Bus, is_allowed, loops
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

Source: data/builtin_mount_options.conf of udisks2 2.9.4; later versions allow more. `discard` is excluded, as it would
punch holes into the image.
"""


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
        if name == "btrfs" and _has_hidden_mounts():
            return _("mkfs.btrfs can't look at the file of a mounted loop device")
        allowed = f"{ALLOWED['']} {ALLOWED.get(name, '')}".split()
        for option in mount_options(candidate):
            if option.partition("=")[0] not in allowed:
                return option
    return why_no_udisks()


def image_rights() -> State:
    """How scratch images are attached and mounted: by udisks2, or as root where it is unavailable."""
    return "udisks" if not why_no_udisks() and os.geteuid() else rights.state()


def _has_hidden_mounts() -> bool:
    """Whether mkfs.btrfs would fail, as this user may not look at the file of a mounted loop device."""
    mounted = {mount.device for mount in mounts.current()}
    for name, file in loops().items():
        if HERE.text(f"/sys/block/{name}/dev") in mounted and not os.access(os.path.dirname(file), os.X_OK):
            return True
    return False


@cache
def why_no_udisks() -> str:
    """Reason why this process can't use udisks2; empty if it can."""
    with contextlib.suppress(FswizardError), contextlib.closing(Bus()) as bus:
        bus.activate()
        return "" if is_allowed() else _("udisks2 serves the session at this machine's own screen alone")
    return _("udisks2 does not run here")
