"""Short names for directories, distinct and without a user's name: `home`, `archive`, `system`, `ssd/test`."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import PurePosixPath

_HOME = re.compile(r"^(/home/[^/]+|/root(?=/|$))")
_REMOVABLE = re.compile(r"^(/run)?/media/[^/]+/")
"""Where disks are mounted for one user, by their name."""


def short_names(directories: Sequence[str]) -> tuple[str, ...]:
    """A name for each, in order: the last part of its path, or as many parts as it takes to tell it from the others.

    A number follows names that differ in nothing but the user's name, which is left out.
    """
    paths = [_public_parts(directory) for directory in directories]
    names = []
    for parts in paths:
        depth = 1
        while depth < len(parts) and sum(other[-depth:] == parts[-depth:] for other in paths) > 1:
            depth += 1
        names.append("/".join(parts[-depth:]))
    used = Counter[str]()
    numbered = []
    for name in names:
        used[name] += 1
        numbered.append(f"{name} {used[name]}" if names.count(name) > 1 else name)
    return tuple(numbered)


def _public_parts(directory: str) -> tuple[str, ...]:
    """The parts of a path below the root without a user's name; of the root itself, `system`."""
    path = _HOME.sub("/home", _REMOVABLE.sub("/media/", directory))
    return PurePosixPath(path).parts[1:] or ("system",)
