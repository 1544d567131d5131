"""What the tests of this room found out about each filesystem, for the table that is printed at their end."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

COLUMNS = ("whole run", "mount options", "cleaner or fill", "crash recovery")


class Found(NamedTuple):
    """Something that was shown to be so."""

    filesystem: str
    column: str
    text: str


_noted: list[Found] = []


def note(filesystem: str, column: str, text: str) -> None:
    """Something that was shown to be so, in a few words; beside what was noted before."""
    assert column in COLUMNS
    _noted.append(Found(filesystem, column, text))


def taken() -> list[Found]:
    """What was noted since this was last asked."""
    found = list(_noted)
    _noted.clear()
    return found


def lines(found: Iterable[Found]) -> Iterator[str]:
    """The table, a line a filesystem; nothing where nothing was found out."""
    cells: dict[str, dict[str, list[str]]] = {}
    for filesystem, column, text in found:
        cells.setdefault(filesystem, {}).setdefault(column, []).append(text)
    rows: list[tuple[str, ...]] = [("", *COLUMNS)]
    rows += [(name, *("; ".join(row.get(column, ["-"])) for column in COLUMNS)) for name, row in cells.items()]
    if len(rows) > 1:
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        for row in rows:
            yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
