"""What differs between filesystems where root makes and mounts them."""

from __future__ import annotations

ZFS = "zfs"
CIPHERS = {"aes-xts-plain64": "aes-xts-plain64", "adiantum": "xchacha12,aes-adiantum-plain64"}
"""Of LUKS, as people type them, and as cryptsetup does."""
LOCKING_PROGRAMS = frozenset({"mkfs.btrfs"})
"""Those that wait for a lock on the disk (flock(2), LOCK_EX): mkfs.btrfs from btrfs-progs 6.7.1 on."""
NTFS = ("ntfs", "ntfs3", "ntfs-3g")
"""One filesystem, made by one program and mounted by several drivers."""
OWNERLESS = ("exfat", "vfat", "ntfs3", "ntfs-3g")
FUSE = ("ntfs-3g",)
"""Mount types that are a program of that name."""
ALWAYS = ("nosuid", "nodev")
"""Nothing on a measured filesystem gives anybody more rights."""
ON_ERROR = {
    **dict.fromkeys(("ext2", "ext3", "ext4", "nilfs2", "exfat", "vfat", "jfs"), "errors=remount-ro"),
    "bcachefs": "errors=ro",
}
"""Said at every mount, as a superblock may ask for a kernel panic. The others have no such superblock: f2fs, which has
the option from Linux 6.5 on, carries on, xfs shuts the filesystem down, and btrfs turns read-only."""


def added_options(mount_type: str, uid: int, gid: int) -> tuple[str, ...]:
    """What every mount of that type gets besides the chosen options."""
    owner = (f"uid={uid}", f"gid={gid}") if mount_type in OWNERLESS else ()
    on_error = (ON_ERROR[mount_type],) if mount_type in ON_ERROR else ()
    return (*owner, *on_error, *ALWAYS)
