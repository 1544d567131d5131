"""Build the commands that make and mount candidates, without side effects.

Plans list them with placeholders, runs execute them, and reports offer them for copying. A run as root passes only
candidates from the catalogue.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from fswizard.filesystems import mounting as grammar
from fswizard.model.filesystem import Candidate
from fswizard.model.layout import Array

Command = tuple[str, ...]
Commands = tuple[Command, ...]

MOUNT_ROOT = "/run/fswizard"
"""Parent directory of all mount points of runs."""
IMAGE, IMAGE_UNIT_BYTES = "IMAGE", 4 << 20
"""Placeholder for the unlinked file of a scratch image, and the block size for writing it."""
POOL_MARK = "fswizard:pool"
"""Property that identifies pools of runs; its value is the name of the pool."""
POOL_PROPERTIES = ("mountpoint=legacy", "canmount=noauto", "setuid=off", "devices=off")
"""Dataset properties, so that only the run that made a pool mounts it."""
POOL_OPTIONS = ("-R", MOUNT_ROOT, "-o", "cachefile=none")
"""Options that keep a pool out of the system's cache file and all its mount points below `MOUNT_ROOT`."""
WITHOUT_CONFIGURATION = "--config=none"
"""Must follow the mode, which mdadm accepts only as the first option."""
NILFS2, CLEANER = "nilfs2", "nilfs_cleanerd"
WITHOUT_CLEANER, PROTECTED = "nogc", "pp="
"""Mount options for the cleaner, which the kernel does not accept (mount.nilfs2(8))."""

RUN_NAME = re.compile(r"fswizard-[0-9a-f]{16}")
"""Name that a run gives to a pool, array or volume."""
LABELS: Mapping[str, tuple[str, int]] = {
    **dict.fromkeys(("ext2", "ext3", "ext4"), ("-L", 16)),
    "xfs": ("-L", 12), "btrfs": ("-L", 64), "f2fs": ("-l", 64), "nilfs2": ("-L", 64), "exfat": ("-L", 11),
    "fat32": ("-n", 11), "ntfs": ("-L", 32), "ntfs-3g": ("-L", 32), "udf": ("--label", 30),
    "bcachefs": ("-L", 32), "jfs": ("-L", 16),
}  # fmt: skip
"""Label option of mkfs and maximum length of the label, by filesystem."""
WITHOUT_RESERVE = dict.fromkeys(("ext2", "ext3", "ext4"), ("-m", "0"))
"""Options of mkfs that reserve no space for root on a data disk, by filesystem (mke2fs(8))."""


@dataclass(frozen=True, slots=True)
class DeviceNames:
    """Names and paths that are inserted into commands."""

    devices: tuple[str, ...]
    """Paths of all devices."""
    device: str
    """Path of the device for a filesystem on a single one: the first device, or the array or volume."""
    name: str
    """Name of the pool, array or volume, and label of a btrfs on several devices."""
    uuid: str
    """UUID of the array, as mdadm writes it."""
    directory: str
    """Mount point."""
    label: str = ""
    """Label of a filesystem for permanent use."""


def wipe(path: str) -> Command:
    """Erase all signatures of a device."""
    return ("wipefs", "--all", path)


def copy(source: str, path: str) -> Command:
    """Copy one scratch image over another."""
    return ("dd", f"if={source}", f"of={path}", "bs=4M", "iflag=direct", "oflag=direct", "status=none")


def make_below(candidate: Candidate, names: DeviceNames, *, copied: bool = False) -> Commands:
    """Commands that make the array or volume below a candidate; empty if it has none.

    For a measurement, it is marked as made by a run; with `copied`, for commands that users copy, it is not. The same
    applies to `make`.
    """
    array = candidate.below
    if array is None:
        return ()
    return encrypt(names, array, copied) if array.layout.alone else (create_array(names, array, copied),)


def make(candidate: Candidate, names: DeviceNames, *, copied: bool = False) -> Commands:
    """Commands that make the filesystem of a candidate, after those of `make_below`."""
    filesystem, array = candidate.filesystem, candidate.array
    arguments = candidate.mkfs_arguments(scratch=not copied)
    if filesystem.pool:
        return create_pool(names, arguments, array, copied)
    if array and not candidate.below:
        level = array.layout.level
        profile = ("-L", names.name, "-d", level, "-m", level, *names.devices)
        return ((filesystem.mkfs_program, *arguments, *profile),)
    if copied:
        return (make_permanent(candidate, names.label, names.device),)
    return ((filesystem.mkfs_program, *arguments, names.device),)


def mount(candidate: Candidate, names: DeviceNames, uid: int, gid: int) -> Commands:
    """Commands that mount a candidate for a user, as root. NILFS2's cleaner is started separately, so that it ends."""
    mount_type, chosen = candidate.filesystem.mount_type, candidate.scratch_mount_options
    options = [*chosen, *grammar.added_options(mount_type, uid, gid)]
    source = names.device
    before: Commands = ()
    after: Commands = ()
    if candidate.filesystem.pool:
        source = names.name
        # -N mounts no dataset
        before = (("zpool", "import", "-N", *POOL_OPTIONS, "-d", pool_directory(source), source),)
    elif candidate.array and not candidate.below:
        # With its devices listed, btrfs scans no others.
        options += [f"device={path}" for path in names.devices[1:]]
    elif mount_type == NILFS2:
        period = [option.removeprefix(PROTECTED) for option in chosen if option.startswith(PROTECTED)]
        if WITHOUT_CLEANER not in chosen and "ro" not in chosen:
            after = ((CLEANER, *(("-p", period[-1]) if period else ()), source, names.directory),)
        options = [option for option in options if option != WITHOUT_CLEANER and not option.startswith(PROTECTED)]
    internal = () if mount_type in grammar.FUSE else ("--internal-only",)
    arguments = ("-t", mount_type, "-o", ",".join(options), source, names.directory)
    return (*before, ("mount", "--no-canonicalize", "--no-mtab", *internal, *arguments), *after)


def make_permanent(candidate: Candidate, label: str, *device: str) -> Command:
    """Make a filesystem for permanent data, with a label."""
    filesystem, arguments = candidate.filesystem, candidate.mkfs_arguments(scratch=False)
    flag, _ = LABELS.get(filesystem.name, ("", 0))
    labelled = (f"{flag}={label}",) if flag.startswith("--") else (flag, label) if flag else ()
    reserve = () if "-m" in arguments else WITHOUT_RESERVE.get(filesystem.name, ())
    return (filesystem.mkfs_program, *arguments, *reserve, *labelled, *device)


def fstab_line(source: str, directory: str, mount_type: str, options: Sequence[str], fsck_pass: int) -> str:
    """A line of fstab(5)."""
    return "  ".join((source, directory, mount_type, ",".join(options) or "defaults", "0", str(fsck_pass)))


def umount(directory: str) -> Command:
    return ("umount", directory)


def create_array(names: DeviceNames, array: Array, copied: bool) -> Command:
    """Make an md array of all devices."""
    run_options: Command = ()
    if not copied:
        # Skip the initial synchronisation, which would disturb the measurement. As it leaves the parity wrong, a
        # command for users to copy must not do that.
        identity = (f"--name={names.name}", f"--uuid={names.uuid}")
        run_options = (WITHOUT_CONFIGURATION, "--run", "--assume-clean", "--metadata=1.2", *identity)
    shape = [f"--level={array.layout.level}", f"--raid-devices={len(names.devices)}"]
    for option in array.layout.options:
        shape.append(f"{option.flag}={array.option(option.name)}")
    return ("mdadm", "--create", f"/dev/md/{names.name}", *run_options, *shape, *names.devices)


def encrypt(names: DeviceNames, array: Array, copied: bool) -> Commands:
    """Make an encrypted volume on the device and open it; the commands ask for a passphrase.

    Those of a run read a random key instead, for which an expensive key derivation is pointless.
    """
    key: Command = () if copied else ("--batch-mode", "--key-file=-")
    derivation: Command = () if copied else ("--pbkdf=pbkdf2", "--pbkdf-force-iterations=1000")
    cipher, sector = array.option("cipher"), array.option("sector")
    bits = "256" if cipher == "adiantum" else array.option("key")
    sectors = () if sector == "auto" else (f"--sector-size={sector}",)
    queues = () if array.option("workqueues") == "on" else ("--perf-no_read_workqueue", "--perf-no_write_workqueue")
    discards = ("--allow-discards",) if array.option("discards") == "on" else ()
    kind = ("--type=luks2", f"--cipher={grammar.CIPHERS[cipher]}", f"--key-size={bits}")
    return (
        ("cryptsetup", "luksFormat", *key, *kind, *sectors, *derivation, names.devices[0]),
        ("cryptsetup", "open", *key, *queues, *discards, names.devices[0], names.name),
    )


def volume_path(name: str) -> str:
    return f"/dev/mapper/{name}"


def crypttab_line(name: str, device: str, volume: Array) -> str:
    """A line of crypttab(5): the passphrase is asked for when the machine starts."""
    options = ["luks"]
    if volume.option("workqueues") == "off":
        options += ["no-read-workqueue", "no-write-workqueue"]
    if volume.option("discards") == "on":
        options.append("discard")
    return "  ".join((name, device, "none", ",".join(options)))


def pool_directory(name: str) -> str:
    """Directory with the device nodes of a pool only, so that an import scans no other device.

    It is in /dev because the kernel opens the nodes outside the namespace of the run. OpenZFS would partition a disk
    given by its usual name.
    """
    return f"/dev/{name}"


def pool_nodes(name: str, count: int) -> tuple[str, ...]:
    """Path of the node of each device of a pool."""
    first = f"{pool_directory(name)}/disk"
    return (first, *(f"{first}-{number}" for number in range(2, count + 1)))


def create_pool(names: DeviceNames, arguments: Command, array: Array | None, copied: bool) -> Commands:
    """Make a pool on all devices, or on the first without an array, and export it unmounted."""
    count = len(names.devices) if array else 1
    nodes = vdevs = names.devices[:count] if copied else pool_nodes(names.name, count)
    if array and array.layout.pairs:
        vdevs = tuple(word for pair in zip(nodes[::2], nodes[1::2]) for word in (array.layout.level, *pair))
    elif array:
        vdevs = (array.layout.level, *nodes)
    if copied:
        return (("zpool", "create", *arguments, names.name, *vdevs),)
    marks = [*POOL_OPTIONS, "-o", "failmode=continue"]
    for option in (*POOL_PROPERTIES, f"{POOL_MARK}={names.name}"):
        marks += ["-O", option]
    return (("zpool", "create", *marks, *arguments, names.name, *vdevs), export_pool(names.name))


def export_pool(name: str) -> Command:
    return ("zpool", "export", name)
