"""A run as the wizard holds it: the session, the newest snapshot, and what was asked of it meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import aclosing
from dataclasses import replace
from typing import Any, cast

from fswizard.errors import FswizardError
from fswizard.model.plan import Plan
from fswizard.system import clock
from fswizard.tui.backend import Run
from fswizard.tui.runstate import RunState, advance

BREATH_S = 0.01
"""Handling events is interrupted so often, that keys and drawing never wait longer."""


class Running:
    """Follows a session. `state` is replaced with every event; screens look at it whenever they draw."""

    def __init__(self, run: Run, plan: Plan, clock: Callable[[], float]) -> None:
        self.run = run
        self.state = RunState(plan)
        self.paused = False
        self.stopping = False
        self.problem: FswizardError | None = None
        """Why the run failed, where it did."""
        self._clock = clock
        self._began_s = clock()

    @property
    def elapsed_s(self) -> float:
        """Time since the start, also while no event comes."""
        return self.state.at_s if self.state.ended else max(self.state.at_s, self._clock() - self._began_s)

    async def follow(self) -> None:
        """Follow the run to its end; cancelling this undoes everything first."""
        breathed = clock.monotonic()
        try:
            async with aclosing(cast(Any, self.run.events())) as events:
                async for event in events:
                    self.state = advance(self.state, event)
                    if clock.monotonic() - breathed > BREATH_S:
                        await asyncio.sleep(0)
                        breathed = clock.monotonic()
        except FswizardError as error:
            self.problem = error
        finally:
            self.problem = self.problem or self.run.error
            if not self.state.ended:
                words = self.problem.message if self.problem else "It broke off."
                self.state = replace(self.state, outcome="failed", ending=words)

    def toggle_pause(self) -> None:
        """Pause, or go on."""
        self.paused = not self.paused
        if self.paused:
            self.run.pause()
        else:
            self.run.resume()

    def skip(self) -> None:
        """Leave the candidate that is being measured out of the rest."""
        self.run.skip()

    def stop(self) -> None:
        """End it now; what it made is undone, what was measured is kept."""
        self.stopping = True
        self.run.stop()
