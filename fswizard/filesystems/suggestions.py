"""Candidates worth trying on a drive, and the reasons."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence

from fswizard.errors import UsageError
from fswizard.filesystems.candidates import parse_candidate
from fswizard.filesystems.layouts import layouts, require_members
from fswizard.language import N_
from fswizard.model.drive import Drive

_ON_SHINGLES = {
    "ext4:noatime,packed_meta_blocks": N_(
        "Metadata in one place dirties fewer bands of a shingled disk (mke2fs(8); Aghayev et al., FAST'17)."
    ),
    "btrfs:noatime,metadata=single": N_(
        "Metadata is written once instead of twice; a damaged block then has no second copy."
    ),
    "xfs:noatime": N_("Large files in few extents; without access times, reading causes no random writes."),
    "ext4": N_("The default, to see what the options change."),
}
_ON_FLASH = {
    "ext4:noatime": N_("The usual choice; a weekly fstrim works better than the option discard."),
    "xfs:noatime": N_("Many parallel writers and large files."),
    "btrfs:noatime,compress=zstd:1": N_("Light compression writes less, which spares an SSD and may even be faster."),
}
_ON_A_STICK = {
    "ext4:noatime,lazytime": N_("Fewer small writes, where cheap flash is slowest."),
    "btrfs:noatime,compress=zstd:1": N_("Compression writes less; checksums notice when the flash fails."),
    "xfs:noatime": N_("Large files."),
}
_ON_A_HARD_DISK = {
    "ext4:noatime": N_("The usual choice; it can shrink later."),
    "xfs:noatime": N_("Few extents for large files, and quick checks on large disks."),
}
_CHECKED = "btrfs:noatime,compress=zstd:1"
_BRIDGED = N_("Checksums notice a bad cable; `nossd` because bridges often make a hard disk look like an SSD.")
_LONG_TERM = N_("Checksums for files kept for years; compressed data means fewer reads.")


def suggestions(drive: Drive) -> Mapping[str, str]:
    """Candidates worth comparing on `drive`, the most promising first, with reasons and their sources.

    Empty for a host-managed disk, which can't be measured; its SMR verdict has advice.
    """
    kind = drive.smr.kind
    if kind == "host-managed":
        return {}
    if kind in ("drive-managed", "host-aware"):
        return _ON_SHINGLES
    if drive.kind in ("ssd", "nvme"):
        return _ON_FLASH
    if drive.kind == "flash-card" or (drive.bus == "usb" and not drive.rotational):
        return _ON_A_STICK
    if drive.bus == "usb":
        return {**_ON_A_HARD_DISK, f"{_CHECKED},nossd": _BRIDGED}
    return {**_ON_A_HARD_DISK, _CHECKED: _LONG_TERM}


def layout_candidates(named: Sequence[str], members: int) -> tuple[str, ...]:
    """Candidates for `members` disks: those of `named` that fit, or by default a single disk and every layout.

    Raises UsageError if `named` contains an invalid candidate.
    """
    # skip layouts with more than two copies, as more disks could add capacity instead
    useful = [layout for layout in layouts().values() if layout.copies or members == 2]
    usual = [f"{layout.name}+ext4" if layout.program else layout.name for layout in useful]
    fitting = []
    for name in named or ("ext4", *usual):
        array = parse_candidate(name).array
        with contextlib.suppress(UsageError):
            require_members(name, array, members)
            fitting.append(name)
    return tuple(fitting)
