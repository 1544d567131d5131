"""What files say, kept beside each other, so that thousands of results are read only once."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TypeVar

import fswizard
from fswizard.errors import FswizardError
from fswizard.model.text import safe
from fswizard.system.files import home_directory

T = TypeVar("T")
FORMAT = 1
"""Rises with what is kept, so that an older index is made again."""


def cache_directory() -> Path:
    """What can be made again at any time: $XDG_CACHE_HOME/fswizard, or below ~/.cache."""
    base = Path(os.environ.get("XDG_CACHE_HOME", ""))
    return (base if base.is_absolute() else home_directory() / ".cache") / "fswizard"


def read_once(
    name: str, kind: type[T], read: Callable[[Path], T], paths: Iterable[Path]
) -> Iterator[tuple[Path, T | FswizardError]]:
    """Each file with what `read` makes of it, an object of the model of type `kind`, or with the error that it raised.

    A file whose time or size has changed is read again. An index that is damaged or of another version of the program
    is made again, or done without: it is never a reason to fail.
    """
    import msgspec

    place, version = cache_directory() / f"{name}.json", f"{fswizard.__version__}/{FORMAT}"
    known: dict[str, tuple[str, msgspec.Raw]] = {}
    with contextlib.suppress(OSError, ValueError):
        made_by, kept = msgspec.json.decode(place.read_bytes(), type=tuple[str, dict[str, tuple[str, msgspec.Raw]]])
        if made_by == version:
            known = kept
    changed = False
    for path in paths:
        key, stamp = safe(str(path.absolute())), ""
        with contextlib.suppress(OSError, ValueError):
            status = path.stat()
            stamp = f"{status.st_mtime_ns}/{status.st_size}/{status.st_ino}"
        before, text = known.get(key, ("", msgspec.Raw()))
        value: T | FswizardError
        try:
            value = msgspec.json.decode(text if before == stamp else b"", type=kind)
        except ValueError:  # a new file, or a changed one
            try:
                value = read(path)
                known[key], changed = (stamp, msgspec.Raw(msgspec.json.encode(value))), True
            except FswizardError as error:
                value = error
        yield path, value
    if changed:
        with contextlib.suppress(OSError):
            place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            written = place.with_suffix(f".{os.getpid()}")
            written.write_bytes(msgspec.json.encode((version, known)))
            written.replace(place)
