"""Driving the wizard in tests: wait for what should come, read what stands on the screen."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any

from textual.app import App
from textual.pilot import Pilot
from textual.widgets import Static

from fswizard.tui.app import FswizardApp
from fswizard.tui.screens.base import StepScreen
from fswizard.tui.widgets.rows import Rows

PATIENCE_S = 10.0


async def until(
    pilot: Pilot[Any], condition: Callable[[], bool], what: str = "", *, patience_s: float = PATIENCE_S
) -> None:
    """Wait until `condition` holds and keys are taken; fail with `what` and the screen's text when it never does."""
    deadline = time.monotonic() + patience_s
    while not condition() or (getattr(pilot.app, "deaf", False) and not pilot.app._exit):
        if time.monotonic() > deadline:
            raise AssertionError(f"in vain waited for {what}\n{screen_text(pilot.app)}")
        await pilot.pause()
        await asyncio.sleep(0.01)
    await pilot.pause()


async def at_step(pilot: Pilot[Any], step: str, *, patience_s: float = PATIENCE_S) -> None:
    """Wait until the wizard is at a step."""
    app = wizard(pilot)
    await until(
        pilot,
        lambda: isinstance(app.screen, StepScreen) and step == app.screen.STEP and app.screen.is_current,
        f"the step {step}",
        patience_s=patience_s,
    )


async def shows(pilot: Pilot[Any], words: str, *, patience_s: float = PATIENCE_S) -> None:
    """Wait until `words` stand on the screen."""
    await until(pilot, lambda: words in screen_text(pilot.app), f"“{words}” on the screen", patience_s=patience_s)


def wizard(pilot: Pilot[Any]) -> FswizardApp:
    assert isinstance(pilot.app, FswizardApp)
    return pilot.app


def screen_text(app: App[Any]) -> str:
    """What stands on the screen, line by line, as a person sees it."""
    compositor = app.screen._compositor
    return "\n".join("".join(segment.text for segment in strip) for strip in compositor.render_strips())


def question(app: App[Any]) -> str:
    """The line that the screen asks."""
    return str(app.screen.query_one("#question", Static).render())


def footer(app: App[Any]) -> str:
    """The keys that the footer shows."""
    from fswizard.tui.widgets.keybar import KeyBar

    return str(app.screen.query_one(KeyBar).render())


def keys_of(app: App[Any], selector: str) -> list[str]:
    """Keys of the rows of a list."""
    return [row.key for row in app.screen.query_one(selector, Rows).rows]
