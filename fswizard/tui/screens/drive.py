"""Second step: the disk and the target on it."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual import getters, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.widgets import DataTable, Input

from fswizard.disks import rights
from fswizard.language import N_, _
from fswizard.tui.choices import toggled
from fswizard.tui.drawing import keyed
from fswizard.tui.drives import about_drive, best_for, drive_row
from fswizard.tui.machine import DiskFacts
from fswizard.tui.screens.base import StepScreen, TextBox
from fswizard.tui.targets import DEVICE, IMAGE, NOTHING, Target, device_target, gone, image_target
from fswizard.tui.widgets.table import Column, Facts, Row, Table

if TYPE_CHECKING:
    from fswizard.disks.locations import Location


class DriveScreen(StepScreen):
    """List of disks, with targets and facts for the highlighted one.

    Enter selects the highlighted target of the highlighted disk, whichever list has the focus.
    """

    CSS_PATH = "drive.tcss"
    QUESTION = N_("Which disk do you want to test?")
    HELP = _(
        "The list shows every disk and whether it is shingled (SMR). Shingled disks write slowly once their cache is "
        "full. The evidence stands beside the verdict, so you can check it.\n\n"
        "The test runs in a scratch image: a large file on a filesystem of that disk, removed afterwards. Nothing is "
        "lost. If nothing on the disk is mounted and writable, mount something. d names the directory to put the image "
        "into; the disk below that directory is tested.\n\n"
        "You can also test a partition or the whole disk, which is more exact and erases it: tab goes to that list. "
        "Enter takes the highlighted line; on a new, empty disk that is the disk itself. What is in use can't be "
        "chosen; the reason stands above. Nothing is erased before you type the disk's serial number in the review.\n\n"
        "RAID, mirrors and raidz are compared over several disks, which are erased: tick one on each disk with space."
    )
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("tab", "app.focus_next", _("target")),
        Binding("d", "directory", _("directory")),
        Binding("r", "rescan", _("rescan"), show=False),
    ]

    _disk = ""
    """Name of the disk to which the listed targets belong; empty without disks."""
    _gone = ""
    """Highlighted or ticked device that has been detached, until the user has seen the new highlight."""
    _wanted = ""
    """Key of the target chosen by the user; empty for the default."""
    _target = NOTHING
    """The highlighted target, which Enter selects."""
    _no_root = False
    """Filesystems cannot be created, as root is not available."""

    drives = getters.query_one("#drives", Table)
    target_list = getters.query_one("#targets", Table)
    directory = getters.query_one("#directory", TextBox)

    def body(self) -> ComposeResult:
        box = TextBox(placeholder=_("directory to put the scratch image into, such as ~/scratch"), id="directory")
        box.display = False
        yield box
        yield Table(
            Column(_("Disk")),
            Column(_("Model"), flexible=True),
            Column(_("Size"), right=True),
            Column(_("Kind")),
            Column(_("Health"), optional=True),
            id="drives",
        )
        yield Table(Column(_("Measure on")), Column(flexible=True), ticks=True, id="targets")
        with VerticalScroll(classes="details", can_focus=False) as details:
            details.border_title = _("About this disk")
            yield Facts(id="about")

    def on_mount(self) -> None:
        from fswizard.disks.way import image_rights

        choices, machine = self.choices, self.wizard.machine
        self._targets: dict[str, Target] = {}
        self._disk = choices.drive.name if choices.drive else ""
        self._ticked = choices.devices if len(choices.devices) > 1 else ()
        """Stable names of devices for an array."""
        if choices.devices:
            self._wanted = DEVICE + choices.devices[0]
        elif choices.location:
            self._wanted = IMAGE
        machine.watch(partial(self.call_in_app, self._refill), lambda: not self.is_running)
        if machine.disks is None:
            self.say(_("Looking for disks …"))
        self._refill()
        self.ask(image_rights, self._show_rights, group="rights")
        self.drives.focus()

    def _show_rights(self, state: rights.State) -> None:
        self._no_root = state == "none"
        self._refill()

    def action_rescan(self) -> None:
        """Query all disks again, and forget the chosen location, as its free space may have changed."""
        self.wizard.choose(location=None)
        self.wizard.machine.ask_again()

    @property
    def _facts(self) -> DiskFacts | None:
        """Known facts about the highlighted disk."""
        return (self.wizard.machine.disks or {}).get(self._disk)

    def _refill(self) -> None:
        """Update everything from the known facts."""
        machine = self.wizard.machine
        if machine.disks is None:
            return
        self._choose_target()  # the message that another row is highlighted may be on its way
        for path in self._ticked:
            if machine.device(path) is None:
                self._gone = path.rpartition("/")[2]
                self._ticked = toggled(self._ticked, path)
        if self._disk and self._disk not in machine.disks:
            self._gone = self._disk
        first, drives = not self.drives.keys, machine.drives
        self.drives.show(map(drive_row, drives))
        if first and (likely := best_for(self.choices.purpose, drives)):
            self.drives.highlight(likely.name)
            self.drives.highlight(self._disk)
        self._show_disk()

    @on(DataTable.RowHighlighted, "#drives")
    def _disk_highlighted(self) -> None:
        if self.drives.key != self._disk:  # by the user
            self._gone = ""
            self._show_disk()

    def _show_disk(self) -> None:
        if self.drives.key != self._disk:
            self._disk, self._target, self._wanted = self.drives.key, NOTHING, ""
        facts = self._facts
        self.query_one("#about", Facts).show(about_drive(facts.drive) if facts else ())
        if facts is not None:
            self.wizard.machine.ask_for_offers(facts)
        self._show_targets()

    # Targets

    def _show_targets(self) -> None:
        """List the targets, and highlight the one that Enter selects."""
        facts = self._facts
        offers = facts.offers if facts else None
        location = facts.location if facts else None
        chosen = self.choices.location
        if chosen and (chosen.drive == self._disk or chosen.drive not in (self.wizard.machine.disks or {})):
            location = chosen
        targets: dict[str, Target] = {}
        if facts is not None or location is not None:
            targets[IMAGE] = image_target(location, self.recipe, self._disk)
        proposed = IMAGE
        for offer in offers or ():
            target = device_target(offer, self.recipe, self._ticked)
            targets[target.key] = target
            if offer.target.path in self._ticked or (target.usable and offer.target.whole and offer.target.empty):
                proposed = target.key  # a disk on which nothing is, or the array that was begun
        key = self._target.key
        if key.startswith(DEVICE) and (key not in targets or not targets[key].usable):
            self._wanted = key  # no other target takes its place unasked
        if self._disk and self._wanted.startswith(DEVICE) and self._wanted not in targets:
            targets[self._wanted] = gone(self._wanted, known=offers is not None)
        self._targets = targets
        self._target = targets.get(self._wanted or proposed, NOTHING)
        rows = []
        for target in targets.values():
            ticked = target.device.path in self._ticked if target.device else None
            rows.append(Row(target.key, (target.name, target.summary), ticked))
        self.target_list.show(rows)
        self.target_list.highlight(self._target.key)
        self.say_usual()

    @on(Table.Ticked)
    def _tick(self, event: Table.Ticked) -> None:
        path, machine = event.key.removeprefix(DEVICE), self.wizard.machine
        self._gone = ""
        if path in self._ticked:
            self._ticked = toggled(self._ticked, path)
        else:
            devices = ((other, machine.device(other)) for other in self._ticked)
            # two devices on one disk would fail together
            others = [other for other, device in devices if device and device[0].name != self._disk]
            self._ticked = (*others, path)
        self._wanted = event.key
        self._refill()

    @on(DataTable.RowHighlighted, "#targets")
    def _choose_target(self) -> None:
        key = self.target_list.key
        if key and key != self._target.key:
            self._wanted, self._target, self._gone = key, self._targets[key], ""
            self.say_usual()

    def say_usual(self) -> None:
        """Show the meaning of the highlighted target, or the objection to it."""
        self.refresh_bindings()
        if self.directory.display or self.wizard.machine.disks is None:
            return
        if not self._targets:
            self.say(keyed(_("No disks found. `d` names a directory to measure in.")))
        elif self._gone:
            message = _("{disk} is not attached any more. Look at what is highlighted now.", disk=self._gone)
            self.say((f"! {message}", "$text-warning"))
        elif self._no_root:
            self.show_error(rights.missing("none"))
        else:
            self.say(self._target.meaning)

    # Other directories

    def action_directory(self) -> None:
        self.directory.value = self.choices.directory
        self.directory.display = True
        self.directory.focus()
        self.refresh_bindings()

    def _close_box(self) -> None:
        self.workers.cancel_group(self, "type")
        self.directory.display = False
        self.drives.focus()
        self.say_usual()

    def action_back(self) -> None:
        if self.directory.display:
            self._close_box()
        else:
            super().action_back()

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        from fswizard.disks.locations import named_location

        if typed := event.value.strip():
            self.ask(lambda: named_location(typed), self._use_directory, group="type")

    def _use_directory(self, location: Location) -> None:
        """Put the image there, and highlight the disk below it."""
        self.wizard.choose(location=location, devices=())
        self.drives.highlight(location.drive)
        self._show_disk()
        self._wanted = IMAGE
        self._refill()
        self._close_box()

    # On

    @on(DataTable.RowSelected, "#targets")
    def action_forward(self) -> None:
        self._choose_target()  # a key may come before the message that another row is highlighted
        self._disk_highlighted()
        if self._gone:
            self._gone = ""  # it was read that something else is highlighted
            self.say_usual()
            return
        target = self._target
        if self._no_root or not target.usable:
            self.say_usual()
            return
        before, facts = self.choices, self._facts
        drive, devices, device_bytes = facts.drive if facts else None, tuple[str, ...](), 0
        if target.location is None:
            path = target.key.removeprefix(DEVICE)
            devices = self._ticked if path in self._ticked else (path,)
            attached = list(filter(None, map(self.wizard.machine.device, devices)))
            if attached:
                drive = attached[0][0]
            device_bytes = min((size for _, size in attached), default=0)
        elif target.location.drive != self._disk:
            drive = None
        recipe = self.recipe
        if drive is not None:  # image and time depend on the kind of disk
            recipe = replace(self.wizard.machine.recipe(recipe.name).on(drive), workloads=recipe.workloads)
        same_disk = drive is not None and before.drive is not None and drive.name == before.drive.name
        as_many = max(1, len(devices)) == before.across
        self.wizard.choose(
            drive=drive,
            location=target.location,
            devices=devices,
            device_bytes=device_bytes,
            recipe=recipe,
            candidates=before.candidates if same_disk and as_many else (),  # what suits another disk is chosen again
        )
        self.wizard.go_on()
