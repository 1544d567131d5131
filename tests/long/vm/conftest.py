"""The machines that most tests of this room share. Two groups of tests run side by side, each in its own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.long.vm.disks import MEASURED, MEMBERS, USUAL
from tests.long.vm.machine import Machine, booted


@pytest.fixture(scope="session")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    """One with the usual disks. Who changes anything in it puts it right again."""
    with booted(tmp_path_factory.mktemp("machine"), USUAL) as machine:
        yield machine


@pytest.fixture(scope="session")
def zfs_machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    """One with OpenZFS, a disk, and four more for arrays, which keeps what is written to it when its power is cut.

    Who changes anything in it puts it right again.
    """
    directory = tmp_path_factory.mktemp("machine")
    with booted(directory, (MEASURED, *MEMBERS), kind="zfs", keeps_root=True) as machine:
        yield machine
