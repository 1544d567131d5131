"""The machine that most tests of this room share, and the table that they print at their end."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.vm import table
from tests.vm.disks import MEASURED, MEMBERS, USUAL
from tests.vm.machine import Machine, booted


@pytest.fixture(scope="session")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    """One with the usual disks. Who changes anything in it puts it right again."""
    with booted(tmp_path_factory.mktemp("machine"), USUAL) as machine:
        yield machine


@pytest.fixture(scope="session")
def zfs_machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    """One with OpenZFS, a disk, and four more for arrays. Who changes anything in it puts it right again."""
    with booted(tmp_path_factory.mktemp("machine"), (MEASURED, *MEMBERS), zfs=True) as machine:
        yield machine


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if found := list(table.lines()):
        terminalreporter.section("in the test machine")
        terminalreporter.write("\n".join([*found, ""]))
