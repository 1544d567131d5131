"""The directory of results, and listings of it."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from pathlib import Path

from fswizard.errors import UsageError
from fswizard.language import _, n_
from fswizard.model.analysis import ANSWER_SIGNS, Sign
from fswizard.model.codec import from_json
from fswizard.model.events import RunEnded
from fswizard.model.frozen import frozen
from fswizard.model.plan import Plan
from fswizard.model.result_file import UNREADABLE, Header, parse_line
from fswizard.model.text import safe
from fswizard.results.reading import event_in
from fswizard.system import clock
from fswizard.system.files import state_directory

SUFFIX = ".jsonl"
LONGEST_HEADER_BYTES = 65_536
LONGEST_ENDING_BYTES = 16_384


@frozen
class Entry:
    """A result as listed in the history."""

    path: Path
    header: Header
    ending: RunEnded | None
    """None if the run was killed, or is in progress."""

    @property
    def unfinished(self) -> bool:
        """Whether it ended, or was stopped, before its answer was clear."""
        return self.ending is None or self.ending.outcome != "finished"

    @property
    def sign(self) -> Sign:
        """Symbol of its answer; a dot if there is none, or an earlier version stored no kind of answer."""
        answer = self.ending.answer if self.ending else ""
        return ANSWER_SIGNS[answer] if answer else Sign("·", "muted")

    @property
    def verdict(self) -> str:
        """Its answer; for files of an earlier version, the leading candidates."""
        if self.ending is None:
            return _("not finished")
        return _(self.ending.verdict) or ", ".join(self.ending.leaders) or _("no result")

    @property
    def when(self) -> str:
        """Date and time of day in minutes."""
        return self.header.started.replace("T", " ")[:16]

    @property
    def what(self) -> str:
        """`archive-disk on ST8000AS0002`."""
        disk = self.header.drive or _("a disk without a model name")
        return _("{recipe} on {disk}", recipe=self.header.recipe, disk=disk)


def results_directory() -> Path:
    """Default directory of results."""
    return state_directory() / "results"


def new_path(plan: Plan) -> Path:
    """A free file name, composed of time, recipe and disk, in an existing directory.

    Raises UsageError if the directory cannot be created.
    """
    directory = results_directory()
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        hint = _("Set XDG_STATE_HOME to a directory that you can write, or name the result file with --output.")
        text = _("{path} cannot be made: {reason}.", path=safe(str(directory)), reason=error.strerror)
        raise UsageError(text, hint) from error
    disk = (plan.drive.model or plan.drive.name) if plan.drive else plan.target.kind
    now = f"{clock.utc():%Y-%m-%d_%H%M%S}"
    stem = "_".join(part for part in (now, _file_name_part(plan.recipe.name), _file_name_part(disk)) if part)
    names = (stem, *(f"{stem}_{number}" for number in range(2, 1000)))
    return next(path for name in names if not (path := directory / f"{name}{SUFFIX}").exists())


def all_results() -> tuple[Entry, ...]:
    """Results of earlier runs, newest first. Only first and last lines are read; other files are skipped."""
    entries = [entry for path in results_directory().glob(f"*{SUFFIX}") if (entry := _entry(path))]
    return tuple(sorted(entries, key=lambda entry: (entry.header.started, entry.path.name), reverse=True))


def find(name: str) -> Path:
    """A result by its file, or by a part of its file name in the history; the newest if `name` is empty.

    Raises UsageError if there is no match, or more than one.
    """
    if name and (os.sep in name or Path(name).exists()):
        return Path(name)
    entries = all_results()
    if not name and not entries:
        raise UsageError(_("No results yet."), _("`fswizard run quick` makes one."))
    if not name:
        return entries[0].path
    matches = [entry.path for entry in entries if name in entry.path.name]
    matches = [path for path in matches if name in (path.name, path.stem)] or matches
    if len(matches) == 1:
        return matches[0]
    if matches:
        names = ", ".join(path.stem for path in matches[:5]) + (", …" if len(matches) > 5 else "")
        raise UsageError(
            n_(
                "{name} matches {count} result.", "{name} matches {count} results.", len(matches), name=repr(safe(name))
            ),
            _("Name one of them: {names}", names=names),
        )
    raise UsageError(_("There is no result {name}.", name=repr(safe(name))), _("`fswizard history` lists the results."))


def _file_name_part(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9+-]+", "-", text).strip("-")[:40]


def _entry(path: Path) -> Entry | None:
    try:
        with path.open("rb") as file:
            header = from_json(Header, parse_line(file.readline(LONGEST_HEADER_BYTES)))
            file.seek(max(0, file.seek(0, os.SEEK_END) - LONGEST_ENDING_BYTES))
            last = file.read().rstrip(b"\n").rpartition(b"\n")[2]
    except (OSError, *UNREADABLE):
        return None
    ending = None
    with suppress(*UNREADABLE):  # the last line may be incomplete
        event = event_in(last)
        ending = event if isinstance(event, RunEnded) else None
    return Entry(path, header, ending)
