"""Looks at the disks for as long as somebody wants to see them: what is attached, where there is room, how they are."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace

from fswizard.errors import FswizardError
from fswizard.model.drive import Drive
from fswizard.tui.backend import Backend, Place
from fswizard.tui.known import Known
from fswizard.tui.threads import aside

NO_DISKS = ("zram",)
"""Buses of what is listed by the kernel and is no disk of anybody's. A loop device that somebody attached may stand
for one: a way to rehearse."""


class Scout:
    """Fills `Known`, and tells after everything that is new. A disk that hangs keeps nobody waiting."""

    def __init__(self, backend: Backend, known: Known, tell: Callable[[], None]) -> None:
        self._backend = backend
        self._known = known
        self._tell = tell
        self._stopped = threading.Event()
        self._lock = threading.Lock()
        self._asked: set[tuple[str, str]] = set()

    def start(self) -> None:
        """Begin to look."""
        aside(self._watch)

    def stop(self) -> None:
        """Look no more; what is being asked is not waited for."""
        self._stopped.set()

    def _watch(self) -> None:
        for found in self._backend.watch(self._stopped.is_set):
            if self._stopped.is_set():
                return
            drives = tuple(drive for drive in found if drive.bus not in NO_DISKS)
            with self._lock:
                self._known.drives = tuple(self._learnt(drive) for drive in drives)
            self._tell()
            for drive in drives:
                if _identity(drive) not in self._asked:
                    self._asked.add(_identity(drive))
                    aside(self._ask, drive)

    def _learnt(self, drive: Drive) -> Drive:
        """The disk with what smartctl said of it before; its partitions as they are now."""
        details = self._known.details.get(_identity(drive))
        return drive if details is None else replace(details, partitions=drive.partitions, uses=drive.uses)

    def _ask(self, drive: Drive) -> None:
        try:
            place: Place | FswizardError = self._backend.place(drive)
        except FswizardError as error:
            place = error
        self._known.places[drive.name] = place
        self._tell()
        if _identity(drive) in self._known.details:
            return
        try:
            details = self._backend.details(drive)
        except FswizardError as error:
            details = replace(drive, pending=error.message)
        with self._lock:
            self._known.details[_identity(drive)] = details
            drives = self._known.drives or ()
            self._known.drives = tuple(self._learnt(d) if d.name == drive.name else d for d in drives)
        self._tell()


def _identity(drive: Drive) -> tuple[str, str]:
    return (drive.name, drive.serial or drive.model)
