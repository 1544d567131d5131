"""Writes the manual page, which follows from the commands.

    .venv/bin/python packaging/share.py

It lies in `packaging/share`, laid out as below /usr/share; a test says when it is behind the commands.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import fswizard
from fswizard.cli import Fswizard

FILE = Path(__file__).with_name("share") / "man/man1/fswizard.1"
HIDDEN = {"help", "help-all", "completions", "version"}
"""Switches that plumbum gives every subcommand."""
EXIT_STATUS = {
    0: "Fine.",
    1: "The run failed.",
    2: "Wrong usage.",
    3: "Refused as unsafe.",
    4: "Something needed is missing.",
    5: "Ended early with a partial result, or some files could not be read.",
    130: "Cancelled.",
}


def subcommands() -> Mapping[str, Any]:
    """Each subcommand by its name."""
    return {name: subcommand.get() for name, subcommand in Fswizard("")._subcommands.items()}


def manual_page() -> str:
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    yield f'.TH FSWIZARD 1 "" "fswizard {fswizard.__version__}" "User Commands"'
    yield ".SH NAME"
    yield rf"fswizard \- {_text(Fswizard.DESCRIPTION[0].lower() + Fswizard.DESCRIPTION[1:].rstrip('.'))}"
    yield ".SH SYNOPSIS\n.B fswizard\n.br\n.B fswizard"
    yield r"\fICOMMAND\fR [\fIOPTION\fR ...] [\fIARGUMENT\fR ...]"
    yield ".SH DESCRIPTION"
    yield _text(f"{Fswizard.DESCRIPTION_MORE} Each command takes --help.")
    yield ".SH COMMANDS"
    for name, command in subcommands().items():
        yield f".SS fswizard {name} {' '.join(_arguments(command))}".rstrip()
        yield _text(command.DESCRIPTION)
        if command.DESCRIPTION_MORE:
            yield from _paragraphs(command.DESCRIPTION_MORE)
        for switch in _switches(command):
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


def _switches(command: Any) -> list[Any]:
    """Those of one subcommand, as plumbum describes them, by their groups and names."""
    known = command("")._switches_by_func.values()
    shown = [each for each in known if not HIDDEN & set(each.names)]
    return sorted(shown, key=lambda each: (each.group, each.names[-1]))


def _names(switch: Any) -> str:
    flags = (f"-{name}" if len(name) == 1 else f"--{name}" for name in switch.names)
    names = ", ".join(rf"\fB{_text(flag)}\fR" for flag in flags)
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
    FILE.write_text(manual_page(), "utf-8")
