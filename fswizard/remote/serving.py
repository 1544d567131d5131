"""The far end: answers the wizard of another machine on standard input and output, one JSON object a line."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import sys
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from fswizard.errors import FswizardError, RunFailed, UsageError
from fswizard.model.codec import from_json, to_json
from fswizard.model.events import RunStarted
from fswizard.model.forecast import Forecast
from fswizard.model.plan import Plan
from fswizard.remote import calls
from fswizard.session import OngoingRun, connect, ongoing
from fswizard.system import commands
from fswizard.tui.backend import Backend, RunHandle

CHUNK_BYTES = 65536


def serve() -> None:
    """Answer until standard input ends. A run that was begun goes on to its end all the same."""
    asyncio.run(_Serving().serve())


def relay(run: OngoingRun) -> None:
    """Connect standard input and output to a run, until either ends."""
    with connect(run) as line:

        def inward() -> None:
            while data := os.read(0, CHUNK_BYTES):
                line.sendall(data)
            os._exit(0)

        threading.Thread(target=inward, daemon=True).start()
        with contextlib.suppress(OSError):
            while data := line.recv(CHUNK_BYTES):
                while data:
                    data = data[os.write(1, data) :]


class _Serving:
    def __init__(self) -> None:
        self._backend = Backend()
        self._said: SimpleQueue[str | None] = SimpleQueue()
        self._runs: set[asyncio.Task[None]] = set()
        self._asked: dict[int, threading.Event] = {}
        """What is being answered, and how it is told to stop."""
        self._special: dict[str, Callable[..., Any]] = {
            "begin": self._begin, "go_on": self._go_on, "plan_of": self._plan_of, "clean": self._clean,
            "password": self._password,
        }  # fmt: skip

    async def serve(self) -> None:
        self._loop = asyncio.get_running_loop()
        threading.Thread(target=self._write, daemon=True).start()
        answering: set[asyncio.Task[None]] = set()
        async for line in _lines():
            try:
                message = json.loads(line)
                if "stop" in message:
                    self._asked[message["stop"]].set()
                    continue
                task = asyncio.create_task(self._answer(message))
            except (ValueError, LookupError, TypeError):
                continue
            answering.add(task)
            task.add_done_callback(answering.discard)
        for stopped in self._asked.values():
            stopped.set()
        if self._runs:
            await asyncio.wait(self._runs)
        self._said.put(None)

    async def _answer(self, message: dict[str, Any]) -> None:
        number, name = message["id"], str(message["call"])
        stopped = self._asked[number] = threading.Event()
        try:
            if name in self._special:
                result = await self._special[name](**message["arguments"])
            elif name in calls.CALLS:
                result = await asyncio.to_thread(self._call, number, name, message["arguments"], stopped)
            else:
                raise UsageError(f"There is no call {name!r}.", "Both machines need the same version of fswizard.")
            self._say({"id": number, "answer": to_json(result)})
        except FswizardError as error:
            self._say({"id": number, "error": calls.told(error)})
        except Exception as error:  # the other end waits for an answer, whatever it is
            self._say({"id": number, "error": calls.told(RunFailed(f"{type(error).__name__}: {error}"))})
        finally:
            del self._asked[number]

    def _call(self, number: int, name: str, data: dict[str, Any], stopped: threading.Event) -> Any:
        arguments = calls.read(name, data)

        def news(item: Any) -> None:
            self._loop.call_soon_threadsafe(self._say, {"id": number, "news": to_json(item)})

        if name == "watch":
            for drives in self._backend.watch(stopped.is_set):
                news(drives)
            return ()
        if name == "probe":
            return self._backend.probe(**arguments, stopped=stopped.is_set, progress=news)
        return getattr(self._backend, name)(**arguments)

    # What is no call of the wizard's facade as it is

    async def _begin(self, plan: Any) -> OngoingRun:
        return await self._carry_out(self._backend.open_session(from_json(Plan, plan)))

    async def _go_on(self, path: str, forecast: Any) -> OngoingRun:
        return await self._carry_out(self._taken_up(path, forecast))

    async def _plan_of(self, path: str, forecast: Any) -> Plan:
        """Of a run as it would go on."""
        return self._taken_up(path, forecast).plan

    def _taken_up(self, path: str, forecast: Any) -> RunHandle:
        return self._backend.take_up(Path(path), from_json(Forecast, forecast) if forecast else None)

    async def _carry_out(self, run: RunHandle) -> OngoingRun:
        """Start a run that does not need the other machine any more; what it is found by."""
        started = self._loop.create_future()
        task = asyncio.create_task(_to_its_end(run, started))
        self._runs.add(task)
        task.add_done_callback(self._runs.discard)
        await asyncio.wait((started, task), return_when=asyncio.FIRST_COMPLETED)
        if not started.done():
            task.result()
            raise run.error or RunFailed("The run ended before it began.")
        return next(each for each in ongoing() if each.result == str(run.path.absolute()))

    async def _clean(self, entry: str) -> tuple[str, ...]:
        for leftover in self._backend.leftovers():
            if str(leftover.entry) == entry:
                return await asyncio.to_thread(self._backend.clean, leftover)
        return ()

    async def _password(self, password: str) -> bool:
        """Whether sudo takes it; it then asks this process for none for some minutes."""
        given = password.encode() + b"\n"
        done = await asyncio.to_thread(commands.query, ("sudo", "-S", "-p", "", "-v"), given=given)
        return done.exit_code == 0

    def _say(self, message: dict[str, Any]) -> None:
        self._said.put(json.dumps(message))

    def _write(self) -> None:
        """In a thread: a connection that takes nothing more must not hold up a run."""
        while (line := self._said.get()) is not None:
            with contextlib.suppress(OSError, ValueError):
                print(line, flush=True)


async def _to_its_end(run: RunHandle, started: asyncio.Future[None]) -> None:
    async with aclosing(run.events()) as events:
        async for event in events:
            if isinstance(event, RunStarted) and not started.done():
                started.set_result(None)


async def _lines() -> AsyncIterator[bytes]:
    reader = asyncio.StreamReader(limit=1 << 24)
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    while line := await reader.readline():
        yield line
