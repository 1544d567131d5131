"""`fswizard smr`: whether a disk is shingled, judged by its name, by smartctl's output, or by the disk itself."""

from __future__ import annotations

import json
import os
import stat
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from plumbum import cli

from fswizard.cli.command import Command
from fswizard.cli.verdicts import verdict_document, verdict_lines
from fswizard.drives import drive_of
from fswizard.drives.smartctl import details
from fswizard.drives.smartctl_output import parse_each
from fswizard.drives.smr import SmrFacts, judge_smr
from fswizard.errors import ExitCode, FswizardError, UsageError
from fswizard.language import _
from fswizard.model.drive import SmrVerdict
from fswizard.model.text import safe
from fswizard.system.files import read_file

_STDIN = "/dev/stdin"
_MAXIMUM_BYTES = 16 << 20
"""No output of smartctl is nearly as long."""


@dataclass(frozen=True, slots=True)
class Judged:
    """The verdict on one argument: a disk, file or name."""

    source: str
    model: str
    verdict: SmrVerdict
    problem: str = ""
    """Why it could not be read or queried."""
    unread: bool = False
    """Whether it isn't output of smartctl, or cannot be read."""


class Smr(Command):
    """Tell whether disks are shingled, with the evidence.

    WHAT is a model name, a file with the output of smartctl (text or JSON), a device, or - for standard input.
    """

    PROGNAME = "fswizard smr"
    USAGE = "    fswizard smr [--json] WHAT...\n"

    json = cli.Flag("--json", help=_("print JSON"))
    wake = cli.Flag("--wake", help=_("wake a device that is in standby"))

    def _parse_args(self, argv: list[str]) -> Any:
        return super()._parse_args(
            [_STDIN if argument == "-" else argument for argument in argv]
        )  # plumbum takes - for a switch

    def main(self, *what: str) -> int:
        if not what:
            raise UsageError(_("Name something to check."), _("A model, a file, a device, or - for standard input."))
        judged: list[Judged] = []
        exit_code = ExitCode.OK
        for source in what:
            try:
                for item in _judge(source, self.wake):
                    judged.append(item)
                    if item.problem:
                        print(f"fswizard: {item.source}: {item.problem}", file=sys.stderr)
            except FswizardError as error:  # the rest is judged none the less
                print(f"fswizard: {_(error.message)} {_(error.hint)}".rstrip(), file=sys.stderr)
                exit_code = exit_code or error.exit_code
        if self.json:
            documents = [
                {"source": it.source, "model": it.model, "problem": it.problem, **verdict_document(it.verdict)}
                for it in judged
            ]
            print(json.dumps(documents, indent=1, ensure_ascii=False))
        elif judged:
            print("\n\n".join(map(_paragraph, judged)))
        unread = [it.unread for it in judged]
        if exit_code == ExitCode.OK and any(unread):
            return ExitCode.RUN_FAILED if all(unread) else ExitCode.PARTIAL
        return exit_code


def _judge(source: str, wake: bool) -> Iterator[Judged]:
    """Judge an argument. Raises UsageError if it can neither be read nor queried."""
    name, exists = safe(source), os.path.exists(source)
    if source == _STDIN:
        yield from _outputs("-", sys.stdin.buffer.read(_MAXIMUM_BYTES))
    elif exists and stat.S_ISBLK(os.stat(source).st_mode):
        drive = drive_of(source)
        if drive is None:
            raise UsageError(_("{path} isn't on a disk.", path=name), _("`fswizard drives` lists the disks."))
        known = details(drive, wake=wake)
        yield Judged(name, known.model, known.smr, _(known.pending))
    elif exists or "/" in source:
        hint = _("Name files, devices such as /dev/sda, or models such as ST8000AS0002.")
        yield from _outputs(name, read_file(Path(source), _MAXIMUM_BYTES, hint=hint))
    else:
        model = name.strip()
        yield Judged(model, model, judge_smr(SmrFacts("name", model=model)))


def _outputs(name: str, output: bytes) -> Iterator[Judged]:
    """A verdict for each disk in a file; from the second on, the file name is followed by a number."""
    for number, reading in enumerate(parse_each(output), start=1):
        problem = _(reading.facts.problem)
        if problem and reading.line > 1:
            problem = _("Line {line}: {problem}", line=reading.line, problem=problem)
        numbered = name if number == 1 else f"{name} ({number})"
        yield Judged(numbered, reading.facts.model, judge_smr(reading.facts), problem, reading.unread)


def _paragraph(item: Judged) -> str:
    title = item.source if item.model in ("", item.source) else f"{item.source}: {item.model}"
    return "\n".join((title, *verdict_lines(item.verdict)))
