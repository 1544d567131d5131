"""Runs in a separate process, which outlives the one that started it."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from contextlib import aclosing
from pathlib import Path

from fswizard import results
from fswizard.disks import as_root, rights
from fswizard.errors import FswizardError, RunFailed
from fswizard.model.codec import from_json, to_json
from fswizard.model.events import RunStarted
from fswizard.model.plan import Plan
from fswizard.model.text import safe_lines
from fswizard.session.checked import checked
from fswizard.session.session import Session
from fswizard.system import commands
from fswizard.system.files import redirect_to_null, state_directory

PROGRAM = "from fswizard.session.process import main; main()"
NAMESPACES = (
    "setsid", "--fork", "unshare", "--mount", "--propagation", "slave", "--pid", "--fork", "--kill-child", "--",
)  # fmt: skip
"""Prefix of a run as root: all its mounts and processes end with it. It follows mounts and unmounts of the host."""
PASSED_ON = ("XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME")
"""Variables with directories of the user's files."""


def start(plan: Plan, path: Path, *, resumed: bool = False) -> None:
    """Start a run that writes to the result file at `path`, and wait until its log has begun.

    If the run needs root, a password was requested before (`rights.authorise`). Raises FswizardError if it cannot
    begin.
    """
    argv = (sys.executable, "-c", f"import sys; sys.path[:] = {sys.path!r}; {PROGRAM}")
    environment = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
    # As whoever follows the run has it: by another HOME than the account's, the orders of a run would be elsewhere.
    environment["XDG_STATE_HOME"] = os.fspath(state_directory().parent)
    order = {
        "plan": to_json(plan), "path": os.fspath(path.absolute()), "resumed": resumed, "environment": environment,
        "by_root": os.geteuid() == as_root.ROOT,
    }  # fmt: skip
    payload = json.dumps(order).encode()
    run = rights.start((*NAMESPACES, *argv), payload) if plan.needs_root else commands.begin(argv, payload)
    assert run.stdout is not None and run.stderr is not None
    with run.stdout, run.stderr:
        answer = run.stdout.readline()
        output = b"" if answer else run.stderr.read()
    if not answer and plan.needs_root and run.wait():
        raise rights.missing(rights.state(), output)
    try:
        rights.answer(answer)
    except ValueError as wrong:
        raise RunFailed(
            "The process of the run ended before it began.", "This is a bug in fswizard.", safe_lines(output).strip()
        ) from wrong


def main() -> None:
    """Entry point of a run's process, which reads its order from standard input."""
    order = json.load(sys.stdin.buffer)
    redirect_to_null((0,))
    path = Path(order["path"])
    try:
        plan = from_json(Plan, order["plan"])
        if plan.needs_root:
            known = {name: value for name, value in order["environment"].items() if name in PASSED_ON}
            # whoever started fswizard itself by sudo wants all of it as root
            as_root.become(as_root.caller({} if order["by_root"] else os.environ), known)
        plan = checked(plan)
        earlier = results.load(path) if order["resumed"] else None
        asyncio.run(_carry_out(Session(plan, path, earlier=earlier)))
    except FswizardError as error:
        rights.send_error(error)


async def _carry_out(session: Session) -> None:
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(number, session.stop, "cancelled")
    async with aclosing(session.events()) as events:
        async for event in events:
            if isinstance(event, RunStarted):
                rights.send("", None)
                redirect_to_null((1, 2))
