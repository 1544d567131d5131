"""A run is followed from elsewhere: all that it tells, orders, cuts of the connection, one run for each disk."""

from __future__ import annotations

import asyncio
import json
import os
import socket
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path
from unittest.mock import Mock

import pytest

from fswizard.errors import FswizardError, Refused, RunFailed, UsageError
from fswizard.model.codec import tagged, to_json
from fswizard.model.drive import Drive
from fswizard.model.events import Event, RoundFinished, RunEnded, RunStarted, StepProgressed, StepStarted
from fswizard.session.broadcast import Broadcast
from fswizard.session.following import FollowedRun, Line
from fswizard.session.ongoing_runs import connect, find_ongoing, ongoing
from fswizard.system.files import state_directory
from fswizard.system.host import environment
from tests.loop.runs import COPIES, Session, short_session, watch

pytestmark = [pytest.mark.root, pytest.mark.loop]

DISK = Drive("sdz", 1 << 40, model="A Disk")


def run_in(directory: Path, rounds: int = 2) -> Session:
    return short_session(directory, "ext4; ext2", COPIES, rounds, drive=DISK)


async def followed(run: FollowedRun) -> list[Event]:
    async with aclosing(run.events()) as events:
        return [event async for event in events]


def without_progress(events: list[Event]) -> list[object]:
    return [to_json(event) for event in events if not isinstance(event, StepProgressed)]


async def begun(session: Session) -> asyncio.Task[list[Event]]:
    """The run, paused as soon as its first round is over."""
    round_over = asyncio.Event()

    def at(event: Event) -> None:
        if isinstance(event, RoundFinished) and event.round == 1:
            session.pause()
            round_over.set()

    run = asyncio.create_task(watch(session, at))
    over = asyncio.create_task(round_over.wait())
    await asyncio.wait((run, over), return_when=asyncio.FIRST_COMPLETED)
    assert over.done(), run.exception()
    return run


async def test_who_comes_late_is_told_everything(tmp_path: Path) -> None:
    run = await begun(run_in(tmp_path))
    (entry,) = ongoing()
    assert (entry.recipe, entry.disk, entry.pid) == ("short", "sdz", os.getpid())
    late = await FollowedRun.here(entry)
    assert late.paused
    follows = asyncio.create_task(followed(late))
    late.resume()
    told, heard = await run, await follows
    assert without_progress(heard) == without_progress(told)
    assert late.result.samples and late.error is None
    assert not ongoing() and not list((state_directory() / "running").glob("run-*"))


async def test_who_follows_can_stop_the_run_and_may_leave_it(tmp_path: Path) -> None:
    session = run_in(tmp_path, 3)
    run = await begun(session)
    leaves = await FollowedRun.here(find_ongoing())
    async with aclosing(leaves.events()) as events:
        assert isinstance(await anext(events), RunStarted)
    stops = await FollowedRun.here(find_ongoing("result"))
    follows = asyncio.create_task(followed(stops))
    assert not run.done()
    stops.stop()
    assert (await follows)[-1] == (await run)[-1]
    assert session.result.outcome == "stopped"


async def test_a_cut_loses_nothing(tmp_path: Path) -> None:
    run = await begun(run_in(tmp_path))
    lines: list[Line] = []

    async def again() -> Line:
        if len(lines) == 1:
            lines.append(lines[0])
            raise RunFailed("The network is away.")
        lines.append(await asyncio.open_unix_connection(sock=connect(ongoing()[0])))
        return lines[-1]

    follower = await FollowedRun.open(tmp_path / "result.jsonl", again)
    heard: list[Event] = []
    async with aclosing(follower.events()) as events:
        async for event in events:
            heard.append(event)
            if isinstance(event, StepStarted) and len(lines) == 1:
                lines[0][1].transport.abort()
            if len(lines) == 3:
                follower.resume()
    told = await run
    assert len(lines) == 3 and not follower.trouble
    numbers = [event.at_s for event in heard]
    assert numbers == sorted(numbers)
    assert without_progress(heard) == without_progress(told)


async def test_how_a_run_ended_during_a_cut_is_told_from_its_result(tmp_path: Path) -> None:
    session = run_in(tmp_path)
    run = await begun(session)
    first = [await asyncio.open_unix_connection(sock=connect(ongoing()[0]))]
    cut = first[0][1]

    async def once() -> Line:
        if not first:
            raise UsageError("That run has ended.")
        return first.pop()

    follower = await FollowedRun.open(tmp_path / "result.jsonl", once)
    cut.transport.abort()
    session.stop()
    await run
    *_, last = await followed(follower)
    assert isinstance(last, RunEnded) and last.outcome == "stopped" and follower.error is None


async def test_the_second_run_on_a_disk_is_told_who_is_first(tmp_path: Path) -> None:
    run = await begun(run_in(tmp_path))
    (tmp_path / "second").mkdir()
    second = short_session(tmp_path / "second", "ext4", COPIES, 1, drive=DISK)
    with pytest.raises(Refused, match="sdz is being measured already: short on A Disk, since"):
        await watch(second)
    assert not (tmp_path / "second" / "result.jsonl").exists()
    other = short_session(tmp_path / "second", "ext4", COPIES, 1, drive=replace(DISK, name="sdy"))
    other.stop()
    await watch(other)
    run.cancel()
    await asyncio.wait([run])


@pytest.mark.parametrize(
    "line",
    [b"\n", b"[]\n", b'{"after": "x"}\n', b'{"after": 0}\n{"order": "erase"}\n', b"x" * 200_000],
    ids=["empty", "list", "no number", "no order", "endless"],
)
async def test_nonsense_ends_the_talk_alone(tmp_path: Path, line: bytes) -> None:
    run = await begun(run_in(tmp_path))
    reader, writer = await asyncio.open_unix_connection(sock=connect(ongoing()[0]), limit=1 << 24)
    writer.write(line)
    while await reader.readline():  # until the other end closes
        pass
    writer.close()
    last = await FollowedRun.here(ongoing()[0])
    last.stop()
    assert isinstance((await run)[-1], RunEnded)


def test_a_name_that_is_no_unicode_is_told() -> None:
    writer = Mock(asyncio.StreamWriter)
    Broadcast._send(writer, {"event": "\udcff"})
    assert json.loads(writer.write.call_args.args[0]) == {"event": "\udcff"}


async def test_what_another_process_tells_is_made_harmless(tmp_path: Path) -> None:
    """It may be on a machine that is not trusted."""
    started = tagged(RunStarted(0.0, run_in(tmp_path).plan, environment(run_in(tmp_path).plan)))
    ended = tagged(RunEnded(1.0, "stopped", "\x1b]0;owned\x07 line\nline \u202e"))

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for message in ({"paused": False}, {"number": 1, "event": started}, {"number": 2, "event": ended}):
            writer.write(json.dumps(message).encode() + b"\n")
        await writer.drain()

    async with await asyncio.start_unix_server(talk, tmp_path / "socket"):

        async def there() -> Line:
            return await asyncio.open_unix_connection(tmp_path / "socket")

        *_, last = await followed(await FollowedRun.open(tmp_path / "result.jsonl", there))
    assert isinstance(last, RunEnded) and last.text == "\\x1b]0;owned\\x07 line\nline \\u202e"


def test_what_a_killed_run_left_is_passed_over_and_removed() -> None:
    folder = state_directory() / "running"
    folder.mkdir(parents=True)
    entry, listens = folder / "run-dead.json", folder / "run-dead.socket"
    entry.write_text(json.dumps({"result": "/r.jsonl", "recipe": "quick", "disk": "sda", "title": "", "started": "",
                                 "pid": 1}))  # fmt: skip
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(listens))
    with pytest.raises(FswizardError, match="No run is in progress"):
        find_ongoing()
    assert not entry.exists() and not listens.exists()
