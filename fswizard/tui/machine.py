"""What is known about this machine, so that a screen that is returned to shows it at once; and who asks."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from fswizard.errors import FswizardError
from fswizard.language import _
from fswizard.model.drive import Drive, Partition
from fswizard.model.estimates import least_image_bytes
from fswizard.model.filesystem import Candidate, Filesystem
from fswizard.model.layout import Layout
from fswizard.model.recipe import Recipe
from fswizard.model.units import size_text
from fswizard.tui.backend import Backend, Place
from fswizard.tui.choices import Purpose, WizardChoices

if TYPE_CHECKING:
    from fswizard.disks.choice import Offer
    from fswizard.filesystems import Availability

GIB = 1 << 30
IMAGE_STEP_BYTES = 256 << 20
THREAD_NAME = "wizard"
"""How the names of threads begin that nobody waits for."""

RECIPES: dict[Purpose, str] = {
    "archive-disk": "archive-disk",
    "desktop-ssd": "desktop-ssd",
    "quick": "quick",
    "compare": "quick",
    "smr": "archive-disk",
    "own": "quick",
}
"""The recipe that a purpose begins with."""

NO_DISKS = ("zram",)
"""Buses of what the kernel lists although it is not a disk. A loop device that somebody attached may stand
for one: a way to rehearse."""


class DiskFacts:
    """What is known of a disk so far.

    A disk that has changed, or that was unplugged and came back, gets new ones. So an answer that comes late, as a disk
    hung, is never taken for that of another disk of the same name.
    """

    def __init__(self, drive: Drive, details: Drive | None = None) -> None:
        self.listed = drive
        """As the kernel lists it."""
        self.details = details
        """With what smartctl said; None until it answers."""
        self.place: Place | FswizardError | None = None
        """Where a scratch image for it goes."""
        self.offers: tuple[Offer, ...] | None = None
        """Its partitions and the whole of it as targets; None until that was asked, as it may wake the disk."""
        self.asked_with: object = self
        """The details with which it was asked last for targets: they decide about a disk that fails."""

    @property
    def drive(self) -> Drive:
        return replace(self.details or self.listed, partitions=self.listed.partitions, uses=self.listed.uses)


class MachineCache:
    """Facts; those in properties are quick to get, the others are filled in by threads."""

    def __init__(self, backend: Backend, *, lasting: bool = False) -> None:
        """`lasting`: a disk is to be set up for good, not to be measured on."""
        self._backend = backend
        self._lasting = lasting
        self._changed: Callable[[], object] = lambda: None
        self.disks: dict[str, DiskFacts] | None = None
        """By kernel name; None until the kernel was asked."""
        self.named: dict[str, Place] = {}
        """Directories that were named for a scratch image."""
        self.available: dict[str, Availability] = {}
        """By name of the filesystem, and of the layout over several devices."""
        self.availability_known = False
        """All that can be made here is known."""

    # Disks

    @property
    def drives(self) -> tuple[Drive, ...]:
        """The disks, with what smartctl said of them so far."""
        return tuple(facts.drive for facts in (self.disks or {}).values())

    def device(self, path: str) -> tuple[Drive, int] | None:
        """The disk that a partition or whole disk is on, and the size of the device; None where it is not attached."""
        for drive in self.drives:
            devices: tuple[Drive | Partition, ...] = (drive, *drive.partitions)
            for device in devices:
                if path in (device.stable_name, f"/dev/{device.name}"):
                    return drive, device.size_bytes
        return None

    def watch(self, changed: Callable[[], object]) -> threading.Event:
        """Follow the disks, and call `changed` after everything that is new, until the event is set.

        Each disk is asked by a thread of its own: one that hangs keeps nobody waiting.
        """
        stopped = threading.Event()
        self._changed = changed
        in_background(self._watch, stopped)
        return stopped

    def _watch(self, stopped: threading.Event) -> None:
        for drives in self._backend.watch(stopped.is_set):
            if stopped.is_set():
                return
            before, now = self.disks or {}, dict[str, DiskFacts]()
            for drive in drives:
                if drive.bus in NO_DISKS:
                    continue
                facts = before.get(drive.name)
                if facts is not None and _state(facts.listed) == _state(drive):
                    facts.listed = drive
                else:
                    same = facts is not None and _identity(facts.listed) == _identity(drive)
                    facts = DiskFacts(drive, before[drive.name].details if same else None)
                now[drive.name] = facts
            self.disks = now
            self._changed()
            for name, facts in now.items():
                if facts is not before.get(name):
                    in_background(self._ask, facts)

    def ask_again(self) -> None:
        """Ask all disks anew."""
        if self.disks is None:
            return
        self.disks = {name: DiskFacts(facts.listed) for name, facts in self.disks.items()}
        for facts in self.disks.values():
            in_background(self._ask, facts)

    def _ask(self, facts: DiskFacts) -> None:
        try:
            facts.place = self._backend.place(facts.listed)
        except FswizardError as error:
            facts.place = error
        self._changed()
        if facts.details is None:
            try:
                facts.details = self._backend.details(facts.listed)
            except FswizardError as error:
                facts.details = replace(facts.listed, pending=error.message)
            self._changed()

    def ask_for_offers(self, facts: DiskFacts) -> None:
        """Ask once what of a disk can be erased."""
        if facts.asked_with is not facts.details:
            facts.asked_with = facts.details
            in_background(self._ask_for_offers, facts, facts.details)

    def _ask_for_offers(self, facts: DiskFacts, details: Drive | None) -> None:
        offers = self._backend.offers(facts.drive, lasting=self._lasting)
        if facts.asked_with is details:  # else it was asked once more
            facts.offers = offers
            self._changed()

    def place_for(self, choices: WizardChoices) -> Place | None:
        """Where the scratch image for what was chosen goes; None for devices and directories, or where unknown."""
        if choices.comparing or choices.devices:
            return None
        facts = (self.disks or {}).get(choices.drive.name if choices.drive else "")
        place = self.named.get(choices.directory) or (facts.place if facts else None)
        return place if isinstance(place, Place) else None

    # Recipes

    @cached_property
    def recipes(self) -> tuple[Recipe, ...]:
        return self._backend.recipes()

    def forget_recipes(self) -> None:
        """There is one more: they are read again."""
        self.__dict__.pop("recipes", None)

    def recipe_for(self, purpose: Purpose) -> Recipe:
        """The recipe that a purpose begins with."""
        named = (recipe for recipe in self.recipes if recipe.name == RECIPES[purpose])
        return next(named, self.recipes[0])

    def usual(self, recipe: Recipe) -> Recipe:
        """The recipe as it is before anybody changes its image."""
        return next((known for known in self.recipes if known.name == recipe.name), recipe)

    def image_sizes(self, recipe: Recipe) -> tuple[int, ...]:
        """Sizes in bytes of a scratch image for `recipe`, from the least that it needs on, its usual one among them."""
        usual = self.usual(recipe)
        least = least_image_bytes(workload.job for workload in recipe.workloads)
        least = max(GIB, math.ceil(least / IMAGE_STEP_BYTES) * IMAGE_STEP_BYTES)
        doubled = (GIB << power for power in range(10))
        return tuple(sorted({least, max(least, usual.image_bytes), *(size for size in doubled if size > least)}))

    # Filesystems

    def look_for_availability(self) -> None:
        """Look which filesystems can be made here. Takes a while: for a thread."""
        from fswizard.filesystems import catalogue, layouts

        everything: Mapping[str, Filesystem | Layout] = {**catalogue(), **layouts()}
        for name, made in everything.items():
            if name not in self.available:
                self.available[name] = self._backend.availability(made)
        self.availability_known = True

    def forget_words(self) -> None:
        """The language is another: what is said of disks and filesystems is asked for again."""
        self.ask_again()
        self.available.clear()
        self.availability_known = False

    def problem(self, candidate: Candidate, choices: WizardChoices) -> str:
        """Why a candidate cannot be made here, or not on what was chosen, in sentences.

        Empty where it can, and as long as that is unknown.
        """
        recipe, array = choices.recipe, candidate.on(choices.across).array
        for name in (candidate.filesystem.name, array.layout.name if array else ""):
            state = self.available.get(name)
            if state is not None and not state.usable:
                return f"{_(state.reason)} {_(state.hint)}".rstrip()
        needed_bytes = recipe.image_bytes if recipe else 0
        size_bytes = choices.member_bytes
        room_bytes = array.layout.usable_bytes(choices.across, size_bytes) if array else size_bytes
        least_bytes = max(candidate.filesystem.minimum_bytes, needed_bytes)
        if not 0 < room_bytes < least_bytes:
            return ""
        return _("Needs {size}, and there is room for {room}.", size=size_text(least_bytes), room=size_text(room_bytes))


def in_background(function: Callable[..., object], *arguments: Any) -> None:
    """Run in a thread that nobody waits for at the end, as a hanging disk may keep it for long."""
    name = f"{THREAD_NAME} ({function.__name__})"
    threading.Thread(target=function, args=arguments, name=name, daemon=True).start()


def _state(drive: Drive) -> Drive:
    """What decides whether answers about a disk still hold: all that is listed but for the free space."""
    return replace(drive, partitions=tuple(replace(part, free_bytes=None) for part in drive.partitions))


def _identity(drive: Drive) -> Drive:
    """What tells one disk from another as long as it is attached."""
    return replace(drive, partitions=(), uses=(), read_only=False)
