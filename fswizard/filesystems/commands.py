"""The one maker of commands: plans show them with stand-ins, runs carry them out, reports offer them for copying.

Pure. A run makes the candidates that its plan names from the catalogue; nothing else reaches these commands as root.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from fswizard.filesystems import mounting as grammar
from fswizard.model.filesystem import Candidate
from fswizard.model.layout import DEGRADED, DMSETUP, Array
from fswizard.model.units import binary_size_text

Command = tuple[str, ...]
Commands = tuple[Command, ...]

MOUNT_ROOT = "/run/fswizard"
"""Everything is mounted below it."""
IMAGE, IMAGE_UNIT_BYTES = "IMAGE", 4 << 20
"""Placeholder for the nameless file of a scratch image, and the bytes of it that are written at a time."""
POOL_MARK = "fswizard:pool"
"""Property that every pool of ours carries from its making on, with its name as value: no other pool has it."""
POOL_PROPERTIES = ("mountpoint=legacy", "canmount=noauto", "setuid=off", "devices=off")
"""Nothing of a pool is mounted but by the run that made it."""
APART = ("-R", MOUNT_ROOT, "-o", "cachefile=none")
"""Not in the system's list of pools, and all its mountpoints lie below that directory, whoever mounts them."""
MISSING = "missing"
"""mdadm's word for a member that is left out (mdadm(8))."""
WITHOUT_CONFIGURATION = "--config=none"
"""After what says the mode, which mdadm takes as its first option only."""
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


def make_image(size_bytes: int, image: str) -> Commands:
    """Programs that take an image's room, and write all of it."""
    blocks = f"count={size_bytes // IMAGE_UNIT_BYTES}"
    fill = ("dd", "if=/dev/zero", f"of={image}", "bs=4M", blocks, "oflag=direct")
    return (("fallocate", "--length", binary_size_text(size_bytes), image), fill)


def wipe(path: str) -> Command:
    """Take away every signature."""
    return ("wipefs", "--all", path)


def copy(source: str, path: str) -> Command:
    """Write one scratch image over another."""
    return ("dd", f"if={source}", f"of={path}", "bs=4M", "iflag=direct", "oflag=direct", "status=none")


def make_below(candidate: Candidate, names: DeviceNames, *, copied: bool = False) -> Commands:
    """The commands that make the array or volume that a candidate lies on, if it lies on one.

    What is made to be measured is marked as a run's own, and is without its last device where one shall be missing; a
    command to be `copied` has none of that. So it is with `make`.
    """
    array = candidate.below
    if array is None:
        return ()
    return encrypt(names, array, copied) if array.layout.alone else (create_array(names, array, copied),)


def make(candidate: Candidate, names: DeviceNames, *, copied: bool = False) -> Commands:
    """The commands that make a candidate's filesystem, once there is what `make_below` makes."""
    filesystem, array = candidate.filesystem, candidate.array
    arguments = candidate.mkfs_arguments(scratch=not copied)
    if filesystem.pool:
        return create_pool(names, arguments, array, copied)
    if array and not candidate.below:
        level = array.layout.level
        spread = ("-L", names.name, "-d", level, "-m", level, *names.devices)
        degrade = (wipe(names.devices[-1]),) if array.degraded and not copied else ()
        return ((filesystem.mkfs_program, *arguments, *spread), *degrade)
    if copied:
        return (make_kept(candidate, names.label, names.device),)
    return ((filesystem.mkfs_program, *arguments, names.device),)


def mount(candidate: Candidate, names: DeviceNames, uid: int, gid: int) -> Commands:
    """Mount a candidate for a user, as root. NILFS2's cleaner is started by us, to be sure that it ends."""
    mount_type, chosen = candidate.filesystem.mount_type, candidate.scratch_mount_options
    options = [*chosen, *grammar.added_options(mount_type, uid, gid)]
    source = names.device
    before: Commands = ()
    after: Commands = ()
    if candidate.filesystem.pool:
        source, before = names.name, (import_pool(names.name),)
    elif candidate.array and not candidate.below:
        # No other device is looked at.
        missing = candidate.array.degraded
        options += [f"device={path}" for path in names.devices[1 : -1 if missing else None]]
        options += [DEGRADED] if missing else []
    elif mount_type == NILFS2:
        period = [option.removeprefix(PROTECTED) for option in chosen if option.startswith(PROTECTED)]
        if WITHOUT_CLEANER not in chosen and "ro" not in chosen:
            after = ((CLEANER, *(("-p", period[-1]) if period else ()), source, names.directory),)
        options = [option for option in options if option != WITHOUT_CLEANER and not option.startswith(PROTECTED)]
    internal = () if mount_type in grammar.FUSE else ("--internal-only",)
    words = ("-t", mount_type, "-o", ",".join(options), source, names.directory)
    return (*before, ("mount", "--no-canonicalize", "--no-mtab", *internal, *words), *after)


def make_kept(candidate: Candidate, label: str, *device: str) -> Command:
    """Make a filesystem for data that stays, with a label."""
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


def attach(device: str, image: str) -> Command:
    """What does the same as a run, which makes loop devices itself."""
    return ("losetup", "--direct-io=on", device, image)


def create_array(names: DeviceNames, array: Array, copied: bool) -> Command:
    """Make an array of md of all devices, or without the last one."""
    ours: Command = ()
    if not copied:
        # Without the first synchronisation, which would be measured along: nobody keeps anything on these devices.
        # In a command to be copied that would leave parity wrong.
        identity = (f"--name={names.name}", f"--uuid={names.uuid}")
        ours = (WITHOUT_CONFIGURATION, "--run", "--assume-clean", "--metadata=1.2", *identity)
    shape = [f"--level={array.layout.level}", f"--raid-devices={len(names.devices)}"]
    for option in array.layout.options:
        shape.append(f"{option.flag}={array.option(option.name)}")
    missing = array.degraded and not copied
    members = (*names.devices[:-1], MISSING) if missing else names.devices
    return ("mdadm", "--create", f"/dev/md/{names.name}", *ours, *shape, *members)


def stop_array(array: str, paths: Sequence[str]) -> Commands:
    """Stop an array and have its members forget it."""
    forget = (("mdadm", "--zero-superblock", WITHOUT_CONFIGURATION, path) for path in paths)
    return (("mdadm", "--stop", WITHOUT_CONFIGURATION, array), *forget)


def encrypt(names: DeviceNames, array: Array, copied: bool) -> Commands:
    """Make an encrypted volume on the device and open it by its name; each command asks for a passphrase.

    Those of a run read a random key instead. Nothing is gained there by making it costly to guess.
    """
    key: Command = () if copied else ("--batch-mode", "--key-file=-")
    ours: Command = () if copied else ("--pbkdf=pbkdf2", "--pbkdf-force-iterations=1000")
    cipher, sector = array.option("cipher"), array.option("sector")
    bits = "256" if cipher == "adiantum" else array.option("key")
    sectors = () if sector == "auto" else (f"--sector-size={sector}",)
    queues = () if array.option("workqueues") == "on" else ("--perf-no_read_workqueue", "--perf-no_write_workqueue")
    discards = ("--allow-discards",) if array.option("discards") == "on" else ()
    kind = ("--type=luks2", f"--cipher={grammar.CIPHERS[cipher]}", f"--key-size={bits}")
    return (
        ("cryptsetup", "luksFormat", *key, *kind, *sectors, *ours, names.devices[0]),
        ("cryptsetup", "open", *key, *queues, *discards, names.devices[0], names.name),
    )


def volume_path(name: str) -> str:
    return f"/dev/mapper/{name}"


def close_volume(name: str) -> Command:
    return (DMSETUP, "remove", "--retry", name)


def crypttab_line(name: str, device: str, volume: Array) -> str:
    """A line of crypttab(5): the passphrase is asked for when the machine starts."""
    options = ["luks"]
    if volume.option("workqueues") == "off":
        options += ["no-read-workqueue", "no-write-workqueue"]
    if volume.option("discards") == "on":
        options.append("discard")
    return "  ".join((name, device, "none", ",".join(options)))


def pool_directory(name: str) -> str:
    """Holds a pool's nodes and nothing else, so that import looks at no other device.

    The kernel opens it from outside the run's namespace. By its usual name OpenZFS would partition a disk.
    """
    return f"/dev/{name}"


def pool_nodes(name: str, count: int) -> tuple[str, ...]:
    """The node of each device that a pool lies on."""
    first = f"{pool_directory(name)}/disk"
    return (first, *(f"{first}-{number}" for number in range(2, count + 1)))


def create_pool(names: DeviceNames, arguments: Command, array: Array | None, copied: bool) -> Commands:
    """Make a pool, put its last device out of use where one shall be missing, and export it. Nothing is mounted.

    Without an array it lies on the first device.
    """
    count = len(names.devices) if array else 1
    nodes = spread = names.devices[:count] if copied else pool_nodes(names.name, count)
    if array and array.layout.pairs:
        spread = tuple(word for pair in zip(nodes[::2], nodes[1::2]) for word in (array.layout.level, *pair))
    elif array:
        spread = (array.layout.level, *nodes)
    if copied:
        return (("zpool", "create", *arguments, names.name, *spread),)
    ours = [*APART, "-o", "failmode=continue"]
    for option in (*POOL_PROPERTIES, f"{POOL_MARK}={names.name}"):
        ours += ["-O", option]
    create = ("zpool", "create", *ours, *arguments, names.name, *spread)
    offline = (("zpool", "offline", names.name, nodes[-1]),) if array and array.degraded else ()
    return (create, *offline, export_pool(names.name))


def import_pool(name: str) -> Command:
    """`-N` leaves all datasets unmounted."""
    return ("zpool", "import", "-N", *APART, "-d", pool_directory(name), name)


def export_pool(name: str) -> Command:
    return ("zpool", "export", name)
