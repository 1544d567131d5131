"""After each test the machine must be as it was: no loop device and no mount left behind."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import REQUIRE_ALL
from tests.loop.fault_table import pytest_configure, pytest_runtest_makereport, pytest_terminal_summary

__all__ = ["pytest_configure", "pytest_runtest_makereport", "pytest_terminal_summary"]

GRACE_S = 3.0
"""The kernel lets a loop device go a moment after its last user."""


@pytest.fixture(autouse=True)
def _nothing_left_behind(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    before = _state()
    yield
    deadline = time.monotonic() + GRACE_S
    own = str(tmp_path_factory.getbasetemp())
    while (left := _left(before, own)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not left, "left behind by this test:\n" + "\n".join(sorted(left))


def _left(before: set[str], own: str) -> set[str]:
    """What is new. Outside CI other programs mount things meanwhile, so there only our own directory counts."""
    return {line for line in _state() - before if REQUIRE_ALL or own in line}


def _state() -> set[str]:
    loops = subprocess.run(["losetup", "--all"], capture_output=True, text=True, check=False).stdout.splitlines()
    return {*loops, *Path("/proc/self/mounts").read_text().splitlines()}
