"""Second step of a comparison of what is mounted: which places."""

from __future__ import annotations

from typing import ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, VerticalScroll

from fswizard.tui.backend import Place
from fswizard.tui.locations import LocationRows, explain_place
from fswizard.tui.screens.naming import NamingScreen
from fswizard.tui.threads import tell
from fswizard.tui.widgets.box import Box
from fswizard.tui.widgets.canvas import Canvas
from fswizard.tui.widgets.rows import Rows


class LocationsScreen(NamingScreen):
    """Mounted filesystems to tick, one directory on each."""

    STEP = "drive"
    QUESTION = "Which places are to be compared?"
    LIST = "#places"
    HELP = (
        "The list shows one directory on each filesystem that is mounted and that you can write to. The workloads run "
        "in a directory of their own there, which is removed afterwards; nothing is formatted, no root is needed.\n\n"
        "Tick what is to be compared; the first one ticked is what the others are compared with. d names another "
        "directory. Where places lie on different disks, these are compared along with the filesystems."
    )
    BINDINGS: ClassVar[list[BindingType]] = [Binding("d", "directory", "directory")]

    def body(self) -> ComposeResult:
        with Horizontal(classes="split"):
            with VerticalScroll(classes="left", can_focus=False):
                yield Box(id="directory")
                yield LocationRows(id="places", keeps=True)
                yield Canvas(id="below", classes="narrow-only")
            yield VerticalScroll(Canvas(id="about"), classes="panel", can_focus=False)

    def on_mount(self) -> None:
        super().on_mount()
        self.query_one(".panel").border_title = "What is known of it"
        self.say("Each place stands for the filesystem that it lies on. Nothing is formatted, no root is needed.")
        self.query_one(LocationRows).focus()
        self._look_for_places()

    @work(thread=True, exclusive=True, group="look")
    def _look_for_places(self) -> None:
        places = self.wizard.backend.mounted()
        tell(self, self._show_places, places)

    def _show_places(self, places: tuple[Place, ...]) -> None:
        chosen = self.choices.places or tuple(place.directory for place in places)
        self.query_one(LocationRows).offer(places, chosen)
        if len(places) < 2:
            found = "Only one mounted filesystem" if places else "No mounted filesystem"
            self.say(("! ", "bold $warning"), f"{found} that you can write to was found, and two are needed: mount "
                     "another and come back, or name a directory on it: ", ("d", "bold $primary"), ".")  # fmt: skip

    @on(Rows.Chosen, "#places")
    def _explain_place(self) -> None:
        rows = self.query_one(LocationRows)
        place = next((place for place in rows.places if place.directory == rows.key), None)
        if place is None:
            return
        filesystem = self.wizard.known.catalogue.get(place.filesystem)
        for canvas in self.query("#about, #below").results(Canvas):
            canvas.show(lambda width: explain_place(place, filesystem, width))

    def action_directory(self) -> None:
        self.open_box("another directory, such as /srv/data")

    def directory_is(self, place: Place) -> None:
        self.query_one(LocationRows).add(place)

    def action_forward(self) -> None:
        chosen = self.query_one(LocationRows).chosen
        if len(chosen) < 2:
            self.say(("✗ ", "bold $error"), "Tick at least two places: ", ("space", "bold $primary"), " ticks, ",
                     ("d", "bold $primary"), " names another directory.")  # fmt: skip
            return
        self.wizard.wish(places=chosen)
        self.wizard.go_on()
