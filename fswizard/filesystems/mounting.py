"""Differences between filesystems when root makes and mounts them."""

from __future__ import annotations

ZFS = "zfs"
CIPHERS = {"aes-xts-plain64": "aes-xts-plain64", "adiantum": "xchacha12,aes-adiantum-plain64"}
"""LUKS ciphers: name in candidates, and name for cryptsetup."""
LOCKING_PROGRAMS = frozenset({"mkfs.btrfs"})
"""Programs that wait for a lock on the disk (flock(2), LOCK_EX): mkfs.btrfs since btrfs-progs 6.7.1."""
NTFS = ("ntfs", "ntfs3", "ntfs-3g")
"""Names of NTFS, which one program makes and several drivers mount."""
OWNERLESS = ("exfat", "vfat", "ntfs3", "ntfs-3g")
"""Mount types without owners of files."""
FUSE = ("ntfs-3g",)
"""Mount types served by a program of that name."""
ALWAYS = ("nosuid", "nodev")
"""Options of every mount, so that a measured filesystem can't raise privileges."""
ON_ERROR = {
    **dict.fromkeys(("ext2", "ext3", "ext4", "nilfs2", "exfat", "vfat", "jfs"), "errors=remount-ro"),
    "bcachefs": "errors=ro",
}
"""Option against kernel panics on errors, which a superblock may request, by mount type. Others need none: xfs shuts
down, btrfs turns read-only, and f2fs, which has the option since Linux 6.5, continues."""


def added_options(mount_type: str, uid: int, gid: int) -> tuple[str, ...]:
    """Options added to the chosen ones for a mount type."""
    owner = (f"uid={uid}", f"gid={gid}") if mount_type in OWNERLESS else ()
    on_error = (ON_ERROR[mount_type],) if mount_type in ON_ERROR else ()
    return (*owner, *on_error, *ALWAYS)
