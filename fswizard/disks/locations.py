"""Directories for scratch images: the default, the space they need, and the filesystems below them."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil

from fswizard.disks.as_root import changeable_by_others
from fswizard.drives import drive_of
from fswizard.errors import Refused, UsageError
from fswizard.filesystems import mounted_as
from fswizard.language import _
from fswizard.model.directory_names import short_names
from fswizard.model.drive import Drive
from fswizard.model.filesystem import Candidate, Filesystem
from fswizard.model.text import safe
from fswizard.model.units import size_text
from fswizard.results import state_directory
from fswizard.system import host, mounts
from fswizard.system.files import home_directory

MARGIN_BYTES = 512 << 20
"""Free space to leave on a filesystem."""
IN_MEMORY = frozenset({"tmpfs", "ramfs", "devtmpfs", "hugetlbfs", "proc", "sysfs", "cgroup", "cgroup2", "debugfs"})
"""Filesystem types without a disk, where memory would be measured."""
NOT_ON_A_DISK = IN_MEMORY | {"nfs", "nfs4", "cifs", "smb3", "9p", "fuse.sshfs", "squashfs"}


@dataclass(frozen=True, slots=True)
class Location:
    """A directory to measure in."""

    directory: str
    drive: str = ""
    """Kernel name of the underlying disk; empty if unknown."""
    image_room_bytes: int = 0
    """Maximum size of a scratch image; negative if there is no space for any."""


def default_directory(drive: Drive | None = None) -> str:
    """The writable directory with the most free space, on `drive` if not None.

    Raises UsageError if there is none.
    """
    cache = Path(os.environ.get("XDG_CACHE_HOME") or home_directory() / ".cache")
    mounted = [partition.mountpoint for partition in psutil.disk_partitions(all=False)]
    best: dict[int, str] = {}
    """The first suitable directory of each filesystem, by device number."""
    for directory in map(str, (cache, cache.parent, "/var/tmp", "/tmp", *mounted)):
        with contextlib.suppress(OSError):
            if (
                os.path.isdir(directory)
                and os.access(directory, os.W_OK | os.X_OK)
                and filesystem_type(directory) not in NOT_ON_A_DISK
                and (os.geteuid() or not changeable_by_others(directory))
                and (drive is None or (under := drive_of(directory)) is None or under.name == drive.name)
            ):
                best.setdefault(os.stat(directory).st_dev, directory)
    if not best:
        where = drive.name if drive else _("a disk of this machine")
        raise UsageError(
            _("There is no mounted filesystem on {where} that you can write to.", where=where),
            _("Mount one, or name a directory with --target image:SIZE@DIRECTORY."),
        )
    return max(best.values(), key=host.this.space_bytes)


def named_location(directory: str) -> Location:
    path = checked_directory(directory)
    drive = drive_of(path)
    return Location(path, drive.name if drive else "", image_room_bytes(path))


def checked_directory(text: str) -> str:
    """Absolute path of a writable directory. Raises UsageError or Refused if it is unsuitable."""
    path = Path(text)
    with contextlib.suppress(ValueError, RuntimeError):  # a NUL byte, or an unknown user
        path = path.expanduser().absolute()
    if not (os.path.isdir(path) and os.access(path, os.W_OK | os.X_OK)):
        name = safe(str(path))[:200]
        raise UsageError(
            _("{path} is not a directory that you can write to.", path=name), _("Name a directory of your own.")
        )
    require_unchangeable(path)
    return str(path)


def require_unchangeable(path: Path) -> None:
    """Raise Refused if this runs as root and others could redirect `path`."""
    if os.geteuid() == 0 and (others := changeable_by_others(str(path))):
        raise Refused(
            _("Others can change {others}, so root doesn't write there.", others=safe(others)),
            _(
                "Start fswizard as the user who owns it, or name a directory that only root can change: FAT, "
                "exFAT and NTFS have one where they are mounted with umask=022."
            ),
        )


def require_space(directory: str, size_bytes: int, brought_bytes: int = 0) -> str:
    """Filesystem type of `directory`, if it has space for an image of `size_bytes`.

    Raises UsageError if it is in memory, or if the image and `brought_bytes` of workload data would fill it.
    """
    kind = filesystem_type(directory)
    _require_disk(directory, kind)
    hint = _("Name a directory with more free space, or a smaller image: --target image:SIZE@DIRECTORY.")
    _require_room(directory, size_bytes + brought_bytes, hint)
    return kind


def _require_room(directory: str, needed_bytes: int, hint: str) -> None:
    """Raise UsageError with `hint` if a directory has too little free space."""
    free_bytes = host.this.space_bytes(directory)
    if free_bytes < needed_bytes + MARGIN_BYTES:
        raise UsageError(
            _(
                "{directory} has {free} free; {needed} are needed, and {reserve} must stay free.",
                directory=safe(directory),
                free=size_text(free_bytes),
                needed=size_text(needed_bytes),
                reserve=size_text(MARGIN_BYTES),
            ),
            hint,
        )


def _require_disk(directory: str, kind: str) -> None:
    """Raise UsageError if a filesystem of this type is in memory."""
    if kind in IN_MEMORY:
        raise UsageError(
            _("{directory} is in memory ({kind}), not on a disk.", directory=safe(directory), kind=kind),
            _("Name a directory on the disk you want to test."),
        )


def image_room_bytes(directory: str) -> int:
    """Maximum size of an image in `directory`; negative if the filesystem is nearly full."""
    return host.this.space_bytes(directory) - MARGIN_BYTES


def require_scratch_space(brought_bytes: int) -> None:
    """Raise UsageError if the source data of workloads does not fit into the state directory."""
    directory = next(path for path in (state_directory(), *state_directory().parents) if path.is_dir())
    hint = _("Free some space there, or set XDG_STATE_HOME to a directory with more.")
    if brought_bytes:
        _require_room(str(directory), brought_bytes, hint)


def filesystem_type(directory: str) -> str:
    """Kernel name of the filesystem type of `directory`; empty if unknown."""
    mount = mounts.mount_of(os.path.realpath(directory), mounts.current())
    return safe(mount.kind) if mount else ""


def filesystem_name(directory: str) -> str:
    """Catalogue name of the filesystem of `directory`, or its kernel name if the catalogue lacks it."""
    return _catalogued(filesystem_type(directory)).name


def directory_candidates(text: str) -> tuple[Candidate, ...]:
    """Candidates for comma-separated existing directories. Raises UsageError if they are unsuitable."""
    directories = [checked_directory(part.strip()) for part in text.split(",") if part.strip()]
    if not directories or len(set(directories)) < len(directories):
        text = _("'{text}' does not name directories, each of them once.", text=safe(text))
        raise UsageError(text, _("Write --target dir:/first/directory,/second/directory."))
    return located_candidates(directories)


def located_candidates(directories: Sequence[str]) -> tuple[Candidate, ...]:
    """Candidates for the existing filesystems of directories, named such as `home (ext4)` or `archive (btrfs)`.

    Raises UsageError if one is in memory.
    """
    candidates = []
    for path, name in zip(directories, short_names(directories)):
        kind = filesystem_type(path)
        _require_disk(path, kind)
        candidates.append(Candidate(f"{safe(name)} ({kind})", _catalogued(kind), directory=path))
    return tuple(candidates)


def _catalogued(kind: str) -> Filesystem:
    """Filesystem of the catalogue by its kernel name, or an entry with the name alone."""
    return mounted_as(kind) or Filesystem(kind, kind, "", "", mount_type=kind)
