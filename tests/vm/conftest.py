"""The machine that most tests of this room share, and the table that they print at their end."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.vm import table
from tests.vm.disks import KEPT, MEASURED, MEMBERS, USUAL
from tests.vm.machine import Machine, booted

FOUND = "found"


@pytest.fixture(scope="session")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    """One with the usual disks. Who changes anything in it puts it right again."""
    with booted(tmp_path_factory.mktemp("machine"), USUAL) as machine:
        yield machine


@pytest.fixture(scope="session")
def zfs_machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    """One with OpenZFS, two disks, and four more for arrays, which keeps what is written to it when its power is cut.

    Who changes anything in it puts it right again.
    """
    disks = (MEASURED, KEPT, *MEMBERS)
    with booted(tmp_path_factory.mktemp("machine"), disks, zfs=True, keeps_root=True) as machine:
        yield machine


@pytest.fixture(autouse=True)
def _noted(request: pytest.FixtureRequest) -> Iterator[None]:
    """What a test notes goes with its report, which also comes from tests that run in a process of their own."""
    yield
    request.node.user_properties += [(FOUND, tuple(found)) for found in table.taken()]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    told = [one for kind in terminalreporter.stats.values() for one in kind if isinstance(one, pytest.TestReport)]
    properties: list[tuple[str, Any]] = [
        named for report in told if report.when == "teardown" for named in report.user_properties
    ]
    found = [table.Found(*value) for name, value in properties if name == FOUND]
    if shown := list(table.lines(found)):
        terminalreporter.section("in the test machine")
        terminalreporter.write("\n".join([*shown, ""]))
