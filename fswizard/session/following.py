"""Following a run in another process by its log."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from fswizard.errors import UsageError
from fswizard.language import _
from fswizard.model.events import Event, RunEnded
from fswizard.model.result import Result
from fswizard.model.result_file import UNREADABLE
from fswizard.model.text import safe
from fswizard.results import event_in, is_being_written, load
from fswizard.session.ongoing_runs import begun, give_order
from fswizard.system import clock
from fswizard.system.files import without_waiting

POLL_S = 0.1
"""Interval of polling the log."""
QUIET_POLLS = 10
"""Number of polls without news after which to check whether the run is alive."""
PROGRESS = b'{"type":"StepProgressed",'
TEXT = b',"text":'
"""Key of progress with a new text, which later progress does not replace."""


class FollowedRun:
    """A run in another process, which continues whether it is followed or not."""

    outlives = True

    def __init__(self, path: Path, *, after_bytes: int = 0) -> None:
        """Follow the run that writes to the result file at `path`; its first `after_bytes` bytes are skipped.

        Raises UsageError if it is not such a file.
        """
        self.path = path
        self._after_bytes = after_bytes
        try:
            self.plan = begun(path).plan
        except (OSError, *UNREADABLE) as error:
            raise UsageError(
                _("The run of {path} cannot be followed.", path=safe(str(path))), _("Did it just end?")
            ) from error

    def order(self, order: str) -> None:
        """Order the run to stop or cancel."""
        give_order(self.path, order)

    def result(self) -> Result:
        """What was measured so far."""
        return load(self.path)

    async def events(self) -> AsyncGenerator[Event, None]:
        """All events from the beginning, until the run has ended and cleaned up. Outdated progress is skipped.

        The last event is RunEnded, even if the run was killed.
        """
        last, rest, quiet, alive = Event(0.0), b"", 0, True
        while alive:
            if quiet >= (1 if isinstance(last, RunEnded) else QUIET_POLLS):
                alive = is_being_written(self.path)  # before what it wrote is read for the last time
            new = self._read()
            quiet = 0 if new else quiet + 1
            *lines, rest = (rest + new).split(b"\n")
            for last in _events(lines):
                yield last
            if alive:
                await clock.pause(POLL_S)
        if not isinstance(last, RunEnded):
            text = _("The run was killed, or could not write its result file as the disk is full.")
            hint = _("`fswizard clean` removes what it left; then you can resume it.")
            yield RunEnded(last.at_s, "killed", text, hint=hint)

    def _read(self) -> bytes:
        """Bytes written by the run since the last call."""
        with open(self.path, "rb", opener=without_waiting) as file:
            file.seek(self._after_bytes)
            new = file.read()
        self._after_bytes += len(new)
        return new


def _events(lines: Iterable[bytes]) -> Iterator[Event]:
    """Events of complete lines of a log; the header and unknown events are skipped."""
    progress = b""
    for line in (*lines, b""):
        if line.startswith(PROGRESS) and TEXT not in line:
            progress = line
            continue
        for news in (progress, line):
            with suppress(*UNREADABLE):
                yield event_in(news)
        progress = b""
