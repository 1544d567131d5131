"""What is learnt about this machine, kept so that a screen that is returned to shows it at once; and who looks."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

from fswizard.errors import FswizardError
from fswizard.model.drive import Drive
from fswizard.model.filesystem import Candidate, Filesystem
from fswizard.model.recipe import Recipe
from fswizard.tui.backend import Backend, Place
from fswizard.tui.choices import Purpose, WizardChoices
from fswizard.tui.threads import in_background

if TYPE_CHECKING:
    from fswizard.drives.probe import ProbeResult
    from fswizard.filesystems import Availability
    from fswizard.targets.device_checks import Offer

RECIPES: dict[Purpose, str] = {
    "archive-disk": "archive-disk",
    "desktop-ssd": "desktop-ssd",
    "compare": "quick",
    "smr": "archive-disk",
    "own": "quick",
}
"""The recipe that a purpose begins with."""

NO_DISKS = ("zram",)
"""Buses of what is listed by the kernel and is no disk of anybody's. A loop device that somebody attached may stand
for one: a way to rehearse."""


class MachineCache:
    """Facts; those in properties are quick to get, the others are filled in by threads."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self.drives: tuple[Drive, ...] | None = None
        """None until they were looked for."""
        self.details: dict[tuple[str, str], Drive] = {}
        """By kernel name and serial number: what smartctl said."""
        self.places: dict[str, Place | FswizardError] = {}
        """By kernel name of the disk: where a scratch image for it goes."""
        self.offers: dict[str, tuple[Offer, ...]] = {}
        """By kernel name of the disk: its partitions and the whole of it, as targets."""
        self.probed: dict[tuple[str, str], ProbeResult] = {}
        """By kernel name and serial number: what came of a probe."""
        self.mounted: tuple[Place, ...] | None = None
        self.available: dict[str, Availability] = {}
        """By name of the filesystem, and of the layout over several devices."""
        self.looked = False
        """All that can be made here is known."""

    @cached_property
    def recipes(self) -> tuple[Recipe, ...]:
        return self._backend.recipes()

    @cached_property
    def catalogue(self) -> Mapping[str, Filesystem]:
        return self._backend.catalogue()

    def recipe_for(self, purpose: Purpose) -> Recipe:
        """The recipe that a purpose begins with."""
        named = (recipe for recipe in self.recipes if recipe.name == RECIPES[purpose])
        return next(named, self.recipes[0])

    def look_for_availability(self) -> None:
        """Look which filesystems can be made here. Takes a while: for a thread."""
        for name, filesystem in self.catalogue.items():
            if name not in self.available:
                self.available[name] = self._backend.availability(filesystem)
        for name, layout in self._backend.layouts().items():
            if name not in self.available:
                self.available[name] = self._backend.layout_availability(layout)
        self.looked = True

    def lacking(self, candidate: Candidate) -> Availability | None:
        """Why a candidate cannot be measured here; as long as that is not known, it is taken to be possible."""
        names = (candidate.filesystem.name, *((candidate.array.layout.name,) if candidate.array else ()))
        states = (self.available[name] for name in names if name in self.available)
        return next((state for state in states if not state.usable), None)

    def usable(self, candidate_name: str) -> bool:
        """A candidate can be measured here."""
        return self.lacking(self._backend.parse_candidate(candidate_name)) is None

    def possible(self, candidate_name: str, choices: WizardChoices) -> bool:
        """The same, on what the user has chosen to measure on."""
        zones = self._backend.parse_candidate(candidate_name).filesystem.zones
        return self.usable(candidate_name) and not (choices.zoned and zones is None)

    def candidates(self, choices: WizardChoices) -> tuple[Candidate, ...]:
        """The candidates that were chosen."""
        return tuple(self._backend.parse_candidate(name) for name in choices.candidates)


class DiskWatcher:
    """Fills the cache, and tells after everything that is new. A disk that hangs keeps nobody waiting."""

    def __init__(self, backend: Backend, known: MachineCache, tell: Callable[[], None]) -> None:
        self._backend = backend
        self._known = known
        self._emit = tell
        self._stopped = threading.Event()
        self._lock = threading.Lock()
        self._asked: set[tuple[str, str]] = set()
        self._found: tuple[Drive, ...] = ()
        """As the kernel tells of them."""

    def start(self) -> None:
        """Begin to look."""
        in_background(self._watch)

    def stop(self) -> None:
        """Look no more; what is being asked is not waited for."""
        self._stopped.set()

    def probed(self, drive: Drive, result: ProbeResult) -> None:
        """A probe of the disk has ended."""
        found = next((found for found in self._found if found.name == drive.name), drive)
        self._known.probed[identity(found)] = result
        self._publish()

    def _watch(self) -> None:
        for found in self._backend.watch(self._stopped.is_set):
            if self._stopped.is_set():
                return
            self._found = tuple(drive for drive in found if drive.bus not in NO_DISKS)
            self._publish()
            for drive in self._found:
                if identity(drive) not in self._asked:
                    self._asked.add(identity(drive))
                    in_background(self._ask, drive)

    def _publish(self) -> None:
        with self._lock:
            self._known.drives = tuple(self._learnt(drive) for drive in self._found)
        self._emit()

    def _learnt(self, drive: Drive) -> Drive:
        """The disk with what smartctl and a probe said of it before; its partitions as they are now."""
        details = self._known.details.get(identity(drive))
        learnt = drive if details is None else replace(details, partitions=drive.partitions, uses=drive.uses)
        result = self._known.probed.get(identity(drive))
        return learnt if result is None else self._backend.probed(learnt, result)

    def _ask(self, drive: Drive) -> None:
        try:
            place: Place | FswizardError = self._backend.place(drive)
        except FswizardError as error:
            place = error
        self._known.places[drive.name] = place
        self._emit()
        if identity(drive) in self._known.details:
            return
        try:
            details = self._backend.details(drive)
        except FswizardError as error:
            details = replace(drive, pending=error.message)
        self._known.details[identity(drive)] = details
        self._publish()


def identity(drive: Drive) -> tuple[str, str]:
    """What tells one disk from another as long as it is attached."""
    return (drive.name, drive.serial or drive.model)
