"""`fswizard smr`: is this disk shingled? Asked by name, by smartctl's output, or of the disk itself."""

from __future__ import annotations

import json
import os
import re
import stat
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from plumbum import cli

from fswizard.cli.command import Command
from fswizard.cli.verdicts import verdict_document, verdict_lines
from fswizard.drives import drive_of, place_of
from fswizard.drives.models import without_serial
from fswizard.drives.smartctl import details
from fswizard.drives.smartctl_output import parse_each
from fswizard.drives.smr import SmrFacts, judge_smr
from fswizard.errors import ExitCode, FswizardError, UsageError
from fswizard.language import N_, _, shown
from fswizard.model.drive import SmrVerdict
from fswizard.model.text import safe
from fswizard.system.files import read_file

_STDIN = "/dev/stdin"
_MAXIMUM_BYTES = 16 << 20
"""No output of smartctl is nearly as long."""


@dataclass(frozen=True, slots=True)
class Judged:
    """One disk, file or name that was asked about."""

    source: str
    model: str
    verdict: SmrVerdict
    problem: str = ""
    """Why it could not be read or queried, in words."""
    unread: bool = False
    """Whether it isn't output of smartctl, or cannot be read."""


class Smr(Command):
    """Tell whether disks are shingled, with the evidence.

    WHAT is a model name, a file with the output of smartctl (text, JSON or YAML), a device, or - for standard input.
    """

    PROGNAME = "fswizard smr"
    USAGE = "    fswizard smr [--json] WHAT...\n"

    json = cli.Flag("--json", help=_("print JSON"))
    wake = cli.Flag("--wake", help=_("wake a device that is in standby"))

    def _parse_args(self, argv: list[str]) -> Any:
        return super()._parse_args([_STDIN if word == "-" else word for word in argv])  # plumbum takes - for a switch

    def main(self, *what: str) -> int:
        if not what:
            raise UsageError(_("Name something to check."), _("A model, a file, a device, or - for standard input."))
        failed: list[FswizardError] = []
        judged = list(_judge_all(what, self.wake, failed))
        if self.json:
            documents = [
                {"source": it.source, "model": it.model, "problem": it.problem, **verdict_document(it.verdict)}
                for it in judged
            ]
            print(json.dumps(documents, indent=1, ensure_ascii=False))
        else:
            _print_paragraphs(judged)
        for error in failed:
            print(f"fswizard: {shown(error.message)} {shown(error.hint)}".rstrip(), file=sys.stderr)
        if failed:
            return failed[0].exit_code
        unread = [it.unread for it in judged]
        return ExitCode.OK if not any(unread) else ExitCode.RUN_FAILED if all(unread) else ExitCode.PARTIAL


def _judge_all(what: Iterable[str], wake: bool, failed: list[FswizardError]) -> Iterator[Judged]:
    """Judges each in turn; what cannot be read is put into `failed`, and the rest goes on."""
    for source in what:
        try:
            yield from _judge(source, wake)
        except FswizardError as error:
            failed.append(error)


def _judge(source: str, wake: bool) -> Iterable[Judged]:
    if source == _STDIN:
        return _outputs("-", sys.stdin.buffer.read(_MAXIMUM_BYTES))
    try:
        mode = os.stat(source).st_mode
    except (OSError, ValueError) as error:
        if "/" in source:
            reason = error.strerror if isinstance(error, OSError) and error.strerror else _("not a path")
            hint = _("Name a file, a device, or a model such as ST8000AS0002.")
            raise UsageError(_("{path} cannot be read: {reason}.", path=safe(source), reason=reason), hint) from error
        facts = SmrFacts("name", model=without_serial(safe(source).strip()))
        return (Judged(safe(source), facts.model, judge_smr(facts)),)
    if stat.S_ISBLK(mode):
        return (_device(source, wake),)
    if stat.S_ISCHR(mode):
        disk = f"{source}n1" if re.fullmatch(r"/dev/nvme\d+", source) else ""
        hint = _("`fswizard drives` lists the disks.")
        if disk:
            hint = _("Name the disk: `fswizard smr {disk}`.", disk=disk)
        raise UsageError(_("{path} is a character device, on which nothing is stored.", path=safe(source)), hint)
    hint = _("Name files one by one: `fswizard smr DIRECTORY/*`.")
    return _outputs(source, read_file(Path(source), _MAXIMUM_BYTES, hint=hint))


def _outputs(source: str, output: bytes) -> Iterator[Judged]:
    """One for each disk in a file; from the second on with its number behind the file's name."""
    readings = parse_each(output)
    for number, reading in enumerate(readings, start=1):
        name = safe(source) if number == 1 else f"{safe(source)} ({number})"
        facts = reading.facts
        problem = facts.problem
        if problem and reading.line > 1 and "line" not in problem.lower():
            problem = N_("Line {line}: {problem}").format(line=reading.line, problem=problem)
        if problem:
            print(f"fswizard: {name}: {shown(problem)}", file=sys.stderr)
        yield Judged(name, facts.model, judge_smr(facts), problem, reading.unread)


def _device(path: str, wake: bool) -> Judged:
    drive = drive_of(path)
    if drive is not None and drive.bus == "loop" and os.path.exists(drive.model):
        return replace(_device(drive.model, wake), source=safe(path))
    if drive is None:
        several = place_of(path)
        if several is None:
            raise UsageError(_("{path} isn't on a disk.", path=safe(path)), _("`fswizard drives` lists the disks."))
        return Judged(safe(path), "", several.smr)
    known = details(drive, wake=wake)
    if known.pending:
        print(f"fswizard: {safe(path)}: {shown(known.pending)}", file=sys.stderr)
    return Judged(safe(path), known.model, known.smr)


def _print_paragraphs(judged: Iterable[Judged]) -> None:
    for number, item in enumerate(judged):
        if number:
            print()
        title = item.source if item.model in ("", item.source) else f"{item.source}: {item.model}"
        print(title)
        print("\n".join(verdict_lines(item.verdict)))
