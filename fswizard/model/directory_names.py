"""Short names for directories, distinct and without user names: `home`, `archive`, `system`, `ssd/test`."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import PurePosixPath

_HOME = re.compile(r"^(/home/[^/]+|/root(?=/|$))")
_REMOVABLE = re.compile(r"^(/run)?/media/[^/]+/")
"""Mount points of removable disks, which contain the user's name."""


def short_names(directories: Sequence[str]) -> tuple[str, ...]:
    """Names in the order of `directories`: the last part of the path, or as many parts as make it unique.

    Names that would differ only in the omitted user name are numbered.
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
    """Parts of a path below the root, without a user name; `system` for the root itself."""
    path = _HOME.sub("/home", _REMOVABLE.sub("/media/", directory))
    return PurePosixPath(path).parts[1:] or ("system",)
