"""A directory that a run made: recognised by its inode, so that nothing else that bears its name is ever removed."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from fswizard.disks.locations import IN_MEMORY, filesystem_type
from fswizard.drives.machine import mounts
from fswizard.errors import RunFailed
from fswizard.language import _
from fswizard.model.text import safe
from fswizard.system.system_calls import closing

PREFIX = "fswizard-"
"""Every directory that a run makes is named so; nothing else is ever removed."""
EMPTY = ("find", ".", "-xdev", "-mindepth", "1", "-delete")
"""Empties the directory that it is started in, by descriptors alone, and leaves its filesystem nowhere."""
CONTENT = frozenset({"image", "scratch"})
RENUMBERED = frozenset({"vfat", "msdos", "exfat", "overlay"})
"""Filesystems that may give a directory another inode number each time they read it; so do those of FUSE."""


class Identity(NamedTuple):
    """What a directory was when it was made."""

    device: int
    """Says only whether the same filesystem is still there: the next mount or boot may give it another number."""
    inode: int
    kind: str
    """Type of the filesystem, which says what its numbers are worth."""

    @property
    def lasting(self) -> bool:
        """Whether the inode's number is the same for good; otherwise the random name has to do."""
        return self.kind not in RENUMBERED and not self.kind.startswith("fuse")


class NotRemoved(RunFailed):
    """It, or something else in its place, is still there, or may be once its disk is back."""


class Gone(NotRemoved):
    """It is nowhere to be looked for any more."""


def make(path: Path) -> Identity:
    """Make a private directory; OSError where that fails."""
    kind = filesystem_type(str(path.parent))
    with _opened(path.parent, os.O_PATH) as above:
        os.mkdir(path.name, 0o700, dir_fd=above)
        with _opened(path.name, os.O_NOFOLLOW, above) as made:
            if os.listdir(made):  # somebody exchanged it for another one
                raise OSError(errno.ENOTEMPTY, os.strerror(errno.ENOTEMPTY))
            status = os.fstat(made)
    return Identity(status.st_dev, status.st_ino, kind)


@contextmanager
def removing(path: Path, identity: Identity | None) -> Iterator[str]:
    """The directory as one to start EMPTY in, which no other can take the place of; it is removed on leaving.

    Of one without identity nothing is known but its name. Raises NotRemoved; on an error nothing is done on leaving, as
    EMPTY may hang and hold the directory's lock.
    """
    with ExitStack() as undo:
        above, held = _found(path, identity, undo)
        below = os.readlink(f"/proc/self/fd/{held}").rstrip("/") + "/"
        if any(mount.path.startswith(below) for mount in mounts()):
            raise NotRemoved(
                _("Something is mounted below {path}.", path=safe(str(path))), _("Unmount it, then clean up again.")
            )
        yield f"/proc/self/fd/{held}"
        try:
            if os.path.samestat(os.fstat(held), os.stat(path.name, dir_fd=above, follow_symlinks=False)):
                os.rmdir(path.name, dir_fd=above)
        except OSError as error:
            raise NotRemoved(
                _("{path} could not be removed completely: {reason}.", path=safe(str(path)), reason=error.strerror),
                _("Check what is left, and delete it by hand."),
            ) from error


def is_there(path: Path, identity: Identity | None) -> bool:
    with suppress(NotRemoved), ExitStack() as undo:
        _found(path, identity, undo)
        return True
    return False


def _found(path: Path, identity: Identity | None, undo: ExitStack) -> tuple[int, int]:
    """Descriptors of the directory above it and of itself; NotRemoved where it is not there."""
    name = safe(str(path))
    try:
        above = undo.enter_context(_opened(path.parent, os.O_PATH))
        held = undo.enter_context(_opened(path.name, os.O_NOFOLLOW, above))
    except OSError as error:
        if error.errno not in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP):
            raise NotRemoved(
                _("{name} cannot be opened: {reason}.", name=name, reason=error.strerror), _("Its disk may be failing.")
            ) from error
        if os.path.lexists(path):
            raise _replaced(name) from error
        raise _absent(path, identity) from error
    status = os.fstat(held)
    same = status.st_ino == identity.inode if identity and identity.lasting else status.st_uid == os.geteuid()
    if not (same and path.name.startswith(PREFIX)):
        raise _replaced(name)
    return above, held


def _replaced(name: str) -> NotRemoved:
    return NotRemoved(
        _("{name} is not what the run made: something else has that name now, and fswizard left it alone.", name=name),
        _("Move it away, then clean up again."),
    )


def _absent(path: Path, identity: Identity | None) -> NotRemoved:
    """Why nothing has that name."""
    name = safe(str(path))
    device = next(above.stat().st_dev for above in path.parents if above.exists())
    if identity and device != identity.device and identity.kind not in IN_MEMORY:
        return NotRemoved(
            _("The disk with {name} is not mounted.", name=name), _("Mount it where it was, then clean up again.")
        )
    if identity and identity.lasting and (other := _renamed(path, identity.inode)):
        return Gone(
            _(
                "{name} seems to be called {other} now, so fswizard left it alone. If so, delete it yourself.",
                name=name,
                other=safe(other),
            )
        )
    return Gone(_("{name} is gone. If you moved it elsewhere, delete it there.", name=name))


def _renamed(path: Path, inode: int) -> str:
    """A directory beside it that has its inode and what a run puts there; empty where none can be seen.

    The inode alone does not say it: the next directory that somebody makes may well get it.
    """
    with suppress(OSError), os.scandir(path.parent) as beside:
        for entry in beside:
            if entry.inode() == inode and not CONTENT.isdisjoint(os.listdir(entry.path)):
                return entry.name
    return ""


def _opened(path: str | Path, flags: int, above: int | None = None) -> AbstractContextManager[int]:
    return closing(os.open(path, flags | os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=above))
