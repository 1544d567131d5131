"""Short names for directories, distinct and without a user's name: `home`, `archive`, `system`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import PurePosixPath


def short_names(directories: Sequence[str]) -> tuple[str, ...]:
    """A name for each, in order: what it is mounted as or called, and of several alike a number."""
    names = [_name(PurePosixPath(directory).parts[1:]) for directory in directories]
    used = Counter[str]()
    numbered = []
    for name in names:
        used[name] += 1
        numbered.append(f"{name} {used[name]}" if names.count(name) > 1 else name)
    return tuple(numbered)


def _name(parts: tuple[str, ...]) -> str:
    """The last part of a path below the root, unless it is the name of a user's home directory."""
    if parts[:1] in (("home",), ("root",)):
        within = parts[2:] if parts[0] == "home" else parts[1:]
        return within[-1] if within else "home"
    return parts[-1] if parts else "system"
