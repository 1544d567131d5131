"""Second step: which disk, and where on it."""

from __future__ import annotations

from typing import ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.content import Content
from textual.widgets import Input

from fswizard.errors import FswizardError
from fswizard.model.drive import Drive
from fswizard.model.units import size_text
from fswizard.tui.backend import Place
from fswizard.tui.drawing import cut_left, fit, lines, radio, text
from fswizard.tui.drives import best_for, contents, drive_header, drive_row, explain
from fswizard.tui.places import PlaceRows, explain_place
from fswizard.tui.scout import Scout
from fswizard.tui.screens.base import StepScreen
from fswizard.tui.threads import tell
from fswizard.tui.widgets.canvas import Canvas
from fswizard.tui.widgets.rows import Draw, Row, Rows, headline

NOT_OFFERED = "a partition or the whole disk: command line only"


class DriveScreen(StepScreen):
    """The disks, what is known of the highlighted one, and where to measure."""

    STEP = "drive"
    HELP = (
        "The list shows every disk with its way of recording. SMR (shingled) disks write slowly once their cache "
        "is full; the evidence for the verdict stands beside it, so that you can check it.\n\n"
        "The measurement runs in a scratch image: a large file on a filesystem of that disk. It is removed "
        "afterwards and nothing is lost. Where nothing on the disk is mounted and writable, mount something, or "
        "name another directory; figures then belong to the disk which that directory is on.\n\n"
        "The wizard formats no disk and no partition. The command line can: fswizard run --target device:PATH "
        "--erase SERIAL, after every check that can be made."
    )
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("r", "rescan", "rescan"),
        Binding("d", "directory", "directory"),
        Binding("m", "model", "model name"),
    ]

    def question(self) -> str:
        if self.wishes.comparing:
            return "Which places are to be compared?"
        return "Is this disk shingled?" if self.wishes.purpose == "smr" else "Which disk is it about?"

    def body(self) -> ComposeResult:
        if self.wishes.comparing:
            with Horizontal(classes="split"):
                with VerticalScroll(classes="left", can_focus=False):
                    yield Input(placeholder="another directory, such as /srv/data", id="directory")
                    yield PlaceRows(id="places", keeps=True)
                    yield Canvas(id="below", classes="narrow-only")
                yield VerticalScroll(Canvas(id="about"), classes="panel", can_focus=False)
            return
        yield Rows(id="drives", keeps=True)
        with Horizontal(classes="split"):
            with VerticalScroll(classes="left", can_focus=False):
                yield Input(id="directory")
                yield Rows(id="targets")
                yield Canvas(id="below")
            yield VerticalScroll(Canvas(id="about"), classes="panel", can_focus=False)

    def on_mount(self) -> None:
        super().on_mount()
        self._model: Drive | None = None
        self._scouting: Scout | None = None
        self._shown = False
        self.query_one("#directory").display = False
        self.query_one(".panel").border_title = "What is known of it"
        if self.wishes.comparing:
            self.say("Each place stands for the filesystem that it lies on. Nothing is formatted, no root is needed.")
            self.query_one(PlaceRows).focus()
            self._look_for_places()
            return
        if self.wizard.known.drives is None:
            self.say("Looking for disks …")
        self._learnt()
        self._scout()
        self.query_one("#drives").focus()

    # Places to compare

    @work(thread=True, exclusive=True, group="look")
    def _look_for_places(self) -> None:
        places = self.wizard.backend.mounted()
        tell(self, self._show_places, places)

    def _show_places(self, places: tuple[Place, ...]) -> None:
        chosen = self.wishes.places or tuple(place.directory for place in places)
        self.query_one(PlaceRows).offer(places, chosen)

    @on(Rows.Chosen, "#places")
    def _explain_place(self) -> None:
        rows = self.query_one(PlaceRows)
        place = next((place for place in rows.places if place.directory == rows.key), None)
        if place is None:
            return
        filesystem = self.wizard.known.catalogue.get(place.filesystem)
        for canvas in self.query("#about, #below").results(Canvas):
            canvas.show(lambda width: explain_place(place, filesystem, width))

    # Disks

    def action_rescan(self) -> None:
        """Ask all disks anew."""
        self.wizard.known.details.clear()
        self._scout()

    def _scout(self) -> None:
        if self._scouting is not None:
            self._scouting.stop()
        wizard = self.wizard
        self._scouting = Scout(wizard.backend, wizard.known, lambda: tell(self, self._learnt, app=wizard))
        self._scouting.start()

    def on_unmount(self) -> None:
        if self._scouting is not None:
            self._scouting.stop()

    def _learnt(self) -> None:
        """Something became known."""
        drives = self.wizard.known.drives
        if drives is None:
            return
        if self._shown:
            self._fill()
        else:
            self._shown = True
            self._show(drives)

    def _show(self, drives: tuple[Drive, ...]) -> None:
        if not drives:
            self.say("No disk was found. ", ("d", "bold $primary"), " names a directory to measure in.")
        elif self.wishes.purpose == "smr":
            self.say("The verdict rests on evidence. Absence of evidence is “not known”, never “CMR”.")
        else:
            self.say("A scratch image is made on it and removed afterwards: nothing is lost.")
        self._fill()
        rows = self.query_one("#drives", Rows)
        chosen = self.wishes.drive or best_for(self.wishes.purpose, drives)
        if chosen:
            rows.highlight(chosen.name)
        self._draw()

    def _fill(self) -> None:
        drives = (*(self.wizard.known.drives or ()), *((self._model,) if self._model else ()))
        header = Row("header", lambda width, on: drive_header(width), False)
        rows = [Row(drive.name or "model", drive_row(drive)) for drive in drives]
        self.query_one("#drives", Rows).rows = (header, *rows)
        self._draw()

    @property
    def _drive(self) -> Drive | None:
        key = self.query_one("#drives", Rows).key
        if key == "model":
            return self._model
        return next((drive for drive in self.wizard.known.drives or () if drive.name == key), None)

    @on(Rows.Chosen, "#drives")
    def _draw(self) -> None:
        drive = self._drive
        if drive is None:
            return
        self.query_one("#about", Canvas).show(lambda width: explain(drive, width))
        self.query_one("#below", Canvas).show(lambda width: self._below(drive, width))
        self.query_one("#targets", Rows).rows = self._targets(drive)

    def _below(self, drive: Drive, width: int) -> Content:
        """What is on the disk; where there is no room for a panel, the evidence too."""
        if self.has_class("-narrow"):
            return lines((explain(drive, width), Content(""), contents(drive, width)))
        return contents(drive, width)

    def _targets(self, drive: Drive) -> tuple[Row, ...]:
        if not drive.name:
            return ()
        place = self.wizard.known.places.get(drive.name)
        named = bool(self.wishes.directory)
        return (
            headline("where", "Measure on"),
            Row("default", _default_row(self, place, not named)),
            Row("named", _named_row(self.wishes.directory)),
            Row("device", _refused_row(), False),
        )

    @on(Rows.Chosen, "#targets")
    def _target(self, event: Rows.Chosen) -> None:
        if event.rows.has_focus and event.key == "default" and self.wishes.directory:
            self.wizard.wish(directory="")
            self._draw()

    @on(Rows.Clicked, "#targets")
    def _clicked(self, event: Rows.Clicked) -> None:
        if event.key == "named":
            self.action_directory()

    # Typing

    def action_directory(self) -> None:
        self._type("directory to put the scratch image into, such as ~/scratch", self.wishes.directory)

    def action_model(self) -> None:
        self._type("model name of a disk, such as ST8000AS0002", "")

    def _type(self, placeholder: str, value: str) -> None:
        box = self.query_one("#directory", Input)
        box.placeholder = placeholder
        box.value = value
        box.display = True
        box.focus()

    @on(Input.Submitted)
    def _typed(self, event: Input.Submitted) -> None:
        typed = event.value.strip()
        if not typed:
            self._close_box()
        elif event.input.placeholder.startswith("model"):
            self._judge(typed)
        else:
            self._check_directory(typed)

    @work(thread=True, exclusive=True, group="type")
    def _judge(self, model: str) -> None:
        drive = self.wizard.backend.judge_model(model)
        tell(self, self._judged, drive)

    def _judged(self, drive: Drive) -> None:
        self._model = drive
        self._close_box()
        self._fill()
        self.query_one("#drives", Rows).highlight("model")

    @work(thread=True, exclusive=True, group="type")
    def _check_directory(self, directory: str) -> None:
        try:
            place = self.wizard.backend.named_place(directory)
        except FswizardError as error:
            tell(self, self.complain, error)
            return
        tell(self, self._directory_is, place)

    def _directory_is(self, place: Place) -> None:
        if self.wishes.comparing:
            self.query_one(PlaceRows).add(place)
        else:
            self.wizard.wish(directory=place.directory)
            self.say(f"The image goes into {place.directory}, {size_text(place.free_bytes)} free.")
            self._draw()
        self._close_box()

    def _close_box(self) -> None:
        self.query_one("#directory").display = False
        self.query_one(PlaceRows if self.wishes.comparing else "#drives").focus()

    # On

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action in ("rescan", "model"):
            return not self.wishes.comparing
        return super().check_action(action, parameters)

    def action_back(self) -> None:
        if self.query_one("#directory").display:
            self._close_box()
        else:
            super().action_back()

    def action_forward(self) -> None:
        if self.wishes.comparing:
            self._compare()
            return
        targets = self.query_one("#targets", Rows)
        if targets.has_focus and targets.key == "named" and not self.wishes.directory:
            self.action_directory()
            return
        drive = self._drive
        place = self.wizard.known.places.get(drive.name) if drive else None
        if drive is None or not drive.name:
            if self.wishes.directory:
                self.wizard.go_on()
            return
        if isinstance(place, FswizardError) and not self.wishes.directory:
            self.complain(place)
            return
        self._take(drive, place if isinstance(place, Place) else None)

    def _take(self, drive: Drive, place: Place | None) -> None:
        if self.wishes.drive is None or drive.name != self.wishes.drive.name:
            self.wizard.wish(candidates=())  # what suits another disk is chosen anew
        elsewhere = place is not None and bool(place.remark)
        self.wizard.wish(drive=drive, elsewhere=elsewhere)
        self.wizard.go_on()

    def _compare(self) -> None:
        chosen = self.query_one(PlaceRows).chosen
        if len(chosen) < 2:
            self.say(("✗ ", "bold $error"), "Tick at least two places: ", ("space", "bold $primary"), " ticks, ",
                     ("d", "bold $primary"), " names another directory.")  # fmt: skip
            return
        self.wizard.wish(places=chosen)
        self.wizard.go_on()


def _default_row(screen: DriveScreen, place: Place | FswizardError | None, chosen: bool) -> Draw:
    recipe = screen.wishes.recipe
    size = size_text(recipe.image_bytes) if recipe else ""

    def draw(width: int, on: bool) -> Content:
        mark = text(("▌" if on else " ", "$primary"), radio(chosen), " ")
        if place is None:
            return fit(text(mark, ("looking for room …", "$muted")), width)
        if isinstance(place, FswizardError):
            return fit(text(mark, ("✗ ", "$error"), place.message), width)
        words = f"a scratch image of {size} in "
        room = width - 5 - len(words) - 19
        rows = [text(mark, words, (cut_left(place.directory, max(8, room)), "bold"))]
        if room >= len(place.directory):
            rows[0] += text(("  nothing is lost", "$success"))
        else:
            rows = [text(mark, words.removesuffix(" in "), ("  nothing is lost", "$success"))]
            rows.append(text("     in ", (cut_left(place.directory, width - 8), "bold")))
        if place.remark:
            rows.append(text(("     ! on another disk: nothing on this one is mounted and writable", "$warning")))
        return lines(fit(row, width) for row in rows)

    return draw


def _named_row(directory: str) -> Draw:
    def draw(width: int, on: bool) -> Content:
        words = f"in {cut_left(directory, width - 12)}" if directory else "in another directory, which you name (d)"
        return fit(text(("▌" if on else " ", "$primary"), radio(bool(directory)), " ", words), width)

    return draw


def _refused_row() -> Draw:
    def draw(width: int, on: bool) -> Content:
        return fit(
            text(" ", radio(False, enabled=False), (f" {NOT_OFFERED}", "$faint")),
            width,
        )

    return draw
