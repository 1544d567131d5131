"""Second step: which disk, and where on it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.content import Content

from fswizard.errors import FswizardError
from fswizard.model.drive import Drive
from fswizard.tui.backend import Place
from fswizard.tui.drawing import Piece, lines
from fswizard.tui.drives import best_for, contents, drive_header, drive_row, explain
from fswizard.tui.machine import DiskWatcher
from fswizard.tui.screens.members import Members, MembersScreen
from fswizard.tui.screens.naming import NamingScreen
from fswizard.tui.screens.probe import ProbeScreen
from fswizard.tui.targets import (
    DEVICE,
    chosen_of,
    device_row,
    device_words,
    directory_row,
    empty_words,
    image_row,
    several_meaning,
    several_row,
)
from fswizard.tui.threads import in_background, tell
from fswizard.tui.widgets.box import TextBox
from fswizard.tui.widgets.canvas import Canvas
from fswizard.tui.widgets.choice_list import ChoiceList, ListRow, headline

if TYPE_CHECKING:
    from fswizard.drives.probe import ProbeResult
    from fswizard.targets.device_checks import Offer
    from fswizard.tui.app import FswizardApp

WITHOUT_PLATTERS = ("ssd", "nvme", "flash-card")


class DriveScreen(NamingScreen):
    """The disks, what is known of the highlighted one, and where to measure."""

    STEP = "drive"
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
        Binding("tab", "other_list", "measure on"),
        Binding("r", "rescan", "rescan"),
        Binding("d", "directory", "directory"),
        Binding("m", "model", "model"),
        Binding("p", "probe", "probe"),
        Binding("a", "several", "arrays"),
    ]

    def question(self) -> str:
        return "Is this disk shingled?" if self.choices.purpose == "smr" else "Which disk is it about?"

    def body(self) -> ComposeResult:
        yield ChoiceList(id="drives", keeps=True)
        with Horizontal(classes="split"):
            with VerticalScroll(classes="left", can_focus=False):
                yield TextBox(id="directory")
                targets, below = ChoiceList(id="targets", ticks=True), Canvas(id="below")
                below.set_class(self.choices.purpose == "smr", "first")
                yield from (below, targets) if below.has_class("first") else (targets, below)
            yield VerticalScroll(Canvas(id="about"), classes="panel", can_focus=False)

    def on_mount(self) -> None:
        super().on_mount()
        self._model: Drive | None = None
        self._scouting: DiskWatcher | None = None
        self._shown = False
        self._looked_at: object = None
        self._about: str | None = None
        self._explained = ""
        self._meant: tuple[Piece, ...] = ()
        """What was said of a target; where it stays the same, the answer to a key is not taken away."""
        self._names_model = False
        self._going_to = ""
        """The disk that was chosen before it was known whether there is room on it."""
        self.query_one(".panel").border_title = "What is known of it"
        if self.wizard.machine.drives is None:
            self.say("Looking for disks …")
        self._learnt()
        self._scout()
        self.query_one("#drives").focus()

    # Disks

    def action_rescan(self) -> None:
        """Ask all disks anew."""
        self.wizard.machine.details.clear()
        self._looked_at = None
        self._scout()

    def _scout(self) -> None:
        if self._scouting is not None:
            self._scouting.stop()
        wizard = self.wizard
        self._scouting = DiskWatcher(wizard.backend, wizard.machine, lambda: tell(self, self._learnt, app=wizard))
        self._scouting.start()

    def on_unmount(self) -> None:
        if self._scouting is not None:
            self._scouting.stop()

    def _learnt(self) -> None:
        """Something became known."""
        drives = self.wizard.machine.drives
        if drives is None:
            return
        if self._shown:
            self._fill()
        else:
            self._shown = True
            self._show(drives)
        if self._going_to in self.wizard.machine.places and self._waits:
            self.action_forward()

    @property
    def _waits(self) -> bool:
        """Whoever wanted to go on does nothing else meanwhile."""
        chosen = self._drive is not None and self._drive.name == self._going_to
        return chosen and self.is_current and not isinstance(self.focused, TextBox)

    def _show(self, drives: tuple[Drive, ...]) -> None:
        if not drives:
            self.say("No disk was found. ", ("d", "bold $primary"), " names a directory to measure in.")
        self._fill()
        rows = self.query_one("#drives", ChoiceList)
        chosen = self.choices.drive or best_for(self.choices.purpose, drives)
        if chosen:
            rows.highlight(chosen.name)
        self._draw()

    def _fill(self) -> None:
        drives = (*(self.wizard.machine.drives or ()), *((self._model,) if self._model else ()))
        header = ListRow("header", lambda width, on: drive_header(width), False)
        rows = [ListRow(drive.name or "model", drive_row(drive)) for drive in drives]
        self.query_one("#drives", ChoiceList).rows = (header, *rows)
        self._draw()

    @property
    def _drive(self) -> Drive | None:
        key = self.query_one("#drives", ChoiceList).key
        if key == "model":
            return self._model
        return next((drive for drive in self.wizard.machine.drives or () if drive.name == key), None)

    @on(ChoiceList.Chosen, "#drives")
    def _draw(self) -> None:
        drive = self._drive
        if drive is None:
            return
        self.query_one("#about", Canvas).show(lambda width: explain(drive, width))
        self.query_one("#below", Canvas).show(lambda width: self._below(drive, width))
        self.query_one("#targets", ChoiceList).rows = self._targets(drive)
        self.refresh_bindings()
        key = self._target_key
        if drive.name != self._about:
            self._about = drive.name
            self._say_what(key)
        elif not self.query_one("#targets").has_focus and self._meaning(key) != self._meant:
            self._say_what(key)
        if drive.name and (state := _as_target(drive)) != self._looked_at:
            self._looked_at = state
            in_background(self._look_for_targets, self.wizard, drive, state)

    def _below(self, drive: Drive, width: int) -> Content:
        """What is on the disk; where there is no room for a panel, the evidence too."""
        if self.has_class("-narrow"):
            return lines((explain(drive, width), Content(""), contents(drive, width)))
        return contents(drive, width)

    # Targets

    def _look_for_targets(self, wizard: FswizardApp, drive: Drive, state: object) -> None:
        """In a thread: a disk that hangs keeps nobody waiting, not even at the end."""
        offers = wizard.backend.offers(drive, wizard.choices.recipe)
        tell(self, self._offered, drive, state, offers, app=wizard)

    def _offered(self, drive: Drive, state: object, offers: tuple[Offer, ...]) -> None:
        if state != self._looked_at:  # it has changed meanwhile, or another disk is highlighted
            return
        self.wizard.machine.offers[drive.name] = offers
        self._draw()

    def _offers(self) -> tuple[Offer, ...]:
        drive = self._drive
        return self.wizard.machine.offers.get(drive.name, ()) if drive else ()

    @property
    def _device(self) -> Offer | None:
        """The partition or disk that was chosen, where it belongs to the highlighted disk and can still be had."""
        return chosen_of(self._offers(), self.choices.device)

    @property
    def _target_key(self) -> str:
        """Key of the target that is chosen."""
        if self.choices.across > 1:
            return "several"
        if (device := self._device) is not None:
            return DEVICE + device.path
        return "named" if self.choices.directory else "default"

    def _targets(self, drive: Drive) -> tuple[ListRow, ...]:
        if not drive.name:
            return ()
        place = self.wizard.machine.places.get(drive.name)
        chosen, directory = self._target_key, self.choices.directory
        rows = [
            headline("where", "Measure on"),
            ListRow("default", image_row(self.choices.recipe, place, chosen == "default")),
            ListRow("named", directory_row(directory, chosen == "named")),
            ListRow("several", several_row(self.choices, chosen == "several")),
        ]
        keys = {DEVICE + offer.path: offer for offer in self._offers()}
        return (*rows, *(ListRow(key, device_row(offer, chosen == key)) for key, offer in keys.items()))

    def _say_what(self, key: str) -> None:
        """Below the question: what a target means."""
        self._explained, self._meant = key, self._meaning(key)
        self.say(*self._meant)

    def _meaning(self, key: str) -> tuple[Piece, ...]:
        offers = self._offers()
        for offer in offers:
            if key == DEVICE + offer.path:
                return device_words(offer)
        if key == "several":
            return several_meaning(self.choices)
        if key == "named":
            where = self.choices.directory or "a directory that you name"
            return (f"The scratch image goes into {where} and is removed afterwards: nothing is lost.",)
        drive = self._drive
        place = self.wizard.machine.places.get(drive.name) if drive else None
        if isinstance(place, Place) and place.remark:
            empty = next((offer for offer in offers if offer.refused is None and offer.empty), None)
            return empty_words(empty) if empty is not None else (place.remark,)
        if self.choices.purpose == "smr" or (drive is not None and not drive.name):
            return ("The verdict rests on evidence; without any it is “not known”, never “CMR”.",)
        return ("A scratch image is made on it and removed afterwards: nothing is lost.",)

    @on(ChoiceList.Chosen, "#targets")
    def _explain_target(self, event: ChoiceList.Chosen) -> None:
        if event.rows.has_focus and event.key != self._explained:
            self._say_what(event.key)

    @on(ChoiceList.Ticked, "#targets")
    def _pick(self, event: ChoiceList.Ticked) -> None:
        self._choose(event.key)

    def _choose(self, key: str) -> bool:
        """Make a row the target; False where it cannot be, or where something has to be typed first."""
        if key == "named":
            self.action_directory()
            return False
        if key == "several":
            self.action_several()
            return False
        device = chosen_of(self._offers(), key.removeprefix(DEVICE))
        self._say_what(key)
        if key != "default" and device is None:
            return False
        self._alone(directory="", device=device.path if device else "")
        self._draw()
        return True

    def _alone(self, **changes: Any) -> None:
        """One target from now on; what suits several is no choice for one."""
        if self.choices.across > 1:
            self.wizard.choose(candidates=(), members=(), images=1)
        self.wizard.choose(**changes)

    def action_several(self) -> None:
        """Choose several disks or scratch images."""
        recipe, drives = self.choices.recipe, self.wizard.machine.drives
        if recipe is None or drives is None:
            return
        place = self.wizard.machine.places.get(self._drive.name) if self._drive else None
        where = place if isinstance(place, Place) and not self.choices.directory else None
        window = MembersScreen(recipe, drives, self.choices.members, self.choices.images, where)
        self.wizard.push_screen(window, self._several_are)

    def _several_are(self, chosen: Members | None) -> None:
        if chosen is None:
            return
        self.wizard.choose(
            device="", members=chosen.paths, images=chosen.images, member_bytes=chosen.smallest_bytes, candidates=()
        )
        if chosen.drive is not None:
            self.wizard.choose(drive=chosen.drive)
            self.query_one("#drives", ChoiceList).highlight(chosen.drive.name)
        self._say_what("several")
        self._draw()
        self.query_one("#drives").focus()

    # The probe

    def action_probe(self) -> None:
        """Find out by writing whether the highlighted disk is shingled."""
        drive = self._drive
        place = self.wizard.machine.places.get(drive.name) if drive else None
        if drive is None or self.wizard.measuring:
            self.say(("✗ ", "bold $error"), "A run goes on: a probe would disturb it, and it the probe.")
        elif isinstance(place, Place) and not place.remark:
            self._open_probe(drive, place.directory)
        elif empty := next((offer for offer in self._offers() if offer.refused is None and offer.empty), None):
            self._open_probe(drive, empty)
        elif drive.name not in self.wizard.machine.places.keys() & self.wizard.machine.offers.keys():
            self.say("Looking for room on it … press ", ("p", "bold $primary"), " again in a moment.")
        else:
            self.say(("✗ ", "bold $error"), "The probe writes a scratch file, and nothing on this disk is mounted "
                     "and writable. Mount something on it first.")  # fmt: skip

    def _open_probe(self, drive: Drive, place: str | Offer) -> None:
        def ended(result: ProbeResult | None) -> None:
            if result is not None and self._scouting is not None:
                self._scouting.probed(drive, result)

        self.wizard.push_screen(ProbeScreen(drive, place), ended)

    # Typing

    def action_directory(self) -> None:
        self._names_model = False
        self.open_box("directory to put the scratch image into, such as ~/scratch", self.choices.directory)

    def action_model(self) -> None:
        self._names_model = True
        self.open_box("model name of a disk, such as ST8000AS0002")

    def was_typed(self, typed: str) -> None:
        if self._names_model:
            self._judge(typed)
        else:
            super().was_typed(typed)

    @work(thread=True, exclusive=True, group="type")
    def _judge(self, model: str) -> None:
        drive = self.wizard.backend.judge_model(model)
        tell(self, self._judged, drive)

    def _judged(self, drive: Drive) -> None:
        self._model = drive
        self.close_box()
        self._fill()
        self.query_one("#drives", ChoiceList).highlight("model")

    def directory_is(self, place: Place) -> None:
        if self.choices.members:
            self._alone()
        self.wizard.choose(directory=place.directory, device="")
        self._say_what(self._target_key)
        self._draw()

    # On

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "probe":
            drive = self._drive if self.is_mounted else None
            return drive is not None and bool(drive.name) and drive.kind not in WITHOUT_PLATTERS
        return super().check_action(action, parameters)

    def action_other_list(self) -> None:
        self.focus_next()

    def action_forward(self) -> None:
        self._going_to = ""
        targets = self.query_one("#targets", ChoiceList)
        settled = targets.key == self._target_key and targets.key in ("named", "several")
        if targets.has_focus and not settled and not self._choose(targets.key):
            return
        drive = self._drive
        place = self.wizard.machine.places.get(drive.name) if drive else None
        if drive is None or not drive.name:
            if self.choices.directory:
                self.wizard.go_on()
            elif drive is not None:
                self.say(("✗ ", "bold $error"), "Nothing can be measured on a model's name: choose one of the disks, "
                         "or name a directory: ", ("d", "bold $primary"), ".")  # fmt: skip
            return
        device = self._device
        given_up = device is not None or self.choices.members
        if isinstance(place, FswizardError) and not self.choices.directory and not given_up:
            self.show_error(place)
            return
        if place is None and not self.choices.directory and not given_up:
            self._going_to = drive.name
            self.say("Looking for room on it … ", ("d", "bold $primary"), " names a directory instead.")
            return
        self.wizard.choose(device=device.path if device else "")
        self._take(drive, place if isinstance(place, Place) else None)

    def _take(self, drive: Drive, place: Place | None) -> None:
        if self.choices.members and self.choices.drive is not None:
            drive = self.choices.drive
        if self.choices.drive is None or drive.name != self.choices.drive.name:
            self.wizard.choose(candidates=())  # what suits another disk is chosen anew
        elsewhere = place is not None and bool(place.remark)
        self.wizard.choose(drive=drive, elsewhere=elsewhere)
        self.wizard.go_on()


def _as_target(drive: Drive) -> object:
    """What decides whether it can be written over, as far as it is seen without looking closely."""
    parts = tuple((part.name, part.filesystem, part.label, part.mount_point) for part in drive.partitions)
    return (drive.name, drive.serial, drive.health, drive.read_only, drive.uses, parts)
