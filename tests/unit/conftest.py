"""A machine for all unit tests: none asks the real one for its disks, room, memory or power."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from fswizard.session import doubts
from fswizard.system import clock
from fswizard.targets import choice
from tests.builders import make_drive
from tests.fakes.clock import SimulatedClock
from tests.fakes.host import ModelHost, use


@pytest.fixture(autouse=True)
def _roomy_machine() -> Iterator[None]:
    """Every directory lies on the same hard disk, of which the kernel has told everything."""
    disk = make_drive(name="sdmodel")
    with use(ModelHost()), pytest.MonkeyPatch.context() as patch:
        for room in (doubts, choice):
            patch.setattr(room, "place_of", lambda _: disk)
        patch.setattr(choice, "details", lambda drive, **_: drive)
        yield


@pytest.fixture
def time() -> Iterator[SimulatedClock]:
    with clock.use(SimulatedClock()) as simulated:
        yield simulated
