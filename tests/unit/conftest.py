"""A machine for all unit tests: none asks the real one for its disks, room, memory, power or rights."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from fswizard.disks import choice
from fswizard.filesystems import Availability
from fswizard.system import clock
from tests.builders import make_drive
from tests.fakes.clock import SimulatedClock
from tests.fakes.host import ModelHost, use


@pytest.fixture(autouse=True)
def _roomy_machine() -> Iterator[None]:
    """Every directory lies on the same hard disk, with all facts from the kernel."""
    disk = make_drive(name="sdmodel")
    with use(ModelHost()), pytest.MonkeyPatch.context() as patch:
        patch.setattr(choice, "drive_of", lambda _: disk)
        patch.setattr(choice, "details", lambda drive, **_: drive)
        yield


@pytest.fixture
def time() -> Iterator[SimulatedClock]:
    with clock.use(SimulatedClock()) as simulated:
        yield simulated


@pytest.fixture
def everything_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """What somebody asks for is tested, not what this machine lacks."""
    monkeypatch.setattr("fswizard.session.planning.find", lambda program: f"/usr/bin/{program}")
    monkeypatch.setattr("fswizard.session.planning.availability", lambda _: Availability(True))
    monkeypatch.setattr("fswizard.session.planning.layout_availability", lambda _: Availability(True))


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where this program keeps what it knows, the results among it."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    return tmp_path / "fswizard"


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory that comes first on PATH."""
    directory = tmp_path / "bin"
    directory.mkdir()
    monkeypatch.setenv("PATH", f"{directory}:/usr/bin:/bin")
    return directory
