"""Another machine as the wizard sees one: its disks are asked about, its runs followed; what is drawn is drawn here."""

from __future__ import annotations

import asyncio
import contextlib
import json
import threading
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping
from contextlib import aclosing
from getpass import getpass
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, cast

from fswizard.errors import FswizardError, RunFailed, UsageError
from fswizard.model.codec import from_json, to_json
from fswizard.model.drive import Drive
from fswizard.model.events import Event
from fswizard.model.filesystem import Filesystem
from fswizard.model.forecast import Forecast
from fswizard.model.layout import Layout
from fswizard.model.plan import Plan
from fswizard.model.recipe import Recipe
from fswizard.model.result import Result
from fswizard.model.text import harmless_lines
from fswizard.remote import calls
from fswizard.remote.host import Host
from fswizard.session import FollowedRun, OngoingRun
from fswizard.system import clock
from fswizard.tui.backend import Backend, Place, RunHandle
from fswizard.tui.choices import WizardChoices

if TYPE_CHECKING:
    from fswizard.tui.backend import (
        Availability,
        Entry,
        Leftover,
        Offer,
        ProbeProgress,
        ProbeResult,
        ProbeTarget,
        Purpose,
        Question,
        State,
    )

LOOK_S = 0.2
"""So often it is looked whether what is told is still wanted."""
AGAIN_S = 2.0
"""After a cut, the disks are looked for again so much later."""
TRIES = 3
"""For a password."""


class RemoteMachine(Backend):
    """Asks the program that runs on `host`. FswizardError, in each call, where the connection has ended."""

    def __init__(self, host: Host) -> None:
        self.host = host
        self.banner = f"The disks of {host.name}, by ssh"
        self._line = _Line(host)

    def _ask(self, name: str, *arguments: Any, **named: Any) -> Any:
        data = {key: to_json(value) for key, value in calls.bound(name, *arguments, **named).items()}
        return calls.answer(name, self._line.ask(name, data))

    # Disks and places

    def watch(self, stopped: Callable[[], bool]) -> Iterator[tuple[Drive, ...]]:
        while not stopped():
            with contextlib.suppress(RunFailed):  # for now: the next look may reach it again
                for item in self._line.news("watch", {}, stopped, []):
                    if item is not None:
                        yield from_json(tuple[Drive, ...], item)
                return
            clock.sleep(AGAIN_S)

    def details(self, drive: Drive) -> Drive:
        return cast(Drive, self._ask("details", drive))

    def place(self, drive: Drive | None) -> Place:
        return cast(Place, self._ask("place", drive))

    def named_place(self, directory: str) -> Place:
        return cast(Place, self._ask("named_place", directory))

    def mounted(self) -> tuple[Place, ...]:
        return cast("tuple[Place, ...]", self._ask("mounted"))

    def offers(self, drive: Drive, recipe: Recipe | None) -> tuple[Offer, ...]:
        return cast("tuple[Offer, ...]", self._ask("offers", drive, recipe))

    def probe_target(self, path: str, serial: str) -> ProbeTarget:
        return cast("ProbeTarget", self._ask("probe_target", path, serial))

    def probe(
        self, target: ProbeTarget, stopped: Callable[[], bool], progress: Callable[[ProbeProgress], object]
    ) -> ProbeResult:
        from fswizard.drives.probe import ProbeProgress

        answer: list[Any] = []
        for item in self._line.news("probe", {"target": to_json(target)}, stopped, answer):
            if item is not None:
                progress(from_json(ProbeProgress, item))
        return cast("ProbeResult", calls.answer("probe", answer[0]))

    # What can be measured

    def availability(self, filesystem: Filesystem) -> Availability:
        return cast("Availability", self._ask("availability", filesystem))

    def layout_availability(self, layout: Layout) -> Availability:
        return cast("Availability", self._ask("layout_availability", layout))

    # The run

    def draft(self, choices: WizardChoices) -> Plan:
        return cast(Plan, self._ask("draft", choices))

    def make_plan(self, choices: WizardChoices) -> Plan:
        return cast(Plan, self._ask("make_plan", choices))

    def settles(self, plan: Plan) -> str:
        return cast(str, self._ask("settles", plan))

    def questions(self, plan: Plan) -> tuple[Question, ...]:
        return cast("tuple[Question, ...]", self._ask("questions", plan))

    def confirmed(self, plan: Plan, typed: str) -> Plan:
        return cast(Plan, self._ask("confirmed", plan, typed))

    def purpose(self, plan: Plan | None = None) -> Purpose:
        return cast("Purpose", self._ask("purpose", plan))

    def privilege(self, needed: Purpose) -> State:
        return cast("State", self._ask("privilege", needed))

    def rights_warning(self, rights: State) -> str:
        return cast(str, self._ask("rights_warning", rights))

    def authorise(self, needed: Purpose) -> None:
        """The password of the other machine is asked for here, and given to its sudo."""
        for _ in range(TRIES):
            if self.privilege(needed) != "sudo-asks":
                break
            self._line.ask("password", {"password": getpass(f"Your password on {self.host.name}, for sudo there: ")})
        self._ask("authorise", needed)  # says what is missing

    def open_session(self, plan: Plan) -> RunHandle:
        return _BegunThere(self, plan, "begin", {"plan": to_json(plan)})

    def take_up(self, path: Path, forecast: Forecast | None = None) -> RunHandle:
        data = {"path": str(path), "forecast": to_json(forecast) if forecast else None}
        return _BegunThere(self, from_json(Plan, self._line.ask("plan_of", data)), "go_on", data, path)

    def ongoing(self) -> tuple[OngoingRun, ...]:
        return cast("tuple[OngoingRun, ...]", self._ask("ongoing"))

    async def follow(self, run: OngoingRun) -> FollowedRun:
        async def connect() -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
            if run.name not in [each.name for each in await asyncio.to_thread(self.ongoing)]:
                raise UsageError("That run has ended.", "The history there has its result.")
            return await self.host.talk("serve", run.name)

        return await FollowedRun.open(Path(run.result), connect, self.load)

    # What is kept there

    def resumable(self) -> tuple[Entry, ...]:
        return cast("tuple[Entry, ...]", self._ask("resumable"))

    def why_not_resumed(self, path: Path) -> str:
        return cast(str, self._ask("why_not_resumed", path))

    def history(self) -> tuple[Entry, ...]:
        return cast("tuple[Entry, ...]", self._ask("history"))

    def load(self, path: Path) -> Result:
        return cast(Result, self._ask("load", path))

    def write_note(self, path: Path, note: str) -> None:
        self._ask("write_note", path, note)

    def remove(self, path: Path) -> None:
        self._ask("remove", path)

    def leftovers(self) -> tuple[Leftover, ...]:
        return cast("tuple[Leftover, ...]", self._ask("leftovers"))

    def clean(self, leftover: Leftover) -> tuple[str, ...]:
        return from_json(tuple[str, ...], self._line.ask("clean", {"entry": str(leftover.entry)}))


class _BegunThere:
    """A run that begins on the other machine as soon as it is followed."""

    outlives = True

    def __init__(
        self, machine: RemoteMachine, plan: Plan, call: str, data: Mapping[str, Any], path: Path | None = None
    ) -> None:
        self.plan = plan
        self.path = path or Path()
        self.error: FswizardError | None = None
        self._machine = machine
        self._call = call
        self._data = data
        self._followed: FollowedRun | None = None
        self._before: Result | None = machine.load(path) if path else None

    @property
    def trouble(self) -> str:
        return self._followed.trouble if self._followed else ""

    @property
    def paused(self) -> bool:
        return self._followed is not None and self._followed.paused

    @property
    def result(self) -> Result:
        if self._followed:
            return self._followed.result
        from fswizard.system.host import environment

        return self._before or Result(environment(self.plan), self.plan)

    async def events(self) -> AsyncGenerator[Event, None]:
        data = await asyncio.to_thread(self._machine._line.ask, self._call, self._data)
        run = from_json(OngoingRun, data)
        self.path = Path(run.result)
        self._followed = await self._machine.follow(run)
        async with aclosing(self._followed.events()) as events:
            async for event in events:
                yield event
        self.error = self._followed.error

    def pause(self) -> None:
        if self._followed:
            self._followed.pause()

    def resume(self) -> None:
        if self._followed:
            self._followed.resume()

    def skip(self) -> None:
        if self._followed:
            self._followed.skip()

    def stop(self) -> None:
        if self._followed:
            self._followed.stop()


class _Line:
    """Questions and answers over one connection, from any thread; it is made anew where it was cut."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._lock = threading.Lock()
        self._last_id = 0
        self._waiting: dict[int, SimpleQueue[dict[str, Any]]] = {}
        self._process: Any = None

    def ask(self, name: str, arguments: Mapping[str, Any]) -> Any:
        """The plain values of an answer."""
        answer: list[Any] = []
        for _ in self.news(name, arguments, lambda: False, answer):
            pass
        return answer[0]

    def news(
        self, name: str, arguments: Mapping[str, Any], stopped: Callable[[], bool], answer: list[Any]
    ) -> Iterator[Any]:
        """What is told before the answer, and None now and then while nothing is; the answer goes into `answer`."""
        with self._lock:
            self._last_id += 1
            number = self._last_id
            said = self._waiting[number] = SimpleQueue()
            self._send({"id": number, "call": name, "arguments": arguments})
        told_to_stop = False
        try:
            while True:
                message = _next(said, LOOK_S if name in calls.STREAMS else None)
                if stopped() and not told_to_stop:
                    told_to_stop = True
                    self._stop(number)
                if message is None:
                    yield None
                elif "error" in message:
                    raise calls.raised(message["error"])
                elif "answer" in message:
                    answer.append(message["answer"])
                    return
                else:
                    yield message.get("news")
        finally:
            if self._waiting.pop(number, None) and name in calls.STREAMS and not told_to_stop:
                self._stop(number)

    def _stop(self, number: int) -> None:
        with self._lock:
            self._send({"stop": number})

    def _send(self, message: Mapping[str, Any]) -> None:
        if self._process is None or self._process.poll() is not None:
            self._process = self._host.open_line()
            threading.Thread(target=self._listen, args=(self._process,), daemon=True).start()
        with contextlib.suppress(OSError):  # its end is told by who listens
            self._process.stdin.write(json.dumps(message).encode() + b"\n")
            self._process.stdin.flush()

    def _listen(self, process: Any) -> None:
        for line in process.stdout:
            with contextlib.suppress(ValueError, AttributeError):
                message = harmless_lines(json.loads(line))
                if said := self._waiting.get(message.get("id", 0)):
                    said.put(message)
        words = f"The connection to {self._host.name} was lost."
        ended = calls.told(RunFailed(words, "A run in progress there keeps going; try again."))
        for said in tuple(self._waiting.values()):
            said.put({"error": ended})


def _next(said: SimpleQueue[dict[str, Any]], limit_s: float | None) -> dict[str, Any] | None:
    try:
        return said.get(timeout=limit_s)
    except Empty:
        return None
