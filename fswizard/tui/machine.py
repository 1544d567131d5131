"""Cached facts about this machine, so that screens show them at once, and the threads that collect them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from fswizard.errors import FswizardError
from fswizard.language import _
from fswizard.model.drive import Drive, Partition
from fswizard.model.filesystem import Candidate
from fswizard.model.recipe import Recipe
from fswizard.model.units import size_text
from fswizard.tui.candidates import room_bytes
from fswizard.tui.choices import WizardChoices

if TYPE_CHECKING:
    from fswizard.disks.choice import Offer
    from fswizard.disks.locations import Location
    from fswizard.filesystems import Availability

THREAD_NAME = "wizard"
"""Prefix of the names of background threads."""


class DiskFacts:
    """Known facts about a disk.

    A disk that has changed, or that was unplugged and came back, gets a new object, so that a late answer, as from a
    disk that hung, is never attributed to another disk of the same name.
    """

    def __init__(self, drive: Drive) -> None:
        self.listed = drive
        """As listed by the kernel."""
        self.details: Drive | None = None
        """With details from smartctl; None until it answers."""
        self.location: Location | FswizardError | None = None
        """Location of a scratch image for it."""
        self.offers: tuple[Offer, ...] | None = None
        """Partitions and the whole disk as targets; None until requested, as the request may wake the disk."""
        self.asked_with: object = self
        """The details at the time of the latest request for targets: they matter if a disk fails."""

    @property
    def drive(self) -> Drive:
        return replace(self.details or self.listed, partitions=self.listed.partitions, uses=self.listed.uses)


class MachineCache:
    """Facts. Properties are fast; other attributes are set by threads."""

    def __init__(self) -> None:
        self._changed: Callable[[], object] = lambda: None
        self.disks: dict[str, DiskFacts] | None = None
        """By kernel name; None until they are listed."""
        self.available: dict[str, Availability] = {}
        """By name of the filesystem or layout."""
        self.availability_known = False
        """The availability of everything is known."""

    # Disks

    @property
    def drives(self) -> tuple[Drive, ...]:
        """The disks, with details from smartctl as far as known."""
        return tuple(facts.drive for facts in (self.disks or {}).values())

    def device(self, path: str) -> tuple[Drive, int] | None:
        """The disk of a partition or whole disk, and the size of the device; None if it is not attached."""
        for drive in self.drives:
            devices: tuple[Drive | Partition, ...] = (drive, *drive.partitions)
            for device in devices:
                if path in (device.stable_name, f"/dev/{device.name}"):
                    return drive, device.size_bytes
        return None

    def watch(self, changed: Callable[[], object], stopped: Callable[[], bool]) -> None:
        """Watch the disks, and call `changed` after every change, until `stopped()`.

        Each disk has a separate thread, so that a hanging disk does not delay others.
        """
        self._changed = changed
        in_background(self._watch, stopped)

    def _watch(self, stopped: Callable[[], bool]) -> None:
        from fswizard.drives import is_file_of_others, watch

        for drives in watch(stopped):
            if stopped():
                return
            self.take([drive for drive in drives if not is_file_of_others(drive)])

    def take(self, drives: Sequence[Drive]) -> None:
        """Take note of the disks that are attached now, and query those that have changed."""
        before, now = self.disks or {}, dict[str, DiskFacts]()
        for drive in drives:
            facts = before.get(drive.name)
            if facts is not None and _state(facts.listed) == _state(drive):
                facts.listed = drive
            else:
                facts = DiskFacts(drive)
            now[drive.name] = facts
        self.disks = now
        self._changed()
        for name, facts in now.items():
            if facts is not before.get(name):
                in_background(self._ask, facts)

    def ask_again(self) -> None:
        """Query all disks again."""
        if self.disks is None:
            return
        self.disks = {name: DiskFacts(facts.listed) for name, facts in self.disks.items()}
        for facts in self.disks.values():
            in_background(self._ask, facts)

    def _ask(self, facts: DiskFacts) -> None:
        from fswizard.disks.locations import default_directory, named_location
        from fswizard.drives import details

        try:
            facts.location = named_location(default_directory(facts.listed))
        except FswizardError as error:
            facts.location = error
        self._changed()
        try:
            facts.details = details(facts.listed)
        except FswizardError as error:
            facts.details = replace(facts.listed, pending=error.message)
        self._changed()

    def ask_for_offers(self, facts: DiskFacts) -> None:
        """Request the targets on a disk, once."""
        if facts.asked_with is not facts.details:
            facts.asked_with = facts.details
            in_background(self._ask_for_offers, facts, facts.details)

    def _ask_for_offers(self, facts: DiskFacts, details: Drive | None) -> None:
        from fswizard.disks.choice import offers

        found = offers(facts.drive)
        if facts.asked_with is details:  # else it was asked once more
            facts.offers = found
            self._changed()

    # Recipes

    @cached_property
    def recipes(self) -> tuple[Recipe, ...]:
        from fswizard import recipes

        return recipes.available()

    def recipe(self, name: str) -> Recipe:
        """A recipe by its name; the first one if it does not exist."""
        return next((recipe for recipe in self.recipes if recipe.name == name), self.recipes[0])

    # Filesystems

    def find_availability(self) -> None:
        """Determine which filesystems can be created here. Slow: call it from a thread."""
        from fswizard.filesystems import availability, catalogue, layout_availability, layouts

        for filesystem in catalogue().values():
            self.available[filesystem.name] = availability(filesystem)
        for layout in layouts().values():
            self.available[layout.name] = layout_availability(layout)
        self.availability_known = True

    def problem(self, candidate: Candidate, choices: WizardChoices) -> str:
        """Why a candidate cannot be created here, or not on the chosen target, in sentences.

        Empty if it can, or as long as that is unknown.
        """
        layout = candidate.array.layout.name if candidate.array else ""
        for name in (candidate.filesystem.name, layout):
            state = self.available.get(name)
            if state is not None and not state.usable:
                return f"{_(state.reason)} {_(state.hint)}".rstrip()
        needed_bytes = choices.recipe.image_bytes if choices.recipe else 0
        least_bytes = max(candidate.filesystem.minimum_bytes, needed_bytes)
        room = room_bytes(candidate, choices.across, choices.member_bytes)
        if not 0 < room < least_bytes:
            return ""
        return _("Needs {size}, and there is room for {room}.", size=size_text(least_bytes), room=size_text(room))


def in_background(function: Callable[..., object], *arguments: Any) -> None:
    """Run in a daemon thread, as a hanging disk may block it for long."""
    name = f"{THREAD_NAME} ({function.__name__})"
    threading.Thread(target=function, args=arguments, name=name, daemon=True).start()


def _state(drive: Drive) -> Drive:
    """Key of the validity of answers about a disk: everything listed except the free space."""
    return replace(drive, partitions=tuple(replace(part, free_bytes=None) for part in drive.partitions))
