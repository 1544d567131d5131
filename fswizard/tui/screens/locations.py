"""Second step of a comparison of what is mounted: which places."""

from __future__ import annotations

from functools import partial
from typing import ClassVar

from rich.cells import cell_len
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.content import Content

from fswizard.filesystems import catalogue
from fswizard.language import N_, _, p_, shown
from fswizard.model.filesystem import Candidate, Filesystem
from fswizard.model.units import size_text
from fswizard.tui.backend import Place
from fswizard.tui.candidates import explain_candidate
from fswizard.tui.choices import toggled
from fswizard.tui.drawing import columns, cut_left, facts, keyed, lines, text, tick
from fswizard.tui.screens.base import BoxScreen, TextBox
from fswizard.tui.widgets.canvas import Canvas
from fswizard.tui.widgets.choice_list import ChoiceList, ListRow


def explain_place(place: Place, filesystem: Filesystem | None, width: int) -> Content:
    """Where it lies, and what its filesystem can."""
    pairs = [
        (_("Location"), place.directory),
        (_("Filesystem"), place.filesystem or _("unknown")),
        (_("Disk"), place.drive or _("unknown")),
        (p_("space on a disk", "Room"), _("{size} free", size=size_text(place.free_bytes))),
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


def _refused_row(place: Place, width: int, on: bool) -> Content:
    """Why nothing can be measured in a place, in grey."""
    return text((f"   {shown(place.refusal)}", "$muted"))


def _row(place: Place | None, ticked: bool, note: str, width: int, on: bool) -> Content:
    """A place with a check box and a remark; without a place the names of the columns."""
    disk = 9 if width >= 63 else 0
    kind, free, remark = p_("of a filesystem", "Type"), p_("space on a disk", "Free"), max(8, cell_len(_("baseline")))
    fixed = (max(6, cell_len(kind)), disk, max(8, cell_len(free)), remark)
    directory = width - 3 - sum(fixed) - 2 * (5 if disk else 4)
    widths = (3, max(8, min(directory, 44)), *fixed)
    if place is None:
        names = ("", _("Location"), kind, _("Disk"), free, "")
        return columns([text((name, "$muted")) for name in names], widths, right=(4,))
    cells = (
        tick(ticked),
        (cut_left(place.directory, widths[1]), "bold"),
        place.filesystem or "?",
        (place.drive, "$muted"),
        (size_text(place.free_bytes), "$muted"),
        (note, "$text-primary"),
    )
    return columns(cells, widths, right=(4,))


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

    def body(self) -> ComposeResult:
        with Horizontal(classes="split"):
            with VerticalScroll(classes="left", can_focus=False):
                yield TextBox(id="directory")
                yield Canvas(self._columns)
                yield ChoiceList(id="places", ticks=True, keeps_highlight=True)
                yield Canvas(id="below", classes="narrow-only")
            yield VerticalScroll(Canvas(id="about"), classes="panel", can_focus=False)

    def on_mount(self) -> None:
        self._places: tuple[Place, ...] = ()
        self.chosen: tuple[str, ...] = ()
        """Directories that are ticked; the first one is the baseline."""
        self.query_one(".panel").border_title = _("About this location")
        self.say_usual()
        self.query_one(ChoiceList).focus()
        self.ask(self.wizard.backend.mounted, self._show_places)

    def _show_places(self, places: tuple[Place, ...]) -> None:
        self._places = places
        usable = tuple(place for place in places if not place.refusal)
        directories = [place.directory for place in usable]
        wanted = self.choices.places or on_one_disk(usable)
        self._choose(tuple(directory for directory in wanted if directory in directories))
        if len(usable) < 2:
            few = _("There is no mounted filesystem that you can write to.")
            if usable:
                few = _("There is only one mounted filesystem that you can write to.")
            mend = _("You need two: mount another and come back, or name a directory: `d`.")
            self.say(("! ", "bold $text-warning"), keyed(f"{few} {mend}"))

    @staticmethod
    def _columns(width: int) -> Content:
        return text(" ", _row(None, False, "", width - 1, False))

    def _choose(self, chosen: tuple[str, ...]) -> None:
        """Tick these directories."""
        self.chosen = chosen
        rows = []
        for place in self._places:
            note = _("baseline") if chosen[:1] == (place.directory,) else ""
            draw = partial(_row, place, place.directory in chosen, note)
            refused = bool(place.refusal)
            rows.append(ListRow(place.directory, partial(_refused_row, place) if refused else draw, not refused))
        self.query_one(ChoiceList).rows = tuple(rows)
        self.say_usual()

    @on(ChoiceList.Chosen, "#places")
    def _explain_place(self, event: ChoiceList.Chosen) -> None:
        place = next(place for place in self._places if place.directory == event.key)
        filesystem = catalogue().get(place.filesystem)
        for canvas in self.query("#about, #below").results(Canvas):
            canvas.show(partial(explain_place, place, filesystem))

    def say_usual(self) -> None:
        chosen = [place for place in self._places if place.directory in self.chosen]
        disks = sorted({place.drive for place in chosen})
        numbers = [place.filesystem_number for place in chosen if place.filesystem_number]
        if alike := [place.directory for place in chosen if numbers.count(place.filesystem_number) > 1]:
            words = _("{directories}. A difference between them is chance or the directory's own.",
                      directories=", ".join(alike))  # fmt: skip
            self.say(("! ", "bold $text-warning"), (f"{_('On one filesystem:')} ", "$text-warning"), words)
        elif len(disks) > 1:
            where = _("On different disks ({disks}):", disks=", ".join(disks))
            words = _("this compares the disks along with their filesystems.")
            self.say(("! ", "bold $text-warning"), (f"{where} ", "$text-warning"), words)
        else:
            self.say(_("Each location stands for its filesystem. Nothing is formatted, and you don't need root."))

    @on(ChoiceList.Ticked, "#places")
    def _ticked(self, event: ChoiceList.Ticked) -> None:
        self._choose(toggled(self.chosen, event.key))

    def action_directory(self) -> None:
        self.open_box(_("another directory, such as /srv/data"))

    def use_directory(self, place: Place) -> None:
        if place.directory not in [known.directory for known in self._places]:
            self._places = (*self._places, place)
        self._choose(tuple(dict.fromkeys((*self.chosen, place.directory))))

    def action_forward(self) -> None:
        if len(self.chosen) < 2:
            self.refuse(_("Tick at least two locations: `space` ticks, `d` names another directory."))
            return
        self.wizard.choose(places=self.chosen)
        self.wizard.go_on()
