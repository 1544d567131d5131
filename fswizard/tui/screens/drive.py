"""Second step: which disk, and where on it."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.widgets import Input

from fswizard.errors import FswizardError
from fswizard.language import N_, _
from fswizard.model.drive import Drive
from fswizard.model.units import binary_text
from fswizard.tui.backend import Place
from fswizard.tui.choices import WizardChoices, next_value
from fswizard.tui.drawing import Piece, keyed
from fswizard.tui.drives import (
    DEVICE,
    TargetMenu,
    below,
    best_for,
    drive_header,
    drive_row,
    known,
    largest_that_fits,
    model_named,
    too_large,
)
from fswizard.tui.machine import DiskWatcher
from fswizard.tui.screens.base import BoxScreen, TextBox
from fswizard.tui.screens.dialogs import AdviceScreen
from fswizard.tui.screens.members import MembersScreen
from fswizard.tui.widgets.canvas import Canvas
from fswizard.tui.widgets.choice_list import ChoiceList, ListRow

if TYPE_CHECKING:
    from fswizard.tui.backend import State

NAME_BEGINS = 4
"""Letters of a model's name from which on it is looked up."""


class DriveScreen(BoxScreen):
    """The disks, details of the highlighted one, and where to measure."""

    LIST = "#drives"
    HELP = N_(
        "The list shows every disk and whether it is shingled (SMR). Shingled disks write slowly once their cache is "
        "full. The evidence stands beside the verdict, so you can check it.\n\n"
        "The test runs in a scratch image: a large file on a filesystem of that disk, removed afterwards. Nothing is "
        "lost. Left and right change its size. If nothing on the disk is mounted and writable, mount something, or "
        "name a directory (d); if that is on another disk, you test that one, and an amber line says so.\n\n"
        "You can also test a partition or the whole disk, which is more exact and erases it: tab goes to that list, "
        "space chooses. What is in use can't be chosen; the reason stands below it. Nothing is erased before you "
        "type the disk's serial number in the review.\n\n"
        "a compares arrays: RAID, mirrors and raidz over several disks, which are erased, or over several scratch "
        "images for a trial."
    )
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("tab", "app.focus_next", N_("measure on")),
        Binding("r", "rescan", N_("rescan")),
        Binding("d", "directory", N_("directory")),
        Binding("m", "model", N_("model")),
        Binding("a", "several", N_("arrays")),
        Binding("s", "shrink", N_("shrink image")),
        Binding("c", "compare", N_("compare what I have")),
    ]

    def question(self) -> str:
        return _("Is this disk shingled?") if self.choices.purpose == "smr" else _("Which disk do you want to test?")

    def body(self) -> ComposeResult:
        yield ChoiceList(id="drives", keeps_highlight=True)
        with Horizontal(classes="split"):
            with VerticalScroll(classes="left", can_focus=False):
                yield TextBox(id="directory")
                targets, below = ChoiceList(id="targets", ticks=True, changes=True), Canvas(id="below")
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
        """The box is for a model's name, not for a directory."""
        self._pending_drive = ""
        """The disk that was chosen before it was known whether there is room on it."""
        self.query_one(".panel").border_title = _("About this disk")
        if self.wizard.machine.drives is None:
            self.say(_("Looking for disks …"))
        self._given_drive = self.choices.drive.name if self.choices.drive and self.choices.device else ""
        """The disk that the chosen partition or whole disk belongs to."""
        self._changed()
        self._watcher.start()
        if self.wizard.machine.rights is None:
            backend = self.wizard.backend
            self.ask(backend.way, self._know_rights, group="rights")
        self._drives.focus()

    def _know_rights(self, rights: State) -> None:
        self.wizard.machine.rights = rights
        self.refresh_bindings()

    # Disks

    def action_rescan(self) -> None:
        """Ask all disks again."""
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
                self.say(keyed(_("No disks found. `d` names a directory to measure in.")))
            if chosen := self.choices.drive or best_for(self.choices.purpose, machine.drives):
                self._drives.highlight(chosen.name)
            self._draw()
        pending = self._pending_drive in machine.places and self._drives.key == self._pending_drive
        if pending and self.is_current and self._drives.has_focus:  # nothing else is done meanwhile
            self.action_forward()

    def _fill(self) -> None:
        drives = (*(self.wizard.machine.drives or ()), *((self._model,) if self._model else ()))
        models = [drive.model for drive in drives]
        rows = [ListRow(drive.name or "model", partial(drive_row, drive, models)) for drive in drives]
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
        self.query_one("#about", Canvas).show(partial(known, drive))
        self.query_one("#below", Canvas).show(lambda width: below(drive, width, evidence=self.has_class("-narrow")))
        highlighted = self._targets.key
        self._targets.rows = menu.rows()
        self.refresh_bindings()
        if self._targets.has_focus and highlighted.startswith(DEVICE) and highlighted != self._targets.key:
            self._drives.focus()
            self._say_lost()
            return
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
        named = machine.named.get(self.choices.directory)
        return TargetMenu(self.choices, drive, machine.places.get(name), machine.offers.get(name, ()), named)

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
        self._given_drive = self._drive.name if self._drive and device else ""
        self._choose_one(directory="", device=device.path if device else "")
        self._draw()
        return True

    @on(ChoiceList.Changed, "#targets")
    def _resize(self, event: ChoiceList.Changed) -> None:
        """Another size for the scratch image."""
        recipe = self.choices.recipe
        if recipe is not None and event.key in ("default", "named"):
            sizes = tuple(map(float, self.wizard.machine.image_sizes(recipe)))
            self._use_size(int(next_value(sizes, recipe.image_bytes, event.direction)))

    def _use_size(self, size_bytes: int) -> None:
        assert self.choices.recipe is not None
        self.wizard.choose(recipe=replace(self.choices.recipe, image_bytes=size_bytes))
        self._explain(self._menu.key)
        self._draw()

    @property
    def _fitting_bytes(self) -> int:
        """The size to which the image must shrink to fit; 0 where it fits, or where none does."""
        recipe, place = self.choices.recipe, self._menu.image_place
        if recipe is None or place is None or not too_large(recipe, place):
            return 0
        return largest_that_fits(recipe, place, self.wizard.machine.image_sizes(recipe))

    def action_shrink(self) -> None:
        """To a size for which there is room."""
        self._use_size(self._fitting_bytes)

    def action_compare(self) -> None:
        """What can be had without root."""
        self.wizard.choices = WizardChoices(purpose="compare", recipe=self.wizard.machine.recipe_for("compare"))
        self.wizard.visit("places")

    def _choose_one(self, **changes: Any) -> None:
        """One target from now on; what suits several cannot be chosen for one."""
        if self.choices.across > 1:
            self.wizard.choose(candidates=(), members=(), images=1)
        self.wizard.choose(**changes)

    def action_several(self) -> None:
        """Choose several disks or scratch images."""
        drives = self.wizard.machine.drives
        if self.choices.recipe is not None and drives is not None:
            place = None if self.choices.directory else self._menu.usable_place
            self.wizard.push_screen(MembersScreen(drives, place), self._show_several)

    def _show_several(self, chosen: bool | None) -> None:
        if not chosen:
            return
        if self.choices.members and self.choices.drive is not None:
            self._drives.highlight(self.choices.drive.name)
        self._explain("several")
        self._draw()
        self._drives.focus()

    # Typing

    def action_directory(self) -> None:
        self._names_model = False
        self.open_box(_("directory to put the scratch image into, such as ~/scratch"), self.choices.directory)

    def action_model(self) -> None:
        self._names_model = True
        self.open_box(_("model name, such as ST8000AS0002: the verdict follows as you type"))

    def handle_text(self, typed: str) -> None:
        if self._names_model and typed:
            self._show_model(model_named(typed))
            self.close_box()
        else:
            super().handle_text(typed)

    @on(Input.Changed, "#directory")
    def _search(self, event: Input.Changed) -> None:
        """The verdict on a model, while its name is typed."""
        typed = event.value.strip()
        if self._names_model and event.input.has_focus and len(typed) >= NAME_BEGINS:
            self._show_model(model_named(typed))

    def _show_model(self, model: Drive) -> None:
        self._model = model
        self._fill()
        self._drives.highlight("model")
        self._draw()

    def say_usual(self) -> None:
        self._explain(self._menu.key)

    def use_directory(self, place: Place) -> None:
        if self.choices.members:
            self._choose_one()
        self.wizard.machine.named[place.directory] = place
        self._given_drive = ""
        self.wizard.choose(directory=place.directory, device="")
        self._draw()

    # On

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "shrink":
            return self.is_mounted and self._fitting_bytes > 0
        if action == "compare":
            return self.wizard.machine.rights == "none"
        return super().check_action(action, parameters)

    def action_forward(self) -> None:
        self._pending_drive = ""
        key = self._targets.key
        settled = key == self._menu.key and key in ("named", "several")
        if self._targets.has_focus and not settled and not self._choose(key):
            return
        drive, menu, choices = self._drive, self._menu, self.choices
        given_up = menu.chosen is not None or choices.members
        if self._refuses(drive, menu):
            return
        if drive is None or not drive.name:
            if choices.directory:
                self.wizard.go_on()
            elif drive is not None:
                self.wizard.push_screen(AdviceScreen(drive))
        elif isinstance(menu.place, FswizardError) and not choices.directory and not given_up:
            self.show_error(menu.place)
        elif menu.place is None and not choices.directory and not given_up:
            self._pending_drive = drive.name
            self.say(keyed(_("Looking for free space … `d` names a directory instead.")))
        else:
            drive = choices.drive if choices.members and choices.drive else drive
            if choices.drive is None or drive.name != choices.drive.name:
                self.wizard.choose(candidates=())  # what suits another disk is chosen again
            device = menu.chosen.path if menu.chosen else ""
            self.wizard.choose(drive=drive, device=device, elsewhere=menu.elsewhere)
            self.wizard.go_on()

    def _refuses(self, drive: Drive | None, menu: TargetMenu) -> bool:
        """Say what stands against the choice, and which key mends it."""
        recipe, place = self.choices.recipe, menu.image_place
        if self.wizard.machine.rights == "none":
            self.refuse(_("Making filesystems needs administrator rights, which you can't get here. "
                          "`c` compares filesystems you already use, which needs none."))  # fmt: skip
        elif drive is not None and self._given_drive == drive.name != "" and menu.chosen is None:
            self._say_lost()
        elif recipe is not None and place is not None and (short := too_large(recipe, place)):
            fitting = self._fitting_bytes
            if fitting:
                size = binary_text(fitting)
                mend = _("`s` shrinks the image to {size}, `d` names another directory.", size=size)
            else:
                mend = _("`d` names another directory.")
            self.refuse(f"{short} {mend}")
        else:
            return False
        return True

    def _say_lost(self) -> None:
        """The partition or disk that was chosen or highlighted can't be had any more: no image takes its place."""
        self.wizard.choose(device="")
        self._given_drive = ""
        self.refuse(_("That partition or disk can't be used any more. Choose again: `⏎` takes the scratch image, "
                      "`r` rescans."))  # fmt: skip
