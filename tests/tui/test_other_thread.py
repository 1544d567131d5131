"""The disk may be slow: what the machine is asked is asked in a thread, and no key waits for the answer."""

from __future__ import annotations

import threading
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fswizard.tui.widgets.options import Options
from tests.fakes.wizard import FakeMachine, app
from tests.tui.driving import settled, wizard

CALLS = (
    "details", "location", "named_location", "offers", "availability",
    "draft", "make_plan", "questions", "rights", "start",
    "ongoing", "resumable", "why_not_resumed", "history", "load", "leftovers",
)  # fmt: skip
"""Methods that look at the machine; `authorise` is called while no screen is open."""


def noting(name: str, asked: set[tuple[str, str]]) -> Callable[..., Any]:
    """A method of the machine's that notes who asked it in the wizard's own thread."""
    original = getattr(FakeMachine, name)

    def method(self: FakeMachine, *arguments: Any, **named: Any) -> Any:
        if threading.current_thread() is threading.main_thread():
            callers = [frame for frame in traceback.extract_stack()[:-1] if "/fswizard/tui/" in frame.filename]
            asked.add((name, f"{Path(callers[-1].filename).name}:{callers[-1].name}"))
        return original(self, *arguments, **named)

    return method


async def test_no_key_waits_for_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: set[tuple[str, str]] = set()
    machine = FakeMachine()
    for name in CALLS:
        monkeypatch.setattr(FakeMachine, name, noting(name, asked))
    async with app("purpose", machine).run_test(size=(120, 36)) as pilot:
        await settled(pilot)
        wizard(pilot).screen.query_one("#purposes", Options).highlight("archive-disk")
        for _ in range(8):
            for key in ("down", "up", "space", "space", "n", "d", "escape" if wizard(pilot).step == "" else "down"):
                await pilot.press(key)
                await settled(pilot)
            await pilot.press("enter")
            await settled(pilot)
    assert not asked
