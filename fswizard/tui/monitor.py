"""Who follows a run for the screens."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import aclosing
from dataclasses import replace

from fswizard.errors import FswizardError
from fswizard.model.events import Event, RunEnded
from fswizard.model.plan import Plan
from fswizard.model.run_state import RunState
from fswizard.system import clock
from fswizard.tui.backend import RunHandle

YIELD_EVERY_S = 0.01
"""Handling events is interrupted so often, that keys and drawing never wait longer."""


class RunMonitor:
    """Follows a run. `state` is replaced with every event; screens look at it whenever they draw."""

    def __init__(self, run: RunHandle, plan: Plan, clock: Callable[[], float]) -> None:
        self.run = run
        self.state = RunState.of(plan, run.result)
        self.stopping = False
        self.problem: FswizardError | None = None
        """Why the run failed, where it did."""
        self._clock = clock
        self._began_s = clock()

    @property
    def elapsed_s(self) -> float:
        """Time since the start, also while no event comes."""
        return self.state.elapsed_s if self.state.ended else max(self.state.elapsed_s, self._clock() - self._began_s)

    @property
    def paused(self) -> bool:
        return self.run.paused

    def take(self, event: Event) -> None:
        """What an event changes."""
        self.state = self.state.after(event)
        self._began_s = min(self._began_s, self._clock() - self.state.elapsed_s)  # of a run that is watched, long ago

    async def follow(self) -> None:
        """Follow the run to its end; cancelling this undoes everything first."""
        yielded_s = clock.monotonic()
        try:
            async with aclosing(self.run.events()) as events:
                async for event in events:
                    self.take(event)
                    if clock.monotonic() - yielded_s > YIELD_EVERY_S:
                        await asyncio.sleep(0)
                        yielded_s = clock.monotonic()
        except FswizardError as error:
            self.problem = error
        finally:
            self.problem = self.problem or self.run.error
            if not self.state.ended:
                words = self.problem.message if self.problem else "It stopped unexpectedly."
                self.state = replace(self.state, ended=RunEnded(self.state.at_s, "failed", words))

    def toggle_pause(self) -> None:
        """Pause, or go on."""
        if self.paused:
            self.run.resume()
        else:
            self.run.pause()

    def skip(self) -> None:
        """Leave the candidate that is being measured out of the rest."""
        self.run.skip()

    def stop(self) -> None:
        """End it now; what it made is undone, what was measured is kept."""
        self.stopping = True
        self.run.stop()
