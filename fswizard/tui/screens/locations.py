"""Second step of a comparison of what is mounted: which places."""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.content import Content

from fswizard.model.filesystem import Candidate, Filesystem
from fswizard.model.units import size_text
from fswizard.tui.backend import Place
from fswizard.tui.candidates import explain_candidate
from fswizard.tui.choices import toggled
from fswizard.tui.drawing import columns, cursor, cut_left, facts, fit, lines, text, tick
from fswizard.tui.screens.base import BoxScreen, TextBox
from fswizard.tui.widgets.canvas import Canvas
from fswizard.tui.widgets.choice_list import ChoiceList, ListRow


class LocationList(ChoiceList):
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
        header = ListRow("header", _header, False)
        self.rows = (header, *(ListRow(place.directory, partial(self._row, place)) for place in self.places))

    def _row(self, place: Place, width: int, on: bool) -> Content:
        note = "baseline" if self.chosen[:1] == (place.directory,) else ""
        widths = _widths(width)
        cells = (
            text(cursor(on), tick(place.directory in self.chosen), " "),
            text((cut_left(place.directory, widths[1]), "bold")),
            place.filesystem or "?",
            text((place.drive, "$muted")),
            text((size_text(place.free_bytes), "$muted")),
            text((note, "$primary")),
        )
        return columns(cells, widths, right=(4,))

    @on(ChoiceList.Ticked)
    def _tick(self, event: ChoiceList.Ticked) -> None:
        self.chosen = toggled(self.chosen, event.key)
        self.redraw()


def explain_place(place: Place, filesystem: Filesystem | None, width: int) -> Content:
    """Where it lies, and what its filesystem can."""
    pairs = [
        ("Location", place.directory),
        ("Filesystem", place.filesystem or "unknown"),
        ("Disk", place.drive or "unknown"),
        ("Room", f"{size_text(place.free_bytes)} free"),
    ]
    rows = [facts(pairs, width, gap=False)]
    if filesystem is not None:
        rows += [Content(""), explain_candidate(Candidate(filesystem.name, filesystem), None, width)]
    return lines(rows)


def on_one_disk(places: tuple[Place, ...]) -> tuple[str, ...]:
    """The directories to begin with: those on one disk, of the first that has two, as disks are not compared then."""
    by_disk: dict[str, list[str]] = {}
    for place in places:
        by_disk.setdefault(place.drive, []).append(place.directory)
    several = (directories for directories in by_disk.values() if len(directories) > 1)
    return tuple(next(several, [place.directory for place in places]))


def _widths(width: int) -> tuple[int, ...]:
    disk = 9 if width >= 64 else 0
    directory = width - 5 - 6 - disk - 8 - 8 - 2 * (5 if disk else 4)
    return (5, max(8, min(directory, 44)), 6, disk, 8, 8)


def _header(width: int, on: bool) -> Content:
    names = ("", "Location", "Type", "Disk", "Free", "")
    return fit(columns([text((name, "$faint")) for name in names], _widths(width), right=(4,)), width)


class LocationsScreen(BoxScreen):
    """Mounted filesystems to tick, one directory on each."""

    QUESTION = "Which locations do you want to compare?"
    LIST = "#places"
    HELP = (
        "The list shows one directory on each mounted filesystem that you can write to. The workloads run in a "
        "directory of their own there, which is removed afterwards. Nothing is formatted, and you don't need root.\n\n"
        "Tick what you want to compare; the others are compared with the first one that you tick. d names another "
        "directory. If the locations are on different disks, you compare the disks along with the filesystems."
    )
    BINDINGS: ClassVar[list[BindingType]] = [Binding("d", "directory", "directory")]

    def body(self) -> ComposeResult:
        with Horizontal(classes="split"):
            with VerticalScroll(classes="left", can_focus=False):
                yield TextBox(id="directory")
                yield LocationList(id="places", keeps_highlight=True)
                yield Canvas(id="below", classes="narrow-only")
            yield VerticalScroll(Canvas(id="about"), classes="panel", can_focus=False)

    def on_mount(self) -> None:
        self.query_one(".panel").border_title = "About this location"
        self.say_usual()
        self.query_one(LocationList).focus()
        self.ask(self.wizard.backend.mounted, self._show_places)

    def _show_places(self, places: tuple[Place, ...]) -> None:
        self.query_one(LocationList).offer(places, self.choices.places or on_one_disk(places))
        self.say_usual()
        if len(places) < 2:
            few = "There is only one mounted filesystem" if places else "There is no mounted filesystem"
            self.say(("! ", "bold $warning"), f"{few} that you can write to. You need two: mount another and come "
                     "back, or name a directory: ", ("d", "bold $primary"), ".")  # fmt: skip

    @on(ChoiceList.Chosen, "#places")
    def _explain_place(self) -> None:
        rows = self.query_one(LocationList)
        place = next((place for place in rows.places if place.directory == rows.key), None)
        if place is None:
            return
        filesystem = self.wizard.machine.catalogue.get(place.filesystem)
        for canvas in self.query("#about, #below").results(Canvas):
            canvas.show(partial(explain_place, place, filesystem))

    def say_usual(self) -> None:
        rows = self.query_one(LocationList)
        disks = sorted({place.drive for place in rows.places if place.directory in rows.chosen})
        if len(disks) > 1:
            self.say(("! ", "bold $warning"), (f"On different disks ({', '.join(disks)}): ", "$warning"),
                     "this compares the disks along with their filesystems.")  # fmt: skip
        else:
            self.say("Each location stands for its filesystem. Nothing is formatted, and you don't need root.")

    @on(ChoiceList.Ticked, "#places")
    def _ticked(self) -> None:
        self.say_usual()

    def action_directory(self) -> None:
        self.open_box("another directory, such as /srv/data")

    def use_directory(self, place: Place) -> None:
        self.query_one(LocationList).add(place)
        self.say_usual()

    def action_forward(self) -> None:
        chosen = self.query_one(LocationList).chosen
        if len(chosen) < 2:
            self.say(("✗ ", "bold $error"), "Tick at least two locations: ", ("space", "bold $primary"), " ticks, ",
                     ("d", "bold $primary"), " names another directory.")  # fmt: skip
            return
        self.wizard.choose(places=chosen)
        self.wizard.go_on()
