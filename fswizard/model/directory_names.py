"""Short names for directories, distinct and without user names: `home`, `archive`, `system`, `ssd/test`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import PurePosixPath

_HOME = re.compile(r"^(/home/[^/]+|/root(?=/|$))")
_REMOVABLE = re.compile(r"^(/run)?/media/[^/]+/")
"""Mount points of removable disks, which contain the user's name."""


def short_names(directories: Sequence[str]) -> tuple[str, ...]:
    """Names in the order of `directories`: the last part of the path or, if several have the same, all its parts.

    Names that would differ only in the omitted user name are numbered.
    """
    paths = []
    for directory in directories:
        path = _HOME.sub("/home", _REMOVABLE.sub("/media/", directory))
        paths.append(PurePosixPath(path).parts[1:] or ("system",))
    ends = [parts[-1] for parts in paths]
    names = [parts[-1] if ends.count(parts[-1]) == 1 else "/".join(parts) for parts in paths]
    numbered = []
    for at, name in enumerate(names):
        numbered.append(f"{name} {names[: at + 1].count(name)}" if names.count(name) > 1 else name)
    return tuple(numbered)
