"""What the tests of this room found out about each filesystem, for the table that they print at their end."""

from __future__ import annotations

from collections.abc import Iterator

COLUMNS = ("whole run", "mount options", "cleaner or fill", "crash recovery")

_found: dict[str, dict[str, str]] = {}


def note(filesystem: str, column: str, text: str) -> None:
    """Something that was shown to be so, in a few words; beside what was noted before."""
    assert column in COLUMNS
    cells = _found.setdefault(filesystem, {})
    cells[column] = f"{cells[column]}; {text}" if column in cells else text


def lines() -> Iterator[str]:
    """The table, a line a filesystem; nothing where nothing was found out."""
    rows = [
        ("", *COLUMNS),
        *((name, *(cells.get(column, "-") for column in COLUMNS)) for name, cells in _found.items()),
    ]
    if len(rows) > 1:
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        for row in rows:
            yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
