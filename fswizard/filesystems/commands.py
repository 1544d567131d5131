"""The one maker of commands: plans show them with stand-ins, runs carry them out, reports offer them for copying.

Pure. Whether the words are allowed is checked where they come in, by `grammar`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fswizard.filesystems import mounting as grammar

Command = tuple[str, ...]
Commands = tuple[Command, ...]

MOUNT_ROOT = "/run/fswizard"
"""Everything is mounted below it."""
IMAGE, IMAGE_UNIT_BYTES = "IMAGE", 4 << 20
"""Placeholder for the nameless file of a scratch image, and the bytes of it that are written at a time."""
POOL_MARK = "fswizard:pool"
"""Property that every pool of ours carries from its making on, with its name as value: no other pool has it."""
POOL_OPTIONS = ("failmode=continue",)
POOL_PROPERTIES = ("mountpoint=legacy", "canmount=noauto", "setuid=off", "devices=off")
"""Nothing of a pool is mounted but by the run that made it."""
APART = ("-R", MOUNT_ROOT, "-o", "cachefile=none")
"""Not in the system's list of pools, and all its mountpoints lie below that directory, whoever mounts them."""
MISSING = "missing"
"""mdadm's word for a member that is left out (mdadm(8))."""
WITHOUT_CONFIGURATION = "--config=none"
"""After what says the mode, which mdadm takes as its first option only."""
DMSETUP = "dmsetup"
NILFS2, CLEANER = "nilfs2", "nilfs_cleanerd"
WITHOUT_CLEANER, PROTECTED = "nogc", "pp="
"""Options that mean the cleaner and not the kernel (mount.nilfs2(8))."""

RUN_NAME = re.compile(r"fswizard-[0-9a-f]{16}")
"""What a run calls a pool, an array or a volume of its own."""
LABELS: Mapping[str, tuple[str, int]] = {
    **dict.fromkeys(("ext2", "ext3", "ext4"), ("-L", 16)),
    "xfs": ("-L", 12), "btrfs": ("-L", 64), "f2fs": ("-l", 64), "nilfs2": ("-L", 64), "exfat": ("-L", 11),
    "fat32": ("-n", 11), "ntfs": ("-L", 32), "ntfs-3g": ("-L", 32), "udf": ("--label", 30),
    "bcachefs": ("-L", 32), "jfs": ("-L", 16),
}  # fmt: skip
"""By filesystem, the flag of its mkfs for the label, and how long that may be."""
WITHOUT_RESERVE = dict.fromkeys(("ext2", "ext3", "ext4"), ("-m", "0"))
"""By filesystem, what its mkfs gets on a disk for data: nothing is kept back for root (mke2fs(8))."""


@dataclass(frozen=True, slots=True)
class DeviceNames:
    """What commands call the devices they work on, and what is made of them."""

    devices: tuple[str, ...]
    """Paths of all devices."""
    device: str
    """Path of what a single filesystem is made on: the first device, or what is made of the devices."""
    name: str
    """Name of the pool, array or volume, and label of a btrfs on several devices."""
    uuid: str
    """UUID of the array, as mdadm writes it."""
    directory: str
    """Where it is mounted."""
    label: str = ""
    """Of a filesystem that is made to be kept."""


def make_image(size_bytes: int, length: str, image: str) -> Commands:
    """Programs that take an image's room, and write all of it.

    `length` is its size, as fallocate(1) reads it.
    """
    blocks = f"count={size_bytes // IMAGE_UNIT_BYTES}"
    fill = ("dd", "if=/dev/zero", f"of={image}", "bs=4M", blocks, "oflag=direct")
    return (("fallocate", "--length", length, image), fill)


def wipe(path: str) -> Command:
    """Take away every signature."""
    return ("wipefs", "--all", path)


def copy(source: str, path: str) -> Command:
    """Write one scratch image over another."""
    return ("dd", f"if={source}", f"of={path}", "bs=4M", "iflag=direct", "oflag=direct", "status=none")


def make(
    verb: str, names: DeviceNames, program: str = "", *, filesystem: str = "", arguments: Sequence[str] = (),
    level: str = "", chunk_kib: int = 0, bitmap: str = "", missing: int = 0, copied: bool = False, **how: Any,
) -> Commands:  # fmt: skip
    """The commands of a step of making a candidate (`Order`): its verb, and its fields.

    `program` is the mkfs of `filesystem`. What is made to be measured is marked as a run's own, and is without its
    last device where one is `missing`; a command to be `copied` has none of that.
    """
    if verb == "array":
        return (create_array(names, level, chunk_kib=chunk_kib, bitmap=bitmap, missing=missing, copied=copied),)
    if verb == "encrypt":
        return encrypt(names, **how, copied=copied)
    if filesystem == grammar.ZFS:
        return create_pool(names, arguments, level, missing=missing, copied=copied)
    if verb == "mkfs":
        kept = make_kept(filesystem, program, arguments, names.label, names.device) if copied else ()
        return (kept or (program, *arguments, names.device),)
    built = (program, *arguments, "-L", names.name, "-d", level, "-m", level, *names.devices)
    return (built, wipe(names.devices[-1])) if missing else (built,)


def mount(
    names: DeviceNames, mount_type: str, options: Sequence[str], uid: int, gid: int, *, further: Sequence[str] = ()
) -> Commands:
    """Mount a device, or a pool by its name, for a user; `further` options come from how it is spread.

    NILFS2's cleaner is started by us, to be sure that it ends.
    """
    options = (*options, *grammar.added_options(mount_type, uid, gid), *further)
    known = kernel_options(options) if mount_type == NILFS2 else options
    internal = () if mount_type in grammar.FUSE else ("--internal-only",)
    source = names.name if mount_type == grammar.ZFS else names.device
    words = ("-t", mount_type, "-o", ",".join(known), source, names.directory)
    command = ("mount", "--no-canonicalize", "--no-mtab", *internal, *words)
    if mount_type == grammar.ZFS:
        return (import_pool(source), command)
    return (command, *cleaner(options, source, names.directory)) if mount_type == NILFS2 else (command,)


def make_kept(filesystem: str, program: str, arguments: Sequence[str], label: str, *device: str) -> Command:
    """Make a filesystem for data that stays, with a label."""
    flag = LABELS[filesystem][0] if filesystem in LABELS else ""
    labelled = (f"{flag}={label}",) if flag.startswith("--") else (flag, label) if flag else ()
    reserve = () if "-m" in arguments else WITHOUT_RESERVE.get(filesystem, ())
    return (program, *arguments, *reserve, *labelled, *device)


def fstab_line(source: str, directory: str, mount_type: str, options: Sequence[str], fsck_pass: int) -> str:
    """A line of fstab(5)."""
    return "  ".join((source, directory, mount_type, ",".join(options) or "defaults", "0", str(fsck_pass)))


def umount(directory: str) -> Command:
    return ("umount", directory)


def attach(device: str, image: str) -> Command:
    """What does the same as a run, which makes loop devices itself."""
    return ("losetup", "--direct-io=on", device, image)


def btrfs_options(paths: Sequence[str], *, missing: bool) -> tuple[str, ...]:
    """What a btrfs over several devices is mounted with: where the further ones are, as no other is looked at."""
    left = paths[:-1] if missing else paths
    return (*(f"device={path}" for path in left[1:]), *(("degraded",) if missing else ()))


def kernel_options(options: Sequence[str]) -> tuple[str, ...]:
    """Those of a NILFS2 that are not meant for its cleaner."""
    return tuple(option for option in options if option != WITHOUT_CLEANER and not option.startswith(PROTECTED))


def cleaner(options: Sequence[str], device: str, directory: str) -> Commands:
    """Start NILFS2's cleaner, unless the options forbid it."""
    if WITHOUT_CLEANER in options or "ro" in options:
        return ()
    period = [option.removeprefix(PROTECTED) for option in options if option.startswith(PROTECTED)]
    return ((CLEANER, *(("-p", period[-1]) if period else ()), device, directory),)


def create_array(
    names: DeviceNames, level: str, *, chunk_kib: int, bitmap: str, missing: int = 0, copied: bool = False
) -> Command:
    """Make an array of md of all devices, or without the last one."""
    ours: Command = ()
    if not copied:
        # Without the first synchronisation, which would be measured along: nobody keeps anything on these devices.
        # In a command to be copied that would leave parity wrong.
        ours = (
            WITHOUT_CONFIGURATION, "--run", "--assume-clean", "--metadata=1.2",
            f"--name={names.name}", f"--uuid={names.uuid}",
        )  # fmt: skip
    chunk = (f"--chunk={chunk_kib}K",) if chunk_kib else ()
    there = (*names.devices[:-1], MISSING) if missing else names.devices
    return (
        "mdadm", "--create", f"/dev/md/{names.name}", *ours, f"--level={level}",
        f"--raid-devices={len(names.devices)}", *chunk, f"--bitmap={bitmap}", *there,
    )  # fmt: skip


def stop_array(array: str, paths: Sequence[str]) -> Commands:
    """Stop an array and have its members forget it."""
    forget = (("mdadm", "--zero-superblock", WITHOUT_CONFIGURATION, path) for path in paths)
    return (("mdadm", "--stop", WITHOUT_CONFIGURATION, array), *forget)


def encrypt(
    names: DeviceNames, *, cipher: str, key_bits: int, sector_bytes: int, workqueues: bool, discards: bool,
    copied: bool = False,
) -> Commands:  # fmt: skip
    """Make an encrypted volume on the device and open it by its name; each command asks for a passphrase.

    Those of a run read a random key instead. Nothing is gained there by making it costly to guess.
    """
    key: Command = () if copied else ("--batch-mode", "--key-file=-")
    ours: Command = () if copied else ("--pbkdf=pbkdf2", "--pbkdf-force-iterations=1000")
    bits = 256 if cipher == "adiantum" else key_bits
    sector = (f"--sector-size={sector_bytes}",) if sector_bytes else ()
    queues = () if workqueues else ("--perf-no_read_workqueue", "--perf-no_write_workqueue")
    device, cipher = names.devices[0], grammar.CIPHERS[cipher]
    format_words = ("--type=luks2", f"--cipher={cipher}", f"--key-size={bits}", *sector, *ours)
    open_words = (*queues, *(("--allow-discards",) if discards else ()))
    return (
        ("cryptsetup", "luksFormat", *key, *format_words, device),
        ("cryptsetup", "open", *key, *open_words, device, names.name),
    )


def volume_path(name: str) -> str:
    return f"/dev/mapper/{name}"


def close_volume(name: str) -> Command:
    return (DMSETUP, "remove", "--retry", name)


def crypttab_line(name: str, device: str, *, workqueues: bool, discards: bool) -> str:
    """A line of crypttab(5): the passphrase is asked for when the machine starts."""
    options = ["luks", *(() if workqueues else ("no-read-workqueue", "no-write-workqueue"))]
    return "  ".join((name, device, "none", ",".join((*options, *(("discard",) if discards else ())))))


def pool_directory(name: str) -> str:
    """Holds a pool's nodes and nothing else, so that import looks at no other device.

    The kernel opens it from outside the run's namespace. By its usual name OpenZFS would partition a disk.
    """
    return f"/dev/{name}"


def pool_nodes(name: str, count: int) -> tuple[str, ...]:
    """The node of each device that a pool lies on."""
    first = f"{pool_directory(name)}/disk"
    return (first, *(f"{first}-{number}" for number in range(2, count + 1)))


def create_pool(
    names: DeviceNames, arguments: Sequence[str], level: str = "", *, missing: int = 0, copied: bool = False
) -> Commands:
    """Make a pool, put its last device out of use where one shall be missing, and export it. Nothing is mounted.

    With a `level` it lies on all devices, a mirror on pairs of them; without, on the first.
    """
    count = len(names.devices) if level else 1
    nodes = names.devices[:count] if copied else pool_nodes(names.name, count)
    spread = nodes
    if level == "mirror":
        spread = tuple(word for pair in zip(nodes[::2], nodes[1::2]) for word in (level, *pair))
    elif level:
        spread = (level, *nodes)
    if copied:
        return (("zpool", "create", *arguments, names.name, *spread),)
    ours = [("-o", option) for option in POOL_OPTIONS]
    ours += [("-O", option) for option in (*POOL_PROPERTIES, f"{POOL_MARK}={names.name}")]
    options = [part for pair in ours for part in pair]
    create = ("zpool", "create", *APART, *options, *arguments, names.name, *spread)
    offline = (("zpool", "offline", names.name, nodes[-1]),) if missing else ()
    return (create, *offline, export_pool(names.name))


def import_pool(name: str) -> Command:
    """`-N` leaves all datasets unmounted."""
    return ("zpool", "import", "-N", *APART, "-d", pool_directory(name), name)


def export_pool(name: str) -> Command:
    return ("zpool", "export", name)
