"""Obtain root privileges: from being started as root, or through sudo, doas or pkexec."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from typing import Any, Literal

from fswizard import errors
from fswizard.errors import FswizardError, Missing, RunFailed
from fswizard.language import N_, _, joined
from fswizard.model.codec import from_json, to_json
from fswizard.model.text import safe_lines
from fswizard.system import commands

State = Literal["udisks", "root", "sudo", "sudo-asks", "doas", "doas-asks", "pkexec", "none"]
"""How root privileges are obtained. `udisks`: not needed; `…-asks`: the terminal asks for a password first."""

BY: Mapping[State, tuple[str, ...]] = {
    "root": (),
    "sudo": ("sudo", "-n", "--"),
    "doas": ("doas", "-n", "--"),
    "pkexec": ("pkexec", "--disable-internal-agent"),
}
"""Command prefixes that run a command as root; `pkexec` asks for a password in a window."""
ASK: Mapping[State, tuple[str, ...]] = {"sudo-asks": ("sudo", "-v"), "doas-asks": ("doas", "true")}
"""Commands that ask for the password on the terminal."""
PROGRAMS: tuple[tuple[State, State], ...] = (("sudo", "sudo-asks"), ("doas", "doas-asks"))
"""States of each program without and with a password prompt, in order of preference."""
DONE = "done"
"""Kind of the last line from a process that has completed its order."""

REASONS: Mapping[State, str] = {
    "udisks": N_("not needed for scratch images: udisks2 attaches and mounts them"),
    "root": N_("as root, who started fswizard; the workloads run as root, too"),
    "sudo": N_("with sudo, which needs no password now"),
    "sudo-asks": N_("with sudo, which asks for your password once"),
    "doas": N_("with doas, which needs no password now"),
    "doas-asks": N_("with doas, which asks for your password once"),
    "pkexec": N_("with pkexec, which asks in a window; sudo is not installed"),
    "none": N_("none, as neither sudo nor doas is installed, nor pkexec in a desktop session"),
}
"""How formatting and mounting get root's rights, by state."""


def state() -> State:
    """Determine how a program can be started as root here."""
    if os.geteuid() == 0:
        return "root"
    for program, asks in PROGRAMS:
        if commands.find(program):
            with contextlib.suppress(FswizardError):
                if commands.query((program, "-n", "true")).exit_code == 0:
                    return program
            return asks
    in_window = bool(os.environ.get("WAYLAND_DISPLAY") or os.environ.get("DISPLAY"))
    return "pkexec" if in_window and commands.find("pkexec") else "none"


def authorise() -> State:
    """Ask for the password on the terminal if necessary, after a message on standard error; returns the new state.

    Raises Missing if root privileges are not available. Call it only while no full screen is open, or inside
    `App.suspend()`.
    """
    current = state()
    if current == "pkexec" or (current in ASK and sys.stdin.isatty()):
        text = _("This needs root: {program} asks for your password.", program=current.partition("-")[0])
        print(text, file=sys.stderr, flush=True)
        if current in ASK and commands.attend(ASK[current]) == 0:
            current = state()
    if current not in BY:
        raise missing(current)
    return current


def start(argv: Sequence[str], stdin: bytes) -> subprocess.Popen[bytes]:
    """Start a program as root with `stdin` as its standard input. Raises Missing if that needs a password first."""
    current = state()
    if current not in BY:
        raise missing(current)
    return commands.begin((*BY[current], *argv), stdin, own_session=False)


def ask(module: str, order: object, unfinished: RunFailed) -> Generator[Any, None, None]:
    """Run `main` of a module as root with `order` as JSON on its standard input, and yield its answers.

    The process runs to its end even if this generator is closed. Raises the errors that it reports, `unfinished` if it
    ends early, and Missing without root privileges.
    """
    code = f"import sys; sys.path[:] = {sys.path!r}; from {module} import main; main()"
    process = start((sys.executable, "-c", code), json.dumps(order).encode())
    assert process.stdout is not None and process.stderr is not None
    with process.stdout as lines, process.stderr as errors_output:
        answered = False
        for line in lines:
            if json.loads(line)[0] == DONE:
                return
            answered = True
            yield answer(line)
        stderr = errors_output.read()
    if stderr and not answered:
        raise missing(state(), stderr)
    unfinished.details = safe_lines(stderr).strip()
    raise unfinished


def answer(line: bytes) -> Any:
    """Decode a line written by `send`: its content. Raises the error that it holds."""
    kind, content = json.loads(line)
    if kind:
        raise getattr(errors, kind)(*from_json(tuple[str, str, str], content))
    return content


def serve(carry_out: Callable[[Any], Iterator[Any]]) -> None:
    """Carry out the order on standard input, and write its results to the client, which may be gone."""
    order = json.load(sys.stdin.buffer)
    try:
        for content in carry_out(order):
            send("", content)
    except FswizardError as error:
        send_error(error)
    else:
        send(DONE, None)


def send_error(error: FswizardError) -> None:
    """Send an error to the client, as the nearest base class in `fswizard.errors`."""
    known = next(kind.__name__ for kind in type(error).__mro__ if getattr(errors, kind.__name__, None) is kind)
    send(known, to_json((error.message, error.hint, error.details)))


def send(kind: str, content: Any) -> None:
    """Write a line of JSON to the client; `kind` is empty, `DONE`, or the name of an error class."""
    with contextlib.suppress(OSError):
        print(json.dumps([kind, content]), flush=True)


def missing(by: State, stderr: bytes = b"") -> Missing:
    """The error for missing root privileges, with a program's error output and a hint about alternatives."""
    text = _("This needs root, and {program} did not give its rights.", program=by.partition("-")[0])
    hint = _("Type your own password in a terminal, or log in as root. For doas, allow `persist` in doas.conf.")
    if by == "none":
        text = _("This needs root, and neither sudo nor doas is installed.")
        hint = _("Log in as root, or have sudo installed and your account allowed to use it.")
    without = _("`fswizard run --target dir:PATH,PATH` compares directories on mounted filesystems without root.")
    return Missing(text, joined((hint, without)), safe_lines(stderr).strip())
