"""A run in a process of its own: followed by its log and stopped from elsewhere."""

from __future__ import annotations

import asyncio
import os
from contextlib import aclosing
from pathlib import Path

import pytest

from fswizard import results
from fswizard.errors import FswizardError, Refused, UsageError
from fswizard.model.codec import to_json
from fswizard.model.drive import Drive
from fswizard.model.events import Event, RunEnded, RunStarted, StepProgressed, StepStarted
from fswizard.model.plan import Plan
from fswizard.model.run_state import RunState
from fswizard.session import FollowedRun, Session, find_ongoing, ongoing, start
from fswizard.session.ongoing_runs import entered, give_order
from fswizard.system.files import state_directory
from fswizard.system.host import Host
from tests.builders import make_result, write_result
from tests.fakes.host import ModelHost
from tests.loop.machine_state import names_in
from tests.loop.runs import COPIES, short_plan, watch

pytestmark = [pytest.mark.root, pytest.mark.loop]

DISK = Drive("sdz", 1 << 40, model="A Disk")


@pytest.fixture(autouse=True)
def this_processor(monkeypatch: pytest.MonkeyPatch) -> None:
    """The process of a run is on this machine."""
    monkeypatch.setattr(ModelHost, "processor", Host.processor)


def plan_in(directory: Path, rounds: int = 2) -> Plan:
    return short_plan(directory, "ext4; ext2", COPIES, rounds, drive=DISK)


def begun(plan: Plan) -> FollowedRun:
    """A run in a process of its own, with its file next to the image."""
    path = Path(plan.target.path) / "result.jsonl"
    start(plan, path)
    return FollowedRun(path)


def without_progress(events: list[Event]) -> list[object]:
    return [to_json(event) for event in events if not isinstance(event, StepProgressed)]


def round_begins(event: Event, number: int = 1) -> bool:
    return isinstance(event, StepStarted) and event.step.round == number


async def test_who_comes_late_sees_everything(tmp_path: Path) -> None:
    run = begun(plan_in(tmp_path))
    (entry,) = ongoing()
    assert (entry.plan.recipe.name, entry.plan.drive and entry.plan.drive.name) == ("short", "sdz")
    heard = await watch(run)
    late = await watch(FollowedRun(run.path))
    assert without_progress(late) == without_progress(heard)
    state = RunState.of(run.plan)
    for event in late:
        state = state.after(event)
    assert state.result == results.load(run.path)
    assert state.outcome == "finished" and state.problem is None
    assert not ongoing() and not list((state_directory() / "running").glob("*.*"))
    assert names_in(tmp_path) == ["result.jsonl"]


async def test_a_run_is_stopped_by_anybody_and_goes_on_where_nobody_follows(tmp_path: Path) -> None:
    run = begun(plan_in(tmp_path, 9))
    async with aclosing(run.events()) as events:
        assert isinstance(await anext(events), RunStarted)
    stops = FollowedRun(find_ongoing("result").path)
    *_, last = await watch(stops, lambda event: round_begins(event, 2) and stops.order("stop"))
    assert isinstance(last, RunEnded) and last.outcome == "stopped"
    assert names_in(tmp_path) == ["result.jsonl"]


async def test_nonsense_is_no_order(tmp_path: Path) -> None:
    session = Session(plan_in(tmp_path, 1), tmp_path / "result.jsonl")

    def at(event: Event) -> None:
        if isinstance(event, RunStarted):
            (listens,) = (state_directory() / "running").glob("*.orders")
            listens.write_bytes(b"\n".join((b"", b"erase", b"x" * 9000, b"\xff")))

    assert isinstance((await watch(session, at))[-1], RunEnded)
    assert session.result.outcome == "finished"


def test_who_is_over_takes_no_orders_and_cannot_be_followed(tmp_path: Path) -> None:
    give_order(tmp_path / "result.jsonl", "stop")
    with pytest.raises(UsageError, match="cannot be followed"):
        FollowedRun(tmp_path / "result.jsonl")


async def test_half_a_line_is_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "result.jsonl"
    write_result(path, make_result(outcome="finished"))
    whole = path.read_bytes()
    path.write_bytes(whole[:-40])
    follows = asyncio.create_task(watch(FollowedRun(path)))
    await asyncio.sleep(0.3)
    path.write_bytes(whole)
    (*_, last) = await follows
    assert isinstance(last, RunEnded) and last.outcome == "finished"


def test_what_a_killed_run_left_is_passed_over_and_removed_by_the_next(tmp_path: Path) -> None:
    pipe = pipe_of(tmp_path / "other.jsonl")
    os.mkfifo(pipe)
    write_result(tmp_path / "other.jsonl", make_result())
    pipe.with_suffix(".jsonl").symlink_to(tmp_path / "other.jsonl")
    with pytest.raises(FswizardError, match="No such run is in progress"):
        find_ongoing()
    with entered(plan_in(tmp_path), tmp_path / "next.jsonl", lambda: None):
        assert not pipe.with_suffix(".jsonl").is_symlink() and not pipe.exists()


def test_a_run_keeps_its_disk_and_takes_orders_although_its_result_file_was_deleted(tmp_path: Path) -> None:
    """Nobody writes that file here, so it is as if it were deleted; a killed run has left its pipe."""
    os.mkfifo(pipe_of(tmp_path / "r.jsonl"))
    with entered(plan_in(tmp_path), tmp_path / "r.jsonl", lambda: None) as orders:
        with pytest.raises(Refused), entered(plan_in(tmp_path), tmp_path / "next.jsonl", lambda: None):
            pass
        give_order(tmp_path / "r.jsonl", "stop")
        assert os.read(orders, 99) == b"stop\n"


def pipe_of(result: Path) -> Path:
    """Where a run that writes to that file would take its orders."""
    with entered(plan_in(result.parent), result, lambda: None):
        (pipe,) = (state_directory() / "running").glob("*.orders")
    return pipe


@pytest.mark.parametrize("link", [True, False])
def test_an_order_is_written_into_a_pipe_alone(link: bool, tmp_path: Path) -> None:
    pipe, precious = pipe_of(tmp_path / "r.jsonl"), tmp_path / "precious"
    precious.write_text("mine")
    if link:
        pipe.symlink_to(precious)
    else:
        os.link(precious, pipe)
    give_order(tmp_path / "r.jsonl", "stop")
    assert precious.read_text() == "mine"


def test_orders_that_nobody_reads_hold_nobody_up(tmp_path: Path) -> None:
    pipe = pipe_of(tmp_path / "r.jsonl")
    os.mkfifo(pipe)
    give_order(tmp_path / "r.jsonl", "cancel")
    with open(os.open(pipe, os.O_RDWR | os.O_NONBLOCK), "rb+", buffering=0) as orders:
        assert orders.read(1) is None
        while orders.write(bytes(4096)):
            pass
        give_order(tmp_path / "r.jsonl", "stop")
        assert b"stop" not in (orders.read(1 << 20) or b"")
