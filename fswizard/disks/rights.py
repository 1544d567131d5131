"""How root's rights are had: from whoever started fswizard, or by sudo, doas or pkexec."""

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
"""`udisks`: root's rights are not needed. Those that end with `asks` want a password on the terminal before."""

BY: Mapping[State, tuple[str, ...]] = {
    "root": (),
    "sudo": ("sudo", "-n", "--"),
    "doas": ("doas", "-n", "--"),
    "pkexec": ("pkexec", "--disable-internal-agent"),
}
"""What comes before a command that root shall run; `pkexec` asks in a window of the desktop's."""
ASK: Mapping[State, tuple[str, ...]] = {"sudo-asks": ("sudo", "-v"), "doas-asks": ("doas", "true")}
"""What asks for the password on the terminal."""
PROGRAMS: tuple[tuple[State, State], ...] = (("sudo", "sudo-asks"), ("doas", "doas-asks"))
"""Each as it can be used at once, and as it cannot."""
DONE = "done"
"""What kind the last line is of a process that has carried out its order."""

REASONS: Mapping[State, str] = {
    "udisks": N_("not needed for scratch images: udisks2 attaches and mounts them"),
    "root": N_("as root, who started fswizard"),
    "sudo": N_("with sudo, which needs no password now"),
    "sudo-asks": N_("with sudo, which asks for your password once"),
    "doas": N_("with doas, which needs no password now"),
    "doas-asks": N_("with doas, which asks for your password once"),
    "pkexec": N_("with pkexec, which asks in a window; sudo is not installed"),
    "none": N_("none, as neither sudo nor doas is installed, nor pkexec in a desktop session"),
}
WITHOUT = N_("Comparing directories on mounted filesystems needs no root: --target dir:PATH,PATH.")


def state() -> State:
    """How a program would be started as root here."""
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
    """Have the password asked for on the terminal, where that is needed; returns how root's rights are had then.

    Before it is asked for, standard error says why. Missing where they cannot be had. Call it only while no full screen
    is open, or inside `App.suspend()`.
    """
    current = state()
    if current in ASK and sys.stdin.isatty():
        text = _("This needs root: {program} asks for your password.", program=ASK[current][0])
        print(text, file=sys.stderr, flush=True)
        if commands.attend(ASK[current]) == 0:
            current = state()
    elif current == "pkexec":
        text = _("This needs root: pkexec asks for your password in a window, which opens in some seconds.")
        print(text, file=sys.stderr, flush=True)
    if current not in BY:
        raise missing(current)
    return current


def start(argv: Sequence[str], given: bytes) -> subprocess.Popen[bytes]:
    """Start a program as root with `given` on its standard input; Missing where that takes a password first."""
    current = state()
    if current not in BY:
        raise missing(current)
    return commands.begin((*BY[current], *argv), given, own_session=False)


def ask(module: str, order: object, unfinished: RunFailed) -> Generator[Any, None, None]:
    """Have `main` of a module carry out an order as root, and yield what it says.

    It goes on to its end, whoever listens. An error is raised here that was one there, `unfinished` where it ended
    before it was done, and Missing where root's rights cannot be had.
    """
    code = f"import sys; sys.path[:] = {sys.path!r}; from {module} import main; main()"
    process = start((sys.executable, "-c", code), json.dumps(order).encode())
    assert process.stdout is not None and process.stderr is not None
    with process.stdout as lines, process.stderr as complaints:
        answered = False
        for line in lines:
            if json.loads(line)[0] == DONE:
                return
            answered = True
            yield from answer(line)
        said = complaints.read()
    if said and not answered:
        raise missing(state(), said)
    unfinished.details = safe_lines(said).strip()
    raise unfinished


def answer(line: bytes) -> Iterator[Any]:
    """What a line says that `serve` or a run's process wrote; an error that it has is raised."""
    kind, content = json.loads(line)
    if kind:
        raise from_json(getattr(errors, kind), content)
    yield content


def serve(carry_out: Callable[[Any], Iterator[Any]]) -> None:
    """Carry out the order on standard input, and write down what comes of it, to a client that may be gone."""
    order = json.load(sys.stdin.buffer)
    try:
        for content in carry_out(order):
            say("", content)
    except FswizardError as error:
        say_error(error)
    else:
        say(DONE, None)


def say_error(error: FswizardError) -> None:
    """By the nearest of the errors that everybody knows."""
    known = next(kind.__name__ for kind in type(error).__mro__ if getattr(errors, kind.__name__, None) is kind)
    say(known, to_json(error))


def say(kind: str, content: Any) -> None:
    with contextlib.suppress(OSError):
        print(json.dumps([kind, content]), flush=True)


def missing(by: State, said: bytes = b"") -> Missing:
    """Says that root's rights could not be had, with what was `said` instead, and what works without."""
    if by == "none":
        text = _("This needs root, and neither sudo nor doas is installed.")
        hint = _("Log in as root, or have sudo installed and your account allowed to use it.")
    elif by in ASK and not sys.stdin.isatty():
        text = _("This needs root, and there is no terminal where your password could be asked for.")
        hint = _("Start fswizard in a terminal, or as root.")
    else:
        text = _("This needs root, and {program} did not give its rights.", program=by.partition("-")[0])
        hint = _("Try again with your own password, or log in as root.")
        if by == "doas-asks":
            hint = _("Allow `persist` in doas.conf, or log in as root.")
    return Missing(text, joined((hint, _(WITHOUT))), safe_lines(said).strip())
