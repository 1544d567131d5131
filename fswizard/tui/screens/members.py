"""A window in which several disks, or a number of scratch images, are chosen for arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import Static

from fswizard.filesystems import layouts
from fswizard.language import N_, _, n_, shown
from fswizard.model.drive import Drive
from fswizard.model.units import binary_text, size_text
from fswizard.tui.backend import Backend, Place
from fswizard.tui.drawing import Piece, arrow, cut, filled, fit, keyed, paragraphs, radio, text, tick
from fswizard.tui.drives import first_sentences, losing, too_large
from fswizard.tui.machine import in_background
from fswizard.tui.screens.base import Window
from fswizard.tui.widgets.canvas import Canvas
from fswizard.tui.widgets.choice_list import ChoiceList, ListRow, gap, headline

if TYPE_CHECKING:
    from fswizard.tui.backend import Offer

IMAGES = "images"
FEWEST, MOST = 2, 12
USUAL = 4


class MembersScreen(Window[bool]):
    """Chooses several devices, or a number of scratch images; dismissed with True once it has.

    Disks are looked at only now, as that may wake them.
    """

    TITLE = N_("Several disks or images, for arrays")
    LOOK = "tall"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "accept", N_("take these")),
        Binding("escape", "dismiss", N_("back")),
    ]

    def __init__(self, drives: Sequence[Drive], place: Place | None) -> None:
        """`place` is where scratch images go, where that is known."""
        super().__init__()
        self._drives = [drive for drive in drives if drive.bus != "loop"]
        self._place = place
        self._offers: dict[str, tuple[Offer, ...]] = {}

    def body(self) -> ComposeResult:
        yield Static(id="message", markup=False)
        yield ChoiceList(id="members", ticks=True, changes=True)
        yield Canvas(id="words")

    def on_mount(self) -> None:
        assert self.choices.recipe is not None
        self._recipe = self.choices.recipe
        self._paths = list(self.choices.members)
        self._images = self.choices.images if self.choices.images > 1 else USUAL
        self._redraw()
        self.query_one(ChoiceList).focus()
        for drive in self._drives:
            in_background(self._look, self.wizard.backend, drive)

    def _look(self, backend: Backend, drive: Drive) -> None:
        """In a thread for each disk: one that hangs keeps no other waiting."""
        self.call_in_app(self._looked, drive, backend.offers(drive, None))

    def _looked(self, drive: Drive, offers: tuple[Offer, ...]) -> None:
        self._offers[drive.name] = offers
        self._redraw()

    def _redraw(self) -> None:
        self._fill()
        self.say(*self._meaning())
        self.query_one("#words", Canvas).show(self._words)

    # The list

    def _fill(self) -> None:
        rows = [headline("nothing", _("Nothing is lost")), ListRow(IMAGES, self._images_row)]
        rows += [gap("gap"), headline("erased", _("Erased, for more exact results"))]
        for drive in self._drives:
            offers = self._offers.get(drive.name)
            usable = [offer for offer in offers or () if offer.refused is None]
            rows += [ListRow(offer.path, partial(self._device_row, drive, offer)) for offer in usable]
            if offers is None:
                rows.append(ListRow(f"wait:{drive.name}", partial(_line, drive, _("checking it …")), False))
            elif not usable:
                messages = (shown(offer.refused.message) for offer in offers if offer.whole and offer.refused)
                words = f"✗ {next(messages, _('It is gone.'))}"
                rows.append(ListRow(f"no:{drive.name}", partial(_line, drive, words), False))
        self.query_one(ChoiceList).rows = tuple(rows)

    def _images_row(self, width: int, on: bool) -> Content:
        number = text(arrow(-1, active=on), (f" {self._images} ", "bold"), arrow(1, active=on))
        size = binary_text(self._recipe.image_bytes)
        words = n_("scratch image of {size}", "scratch images of {size}", self._images, size=size)
        if self._place:
            words = _("{images} in {directory}", images=words, directory=self._place.directory)
        return text(radio(not self._paths), " ", number, cut(f" {words}", width - 4 - number.cell_length))

    def _device_row(self, drive: Drive, offer: Offer, width: int, on: bool) -> Content:
        words = f"{offer.name}  {drive.model or _('no model name')}, {size_text(offer.size_bytes)}"
        first = text(tick(offer.path in self._paths), " ", (cut(words, width - 4), "bold"))
        loss = losing(offer)
        return text(first, "  " if first.cell_length + 2 + loss.cell_length <= width else "\n    ", loss)

    def _usable(self) -> Mapping[str, tuple[Drive, Offer]]:
        pairs = ((drive, offer) for drive in self._drives for offer in self._offers.get(drive.name, ()))
        return {offer.path: (drive, offer) for drive, offer in pairs if offer.refused is None}

    @on(ChoiceList.Ticked)
    def _tick(self, event: ChoiceList.Ticked) -> None:
        event.stop()
        if event.key == IMAGES:
            self._paths = []
        elif event.key in self._paths:
            self._paths.remove(event.key)
        elif event.key in (usable := self._usable()):
            disk = usable[event.key][0].name  # two places on one disk would fail together
            others = [path for path in self._paths if path in usable and usable[path][0].name != disk]
            self._paths = [*others, event.key][:MOST]
        self._redraw()

    @on(ChoiceList.Changed)
    def _turn(self, event: ChoiceList.Changed) -> None:
        event.stop()
        if event.key == IMAGES:
            self._images = max(FEWEST, min(MOST, self._images + event.direction))
            self._paths = []
            self._redraw()

    # What it means

    def _meaning(self) -> tuple[Piece, ...]:
        if count := len(self._paths):
            usable = self._usable()
            given_up = [usable[path][1] for path in self._paths if path in usable]
            lost = [loss for offer in given_up if not offer.empty for loss in offer.losses]
            words = _("nothing was found there.")
            if lost:
                words = _("{losses} would be lost.", losses="; ".join(map(shown, lost)))
            return ("⚠ ", "bold $text-error"), (f"{n_('{count} disk', '{count} disks', count)}: ", "bold"), words
        needed = binary_text(self._images * self._recipe.image_bytes)
        if short := self._too_large:
            words = _("The images take {size}. {why} Take fewer: `←`", size=needed, why=short)
            return ("✗ ", "bold $text-error"), keyed(words)
        room = (_("{size} free", size=needed), "bold")
        return (filled(_("For a trial without giving up a disk; needs {room}."), room=room),)

    @property
    def _too_large(self) -> str:
        return too_large(self._recipe, self._place, self._images) if self._place is not None else ""

    def _words(self, width: int) -> Content:
        number = len(self._paths) or self._images
        disks = n_("{count} disk", "{count} disks", number)
        images = n_("{count} image", "{count} images", number)
        fitting = [_(layout.title) for layout in layouts().values() if layout.fits(number)]
        rule = _("The smallest limits how much of each is used. You type the serial number of each in the review.")
        names = text((f"{disks if self._paths else images}: ", "bold"), ", ".join(fitting) or _("no layout"))
        return paragraphs([names, (rule if self._paths else "", "$muted")], width)

    def action_accept(self) -> None:
        usable = self._usable()
        paths = tuple(path for path in self._paths if path in usable)
        if len(paths) == 1:
            self.refuse(_("An array needs two disks: tick another, or untick this one."))
            return
        if paths:
            smallest = min(usable[path][1].size_bytes for path in paths)
            self.wizard.choose(members=paths, images=1, member_bytes=smallest, drive=usable[paths[0]][0])
        elif not self._too_large:
            self.wizard.choose(members=(), images=self._images, member_bytes=self._recipe.image_bytes)
        else:
            return
        self.wizard.choose(device="", candidates=())
        self.dismiss(True)


def _line(drive: Drive, words: str, width: int, on: bool) -> Content:
    """A disk that cannot be chosen, or not yet."""
    head = text(" ", tick(False, enabled=False), " ", (f"{drive.name}, {size_text(drive.size_bytes)}", "$muted"))
    return text(fit(head, 22), "  ", (first_sentences(words, max(4, width - 24)), "$muted"))
