"""Writes what packages install beside the program and what follows from its commands: manual page and completions.

    .venv/bin/python packaging/share.py

They lie in `packaging/share`, laid out as below /usr/share; a test says when they are behind the commands.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import fswizard
from fswizard.cli import Fswizard, completion

SHARE = Path(__file__).with_name("share")
COMPLETIONS = {
    "bash": "bash-completion/completions/fswizard",
    "zsh": "zsh/site-functions/_fswizard",
    "fish": "fish/vendor_completions.d/fswizard.fish",
}
EXIT_STATUS = {
    0: "Fine.",
    1: "The run failed.",
    2: "Wrong usage.",
    3: "Refused as unsafe.",
    4: "Something needed is missing.",
    5: "Ended early with a partial result, or some files could not be read.",
    130: "Cancelled.",
}


def files() -> Mapping[str, str]:
    """Path below `packaging/share` and text of each file."""
    made = {path: completion.script(shell, Fswizard) for shell, path in COMPLETIONS.items()}
    return made | {"man/man1/fswizard.1": "\n".join(_manual_page()) + "\n"}


def _manual_page() -> Iterator[str]:
    yield f'.TH FSWIZARD 1 "" "fswizard {fswizard.__version__}" "User Commands"'
    yield ".SH NAME"
    yield rf"fswizard \- {_text(Fswizard.DESCRIPTION[0].lower() + Fswizard.DESCRIPTION[1:].rstrip('.'))}"
    yield ".SH SYNOPSIS\n.B fswizard\n.br\n.B fswizard"
    yield r"\fICOMMAND\fR [\fIOPTION\fR ...] [\fIARGUMENT\fR ...]"
    yield ".SH DESCRIPTION"
    yield _text(f"{Fswizard.DESCRIPTION_MORE} Each command takes --help.")
    yield ".SH COMMANDS"
    for name, command in completion.subcommands(Fswizard).items():
        yield f".SS fswizard {name} {' '.join(_arguments(command))}".rstrip()
        yield _text(command.DESCRIPTION)
        if command.DESCRIPTION_MORE:
            yield from _paragraphs(command.DESCRIPTION_MORE)
        for switch in sorted(completion.switches(command), key=lambda switch: switch.group):
            yield ".TP"
            yield _names(switch)
            yield _text(switch.help or "")
    yield ".SH EXIT STATUS"
    for code, meaning in EXIT_STATUS.items():
        yield f".TP\n.B {code}\n{meaning}"
    yield from (".SH SEE ALSO", ".BR fio (1),", ".BR mkfs (8),", ".BR mount (8)")


def _arguments(command: Any) -> Iterator[str]:
    for name, parameter in inspect.signature(command.main).parameters.items():
        if parameter.kind is parameter.VAR_POSITIONAL:
            yield f"{name.upper()}..."
        elif name != "self":
            yield f"[{name.upper()}]"


def _names(switch: Any) -> str:
    names = ", ".join(rf"\fB{_text(completion.flag(name))}\fR" for name in switch.names)
    return rf"{names} \fI{switch.argname or 'VALUE'}\fR" if switch.argtype else names


def _paragraphs(text: str) -> Iterator[str]:
    """The paragraphs of a help."""
    for paragraph in text.strip().split("\n\n"):
        yield f".PP\n{_text(paragraph)}"


def _text(words: str) -> str:
    r"""In troff's words, on one line that is no request: a minus is \-."""
    escaped = " ".join(words.split()).replace("\\", r"\e").replace("-", r"\-")
    return rf"\&{escaped}" if escaped.startswith((".", "'")) else escaped


if __name__ == "__main__":
    for path, text in files().items():
        (SHARE / path).parent.mkdir(parents=True, exist_ok=True)
        (SHARE / path).write_text(text, "utf-8")
