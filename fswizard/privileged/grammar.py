"""Which arguments mkfs and mount may get: what is not listed is refused.

Left out on purpose: whatever names a file, a directory or a second device (`-d`, `-J device=`, `logdev=`,
`--rootdir`), whatever makes the filesystem one that somebody expects (labels, UUIDs), and whatever can bring the
machine down (`errors=panic`). From the manual pages of
e2fsprogs 1.47, xfsprogs 6.1, btrfs-progs 6.2, f2fs-tools 1.15, nilfs-utils 2.2, exfatprogs 1.2, dosfstools 4.2,
ntfs-3g 2022.10, jfsutils 1.1, udftools 2.3, bcachefs-tools 1.3, OpenZFS 2.3, and the kernel's
Documentation/filesystems.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from fswizard.privileged.refusal import Refusal

BARE = ""
NUMBER = r"\d{1,12}"
SIZE = r"\d{1,12}[bskmgtKMGT]?"
SWITCH = r"(=[01])?"
PROFILE = "single|dup"
ZFS = "zfs"
"""Made and mounted in a way of its own, by `zpool`."""


def _features(*names: str) -> str:
    return rf"\^?({'|'.join(map(re.escape, names))})"


@dataclass(frozen=True, slots=True)
class Mkfs:
    """A mkfs program, its flags, and per flag what each comma-separated part of its value must match whole."""

    program: str
    flags: Mapping[str, str]


EXT_FLAGS = {
    **dict.fromkeys(("-q", "-F", "-v", "-j", "-D"), BARE),
    "-E": rf"(lazy_itable_init|lazy_journal_init|packed_meta_blocks|assume_storage_prezeroed){SWITCH}"
    rf"|nodiscard|discard|quotatype=\w+(:\w+)*|(stride|stripe_width|stripe-width|num_backup_sb|resize"
    rf"|mmp_update_interval|desc_size|orphan_file_size)={SIZE}",
    "-O": "none|"
    + _features(
        "64bit", "bigalloc", "casefold", "dir_index", "dir_nlink", "ea_inode", "ext_attr", "extent",
        "extents", "extra_isize", "fast_commit", "filetype", "flex_bg", "has_journal", "huge_file", "inline_data",
        "large_dir", "large_file", "meta_bg", "metadata_csum", "metadata_csum_seed", "mmp", "orphan_file", "project",
        "quota", "resize_inode", "sparse_super", "sparse_super2", "stable_inodes", "uninit_bg", "verity",
    ),
    "-J": rf"(size|fast_commit_size)={NUMBER}",
    "-m": r"\d{1,2}(\.\d{1,4})?",
    "-T": r"[a-z0-9]{1,20}",
    **dict.fromkeys(("-b", "-C", "-g", "-G", "-i", "-I", "-N"), SIZE),
}  # fmt: skip

XFS_FLAGS = {
    **dict.fromkeys(("-q", "-f", "-K"), BARE),
    "-b": rf"size={SIZE}",
    "-m": r"(crc|finobt|inobtcount|rmapbt|reflink|bigtime|autofsck|metadir)=[01]",
    "-d": rf"(agcount|agsize|cowextsize|extszinherit|sunit|su|swidth|sw|concurrency|size)={SIZE}|noalign",
    "-i": rf"(size|perblock|maxpct|attr)={SIZE}|(align|projid32bit|sparse|nrext64|exchange){SWITCH}",
    "-l": rf"(size|agnum|version|sunit|su|concurrency)={SIZE}|internal{SWITCH}|lazy-count=[01]",
    "-n": rf"size={SIZE}|version=(2|ci)|(ftype|parent)=[01]",
    "-s": rf"size={SIZE}",
}

BTRFS_FLAGS = {
    **dict.fromkeys(("-q", "-f", "-K", "-M", "-v", "--mixed", "--nodiscard", "--force", "--quiet"), BARE),
    **dict.fromkeys(("-d", "-m", "--data", "--metadata"), PROFILE),
    **dict.fromkeys(("-n", "-s", "--nodesize", "--sectorsize"), SIZE),
    **dict.fromkeys(("-O", "-R", "--features", "--runtime-features"), _features(
        "block-group-tree", "extref", "free-space-tree", "mixed-bg", "no-holes", "quota", "raid1c34", "skinny-metadata",
        "squota",
    )),
    **dict.fromkeys(("--csum", "--checksum"), "crc32c|xxhash|sha256|blake2"),
}  # fmt: skip

F2FS_FLAGS = {
    **dict.fromkeys(("-f", "-i", "-q", "-r"), BARE),
    "-a": "[01]",
    "-o": r"\d{1,2}(\.\d{1,4})?",
    "-O": "extra_attr|project_quota|inode_checksum|flexible_inline_xattr|quota|inode_crtime|lost_found|verity"
    "|sb_checksum|casefold|compression",
    "-C": r"utf8(:strict)?",
    "-t": "0|1|nodiscard|discard",
    **dict.fromkeys(("-s", "-w", "-z"), NUMBER),
}

NILFS_FLAGS = {
    **dict.fromkeys(("-f", "-K", "-q", "-v"), BARE),
    "-O": "none|" + _features("block_count"),
    **dict.fromkeys(("-b", "-B", "-m"), NUMBER),
}

NTFS_FLAGS = {**dict.fromkeys(("-f", "-Q", "-F", "-q", "-I", "-C"), BARE), "-c": NUMBER}

UDF_FLAGS = dict.fromkeys(
    (
        "--media-type=hd", "--bootarea=erase", *(f"--blocksize={size}" for size in (512, 2048, 4096)),
        *(f"--udfrev={revision}" for revision in ("1.02", "1.50", "2.01", "2.50", "2.60")),
    ),
    BARE,
)  # fmt: skip

BCACHEFS_FLAGS = dict.fromkeys(
    ("-f", "-q", "--block_size=4k", *(f"--compression={how}" for how in ("none", "lz4", "gzip", "zstd")),
     *(f"--data_checksum={how}" for how in ("none", "crc32c", "crc64", "xxhash"))),
    BARE,
)  # fmt: skip

ZFS_PROPERTIES = "|".join(
    (
        "compression=(on|off|lz4|lzjb|zle|zstd(-fast)?(-\\d{1,4})?|gzip(-[1-9])?)",
        "recordsize=\\d{1,6}[kKmM]?",
        "(atime|relatime)=(on|off)",
        "checksum=(on|off|fletcher2|fletcher4|sha256|sha512|skein|edonr|blake3)",
        "xattr=(sa|dir|on|off)",
        "sync=(standard|always|disabled)",
        "logbias=(latency|throughput)",
        "primarycache=(all|none|metadata)",
        "copies=[123]",
        "dedup=(on|off)",
        "redundant_metadata=(all|most|some|none)",
        "dnodesize=(legacy|auto|1k|2k|4k|8k|16k)",
        "direct=(disabled|standard|always)",
        "casesensitivity=(sensitive|insensitive|mixed)",
    )
)
ZFS_FLAGS = {"-o": "ashift=(9|1[0-6])", "-O": ZFS_PROPERTIES}
"""Arguments of `zpool create` before the pool's name."""

MKFS = {
    **{name: Mkfs(f"mkfs.{name}", EXT_FLAGS) for name in ("ext2", "ext3", "ext4")},
    "xfs": Mkfs("mkfs.xfs", XFS_FLAGS),
    "btrfs": Mkfs("mkfs.btrfs", BTRFS_FLAGS),
    "f2fs": Mkfs("mkfs.f2fs", F2FS_FLAGS),
    "nilfs2": Mkfs("mkfs.nilfs2", NILFS_FLAGS),
    "exfat": Mkfs("mkfs.exfat", {"-q": BARE, "-v": BARE, "-c": SIZE, "-b": SIZE}),
    "fat32": Mkfs("mkfs.vfat", {"-F": "32", "-I": BARE, "-s": "1|2|4|8|16|32|64|128"}),
    "ntfs": Mkfs("mkfs.ntfs", NTFS_FLAGS),
    "ntfs-3g": Mkfs("mkfs.ntfs", NTFS_FLAGS),
    "udf": Mkfs("mkudffs", UDF_FLAGS),
    "bcachefs": Mkfs("mkfs.bcachefs", BCACHEFS_FLAGS),
    ZFS: Mkfs("zpool", ZFS_FLAGS),
    "jfs": Mkfs("mkfs.jfs", {"-q": BARE, "-O": BARE, "-s": NUMBER}),
}

CIPHERS = {"aes-xts-plain64": "aes-xts-plain64", "adiantum": "xchacha12,aes-adiantum-plain64"}
"""Of LUKS, as people type them, and as cryptsetup does."""

LOCKING_PROGRAMS = frozenset({"mkfs.btrfs"})
"""Those that wait for a lock on the disk (flock(2), LOCK_EX): mkfs.btrfs from btrfs-progs 6.7.1 on."""

GENERIC_OPTIONS = (
    "noatime|relatime|norelatime|strictatime|nodiratime|lazytime|nolazytime|sync|async|dirsync|ro|rw|defaults"
)
EXT_OPTIONS = (
    "discard|nodiscard|delalloc|nodelalloc|barrier(=[01])?|nobarrier|journal_checksum|nojournal_checksum"
    "|journal_async_commit|auto_da_alloc(=[01])?|noauto_da_alloc|dioread_lock|dioread_nolock|block_validity"
    "|noblock_validity|init_itable(=\\d{1,6})?|noinit_itable|user_xattr|nouser_xattr|acl|noacl|i_version|nombcache"
    "|data=(ordered|journal|writeback)|data_err=(ignore|abort)|errors=remount-ro|journal_ioprio=[0-7]"
    "|(commit|stripe|inode_readahead_blks|max_batch_time|min_batch_time|max_dir_size_kb|mb_optimize_scan)=\\d{1,9}"
)
MOUNT_OPTIONS = {
    **dict.fromkeys(("ext2", "ext3", "ext4"), EXT_OPTIONS),
    "xfs": "allocsize=\\d{1,7}[kmg]|logbsize=\\d{1,6}k?|logbufs=[2-8]|inode32|inode64|largeio|nolargeio|swalloc|noalign"
    "|discard|nodiscard|ikeep|noikeep|attr2|noattr2|filestreams|wsync|norecovery|lifetime|nolifetime"
    "|(sunit|swidth)=\\d{1,9}",
    "btrfs": "(compress|compress-force)(=(no|lzo|zlib(:[1-9])?|zstd(:-?\\d{1,2})?))?|ssd|nossd|ssd_spread|nossd_spread"
    "|autodefrag|noautodefrag|discard(=(async|sync))?|nodiscard|space_cache(=v[12])?|nospace_cache|clear_cache"
    "|datacow|nodatacow|datasum|nodatasum|barrier|nobarrier|flushoncommit|noflushoncommit|treelog|notreelog|acl|noacl"
    "|(commit|metadata_ratio|thread_pool)=\\d{1,5}|max_inline=\\d{1,7}[kK]?",
    "f2fs": "active_logs=[246]|background_gc=(on|off|sync)|gc_merge|nogc_merge|discard|nodiscard|inline_data"
    "|noinline_data|inline_dentry|noinline_dentry|inline_xattr|noinline_xattr|flush_merge|noflush_merge|nobarrier"
    "|barrier|extent_cache|noextent_cache|data_flush|mode=(adaptive|lfs)|fsync_mode=(posix|strict|nobarrier)"
    "|alloc_mode=(default|reuse)|checkpoint_merge|nocheckpoint_merge|atgc|age_extent_cache|lazytime|nolazytime"
    "|compress_algorithm=(lzo|lz4|zstd|lzo-rle)(:\\d{1,2})?|compress_chksum|compress_mode=(fs|user)|compress_cache"
    "|compress_extension=[a-z0-9*]{1,8}|compress_log_size=\\d|discard_unit=(block|segment|section)",
    "nilfs2": "barrier|nobarrier|discard|nodiscard|order=(relaxed|strict)|norecovery|errors=remount-ro"
    "|pp=\\d{1,6}|nogc",
    "exfat": "discard|iocharset=utf8|errors=remount-ro|time_offset=-?\\d{1,4}",
    "vfat": "discard|flush|iocharset=(utf8|iso8859-1)|utf8|codepage=\\d{1,4}|shortname=(lower|win95|winnt|mixed)"
    "|errors=remount-ro|tz=UTC|showexec|quiet",
    "ntfs3": "discard|sparse|prealloc|noacsrules|acl|iocharset=utf8|nohidden|windows_names",
    "ntfs-3g": "big_writes|compression|nocompression|windows_names|permissions|lazytime|no_def_opts|noauto",
    "udf": "nostrict|noadinicb|adinicb|longad|shortad",
    "bcachefs": "discard|nodiscard|(compression|background_compression)=(none|lz4|gzip|zstd)(:\\d{1,2})?",
    "jfs": "discard(=\\d{1,9})?|nodiscard|integrity|nointegrity|errors=remount-ro",
}
"""By mount type. Ownership of filesystems that know no owners is added at the mount."""
NTFS = ("ntfs", "ntfs3", "ntfs-3g")
"""One filesystem, made by one program and mounted by several drivers."""
VFAT = {"fat32": "vfat"}
"""Made under a name that the kernel does not call it by."""
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


def require_mkfs(filesystem: str, arguments: Sequence[str]) -> str:
    """The program that takes the `arguments`; Refusal where anything is not on the list."""
    if filesystem not in MKFS:
        raise Refusal("refused", f"no such filesystem: {filesystem!r:.40}")
    mkfs = MKFS[filesystem]
    rest = list(arguments)
    while rest:
        flag = rest.pop(0)
        if flag not in mkfs.flags:
            raise Refusal("refused", f"{mkfs.program}: {flag!r:.40} is not allowed")
        pattern = mkfs.flags[flag]
        if pattern == BARE:
            continue
        value = rest.pop(0) if rest else ""
        for part in value.split(","):
            if not re.fullmatch(pattern, part, re.ASCII):
                raise Refusal("refused", f"{mkfs.program} {flag}: {part!r:.60} is not allowed")
    return mkfs.program


def require_mount(mount_type: str, options: Sequence[str]) -> None:
    """Refusal where any option is not on the list."""
    if mount_type == ZFS and not options:
        return
    if mount_type not in MOUNT_OPTIONS:
        raise Refusal("refused", f"no such filesystem: {mount_type!r:.40}")
    for option in options:
        if not re.fullmatch(f"{GENERIC_OPTIONS}|{MOUNT_OPTIONS[mount_type]}", option, re.ASCII):
            raise Refusal("refused", f"mount -t {mount_type} -o: {option!r:.60} is not allowed")


def added_options(mount_type: str, uid: int, gid: int) -> tuple[str, ...]:
    """What every mount of that type gets besides the chosen options."""
    owner = (f"uid={uid}", f"gid={gid}") if mount_type in OWNERLESS else ()
    on_error = (ON_ERROR[mount_type],) if mount_type in ON_ERROR else ()
    return (*owner, *on_error, *ALWAYS)


def mount_types(made: str) -> tuple[str, ...]:
    """As what a filesystem may be mounted that was made as `made`."""
    return NTFS if made in NTFS else (VFAT.get(made, made),)
