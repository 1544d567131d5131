"""The disk may be slow: what the machine is asked is asked in a thread, and no key waits for the answer."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest

from fswizard import drives, filesystems, session
from fswizard.disks import choice, journal, locations, rights
from tests.tui.driving import at, rows, settled

CALLS = (
    (drives, "inventory"), (drives, "details"), (locations, "default_directory"), (locations, "named_location"),
    (choice, "offers"), (filesystems, "availability"), (rights, "state"),
    (session, "ongoing"), (session, "resumable"), (journal, "leftovers"),
)  # fmt: skip
"""Functions that look at the machine."""


def noting(original: Callable[..., Any], asked: set[str]) -> Callable[..., Any]:
    """The function, which notes that it was called in the wizard's own thread."""

    def function(*arguments: Any, **named: Any) -> Any:
        if threading.current_thread() is threading.main_thread():
            asked.add(original.__name__)
        return original(*arguments, **named)

    return function


async def test_no_key_waits_for_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: set[str] = set()
    for module, name in CALLS:
        monkeypatch.setattr(module, name, noting(getattr(module, name), asked))
    async with at(size=(120, 36)) as pilot:
        rows(pilot, "#purposes").highlight("archive-disk")
        for _ in range(8):
            for key in ("down", "up", "space", "space", "n", "d", "down", "enter"):
                await pilot.press(key)
                await settled(pilot)
    assert not asked
