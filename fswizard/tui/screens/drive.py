"""Second step: which disk, and where on it."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, VerticalScroll

from fswizard.errors import FswizardError
from fswizard.model.drive import Drive
from fswizard.tui.backend import Place
from fswizard.tui.drawing import Piece
from fswizard.tui.drives import DEVICE, TargetMenu, below, best_for, drive_header, drive_row, explain
from fswizard.tui.machine import DiskWatcher
from fswizard.tui.screens.base import BoxScreen, TextBox
from fswizard.tui.screens.members import Members, MembersScreen
from fswizard.tui.screens.probe import ProbeScreen
from fswizard.tui.widgets.canvas import Canvas
from fswizard.tui.widgets.choice_list import ChoiceList, ListRow

if TYPE_CHECKING:
    from fswizard.tui.backend import ProbeResult

WITHOUT_PLATTERS = ("ssd", "nvme", "flash-card")


class DriveScreen(BoxScreen):
    """The disks, what is known of the highlighted one, and where to measure."""

    LIST = "#drives"
    HELP = (
        "The list shows every disk with its way of recording. SMR (shingled) disks write slowly once their cache "
        "is full; the evidence for the verdict stands beside it, so that you can check it.\n\n"
        "p probes a disk: it writes to a scratch file on it for some minutes and looks for what only shingled disks "
        "do. How much it will write is said before it begins.\n\n"
        "The measurement runs in a scratch image: a large file on a filesystem of that disk. It is removed "
        "afterwards and nothing is lost. Where nothing on the disk is mounted and writable, mount something, or "
        "name another directory; figures then belong to the disk which that directory is on.\n\n"
        "A partition or the whole disk can be measured on itself, which is the better measurement and erases it: "
        "tab goes to the list of what can be used, and space chooses. What is in use is refused with its reason. "
        "Nothing is erased before you typed the disk's serial number on the review.\n\n"
        "a compares arrays: RAID, mirrors and raidz over several disks that are erased, or, to try them out, over "
        "several scratch images."
    )
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("tab", "app.focus_next", "measure on"),
        Binding("r", "rescan", "rescan"),
        Binding("d", "directory", "directory"),
        Binding("m", "model", "model"),
        Binding("p", "probe", "probe"),
        Binding("a", "several", "arrays"),
    ]

    def question(self) -> str:
        return "Is this disk shingled?" if self.choices.purpose == "smr" else "Which disk is it about?"

    def body(self) -> ComposeResult:
        yield ChoiceList(id="drives", keeps_highlight=True)
        with Horizontal(classes="split"):
            with VerticalScroll(classes="left", can_focus=False):
                yield TextBox(id="directory")
                targets, below = ChoiceList(id="targets", ticks=True), Canvas(id="below")
                below.set_class(self.choices.purpose == "smr", "first")
                yield from (below, targets) if below.has_class("first") else (targets, below)
            yield VerticalScroll(Canvas(id="about"), classes="panel", can_focus=False)

    def on_mount(self) -> None:
        self._drives = self.query_one("#drives", ChoiceList)
        self._targets = self.query_one("#targets", ChoiceList)
        self._model: Drive | None = None
        self._watcher = DiskWatcher(self.wizard.backend, self.wizard.machine, partial(self.call_in_app, self._changed))
        self._listed = False
        self._about: str | None = None
        """Name of the disk that is explained."""
        self._explained = ""
        """Key of the target that is explained."""
        self._meaning: tuple[Piece, ...] = ()
        """What was said of it; where it stays the same, the answer to a key is not taken away."""
        self._names_model = False
        self._pending_drive = ""
        """The disk that was chosen before it was known whether there is room on it."""
        self.query_one(".panel").border_title = "What is known of it"
        if self.wizard.machine.drives is None:
            self.say("Looking for disks …")
        self._changed()
        self._watcher.start()
        self._drives.focus()

    # Disks

    def action_rescan(self) -> None:
        """Ask all disks anew."""
        self._watcher.rescan()

    def on_unmount(self) -> None:
        self._watcher.stop()

    def _changed(self) -> None:
        """Something became known."""
        machine = self.wizard.machine
        if machine.drives is None:
            return
        self._fill()
        if not self._listed:
            self._listed = True
            if not machine.drives:
                self.say("No disk was found. ", ("d", "bold $primary"), " names a directory to measure in.")
            if chosen := self.choices.drive or best_for(self.choices.purpose, machine.drives):
                self._drives.highlight(chosen.name)
            self._draw()
        waits = (
            self._drive is not None
            and self._drive.name == self._pending_drive
            and self._pending_drive in machine.places
        )
        if waits and self.is_current and not isinstance(self.focused, TextBox):  # nothing else is done meanwhile
            self.action_forward()

    def _fill(self) -> None:
        drives = (*(self.wizard.machine.drives or ()), *((self._model,) if self._model else ()))
        rows = [ListRow(drive.name or "model", partial(drive_row, drive)) for drive in drives]
        self._drives.rows = (ListRow("header", drive_header, False), *rows)
        self._draw()

    @property
    def _drive(self) -> Drive | None:
        if self._drives.key == "model":
            return self._model
        return next((drive for drive in self.wizard.machine.drives or () if drive.name == self._drives.key), None)

    @on(ChoiceList.Chosen, "#drives")
    def _draw(self) -> None:
        drive, menu = self._drive, self._menu
        if drive is None:
            return
        self.query_one("#about", Canvas).show(partial(explain, drive))
        self.query_one("#below", Canvas).show(lambda width: below(drive, width, evidence=self.has_class("-narrow")))
        self._targets.rows = menu.rows()
        self.refresh_bindings()
        if drive.name != self._about:
            self._about = drive.name
            self._explain(menu.key)
        elif not self._targets.has_focus and menu.meaning(menu.key) != self._meaning:
            self._explain(menu.key)
        self._watcher.look_for_targets(drive, self.choices.recipe)

    # Targets

    @property
    def _menu(self) -> TargetMenu:
        drive, machine = self._drive, self.wizard.machine
        name = drive.name if drive else ""
        return TargetMenu(self.choices, drive, machine.places.get(name), machine.offers.get(name, ()))

    def _explain(self, key: str) -> None:
        """Below the question: what a target means."""
        self._explained, self._meaning = key, self._menu.meaning(key)
        self.say(*self._meaning)

    @on(ChoiceList.Chosen, "#targets")
    def _explain_target(self, event: ChoiceList.Chosen) -> None:
        if event.rows.has_focus and event.key != self._explained:
            self._explain(event.key)

    @on(ChoiceList.Ticked, "#targets")
    def _tick(self, event: ChoiceList.Ticked) -> None:
        self._choose(event.key)

    def _choose(self, key: str) -> bool:
        """Make a row the target; False where it cannot be, or where something has to be typed first."""
        if key == "named":
            self.action_directory()
            return False
        if key == "several":
            self.action_several()
            return False
        device = self._menu.device(key.removeprefix(DEVICE))
        self._explain(key)
        if key != "default" and device is None:
            return False
        self._choose_one(directory="", device=device.path if device else "")
        self._draw()
        return True

    def _choose_one(self, **changes: Any) -> None:
        """One target from now on; what suits several is no choice for one."""
        if self.choices.across > 1:
            self.wizard.choose(candidates=(), members=(), images=1)
        self.wizard.choose(**changes)

    def action_several(self) -> None:
        """Choose several disks or scratch images."""
        recipe, drives = self.choices.recipe, self.wizard.machine.drives
        if recipe is not None and drives is not None:
            place = None if self.choices.directory else self._menu.usable_place
            window = MembersScreen(recipe, drives, self.choices.members, self.choices.images, place)
            self.wizard.push_screen(window, self._choose_several)

    def _choose_several(self, chosen: Members | None) -> None:
        if chosen is None:
            return
        self.wizard.choose(
            device="", members=chosen.paths, images=chosen.images, member_bytes=chosen.smallest_bytes, candidates=()
        )
        if chosen.drive is not None:
            self.wizard.choose(drive=chosen.drive)
            self._drives.highlight(chosen.drive.name)
        self._explain("several")
        self._draw()
        self._drives.focus()

    # The probe

    def action_probe(self) -> None:
        """Find out by writing whether the highlighted disk is shingled."""
        drive, menu, machine = self._drive, self._menu, self.wizard.machine
        if drive is None or self.wizard.measuring:
            self.say(("✗ ", "bold $error"), "A run goes on: a probe would disturb it, and it the probe.")
            return
        place = menu.usable_place
        target = place.directory if place is not None and not place.remark else menu.empty
        if target is not None:
            self.wizard.push_screen(ProbeScreen(drive, target), partial(self._probed, drive))
        elif drive.name not in machine.places.keys() & machine.offers.keys():
            self.say("Looking for room on it … press ", ("p", "bold $primary"), " again in a moment.")
        else:
            self.say(("✗ ", "bold $error"), "The probe writes a scratch file, and nothing on this disk is mounted "
                     "and writable. Mount something on it first.")  # fmt: skip

    def _probed(self, drive: Drive, result: ProbeResult | None) -> None:
        if result is not None:
            self._watcher.probed(drive, result)

    # Typing

    def action_directory(self) -> None:
        self._names_model = False
        self.open_box("directory to put the scratch image into, such as ~/scratch", self.choices.directory)

    def action_model(self) -> None:
        self._names_model = True
        self.open_box("model name of a disk, such as ST8000AS0002")

    def handle_text(self, typed: str) -> None:
        if self._names_model:
            self.ask(lambda: self.wizard.backend.judge_model(typed), self._judged, group="type")
        else:
            super().handle_text(typed)

    def _judged(self, model: Drive) -> None:
        self._model = model
        self.close_box()
        self._fill()
        self._drives.highlight("model")

    def say_usual(self) -> None:
        self._explain(self._menu.key)

    def use_directory(self, place: Place) -> None:
        if self.choices.members:
            self._choose_one()
        self.wizard.choose(directory=place.directory, device="")
        self._draw()

    # On

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "probe":
            drive = self._drive if self.is_mounted else None
            return drive is not None and bool(drive.name) and drive.kind not in WITHOUT_PLATTERS
        return super().check_action(action, parameters)

    def action_forward(self) -> None:
        self._pending_drive = ""
        key = self._targets.key
        settled = key == self._menu.key and key in ("named", "several")
        if self._targets.has_focus and not settled and not self._choose(key):
            return
        drive, menu, choices = self._drive, self._menu, self.choices
        given_up = menu.chosen is not None or choices.members
        if drive is None or not drive.name:
            if choices.directory:
                self.wizard.go_on()
            elif drive is not None:
                self.say(("✗ ", "bold $error"), "Nothing can be measured on a model's name: choose one of the disks, "
                         "or name a directory: ", ("d", "bold $primary"), ".")  # fmt: skip
        elif isinstance(menu.place, FswizardError) and not choices.directory and not given_up:
            self.show_error(menu.place)
        elif menu.place is None and not choices.directory and not given_up:
            self._pending_drive = drive.name
            self.say("Looking for room on it … ", ("d", "bold $primary"), " names a directory instead.")
        else:
            self._go_on(choices.drive if choices.members and choices.drive else drive, menu)

    def _go_on(self, drive: Drive, menu: TargetMenu) -> None:
        if self.choices.drive is None or drive.name != self.choices.drive.name:
            self.wizard.choose(candidates=())  # what suits another disk is chosen anew
        elsewhere = menu.usable_place is not None and bool(menu.usable_place.remark)
        self.wizard.choose(drive=drive, device=menu.chosen.path if menu.chosen else "", elsewhere=elsewhere)
        self.wizard.go_on()
