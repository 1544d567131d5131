"""A run that goes on elsewhere, followed from here: the same events, and the same orders, as of one of one's own."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncGenerator, Awaitable, Callable
from pathlib import Path

from fswizard.errors import FswizardError, RunFailed
from fswizard.model.codec import from_json
from fswizard.model.events import Event, RunEnded, RunStarted, fold
from fswizard.model.plan import Plan
from fswizard.model.result import Result
from fswizard.model.text import harmless_lines
from fswizard.results import load
from fswizard.results.reading import event_of
from fswizard.session.ongoing_runs import OngoingRun, connect
from fswizard.system import clock, timeouts

Line = tuple[asyncio.StreamReader, asyncio.StreamWriter]
Connect = Callable[[], Awaitable[Line]]
Load = Callable[[Path], Result]
LONGEST_LINE_BYTES = 16 << 20
FIRST_LIMIT_S = 60.0
"""For the first word of a run; it may be far away."""
AGAIN_S = (0.5, 1.0, 2.0, 5.0, 10.0)
"""After a cut the connection is tried again so much later, the last one for as long as anybody waits."""


class FollowedRun:
    """A run in another process. Ending `events()` leaves it alone; `stop()` ends it."""

    outlives = True

    def __init__(
        self, path: Path, started: RunStarted, line: Line, connect: Connect, load: Load, *, paused: bool
    ) -> None:
        self.plan: Plan = started.plan
        self.path = path
        self.error: FswizardError | None = None
        self.result = Result(started.environment, started.plan)
        self.paused = paused
        self.trouble = ""
        self._started = started
        self._connect = connect
        self._load = load
        self._at_s = started.at_s
        self._reader, self._writer = line
        self._known = 1

    @classmethod
    async def open(cls, path: Path, connect: Connect, load: Load = load) -> FollowedRun:
        """Begin to follow; FswizardError where it cannot be reached, or is over.

        `connect` raises RunFailed where it is worth another try, and UsageError where the run is over.
        """
        line = await connect()
        try:
            _write(line[1], {"after": 0})
            paused = _message(await timeouts.within(FIRST_LIMIT_S, line[0].readline())).get("paused")
            first = event_of(_message(await timeouts.within(FIRST_LIMIT_S, line[0].readline())).get("event"))
            if not isinstance(first, RunStarted):
                raise ValueError("a run begins with its plan")
        except (ValueError, OSError, asyncio.TimeoutError) as error:
            line[1].close()
            raise RunFailed(
                "That run doesn't answer.", "It may have just ended: look at `fswizard history`."
            ) from error
        return cls(path, first, line, connect, load, paused=bool(paused))

    @classmethod
    async def here(cls, run: OngoingRun) -> FollowedRun:
        """Follow a run of this machine."""

        async def to_it() -> Line:
            return await asyncio.open_unix_connection(sock=connect(run), limit=LONGEST_LINE_BYTES)

        return await cls.open(Path(run.result), to_it)

    def pause(self) -> None:
        self._order("pause")

    def resume(self) -> None:
        self._order("resume")

    def skip(self) -> None:
        self._order("skip")

    def stop(self) -> None:
        self._order("stop")

    async def events(self) -> AsyncGenerator[Event, None]:
        """From its beginning on, and over cuts of the connection. The last one is RunEnded."""
        try:
            yield self._take(self._started)
            while True:
                try:
                    while line := await self._reader.readline():
                        message = _message(line)
                        self.paused = bool(message.get("paused", self.paused))
                        if "event" in message:
                            self._known = from_json(int, message["number"])
                            event = self._take(event_of(message["event"]))
                            yield event
                            if isinstance(event, RunEnded):
                                return
                except (OSError, ValueError):
                    pass
                if not await self._connected_again():
                    yield self._take(await self._end())
                    return
        finally:
            self._writer.close()

    async def _end(self) -> RunEnded:
        """Of a run that ended during a cut, from its result."""
        words = "The run ended while it could not be followed"
        try:
            result = await asyncio.to_thread(self._load, self.path)
        except FswizardError as error:
            self.error = error
            return RunEnded(self._at_s, "failed", f"{words}.")
        if result.outcome == "killed":
            self.error = RunFailed(f"{words}: it was killed.", "`fswizard clean` removes what it left.")
        return RunEnded(max(self._at_s, result.elapsed_s), result.outcome, f"{words}.")

    def _take(self, event: Event) -> Event:
        self._at_s = event.at_s
        self.result = fold(self.result, (event,))
        return event

    async def _connected_again(self) -> bool:
        """After a cut; False where the run is over."""
        self._writer.close()
        tries = 0
        while True:
            await clock.pause(AGAIN_S[min(tries, len(AGAIN_S) - 1)])
            tries += 1
            try:
                self._reader, self._writer = await self._connect()
                _write(self._writer, {"after": self._known})
                self.trouble = ""
                return True
            except RunFailed as error:  # for now
                self.trouble = error.message
            except FswizardError as error:
                self.trouble = error.message
                return False

    def _order(self, order: str) -> None:
        with contextlib.suppress(OSError, RuntimeError):
            _write(self._writer, {"order": order})


def _write(writer: asyncio.StreamWriter, message: dict[str, object]) -> None:
    writer.write(json.dumps(message).encode() + b"\n")


def _message(line: bytes) -> dict[str, object]:
    message = harmless_lines(json.loads(line))
    if not isinstance(message, dict):
        raise ValueError("an object was expected")
    return message
