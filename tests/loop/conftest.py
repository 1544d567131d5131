"""After each test the machine must be as it was: no loop device and no mount left behind."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
import pytest_asyncio

from fswizard.disks.root import RootDisks, open_root
from tests.fakes.host import ModelHost, idle_runs, use
from tests.loop.devices import Bench
from tests.loop.machine_state import loops_below, wait_until_gone
from tests.loop.people import User, user
from tests.loop.tiny_run import TWO_KINDS


@pytest.fixture(scope="session", autouse=True)
def _roomy_machine() -> Iterator[None]:
    """On a machine that says it has room, is idle and on mains, whatever this one says."""
    with use(ModelHost()), idle_runs(), pytest.MonkeyPatch.context() as patch:
        patch.setattr("fswizard.session.session.LONGEST_WAIT_S", 0.0)
        yield


@pytest.fixture(autouse=True)
def _nothing_left_behind(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Fails where something stays; the kernel lets a loop device go a moment after its last user."""
    own = tmp_path_factory.getbasetemp()
    before = _state(own)
    yield
    wait_until_gone(lambda: _state(own) - before)


def _state(own: Path) -> set[str]:
    """Loop devices on files below `own`, and mounts that were made in this process's own namespace."""
    mounts = Path("/proc/self/mountinfo").read_text().splitlines()
    # One with a master came from outside: other programs mount things, too.
    made_here = [line.split() for line in mounts if " master:" not in line]
    return {*loops_below(own), *(f"mount {fields[0]} on {fields[4]}" for fields in made_here)}


@pytest.fixture
def recipe(tmp_path: Path) -> Path:
    """A file with a recipe that is over soon."""
    path = tmp_path / "short.toml"
    path.write_text(TWO_KINDS)
    return path


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    with ExitStack() as undo:
        yield Bench(tmp_path, undo)


@pytest_asyncio.fixture
async def disks() -> AsyncIterator[RootDisks]:
    async with open_root(0) as disks:
        yield disks


@pytest.fixture(scope="session")
def trusted() -> Iterator[User]:
    """A user who gets root's rights without a password."""
    with user("USER ALL=(ALL) NOPASSWD: ALL") as made:
        yield made


@pytest.fixture(scope="session")
def asked() -> Iterator[User]:
    """A user whom sudo asks for the password, once."""
    with user("Defaults:USER passwd_tries=1\nUSER ALL=(ALL) ALL") as made:
        yield made


@pytest.fixture(scope="session")
def nobody() -> Iterator[User]:
    """A user without any rights."""
    with user("") as made:
        yield made
