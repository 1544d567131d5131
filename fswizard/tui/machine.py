"""What is learnt about this machine, kept so that a screen that is returned to shows it at once; and who looks."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from fswizard.errors import FswizardError
from fswizard.language import _
from fswizard.model.drive import Drive
from fswizard.model.estimates import least_image_bytes
from fswizard.model.filesystem import Candidate, Filesystem
from fswizard.model.layout import Layout
from fswizard.model.recipe import Recipe
from fswizard.model.units import size_text
from fswizard.tui.backend import Backend, Place
from fswizard.tui.choices import Purpose, WizardChoices

if TYPE_CHECKING:
    from fswizard.disks.choice import Offer
    from fswizard.disks.rights import State
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


class MachineCache:
    """Facts; those in properties are quick to get, the others are filled in by threads."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self.listed: tuple[Drive, ...] | None = None
        """Disks as the kernel lists them; None until it was asked."""
        self.details: dict[tuple[str, str], Drive] = {}
        """By kernel name and serial number: what smartctl said."""
        self.places: dict[str, Place | FswizardError] = {}
        """By kernel name of the disk: where a scratch image for it goes."""
        self.named: dict[str, Place] = {}
        """Directories that were named for a scratch image."""
        self.rights: State | None = None
        """How root can be had for making filesystems; None as long as that is unknown."""
        self.offers: dict[str, tuple[Offer, ...]] = {}
        """By kernel name of the disk: its partitions and the whole of it, as targets."""
        self.available: dict[str, Availability] = {}
        """By name of the filesystem, and of the layout over several devices."""
        self.availability_known = False
        """All that can be made here is known."""

    @property
    def drives(self) -> tuple[Drive, ...] | None:
        """The disks, with what smartctl said of them so far; None until they were looked for."""
        if self.listed is None:
            return None
        return tuple(
            replace(self.details.get(identity(drive), drive), partitions=drive.partitions, uses=drive.uses)
            for drive in self.listed
        )

    @cached_property
    def recipes(self) -> tuple[Recipe, ...]:
        return self._backend.recipes()

    def forget_recipes(self) -> None:
        """There is one more, or one less: they are read again."""
        self.__dict__.pop("recipes", None)

    def forget_words(self) -> None:
        """The language is another: what is said of disks and filesystems is asked for again."""
        self.details.clear()
        self.available.clear()
        self.availability_known = False

    def recipe_for(self, purpose: Purpose) -> Recipe:
        """The recipe that a purpose begins with."""
        named = (recipe for recipe in self.recipes if recipe.name == RECIPES[purpose])
        return next(named, self.recipes[0])

    def look_for_availability(self) -> None:
        """Look which filesystems can be made here. Takes a while: for a thread."""
        from fswizard.filesystems import catalogue, layouts

        everything: Mapping[str, Filesystem | Layout] = {**catalogue(), **layouts()}
        for name, made in everything.items():
            if name not in self.available:
                self.available[name] = self._backend.availability(made)
        self.availability_known = True

    def unavailable(self, candidate: Candidate) -> Availability | None:
        """Why a candidate cannot be measured here; as long as that is unknown, it is taken to be possible."""
        names = (candidate.filesystem.name, *((candidate.array.layout.name,) if candidate.array else ()))
        states = (self.available[name] for name in names if name in self.available)
        return next((state for state in states if not state.usable), None)

    def place_for(self, choices: WizardChoices) -> Place | None:
        """Where the scratch image for what was chosen goes; None for devices and directories, or where unknown."""
        if choices.comparing or choices.devices:
            return None
        place = self.named.get(choices.directory) or self.places.get(choices.drive.name if choices.drive else "")
        return place if isinstance(place, Place) else None

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

    def possible(self, candidate_name: str, choices: WizardChoices) -> bool:
        """A candidate can be measured here, on what the user has chosen to measure on."""
        from fswizard.filesystems import parse_candidate

        candidate = parse_candidate(candidate_name)
        return self.unavailable(candidate) is None and not self.refusal(candidate, choices)

    def refusal(self, candidate: Candidate, choices: WizardChoices) -> str:
        """Why what was chosen to measure on does not suit a candidate, in a sentence; empty where it does."""
        recipe, array = choices.recipe, candidate.on(choices.across).array
        size_bytes = choices.device_bytes or (recipe.image_bytes if recipe else 0)
        room_bytes = array.layout.usable_bytes(choices.across, size_bytes) if array else size_bytes
        least_bytes = max(candidate.filesystem.minimum_bytes, recipe.image_bytes if recipe else 0)
        if not 0 < room_bytes < least_bytes:
            return ""
        return _("Needs {size}, and there is room for {room}.", size=size_text(least_bytes), room=size_text(room_bytes))


def in_background(function: Callable[..., object], *arguments: Any) -> None:
    """Run in a thread that nobody waits for at the end, as a hanging disk may keep it for long."""
    name = f"{THREAD_NAME} ({function.__name__})"
    threading.Thread(target=function, args=arguments, name=name, daemon=True).start()


class DiskWatcher:
    """Fills the cache, and calls `changed` after everything that is new. A disk that hangs keeps nobody waiting."""

    def __init__(self, backend: Backend, cache: MachineCache, changed: Callable[[], None]) -> None:
        self._backend = backend
        self._cache = cache
        self._changed = changed
        self._stopped = threading.Event()
        self._asked: dict[str, object] = {}
        """State of each disk when it was asked, by kernel name."""
        self._offers_of: object = None
        """State of the disk at the last look for targets."""

    def start(self) -> None:
        """Begin to watch."""
        self._stopped = threading.Event()
        in_background(self._watch, self._stopped)

    def stop(self) -> None:
        """Watch no more; what is being asked is not waited for."""
        self._stopped.set()

    def rescan(self) -> None:
        """Ask all disks again."""
        self.stop()
        self._cache.details.clear()
        self._asked.clear()
        self._offers_of = None
        self.start()

    def look_for_targets(self, drive: Drive, recipe: Recipe | None) -> None:
        """Ask what of a disk can be erased, unless that was the last question and its answer still holds."""
        state = (target_state(drive), recipe.image_bytes if recipe else 0)
        if drive.name and state != self._offers_of:
            self._offers_of = state
            in_background(self._ask_for_targets, drive, recipe, state)

    def _ask_for_targets(self, drive: Drive, recipe: Recipe | None, state: object) -> None:
        offers = self._backend.offers(drive, recipe)
        if state == self._offers_of:  # otherwise the disk has changed meanwhile, or another one is highlighted
            self._cache.offers[drive.name] = offers
            self._changed()

    def _watch(self, stopped: threading.Event) -> None:
        for drives in self._backend.watch(stopped.is_set):
            if stopped.is_set():
                return
            self._cache.listed = tuple(drive for drive in drives if drive.bus not in NO_DISKS)
            self._changed()
            for drive in self._cache.listed:
                if self._asked.get(drive.name) != target_state(drive):
                    self._asked[drive.name] = target_state(drive)
                    in_background(self._ask, drive)

    def _ask(self, drive: Drive) -> None:
        """In a thread for each disk: its own may never end."""
        try:
            self._cache.places[drive.name] = self._backend.place(drive)
        except FswizardError as error:
            self._cache.places[drive.name] = error
        self._changed()
        if identity(drive) in self._cache.details:
            return
        try:
            details = self._backend.details(drive)
        except FswizardError as error:
            details = replace(drive, pending=error.message)
        self._cache.details[identity(drive)] = details
        self._changed()


def identity(drive: Drive) -> tuple[str, str]:
    """What tells one disk from another as long as it is attached."""
    return (drive.name, drive.serial or drive.model)


def target_state(drive: Drive) -> object:
    """What decides whether a disk can be written over, as far as it is seen without looking closely."""
    parts = tuple((part.name, part.filesystem, part.label, part.mount_point) for part in drive.partitions)
    return (drive.name, drive.serial, drive.health, drive.read_only, drive.uses, parts)
