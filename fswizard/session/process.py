"""A run is carried out in a process of its own, which outlives the one that started it."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from contextlib import aclosing
from pathlib import Path

from fswizard import errors, results
from fswizard.errors import FswizardError, RunFailed
from fswizard.model.codec import from_json, to_json
from fswizard.model.events import RunStarted, StepStarted
from fswizard.model.plan import Plan
from fswizard.session.session import Session
from fswizard.system import commands
from fswizard.system.files import turn_away_from

BEGUN = "begun"
PROGRAM = "from fswizard.session.process import main; main()"


def start(plan: Plan, path: Path, *, resumed: bool = False) -> None:
    """Start a run that writes to the result file at `path`; it returns when the log has begun.

    Root's rights must be had before: the run asks for nothing. It keeps the terminal until it measures, as sudo goes
    by that. FswizardError where it cannot begin.
    """
    code = f"import sys; sys.path[:] = {sys.path!r}; {PROGRAM}"
    order = {"plan": to_json(plan), "path": os.fspath(path.absolute()), "resumed": resumed}
    answer = commands.launch((sys.executable, "-c", code), json.dumps(order).encode())
    try:
        kind, error = json.loads(answer)
    except ValueError as wrong:
        raise RunFailed("The process of the run ended before it began.", "This is a bug in fswizard.") from wrong
    if kind != BEGUN:
        raise from_json(getattr(errors, kind), error)


def main() -> None:
    """The process of a run: its order is read from the descriptor that the one argument names."""
    with open(int(sys.argv[1]), "rb") as file:
        order = json.load(file)
    path = Path(order["path"])
    try:
        earlier = results.load(path) if order["resumed"] else None
        asyncio.run(_carry_out(Session(from_json(Plan, order["plan"]), path, earlier=earlier)))
    except FswizardError as error:
        _answer(type(error).__name__, error)


async def _carry_out(session: Session) -> None:
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(number, session.stop, "cancelled")
    on_terminal = True
    async with aclosing(session.events()) as events:
        async for event in events:
            if isinstance(event, RunStarted):
                _answer(BEGUN)
            elif on_terminal and isinstance(event, StepStarted) and event.step.round:
                on_terminal = False
                os.setsid()
                turn_away_from((0,))


def _answer(kind: str, error: FswizardError | None = None) -> None:
    """To who started the run, once: after that nobody listens."""
    print(json.dumps([kind, to_json(error)]), flush=True)
    turn_away_from((1,))
