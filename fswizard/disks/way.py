"""Whether a run on images can do without root's rights, and why not."""

from __future__ import annotations

import configparser
import os
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from fswizard.disks.bus import Bus, BusError
from fswizard.disks.exact_commands import mount_options
from fswizard.language import _
from fswizard.model.filesystem import Candidate
from fswizard.model.plan import Target

FILESYSTEMS = frozenset({"ext2", "ext3", "ext4", "xfs", "btrfs", "f2fs", "exfat", "udf"})
"""What a user can make on a file of theirs such that they may write to it, and what udisks2 mounts by that name.

FAT32 is left out, as udisks2 always adds `flush`, and NTFS, as udisks2 chooses the driver.
"""
ALLOWED = frozenset({"noatime", "nodiratime", "relatime", "strictatime", "lazytime", "sync", "dirsync", "nodiscard"})
"""Mount options that udisks2 allows for what is on this list: data/builtin_mount_options.conf, udisks 2.9.0.

`discard` is left out: it would punch holes into the image."""
ALLOWED_FOR = {
    "btrfs": frozenset({
        "compress", "compress-force", "datacow", "nodatacow", "datasum", "nodatasum", "space_cache",
    }),
    "f2fs": frozenset({"compress_algorithm", "compress_log_size", "compress_extension", "alloc_mode"}),
    "xfs": frozenset({"inode32", "largeio", "wsync"}),
}  # fmt: skip
ALLOWED_LATER = {
    "ext3": ((2, 10, 90), frozenset({"commit"})),
    "ext4": ((2, 10, 90), frozenset({"commit"})),
    "f2fs": ((2, 10, 90), frozenset({"compress_chksum", "atgc", "gc_merge", "nogc_merge"})),
    "btrfs": ((2, 9, 3), frozenset({"autodefrag", "noautodefrag"})),
}
"""By filesystem, since which version of udisks2 it allows more (its NEWS)."""
CONFIGURATION = Path("/etc/udisks2/mount_options.conf")
"""Where an administrator may allow more, or less."""


def why_root(target: Target, candidates: Sequence[Candidate]) -> str:
    """Why a run on images needs root's rights, in a few words such as `data=writeback`; empty where it does not."""
    if os.geteuid() == 0:
        return _("root started fswizard")
    if len(target.members) > 1:
        return _("several images")
    for candidate in candidates:
        if reason := _reason(candidate):
            return reason
    return udisks()[1]


def _reason(candidate: Candidate) -> str:
    filesystem = candidate.filesystem
    if candidate.array:
        return candidate.array.layout.title
    if filesystem.name not in FILESYSTEMS:
        return filesystem.title
    allowed = allowed_options(filesystem.name)
    return next((option for option in mount_options(candidate) if option.partition("=")[0] not in allowed), "")


def allowed_options(filesystem: str) -> frozenset[str]:
    """Names of the mount options that udisks2 allows for a filesystem on this machine."""
    version, _reason = udisks()
    of_all, own = ALLOWED, ALLOWED_FOR.get(filesystem, frozenset())
    since, later = ALLOWED_LATER.get(filesystem, ((), frozenset()))
    own |= later if version >= since else frozenset()
    configured = _configured()
    of_all = configured.get("allow", of_all)
    return of_all | configured.get(f"{filesystem}_allow", own)


@cache
def _configured() -> dict[str, frozenset[str]]:
    """What the administrator allows instead: names of options by key."""
    parser = configparser.ConfigParser(interpolation=None, strict=False, default_section="")
    try:
        parser.read_string(CONFIGURATION.read_text())
        pairs = dict(parser["defaults"]) if parser.has_section("defaults") else {}
    except (OSError, ValueError, configparser.Error):
        return {}
    names = {key: frozenset(part.partition("=")[0] for part in text.split(",")) for key, text in pairs.items()}
    return {key: allowed - {"discard"} for key, allowed in names.items() if key.endswith("allow")}


@cache
def udisks() -> tuple[tuple[int, ...], str]:
    """Version of udisks2, and why it can't be used from here, in words; empty where it can."""
    try:
        bus = Bus()
    except BusError:
        return (), _("no D-Bus")
    try:
        version = bus.version()
        refused = bus.refused_action()
    except BusError:
        return (), _("udisks2 is not installed")
    finally:
        bus.close()
    if refused:
        return version, _("udisks2 serves the session at this machine's own screen alone")
    return version, ""
