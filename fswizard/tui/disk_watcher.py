"""Looks at the disks for as long as somebody wants to see them: what is attached, where there is room, how they are."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from fswizard.errors import FswizardError
from fswizard.model.drive import Drive
from fswizard.tui.backend import Backend, Place
from fswizard.tui.machine_cache import MachineCache
from fswizard.tui.threads import in_background

if TYPE_CHECKING:
    from fswizard.drives.probe import ProbeResult

NO_DISKS = ("zram",)
"""Buses of what is listed by the kernel and is no disk of anybody's. A loop device that somebody attached may stand
for one: a way to rehearse."""


class DiskWatcher:
    """Fills `Known`, and tells after everything that is new. A disk that hangs keeps nobody waiting."""

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
