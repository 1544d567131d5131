"""Mounted places that are compared as they are: rows to tick."""

from __future__ import annotations

from typing import Any

from textual import on
from textual.content import Content

from fswizard.model.filesystem import Candidate, Filesystem
from fswizard.model.units import size_text
from fswizard.tui.backend import Place
from fswizard.tui.candidates import explain_candidate
from fswizard.tui.drawing import columns, cut_left, facts, fit, lines, text, tick
from fswizard.tui.widgets.rows import Draw, Row, Rows


class LocationRows(Rows):
    """Places with check boxes; the first one ticked is what the others are compared with."""

    def __init__(self, **arguments: Any) -> None:
        super().__init__(ticks=True, **arguments)
        self.places: tuple[Place, ...] = ()
        self.chosen: tuple[str, ...] = ()

    def offer(self, places: tuple[Place, ...], chosen: tuple[str, ...]) -> None:
        """Show `places`, those whose directory is in `chosen` ticked."""
        self.places = places
        known = [place.directory for place in places]
        self.chosen = tuple(directory for directory in chosen if directory in known)
        self._fill()

    def add(self, place: Place) -> None:
        """One more, ticked."""
        if place.directory not in [known.directory for known in self.places]:
            self.places = (*self.places, place)
        if place.directory not in self.chosen:
            self.chosen = (*self.chosen, place.directory)
        self._fill()

    def _fill(self) -> None:
        header = Row("header", _header, False)
        self.rows = (header, *(Row(place.directory, self._row(place)) for place in self.places))

    def _row(self, place: Place) -> Draw:
        def draw(width: int, on: bool) -> Content:
            chosen = place.directory in self.chosen
            note = "baseline" if self.chosen and self.chosen[0] == place.directory else ""
            widths = _widths(width)
            marked = text(("▌" if on else " ", "$primary"), tick(chosen), " ")
            return columns(
                (
                    marked,
                    text((cut_left(place.directory, widths[1]), "bold")),
                    place.filesystem or "?",
                    text((place.drive, "$muted")),
                    text((size_text(place.free_bytes), "$muted")),
                    text((note, "$primary")),
                ),
                widths,
                right=(4,),
            )

        return draw

    @on(Rows.Ticked)
    def _tick(self, event: Rows.Ticked) -> None:
        event.stop()
        if event.key in self.chosen:
            self.chosen = tuple(directory for directory in self.chosen if directory != event.key)
        else:
            self.chosen = (*self.chosen, event.key)
        self.redraw()


def explain_place(place: Place, filesystem: Filesystem | None, width: int) -> Content:
    """Where it lies, and what its filesystem can."""
    rows = [
        facts(
            [
                ("Place", place.directory),
                ("Filesystem", place.filesystem or "not known"),
                ("Disk", place.drive or "not known"),
                ("Room", f"{size_text(place.free_bytes)} free"),
            ],
            width,
            gap=False,
        )
    ]
    if filesystem is not None:
        rows += [Content(""), explain_candidate(Candidate(filesystem.name, filesystem), None, "", width)]
    return lines(rows)


def _widths(width: int) -> tuple[int, ...]:
    disk = 9 if width >= 64 else 0
    directory = width - 5 - 6 - disk - 8 - 8 - 2 * (5 if disk else 4)
    return (5, max(8, min(directory, 44)), 6, disk, 8, 8)


def _header(width: int, on: bool) -> Content:
    names = ("", "Place", "Type", "Disk", "Free", "")
    return fit(columns([text((name, "$faint")) for name in names], _widths(width), right=(4,)), width)
