"""Which variants are worth a try on a drive, and why."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass, replace

from fswizard.errors import UsageError
from fswizard.filesystems.candidates import parse_candidate
from fswizard.filesystems.layouts import layouts, require_members
from fswizard.language import N_, _
from fswizard.model.drive import Drive


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A candidate that suits a drive."""

    candidate_name: str
    reason: str


_ON_SHINGLES = (
    Suggestion(
        "ext4:noatime,packed_meta_blocks",
        N_("Metadata in one place dirties fewer bands of a shingled disk (mke2fs(8); Aghayev et al., FAST'17)."),
    ),
    Suggestion(
        "btrfs:noatime,metadata=single",
        N_("Metadata is written once instead of twice; a damaged block then has no second copy."),
    ),
    Suggestion("xfs:noatime", N_("Large files in few extents; without access times, reading causes no random writes.")),
    Suggestion("ext4", N_("The default, to see what the options change.")),
)
_ON_FLASH = (
    Suggestion("ext4:noatime", N_("The usual choice; a weekly fstrim works better than the option discard.")),
    Suggestion("xfs:noatime", N_("Many parallel writers and large files.")),
    Suggestion(
        "btrfs:noatime,compress=zstd:1",
        N_("Light compression writes less, which spares an SSD and may even be faster."),
    ),
)
_ON_A_STICK = (
    Suggestion("ext4:noatime,lazytime", N_("Fewer small writes, where cheap flash is slowest.")),
    Suggestion("btrfs:noatime,compress=zstd:1", N_("Compression writes less; checksums notice when the flash fails.")),
    Suggestion("xfs:noatime", N_("Large files.")),
)
_ON_A_HARD_DISK = (
    Suggestion("ext4:noatime", N_("The usual choice; it can shrink later.")),
    Suggestion("xfs:noatime", N_("Few extents for large files, and quick checks on large disks.")),
)
_BRIDGED = Suggestion(
    "btrfs:noatime,compress=zstd:1,nossd",
    N_("Checksums notice a bad cable; `nossd` because bridges often make a hard disk look like an SSD."),
)
_LONG_KEPT = Suggestion(
    "btrfs:noatime,compress=zstd:1", N_("Checksums for files kept for years; compressed data means fewer reads.")
)


def suggestions(drive: Drive) -> tuple[Suggestion, ...]:
    """Candidates worth comparing on `drive`, the likeliest first; the reasons name their sources.

    Empty for a host-managed disk, on which nothing is measured: the advice of its verdict says what works there.
    """
    return tuple(replace(each, reason=_(each.reason)) for each in _suited(drive))


def _suited(drive: Drive) -> tuple[Suggestion, ...]:
    kind = drive.smr.kind
    if kind == "host-managed":
        return ()
    if kind in ("drive-managed", "host-aware"):
        return _ON_SHINGLES
    if drive.kind in ("ssd", "nvme"):
        return _ON_FLASH
    if drive.kind == "flash-card" or (drive.bus == "usb" and not drive.rotational):
        return _ON_A_STICK
    return (*_ON_A_HARD_DISK, _BRIDGED if drive.bus == "usb" else _LONG_KEPT)


def layout_candidates(named: Sequence[str], members: int) -> tuple[str, ...]:
    """Candidates for `members` disks: those of `named` that fit, or one disk alone and every layout.

    UsageError where `named` has something other than candidates.
    """
    # without layouts that store everything more than twice although there are disks for more room
    useful = [layout for layout in layouts().values() if layout.copies or members == 2]
    usual = [f"{layout.name}+ext4" if layout.program else layout.name for layout in useful]
    fitting = []
    for name in named or ("ext4", *usual):
        array = parse_candidate(name).array
        with contextlib.suppress(UsageError):
            require_members(name, array, members)
            fitting.append(name)
    return tuple(fitting)
