"""Second step of a comparison of mounted filesystems: the directories."""

from __future__ import annotations

from typing import ClassVar

from textual import getters, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType

from fswizard.language import N_, _, p_
from fswizard.model.units import size_text
from fswizard.tui.backend import Location
from fswizard.tui.choices import toggled
from fswizard.tui.drawing import Piece, keyed
from fswizard.tui.screens.base import BoxScreen, TextBox
from fswizard.tui.widgets.table import Column, Row, Table


def on_one_disk(locations: tuple[Location, ...]) -> tuple[str, ...]:
    """Default directories: those of the first disk with at least two, so that disks are not compared; otherwise all."""
    by_disk: dict[str, list[str]] = {}
    for location in locations:
        by_disk.setdefault(location.drive, []).append(location.directory)
    several = (directories for directories in by_disk.values() if len(directories) > 1)
    return tuple(next(several, [location.directory for location in locations]))


class LocationsScreen(BoxScreen):
    """Mounted filesystems to tick, one directory on each."""

    QUESTION = N_("Which locations do you want to compare?")
    LIST = "#places"
    HELP = N_(
        "The list shows one directory on each mounted filesystem that you can write to. The workloads run in a "
        "directory of their own there, which is removed afterwards. Nothing is formatted, and you don't need root.\n\n"
        "Tick what you want to compare; the others are compared with the first one that you tick. d names another "
        "directory. If the locations are on different disks, you compare the disks along with the filesystems."
    )
    BINDINGS: ClassVar[list[BindingType]] = [Binding("d", "directory", N_("directory"))]

    table = getters.query_one("#places", Table)

    def body(self) -> ComposeResult:
        yield TextBox(id="directory")
        yield Table(
            Column(_("Location"), flexible=True),
            Column(p_("of a filesystem", "Type")),
            Column(_("Disk"), optional=True),
            Column(p_("space on a disk", "Free"), right=True),
            Column(flexible=True),
            ticks=True,
            id="places",
        )

    def on_mount(self) -> None:
        self._locations: tuple[Location, ...] = ()
        self.chosen: tuple[str, ...] = ()
        """Ticked directories; the first one is the baseline."""
        self.say_usual()
        self.table.focus()
        self.ask(self.wizard.backend.mounted, self._show_locations)

    def _show_locations(self, locations: tuple[Location, ...]) -> None:
        listed = [location.directory for location in locations]
        named = tuple(
            location for location in self._locations if location.directory not in listed
        )  # before the others were known
        self._locations = (*locations, *named)
        usable = tuple(location for location in self._locations if not location.refusal)
        wanted = (*self.chosen, *(self.choices.locations or on_one_disk(usable)))
        self._choose(tuple(location.directory for location in usable if location.directory in wanted))
        if len(usable) < 2:
            few = _("There is no mounted filesystem that you can write to.")
            if usable:
                few = _("There is only one mounted filesystem that you can write to.")
            mend = _("You need two: mount another and come back, or name a directory: `d`.")
            self.say(("! ", "bold $text-warning"), keyed(f"{few} {mend}"))

    def _choose(self, chosen: tuple[str, ...]) -> None:
        """Tick exactly these directories."""
        self.chosen = chosen
        self.table.show(map(self._row, self._locations))
        self.say_usual()

    def _row(self, location: Location) -> Row:
        filesystem, free = location.filesystem or "?", size_text(location.free_bytes)
        if location.refusal:
            cells: tuple[Piece, ...] = ((location.directory, "$muted"), filesystem, "", "", f"✗ {_(location.refusal)}")
            return Row(location.directory, cells)
        baseline = _("baseline") if self.chosen[:1] == (location.directory,) else ""
        cells = ((location.directory, "bold"), filesystem, location.drive, free, (baseline, "$text-primary"))
        return Row(location.directory, cells, location.directory in self.chosen)

    def say_usual(self) -> None:
        chosen = [location for location in self._locations if location.directory in self.chosen]
        disks = sorted({location.drive for location in chosen})
        numbers = [location.filesystem_number for location in chosen if location.filesystem_number]
        alike = ", ".join(location.directory for location in chosen if numbers.count(location.filesystem_number) > 1)
        if alike:
            warning = _("On one filesystem:")
            message = _("{directories}. A difference between them is chance or the directory's own.", directories=alike)
        elif len(disks) > 1:
            warning = _("On different disks ({disks}):", disks=", ".join(disks))
            message = _("this compares the disks along with their filesystems.")
        else:
            self.say(_("Each location stands for its filesystem. Nothing is formatted, and you don't need root."))
            return
        self.say((f"! {warning} ", "$text-warning"), message)

    @on(Table.Ticked, "#places")
    def _ticked(self, event: Table.Ticked) -> None:
        self._choose(toggled(self.chosen, event.key))

    def action_directory(self) -> None:
        self.open_box(_("another directory, such as /srv/data"))

    def use_directory(self, location: Location) -> None:
        if location.directory not in [known.directory for known in self._locations]:
            self._locations = (*self._locations, location)
        self._choose(tuple(dict.fromkeys((*self.chosen, location.directory))))

    def action_forward(self) -> None:
        if len(self.chosen) < 2:
            self.refuse(_("Tick at least two locations: `space` ticks, `d` names another directory."))
            return
        self.wizard.choose(locations=self.chosen)
        self.wizard.go_on()
