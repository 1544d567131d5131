"""What a verdict means for the choice of a filesystem."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from fswizard.drives.models import shipped_table
from fswizard.model.drive import Drive, SmrVerdict

ASSUMED_CACHE_BYTES = 20_000_000_000
"""Persistent cache of a drive-managed disk where its size is not known: that of the Archive family, as measured."""


@dataclass(frozen=True, slots=True)
class FormattingAdvice:
    """How to make a filesystem for a shingled disk, or how to use it there."""

    filesystem: str
    """As in the catalogue; `any` for advice on whatever lies on the disk."""
    options: str
    """Options of mkfs or mount; empty where there are none to add."""
    reason: str
    source: str
    discourages: bool = False
    """The filesystem works there, but the user should think twice."""


_DRIVE_MANAGED = (
    FormattingAdvice(
        "ext4",
        "-E packed_meta_blocks=1,lazy_itable_init=0",
        "Metadata at the start of the disk: spread over thousands of block groups it dirties as many bands.",
        "mke2fs(8); Aghayev et al., FAST 2017",
    ),
    FormattingAdvice(
        "btrfs",
        "-m single",
        "Ordinary mode writes mostly in order; one copy of the metadata halves the scattered writes. "
        "Its zoned mode is for host-managed disks and does not help here.",
        "zonedstorage.io",
    ),
    FormattingAdvice(
        "zfs",
        "",
        "Resilvering writes at random for hours: such disks have timed out and dropped out of the pool.",
        "https://github.com/openzfs/zfs/issues/10214",
        discourages=True,
    ),
    FormattingAdvice(
        "nilfs2",
        "",
        "Quick as long as its cleaner need not run; leave a good part of it empty.",
        "filebench runs on an ST8000AS0002, published with this program",
    ),
    FormattingAdvice(
        "any",
        "noatime",
        "A timestamp for every file that is read took a copy from 80 MB/s down to 3 to 5.",
        "rsync from an ST8000AS0002, published with this program",
    ),
    FormattingAdvice(
        "any",
        "",
        "Copy whole file systems as an image in large blocks (`dd bs=32M`), then grow them.",
        "filebench runs on an ST8000AS0002, published with this program",
    ),
)
_HOST_MANAGED = (
    FormattingAdvice("f2fs", "-m", "Made for zones; it needs a small conventional area.", "https://zonedstorage.io"),
    FormattingAdvice("btrfs", "-O zoned", "Zoned mode, from Linux 5.12.", "https://zonedstorage.io"),
    FormattingAdvice("xfs", "", "Zoned mode, from Linux 6.15, experimental.", "https://zonedstorage.io"),
)
_NEEDS_RANDOM_WRITES = "It writes where it likes, and a host-managed disk takes writes only at the end of a zone."
_NOT_FOR_ZONES = ("ext2", "ext3", "ext4", "nilfs2", "jfs", "exfat", "vfat", "ntfs", "udf", "zfs", "bcachefs")


def formatting_advice(verdict: SmrVerdict) -> tuple[FormattingAdvice, ...]:
    """What to do differently on a disk with this verdict; nothing where it is not known to be shingled."""
    if verdict.kind in ("drive-managed", "host-aware"):
        return _DRIVE_MANAGED
    return _HOST_MANAGED if verdict.kind == "host-managed" else ()


def unsuitable(verdict: SmrVerdict) -> Mapping[str, str]:
    """Filesystems that cannot be made on a disk with this verdict, and why."""
    return dict.fromkeys(_NOT_FOR_ZONES, _NEEDS_RANDOM_WRITES) if verdict.kind == "host-managed" else {}


def persistent_cache_bytes(drive: Drive) -> int:
    """Size of the cache that takes a shingled disk's random writes, known or assumed; 0 for other disks."""
    if drive.smr.kind not in ("drive-managed", "host-aware"):
        return 0
    known = (row.cache_bytes for row in shipped_table().find(drive.model) if row.cache_bytes)
    return next(known, ASSUMED_CACHE_BYTES)
