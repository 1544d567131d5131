"""What is run on a scratch image without root's rights: shown before a run, and then carried out. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fswizard.filesystems import commands
from fswizard.language import _
from fswizard.model.filesystem import Candidate
from fswizard.model.plan import FORMAT, MOUNTING, Target
from fswizard.model.recipe import PlannedCommand
from fswizard.model.units import binary_size_text

IMAGE, DEVICE, KEPT = "IMAGE", "DEVICE", "IMAGE-OF"
"""Stand for the nameless file, its loop device, and the file that keeps an aged candidate."""
OWNER = "OWNER"
"""Stands for what tells mkfs whose the root directory is: a prototype of XFS', a directory to be copied to btrfs."""
WORK = "work"
"""A directory of the user's on a filesystem whose root directory stays root's."""
DISCARDING = frozenset({"btrfs", "f2fs"})
"""Filesystems that discard by themselves, which would punch holes into the image."""
NOT_NEEDED = frozenset({"noinit_itable"})
"""Mount options that udisks2 refuses, and that need not be: mkfs writes the inode tables."""


def mkfs(candidate: Candidate, uid: int, gid: int, owner: str) -> tuple[str, ...]:
    """The command that makes a candidate such that the user may write to it, but for the device.

    `owner` is the path of what `prototype` says.
    """
    filesystem, arguments = candidate.filesystem, candidate.mkfs_arguments(scratch=True)
    if filesystem.name in ("ext2", "ext3", "ext4"):
        arguments = _with_value(arguments, "-E", f"root_owner={uid}:{gid},lazy_itable_init=0")
    elif filesystem.name == "xfs":
        arguments += ("-p", owner)
    elif filesystem.name == "btrfs":
        arguments += ("--rootdir", owner)
    elif filesystem.name == "f2fs":
        arguments += ("-R", f"{uid}:{gid}")
    elif filesystem.name == "udf":
        arguments += (f"--uid={uid}", f"--gid={gid}")
    return (filesystem.mkfs_program, *arguments)


def prototype(uid: int, gid: int) -> str:
    """An empty root directory of the user's, as `mkfs.xfs -p` reads it (mkfs.xfs(8))."""
    return f"none\n0 0\nd--755 {uid} {gid}\n$\n"


def _with_value(arguments: Sequence[str], flag: str, value: str) -> tuple[str, ...]:
    """`arguments` with one more value for a flag, after those that it has: mke2fs takes the last flag alone."""
    if flag not in arguments:
        return (*arguments, flag, value)
    at = arguments.index(flag) + 1
    return (*arguments[:at], f"{arguments[at]},{value}", *arguments[at + 1 :])


def mount_options(candidate: Candidate) -> tuple[str, ...]:
    """What udisks2 is asked to mount a candidate with; it adds nosuid, nodev and the like itself."""
    options = tuple(option for option in candidate.scratch_mount_options if option not in NOT_NEEDED)
    return (*options, "nodiscard") if candidate.filesystem.name in DISCARDING else options


def loop_setup(file: str) -> tuple[str, ...]:
    """What does the same as the call of udisks2, which gets a descriptor."""
    return ("udisksctl", "loop-setup", "--file", file)


def loop_delete(device: str) -> tuple[str, ...]:
    return ("udisksctl", "loop-delete", "--block-device", device)


def mount(device: str, options: Sequence[str]) -> tuple[str, ...]:
    words = ("--options", ",".join(options)) if options else ()
    return ("udisksctl", "mount", "--block-device", device, *words)


def unmount(device: str) -> tuple[str, ...]:
    return ("udisksctl", "unmount", "--block-device", device)


def planned(
    target: Target, candidates: Sequence[Candidate], work: Sequence[PlannedCommand], use: PlannedCommand | None,
    *, uid: int, gid: int,
) -> tuple[PlannedCommand, ...]:  # fmt: skip
    """All that is run on a target of one image, with `work` of the workloads, and with `use`, which ages candidates."""
    size_bytes = target.size_bytes
    reserve, fill = commands.make_image(size_bytes, binary_size_text(size_bytes), IMAGE)
    aged = [candidate for candidate in candidates if candidate.aged] if use else []
    kept = {candidate.name: f"{KEPT}-{number}" for number, candidate in enumerate(aged, 1)}
    lines = [PlannedCommand(reserve, text="reserve"), PlannedCommand(fill, text="fill")]
    for candidate in aged:
        assert use is not None
        lines += [*_making(candidate, uid, gid, ""), use, *_ending()]
        lines.append(PlannedCommand(commands.copy(IMAGE, kept[candidate.name]), text="keep", candidate=candidate.name))
    for candidate in candidates:
        lines += _making(candidate, uid, gid, kept.get(candidate.name, ""))
    return (*lines, *work, *_ending(), PlannedCommand(("rm", IMAGE, *kept.values()), text=_("remove the image")))


def _making(candidate: Candidate, uid: int, gid: int, kept: str) -> Iterator[PlannedCommand]:
    """From the image as it is to the candidate, mounted; one that is `kept` is copied from there."""
    wipe = commands.wipe(IMAGE)
    make = commands.copy(kept, IMAGE) if kept else (*mkfs(candidate, uid, gid, OWNER), IMAGE)
    yield PlannedCommand(wipe, text=_("forget the previous candidate"), candidate=candidate.name)
    yield PlannedCommand(make, text=FORMAT, candidate=candidate.name)
    yield PlannedCommand(loop_setup(IMAGE), text="attach", candidate=candidate.name)
    yield PlannedCommand(mount(DEVICE, mount_options(candidate)), text=MOUNTING, candidate=candidate.name)


def _ending() -> tuple[PlannedCommand, ...]:
    return (PlannedCommand(unmount(DEVICE), text="unmount"), PlannedCommand(loop_delete(DEVICE), text="detach"))
