"""Follows a run for the screens."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from pathlib import Path
from typing import TYPE_CHECKING

from fswizard.errors import FswizardError
from fswizard.language import N_
from fswizard.model.events import Event, RunEnded
from fswizard.model.plan import Plan
from fswizard.model.run_state import RunState
from fswizard.system.clock import monotonic

if TYPE_CHECKING:
    from fswizard.session import FollowedRun


def start_run(plan: Plan, path: Path | None) -> FollowedRun:
    """Start a run, or resume the one in the result file at `path`. Raises FswizardError if it cannot begin."""
    from fswizard import results
    from fswizard.session import FollowedRun, start

    file = path or results.new_path(plan)
    start(plan, file, resumed=path is not None)
    return FollowedRun(file)


class RunMonitor:
    """Follows a run. `state` is replaced with every event; screens read it when they draw."""

    def __init__(self, run: FollowedRun) -> None:
        self.run = run
        self.state = RunState.of(run.plan)
        self.stopping = False
        self.problem: FswizardError | None = None
        """Why the run failed, or cannot be followed."""
        self._began_s = monotonic()

    @property
    def elapsed_s(self) -> float:
        """Time since the start, updated even without events."""
        return self.state.elapsed_s if self.state.ended else max(self.state.elapsed_s, monotonic() - self._began_s)

    def take(self, event: Event) -> None:
        """Apply an event to the state."""
        self.state = self.state.after(event)
        self._began_s = min(self._began_s, monotonic() - self.state.elapsed_s)  # of a run that is watched, long ago

    async def follow(self) -> None:
        """Follow the run to its end."""
        ended: RunEnded | None = None
        try:
            async with aclosing(self.run.events()) as events:
                async for event in events:
                    if ended:  # and the run was resumed
                        self.take(ended)
                    ended = event if isinstance(event, RunEnded) else None
                    if ended is None:
                        self.take(event)
                    await asyncio.sleep(0)  # keys and drawing never wait for a flood of events
        except FswizardError as error:
            self.problem = error
        finally:
            message = self.problem.message if self.problem else N_("It stopped unexpectedly.")
            self.take(ended or RunEnded(self.state.at_s, "failed", message))
            self.problem = self.problem or self.state.problem

    def stop(self) -> None:
        """End the run now; it cleans up, and the measured values remain."""
        self.stopping = True
        self.run.order("stop")
