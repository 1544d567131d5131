"""Short names for directories, distinct and without a user's name: `home`, `archive`, `system`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import PurePosixPath

_CONTAINERS = frozenset({"mnt", "media", "run", "srv", "var"})
"""Directories that say nothing of those within."""


def short_names(directories: Sequence[str]) -> tuple[str, ...]:
    """A name for each, in order: what it is mounted as or called; of two alike, what differs, or a number."""
    paths = [_known(directory) for directory in directories]
    names = [path[-1] for path in paths]
    for number, path in enumerate(paths):
        alike = [other for other in paths if other[-1] == path[-1]]
        if len(alike) > 1:
            depth = next((n for n, parts in enumerate(zip(*alike)) if len(set(parts)) > 1), len(path) - 1)
            names[number] = path[min(depth, len(path) - 1)]
    counts, used = Counter(names), Counter[str]()
    for number, name in enumerate(names):
        if counts[name] > 1:
            used[name] += 1
            names[number] = f"{name} {used[name]}"
    return tuple(names)


def _known(directory: str) -> tuple[str, ...]:
    """The parts of a path that may be shared: no user's name, and of a home directory nothing else."""
    parts = PurePosixPath(directory).parts[1:]
    if parts[:1] in (("home",), ("root",)):
        return ("home", *parts[2 if parts[0] == "home" else 1 :])
    if parts[:2] == ("run", "media"):
        parts = parts[1:]
    if parts[:1] == ("media",) and len(parts) > 2:
        parts = ("media", *parts[2:])
    kept = parts[1:] if len(parts) > 1 and parts[0] in _CONTAINERS else parts
    return kept or ("system",)
