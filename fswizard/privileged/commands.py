"""The commands that the helper runs, word for word: planned with placeholders, carried out, and told in the answer.

Pure. Whether the words are allowed is checked where they come in: `grammar`, `groups`.
"""

from __future__ import annotations

from collections.abc import Sequence

from fswizard.privileged import grammar

Command = tuple[str, ...]
Commands = tuple[Command, ...]

MOUNT_ROOT = "/run/fswizard"
"""Everything is mounted below it."""
IMAGE, IMAGE_UNIT_BYTES = "IMAGE", 4 << 20
"""What stands for the file of a scratch image, which has no name, and how many bytes of it are written at a time."""
POOL_MARK = "fswizard:pool"
"""Property that every pool of ours carries from its making on, with its name as value: no other pool has it."""
POOL_OPTIONS = ("failmode=continue",)
POOL_PROPERTIES = ("mountpoint=legacy", "canmount=noauto", "setuid=off", "devices=off")
"""Nothing of a pool is mounted but by the helper."""
APART = ("-R", MOUNT_ROOT, "-o", "cachefile=none")
"""Not in the system's list of pools, and all its mountpoints lie below that directory, whoever mounts them."""
MISSING = "missing"
"""mdadm's word for a member that is left out (mdadm(8))."""
WITHOUT_CONFIGURATION = "--config=none"
"""After what says the mode, which mdadm takes as its first option only."""
NILFS2, CLEANER = "nilfs2", "nilfs_cleanerd"
WITHOUT_CLEANER, PROTECTED = "nogc", "pp="
"""Options that mean the cleaner and not the kernel (mount.nilfs2(8))."""


def make_image(size_bytes: int, length: str, image: str) -> Commands:
    """Programs that do what the helper does itself, with the user's rights: take an image's room, and write all of it.

    `length` is its size, as fallocate(1) reads it.
    """
    blocks = f"count={size_bytes // IMAGE_UNIT_BYTES}"
    fill = ("dd", "if=/dev/zero", f"of={image}", "bs=4M", blocks, "oflag=direct")
    return (("fallocate", "--length", length, image), fill)


def wipe(path: str, *, zoned: bool = False) -> Commands:
    """Empty every zone of a zoned device, then take away every signature."""
    reset = (("blkzone", "reset", path),) if zoned else ()
    return (*reset, ("wipefs", "--all", path))


def mount(mount_type: str, options: str, source: str, directory: str) -> Commands:
    """Mount a device, or a pool by its name; NILFS2's cleaner is started by us, to be sure that it ends."""
    internal = () if mount_type in grammar.FUSE else ("--internal-only",)
    known = kernel_options(options) if mount_type == NILFS2 else options
    words = ("-t", mount_type, "-o", known, source, directory)
    command = ("mount", "--no-canonicalize", "--no-mtab", *internal, *words)
    if mount_type == grammar.ZFS:
        return (import_pool(source), command)
    return (command, *cleaner(options, source, directory)) if mount_type == NILFS2 else (command,)


def btrfs_options(paths: Sequence[str], *, missing: bool) -> tuple[str, ...]:
    """What a btrfs over several devices is mounted with: where the further ones are, as no other is looked at."""
    left = paths[:-1] if missing else paths
    return (*(f"device={path}" for path in left[1:]), *(("degraded",) if missing else ()))


def kernel_options(options: str) -> str:
    """Those of a NILFS2 that are not meant for its cleaner."""
    parts = options.split(",")
    return ",".join(part for part in parts if part != WITHOUT_CLEANER and not part.startswith(PROTECTED))


def cleaner(options: str, device: str, directory: str) -> Commands:
    """Start NILFS2's cleaner, unless the options forbid it."""
    parts = options.split(",")
    if WITHOUT_CLEANER in parts or "ro" in parts:
        return ()
    period = [part.removeprefix(PROTECTED) for part in parts if part.startswith(PROTECTED)]
    return ((CLEANER, *(("-p", period[-1]) if period else ()), device, directory),)


def create_array(
    name: str, uuid: str, level: str, paths: Sequence[str], *, chunk_kib: int, bitmap: str, degraded: bool
) -> Command:
    """Make an array of md; `degraded` leaves the last device out.

    Without the first synchronisation, which would be measured along: nobody keeps anything on these devices.
    """
    chunk = (f"--chunk={chunk_kib}K",) if chunk_kib else ()
    there = (*paths[:-1], MISSING) if degraded else paths
    return (
        "mdadm", "--create", f"/dev/md/{name}", WITHOUT_CONFIGURATION, "--run", "--assume-clean", "--metadata=1.2",
        f"--name={name}", f"--uuid={uuid}", f"--level={level}", f"--raid-devices={len(paths)}", *chunk,
        f"--bitmap={bitmap}", *there,
    )  # fmt: skip


def stop_array(array: str, paths: Sequence[str]) -> Commands:
    """Stop an array and have its members forget it."""
    forget = (("mdadm", "--zero-superblock", WITHOUT_CONFIGURATION, path) for path in paths)
    return (("mdadm", "--stop", WITHOUT_CONFIGURATION, array), *forget)


def pool_directory(name: str) -> str:
    """Holds a pool's nodes and nothing else, so that import looks at no other device.

    The kernel opens it from outside the helper's namespace. By its usual name OpenZFS would partition a disk.
    """
    return f"/dev/{name}"


def pool_nodes(name: str, count: int) -> tuple[str, ...]:
    """The node of each device that a pool lies on."""
    first = f"{pool_directory(name)}/disk"
    return (first, *(f"{first}-{number}" for number in range(2, count + 1)))


def create_pool(name: str, arguments: Sequence[str], spread: Sequence[str], offline: str = "") -> Commands:
    """Make a pool of the nodes in `spread`, put `offline` out of use, and export it. Nothing is mounted."""
    ours = [("-o", option) for option in POOL_OPTIONS]
    ours += [("-O", option) for option in (*POOL_PROPERTIES, f"{POOL_MARK}={name}")]
    options = [part for pair in ours for part in pair]
    create = ("zpool", "create", *APART, *options, *arguments, name, *spread)
    return (create, *((("zpool", "offline", name, offline),) if offline else ()), export_pool(name))


def import_pool(name: str) -> Command:
    """`-N` leaves all datasets unmounted."""
    return ("zpool", "import", "-N", *APART, "-d", pool_directory(name), name)


def export_pool(name: str) -> Command:
    return ("zpool", "export", name)
