"""A run tells others, too: who follows it gets all that was told so far, then the rest, and may give orders."""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager

from fswizard.model.codec import tagged
from fswizard.model.events import Event, StepProgressed
from fswizard.system import timeouts

LONGEST_BACKLOG_BYTES = 8 << 20
"""Who has not read so much yet is let go, and may come again: a laptop that sleeps."""
GOODBYE_S = 5.0
"""For so long the end of a run is told to those who are slow to listen."""


class Broadcast:
    """What a run has told, for everybody who asks."""

    def __init__(self, orders: Mapping[str, Callable[[], object]], paused: Callable[[], bool]) -> None:
        """`orders` are those that may be given."""
        self._orders = orders
        self._paused = paused
        self._told: dict[int, Event] = {}
        """By number. Of progress only the newest is kept, as each one replaces the one before."""
        self._number = 0
        self._followers: set[asyncio.StreamWriter] = set()
        self._talks: set[asyncio.Task[None]] = set()

    def tell(self, event: Event) -> None:
        if isinstance(event, StepProgressed) and isinstance(self._told.get(self._number), StepProgressed):
            del self._told[self._number]
        self._number += 1
        self._told[self._number] = event
        for follower in tuple(self._followers):
            self._send(follower, {"number": self._number, "event": tagged(event)})
            if follower.transport.get_write_buffer_size() > LONGEST_BACKLOG_BYTES:
                follower.transport.abort()

    @asynccontextmanager
    async def on(self, listening: socket.socket) -> AsyncIterator[None]:
        """Let others follow through a socket; at the end they are told what they have not read yet."""
        server = await asyncio.start_unix_server(self._talk, sock=listening)
        try:
            yield
        finally:
            server.close()
            for follower in self._followers:
                follower.close()
            with contextlib.suppress(asyncio.TimeoutError):
                await timeouts.within(GOODBYE_S, self._all_gone())
            for talk in tuple(self._talks):
                talk.cancel()

    async def _all_gone(self) -> None:
        for follower in tuple(self._followers):
            with contextlib.suppress(OSError):
                await follower.wait_closed()

    async def _talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """With one follower: first the number of the last event that it knows, then orders. Nonsense ends it."""
        talk = asyncio.current_task()
        assert talk is not None
        self._talks.add(talk)
        try:
            known = int(json.loads(await reader.readline())["after"])
            self._send(writer, {"paused": self._paused()})
            for number, event in self._told.items():
                if number > known:
                    self._send(writer, {"number": number, "event": tagged(event)})
            self._followers.add(writer)
            while line := await reader.readline():
                self._orders[json.loads(line)["order"]]()
                for follower in self._followers:
                    self._send(follower, {"paused": self._paused()})
        except (ValueError, LookupError, TypeError, OSError):
            pass
        finally:
            self._talks.discard(talk)
            self._followers.discard(writer)
            writer.close()

    @staticmethod
    def _send(writer: asyncio.StreamWriter, message: Mapping[str, object]) -> None:
        writer.write(json.dumps(message).encode() + b"\n")  # names of files may be no Unicode
