"""A window in which several disks, or a number of scratch images, are chosen for arrays."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from textual import getters, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import Static

from fswizard.filesystems import layouts
from fswizard.language import N_, _, n_
from fswizard.model.drive import Drive
from fswizard.model.units import binary_text
from fswizard.tui.backend import Backend, Place
from fswizard.tui.drawing import filled, text
from fswizard.tui.drives import DEVICE, too_large
from fswizard.tui.machine import in_background
from fswizard.tui.screens.base import Window
from fswizard.tui.targets import Target, changeable, device_target, gone, in_directory, nothing_lost, refusal
from fswizard.tui.widgets.table import Column, Row, Table

if TYPE_CHECKING:
    from fswizard.disks.choice import Offer

IMAGES = "images"
FEWEST, MOST = 2, 12
USUAL = 4


class MembersScreen(Window[bool]):
    """Chooses several devices, or a number of scratch images; dismissed with True once it has.

    Disks are looked at only now, as that may wake them.
    """

    TITLE = N_("Several disks or images, for arrays")
    CSS_PATH = "members.tcss"
    LOOK = "tall"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "accept", N_("take these")),
        Binding("left", "more(-1)", N_("change"), show=False),
        Binding("right", "more(1)", N_("change"), show=False),
        Binding("escape", "dismiss", N_("back")),
    ]

    table = getters.query_one("#members", Table)

    def __init__(self, drives: Sequence[Drive], place: Place | None) -> None:
        """`place` is where scratch images go, where that is known."""
        super().__init__()
        self._drives = [drive for drive in drives if drive.bus != "loop"]
        self._place = place
        self._offers: dict[str, tuple[Offer, ...]] = {}
        self._usable: dict[str, tuple[Drive, Offer]] = {}
        """By key of the row."""
        self._explained: Target | None = None

    def body(self) -> ComposeResult:
        yield Static(id="message", markup=False)
        yield Table(Column(flexible=True), Column(flexible=True), ticks=True, id="members")
        yield Static(id="layouts", markup=False)

    def on_mount(self) -> None:
        assert self.choices.recipe is not None
        self._recipe = self.choices.recipe
        self._ticked = [DEVICE + path for path in self.choices.members]
        """Keys of the devices that are ticked; images are taken where there are none."""
        self._images = self.choices.images if self.choices.images > 1 else USUAL
        self._refill()
        self.table.focus()
        for drive in self._drives:
            in_background(self._ask, self.wizard.backend, drive)

    def _ask(self, backend: Backend, drive: Drive) -> None:
        """In a thread for each disk: one that hangs keeps no other waiting."""
        self.call_in_app(self._show_offers, drive, backend.offers(drive, None))

    def _show_offers(self, drive: Drive, offers: tuple[Offer, ...]) -> None:
        self._offers[drive.name] = offers
        self._usable |= {DEVICE + offer.path: (drive, offer) for offer in offers if offer.refused is None}
        if self._all_known:  # what is in use by now, or gone, is not among them
            self._ticked = [key for key in self._ticked if key in self._usable]
        self._refill()

    @property
    def _all_known(self) -> bool:
        return all(drive.name in self._offers for drive in self._drives)

    def _refill(self) -> None:
        self._options = {target.key: target for target in (self._image_target(), *self._device_targets())}
        self.table.show(
            Row(key, (target.name, target.summary), self._tick(key)) for key, target in self._options.items()
        )
        number = len(self._ticked) or self._images
        disks = n_("{count} disk", "{count} disks", number)
        images = n_("{count} image", "{count} images", number)
        fitting = ", ".join(_(layout.title) for layout in layouts().values() if layout.fits(number))
        rule = _("The smallest limits how much of each is used. You type the serial number of each in the review.")
        names = text((f"{disks if self._ticked else images}: ", "bold"), fitting or _("no layout"))
        self.query_one("#layouts", Static).update(text(names, (f"\n{rule}" if self._ticked else "", "$muted")))

    def _tick(self, key: str) -> bool | None:
        """Whether a row is ticked; None where it cannot be."""
        if key == IMAGES:
            return not self._ticked
        return key in self._ticked if key in self._usable else None

    def _image_target(self) -> Target:
        size, all_of_them = self._recipe.image_bytes, binary_text(self._images * self._recipe.image_bytes)
        images = n_("scratch image of {size}", "scratch images of {size}", self._images, size=binary_text(size))
        room = (_("{size} free", size=all_of_them), "bold")
        meaning = filled(_("For a trial without giving up a disk; needs {room}."), room=room)
        name = text(changeable(str(self._images), "screen.more"), f" {images}")
        target = Target(IMAGES, name, nothing_lost(), meaning)
        if self._place is None:
            return target
        short = too_large(self._recipe, self._place, self._images)
        problem = _("The images take {size}. {why} Take fewer: `←`", size=all_of_them, why=short)
        return replace(target, summary=in_directory(self._place), problem=refusal(problem) if short else None)

    def _device_targets(self) -> Iterator[Target]:
        """What of each disk can be used, or why nothing can."""
        for drive in self._drives:
            offers = self._offers.get(drive.name)
            options = [device_target(offer) for offer in offers or ()]
            usable = [target for target in options if target.problem is None]
            for target in usable:
                meaning = text((f"{drive.model or _('no model name')}: ", "bold"), target.meaning)
                yield replace(target, name=text(target.name, f"  {drive.model}"), meaning=meaning)
            if not usable:
                yield options[-1] if options else gone(drive.name, looking=offers is None)

    @on(Table.RowHighlighted)
    def _explain(self) -> None:
        target = self._options[self.table.key]
        if target != self._explained:  # otherwise the answer to a key would go at once
            self._explained = target
            self.say(target.problem or target.meaning)
        self.refresh_bindings()

    @on(Table.Ticked)
    def _turn(self, event: Table.Ticked) -> None:
        if event.key == IMAGES:
            self._ticked = []
        elif event.key in self._ticked:
            self._ticked.remove(event.key)
        else:  # two places on one disk would fail together
            disk = self._usable[event.key][0]
            others = [key for key in self._ticked if key in self._usable and self._usable[key][0] != disk]
            self._ticked = [*others, event.key][:MOST]
        self._refill()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "more":
            return self.is_mounted and self.table.key == IMAGES
        return super().check_action(action, parameters)

    def action_more(self, direction: int) -> None:
        """More images, or fewer."""
        self._images = max(FEWEST, min(MOST, self._images + direction))
        self._ticked = []
        self._refill()

    def action_accept(self) -> None:
        chosen = [self._usable[key] for key in self._ticked if key in self._usable]
        problem = self._options[IMAGES].problem
        if len(chosen) < len(self._ticked) and not self._all_known:
            self.say(_("Looking for disks …"))
        elif len(chosen) == 1:
            self.refuse(_("An array needs two disks: tick another, or untick this one."))
        elif chosen:
            smallest = min(offer.size_bytes for __, offer in chosen)
            paths = tuple(offer.path for __, offer in chosen)
            self.wizard.choose(members=paths, images=1, member_bytes=smallest, drive=chosen[0][0])
            self._end()
        elif problem is not None:
            self.say(problem)
        else:
            self.wizard.choose(members=(), images=self._images, member_bytes=self._recipe.image_bytes)
            self._end()

    def _end(self) -> None:
        self.wizard.choose(device="", candidates=())
        self.dismiss(True)
