"""Second step: which disk, and where on it."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual import getters, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import DataTable, Input

from fswizard.language import N_, _, p_
from fswizard.model.drive import Drive
from fswizard.tui.backend import Place
from fswizard.tui.choices import WizardChoices, next_value
from fswizard.tui.drawing import keyed
from fswizard.tui.drives import DEVICE, MODEL, best_for, contents, drive_columns, drive_row, explain, model_named, suits
from fswizard.tui.machine import DiskWatcher
from fswizard.tui.screens.base import BoxScreen, TextBox
from fswizard.tui.screens.dialogs import HelpScreen
from fswizard.tui.screens.members import MembersScreen
from fswizard.tui.targets import Target, gone, refusal, targets
from fswizard.tui.widgets.partition_bar import PartitionBar
from fswizard.tui.widgets.table import Column, Facts, Row, Table

if TYPE_CHECKING:
    from fswizard.disks.rights import State

NAME_BEGINS = 4
"""Letters of a model's name from which on it is looked up."""


class DriveScreen(BoxScreen):
    """The disks; for the highlighted one its targets and what is known about it.

    Enter takes the highlighted target of the highlighted disk, whichever list has the focus.
    """

    CSS_PATH = "drive.tcss"
    LIST = "#drives"
    HELP = N_(
        "The list shows every disk and whether it is shingled (SMR). Shingled disks write slowly once their cache is "
        "full. The evidence stands beside the verdict, so you can check it.\n\n"
        "The test runs in a scratch image: a large file on a filesystem of that disk, removed afterwards. Nothing is "
        "lost. Left and right change its size. If nothing on the disk is mounted and writable, mount something, or "
        "name a directory (d); if that is on another disk, you test that one, and an amber line says so.\n\n"
        "You can also test a partition or the whole disk, which is more exact and erases it: tab goes to that list. "
        "Enter takes the highlighted line; on a new, empty disk that is the disk itself. What is in use can't be "
        "chosen; the reason stands above. Nothing is erased before you type the disk's serial number in the review.\n\n"
        "a compares arrays: RAID, mirrors and raidz over several disks, which are erased, or over several scratch "
        "images for a trial."
    )
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("tab", "app.focus_next", N_("measure on")),
        Binding("left", "resize(-1)", N_("change"), show=False),
        Binding("right", "resize(1)", N_("change"), show=False),
        Binding("s", "shrink", N_("shrink image")),
        Binding("c", "compare", N_("compare what I have")),
        Binding("d", "directory", N_("directory")),
        Binding("a", "several", N_("arrays")),
        Binding("m", "model", N_("model"), show=False),
        Binding("r", "rescan", N_("rescan"), show=False),
    ]

    _model: Drive | None = None
    """What was typed in place of a disk."""
    _names_model = False
    """The box is for a model's name, not for a directory."""
    _disk = ""
    """Name of the disk to which the listed targets belong."""
    _wanted = ""
    """Key of the target that the user chose; empty for the one that is proposed."""
    _target = Target("", "", known=False)
    """What Enter takes: the highlighted target."""
    _waiting = False
    """Enter was pressed before it was known what it takes."""

    drives = getters.query_one("#drives", Table)
    target_list = getters.query_one("#targets", Table)

    def question(self) -> str:
        return _("Is this disk shingled?") if self.choices.purpose == "smr" else _("Which disk do you want to test?")

    def body(self) -> ComposeResult:
        yield TextBox(id="directory")
        yield Table(*drive_columns(), id="drives")
        yield Table(Column(_("Measure on"), flexible=True), Column(flexible=True), id="targets")
        with VerticalScroll(id="panels", can_focus=False):
            with VerticalScroll(classes="details", can_focus=False) as details:
                details.border_title = _("About this disk")
                yield Facts(id="verdict")
            with VerticalScroll(classes="details", can_focus=False, id="on-it"), Vertical():
                yield PartitionBar()
                yield Facts(id="contents")

    def on_mount(self) -> None:
        choices, machine = self.choices, self.wizard.machine
        self._disk = choices.drive.name if choices.drive else ""
        if choices.across > 1:
            self._wanted = "several"
        elif choices.device:
            self._wanted = DEVICE + choices.device
        elif choices.directory:
            self._wanted = "named"
        elif choices.elsewhere:
            self._wanted = "default"
        self._watcher = DiskWatcher(self.wizard.backend, machine, partial(self.call_in_app, self._refill))
        if machine.drives is None:
            self.say(_("Looking for disks …"))
        self._refill()
        self._watcher.start()
        if machine.rights is None:
            self.ask(self.wizard.backend.way, self._show_rights, group="rights")
        self.drives.focus()

    def on_unmount(self) -> None:
        if watcher := getattr(self, "_watcher", None):  # none where the screen goes before it is filled
            watcher.stop()

    def _show_rights(self, rights: State) -> None:
        self.wizard.machine.rights = rights
        self._refill()

    def action_rescan(self) -> None:
        """Ask all disks again."""
        self._watcher.rescan()

    @property
    def drive(self) -> Drive | None:
        """The highlighted disk, or the model that was typed."""
        drives = self.wizard.machine.drives or ()
        return next((drive for drive in drives if drive.name == self.drives.key), self._model)

    def _refill(self) -> None:
        """Show what is known by now."""
        drives = self.wizard.machine.drives
        if drives is None:
            return
        self._choose_target()  # the message that another row is highlighted may be on its way
        first = not self.drives.keys
        self.drives.show(drive_row(drive) for drive in (*drives, self._model) if drive is not None)
        if first and (likely := self.choices.drive or best_for(self.choices.purpose, drives)):
            self.drives.highlight(likely.name)
        self._show_disk()
        if self._waiting and self._target.known and self._target.elsewhere:
            self._waiting = False  # that another disk is tested is read before Enter takes it
            self.say_usual()
        if self._waiting and self.is_current and not self.box_is_open:
            self.action_forward()

    @on(DataTable.RowHighlighted, "#drives")
    def _show_disk(self) -> None:
        drive = self.drive
        if drive is not None:
            if drive.name != self._disk:
                self._disk, self._target, self._waiting = drive.name, DriveScreen._target, False
                if self._wanted not in ("named", "several"):
                    self._wanted = ""
            on_it = p_("contents of a disk", "On it") if drive.size_bytes else _("Suits it")
            self.query_one("#on-it").border_title = on_it
            self.query_one(PartitionBar).drive = drive if drive.size_bytes else None
            self.query_one("#verdict", Facts).show(explain(drive))
            self.query_one("#contents", Facts).show([*contents(drive), ("", ""), *suits(drive)])
            self._watcher.look_for_targets(drive, self.choices.recipe)
        elif self.wizard.machine.drives is not None and self._disk:  # the last one has gone
            self._disk, self._target, self._waiting = "", DriveScreen._target, False
            if self._wanted not in ("named", "several"):
                self._wanted = ""
            self.query_one(PartitionBar).drive = None
            for facts in self.query(Facts):
                facts.show(())
        self._show_targets()

    # Targets

    def _show_targets(self) -> None:
        """A scratch image is proposed, or the disk itself where nothing is on it."""
        machine = self.wizard.machine
        options = {target.key: target for target in targets(self.choices, machine, self._disk)}
        key = self._target.key
        if key.startswith(DEVICE) and (key not in options or options[key].problem is not None):
            self._wanted = key  # no other target takes its place unasked
        if self._wanted.startswith(DEVICE) and self._wanted not in options:
            options[self._wanted] = gone(self._wanted, looking=self._disk not in machine.offers)
        proposed = next((target.key for target in options.values() if target.proposed), "default")
        self._options = options
        self._target = options[self._wanted or proposed]
        if self._disk:
            self.target_list.show(Row(target.key, (target.name, target.summary)) for target in options.values())
            self.target_list.highlight(self._target.key)
        else:
            self.target_list.show(())
        self.say_usual()

    @on(DataTable.RowHighlighted, "#targets")
    def _choose_target(self) -> None:
        key = self.target_list.key
        if key and key != self._target.key:
            self._wanted, self._waiting = key, False
            self._target = self._options[key]
            self.say_usual()

    def say_usual(self) -> None:
        """Say what the highlighted target means, or what stands against it."""
        self.refresh_bindings()
        if self.box_is_open or self.wizard.machine.drives is None:
            return
        if self._waiting:
            self.say(keyed(_("Looking for free space … `d` names a directory instead.")))
        elif self._disk or self._wanted == "named":
            self.say(self._problem or self._target.meaning)
        elif self._model is not None:
            self.say(_("Without evidence we say “unknown”, never “CMR”."))
        else:
            self.say(keyed(_("No disks found. `d` names a directory to measure in.")))

    @property
    def _problem(self) -> Content | None:
        """What stands against the target."""
        if self.wizard.machine.rights != "none":
            return self._target.problem
        return refusal(
            _("Making filesystems needs administrator rights, which you can't get here. "
              "`c` compares filesystems you already use, which needs none.")
        )  # fmt: skip

    # The size of the image

    def action_resize(self, direction: int) -> None:
        """Another size for the scratch image."""
        recipe = self.choices.recipe
        if recipe is not None:
            sizes = tuple(map(float, self.wizard.machine.image_sizes(recipe)))
            self._use_size(int(next_value(sizes, recipe.image_bytes, direction)))

    def action_shrink(self) -> None:
        """To the largest size for which there is room."""
        self._use_size(self._target.fitting_bytes)

    def _use_size(self, size_bytes: int) -> None:
        assert self.choices.recipe is not None
        self.wizard.choose(recipe=replace(self.choices.recipe, image_bytes=size_bytes))
        self._refill()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "resize":
            return self._target.key in ("default", "named")
        if action == "shrink":
            return self._target.fitting_bytes > 0
        if action == "compare":
            return self.wizard.machine.rights == "none"
        return super().check_action(action, parameters)

    # Other ways

    def action_compare(self) -> None:
        """What can be had without root."""
        self.wizard.choices = WizardChoices(purpose="compare", recipe=self.wizard.machine.recipe_for("compare"))
        self.wizard.visit("places")

    def action_several(self) -> None:
        """Choose several disks or scratch images."""
        machine = self.wizard.machine
        place = machine.named.get(self.choices.directory) or machine.places.get(self._disk)
        if self.choices.recipe is not None and machine.drives is not None:
            known = place if isinstance(place, Place) else None
            self.wizard.push_screen(MembersScreen(machine.drives, known), self._use_several)

    def _use_several(self, chosen: bool | None) -> None:
        if not chosen:
            return
        self._wanted = "several"
        if self.choices.members and self.choices.drive is not None:
            self.drives.highlight(self.choices.drive.name)
        self._refill()
        self.drives.focus()

    def action_directory(self) -> None:
        self._names_model = False
        self.open_box(_("directory to put the scratch image into, such as ~/scratch"), self.choices.directory)

    def use_directory(self, place: Place) -> None:
        self.wizard.machine.named[place.directory] = place
        if self.choices.members:
            self._forget_several()
        self.wizard.choose(directory=place.directory, device="")
        self._wanted = "several" if self.choices.across > 1 else "named"
        self._refill()

    def _forget_several(self) -> None:
        """One target from now on; what suits several cannot be chosen for one."""
        self.wizard.choose(candidates=(), members=(), images=1)

    def action_model(self) -> None:
        self._names_model = True
        self.open_box(_("model name, such as ST8000AS0002: the verdict follows as you type"))

    def handle_text(self, typed: str) -> None:
        if self._names_model and typed:
            self._show_model(typed)
            self.close_box()
        else:
            super().handle_text(typed)

    @on(Input.Changed, "#directory")
    def _look_up(self, event: Input.Changed) -> None:
        """The verdict on a model, while its name is typed."""
        typed = event.value.strip()
        if self._names_model and event.input.has_focus and len(typed) >= NAME_BEGINS:
            self._show_model(typed)

    def _show_model(self, typed: str) -> None:
        self._model = model_named(typed)
        self._refill()
        self.drives.highlight(MODEL)
        self._show_disk()

    # On

    @on(DataTable.RowSelected, "#targets")
    def action_forward(self) -> None:
        self._choose_target()  # a key may come before the message that another row is highlighted
        self._show_disk()
        drive, target, machine = self.drive, self._target, self.wizard.machine
        settled = target.known and (self._wanted or not target.elsewhere or self._disk in machine.offers)
        self._waiting = False
        if drive is not None and not drive.name:
            self.wizard.push_screen(AdviceScreen(drive))
        elif self._problem is not None:
            self.say(self._problem)
        elif target.key == "named" and not self.choices.directory:
            self.action_directory()
        elif target.key == "several" and self.choices.across == 1:
            self.action_several()
        elif settled:
            self._go_on(drive, target)
        elif drive is not None:
            self._waiting = True
            self.say_usual()

    def _go_on(self, drive: Drive | None, target: Target) -> None:
        choices = self.choices
        if target.key == "several" and choices.members:
            drive = choices.drive
        elif target.key != "several" and choices.across > 1:
            self._forget_several()
        if drive is None or choices.drive is None or drive.name != choices.drive.name:
            self.wizard.choose(candidates=())  # what suits another disk is chosen again
        device = target.key.removeprefix(DEVICE) if target.key.startswith(DEVICE) else ""
        directory = choices.directory if target.key in ("named", "several") else ""
        self.wizard.choose(drive=drive, device=device, directory=directory, elsewhere=target.elsewhere)
        self.wizard.go_on()


class AdviceScreen(HelpScreen):
    """Advice on a disk before it is measured, or bought."""

    def __init__(self, drive: Drive) -> None:
        super().__init__("")
        self.title = _("{disk}, before you measure", disk=drive.model)
        self._drive = drive

    def body(self) -> ComposeResult:
        with VerticalScroll(id="help", can_focus=False):
            yield Facts()

    def on_mount(self) -> None:
        self.query_one(Facts).show([*explain(self._drive), ("", ""), *suits(self._drive)])
