"""Facts about files, kept in SQLite, so that thousands of results are read only once."""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Generic, TypeVar

import fswizard
from fswizard.errors import FswizardError

T = TypeVar("T")
FORMAT = 1
"""Rises with what is kept, so that an older index is made again."""


def cache_directory() -> Path:
    """What can be made again at any time: $XDG_CACHE_HOME/fswizard, or below ~/.cache."""
    base = Path(os.environ.get("XDG_CACHE_HOME", ""))
    return (base if base.is_absolute() else Path.home() / ".cache") / "fswizard"


class Index(Generic[T]):
    """Of each file what `read` makes of it, an object of the model of type `kind`.

    A file whose time or size has changed is read again. An index that is damaged, locked, or of another version of the
    program is made again, or done without: it is never a reason to fail.
    """

    def __init__(self, name: str, kind: type[T], read: Callable[[Path], T]) -> None:
        self._path = cache_directory() / f"{name}.sqlite"
        self._kind, self._read = kind, read

    def of(self, paths: Iterable[Path]) -> Iterator[tuple[Path, T | FswizardError]]:
        """Each file with its facts, or with the error that reading it raised."""
        with contextlib.ExitStack() as stack:
            connection = stack.enter_context(contextlib.closing(self._open()))
            for path in paths:
                try:
                    yield path, self._known(connection, path)
                except FswizardError as error:
                    yield path, error
            with contextlib.suppress(sqlite3.Error):
                connection.commit()

    def _known(self, connection: sqlite3.Connection, path: Path) -> T:
        import msgspec

        key, stamp = os.fsencode(path.absolute()), ""
        with contextlib.suppress(OSError, ValueError):
            status = path.stat()
            stamp = f"{status.st_mtime_ns}/{status.st_size}/{status.st_ino}"
        with contextlib.suppress(sqlite3.Error, msgspec.MsgspecError):
            row = connection.execute("SELECT known FROM file WHERE path = ? AND stamp = ?", (key, stamp)).fetchone()
            if row is not None:
                return msgspec.json.decode(row[0], type=self._kind)
        known = self._read(path)
        with contextlib.suppress(sqlite3.Error):
            connection.execute("REPLACE INTO file VALUES (?, ?, ?)", (key, stamp, msgspec.json.encode(known)))
        return known

    def _open(self) -> sqlite3.Connection:
        for attempt in range(2):
            with contextlib.suppress(sqlite3.Error, OSError):
                self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                return _connect(str(self._path))
            if not attempt:
                with contextlib.suppress(OSError):
                    self._path.unlink()
        return _connect(":memory:")


def _connect(path: str) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=1)
    try:
        version = f"{fswizard.__version__}/{FORMAT}"
        connection.execute("CREATE TABLE IF NOT EXISTS made_by (version TEXT)")
        connection.execute("CREATE TABLE IF NOT EXISTS file (path BLOB PRIMARY KEY, stamp TEXT, known BLOB)")
        if connection.execute("SELECT version FROM made_by").fetchall() != [(version,)]:
            connection.execute("DELETE FROM made_by")
            connection.execute("DELETE FROM file")
            connection.execute("INSERT INTO made_by VALUES (?)", (version,))
        connection.execute("SELECT path, stamp, known FROM file LIMIT 1")
        if connection.execute("PRAGMA quick_check(1)").fetchone() != ("ok",):
            raise sqlite3.DatabaseError(path)
    except BaseException:
        connection.close()
        raise
    return connection
