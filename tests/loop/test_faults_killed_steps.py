"""SIGKILL of the helper at its orders, and of the programs that a run starts, as soon as they are started."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import pytest

from fswizard.errors import ExitCode
from fswizard.model.result import Result
from tests.loop.machine_state import assert_nothing_lives, names_in
from tests.loop.tiny_run import started

pytestmark = [pytest.mark.root, pytest.mark.loop, pytest.mark.fio]

HOOKS = """
import asyncio, contextlib, json, os, time
import psutil
from pathlib import Path
from fswizard.targets.channel import HelperProcess
from fswizard.targets.helper import Helper
from fswizard.system import commands
from tests.loop.machine_state import descendants, processes_named

told = []

def tell(*what):
    told.append(what)
    Path({report!r}).write_text(json.dumps(told))

def helper():
    return [below[0] for each in processes_named("fswizard-helper", os.getpid()) if (below := descendants(each.pid))]

def kill_helper():
    while not (found := helper()):
        time.sleep(0.01)
    for process in found:
        with contextlib.suppress(psutil.NoSuchProcess):
            process.kill()

real_ask, real_start = Helper.ask, commands.start

def watched(process, argv):
    tell("program", argv[0])
    if (argv[0], told.count(("program", argv[0]))) in {victims}:
        as_root = [child.pid for each in helper() for child in descendants(each.pid)] if not process.pid else []
        for pid in as_root or [process.pid] * bool(process.pid):
            with contextlib.suppress(psutil.NoSuchProcess):
                psutil.Process(pid).kill()

async def ask(self, verb, /, **fields):
    tell("order", verb)
    asked = asyncio.create_task(real_ask(self, verb, **fields))
    await asyncio.sleep(0)  # it is written by then
    if {order} == sum(what[0] == "order" for what in told):
        kill_helper()
    answer = await asked
    if isinstance(answer, HelperProcess):
        watched(answer, answer.argv)
    return answer

async def start(argv, **how):
    process = await real_start(argv, **how)
    watched(process, argv)
    return process

Helper.ask, commands.start = ask, start
"""

ORDERS = (
    *("hello", "attach", "wipe", "mkfs", "mount", "run", "umount", "mount", "run"),
    *("sync", "sync", "health", "umount"),
)  # fmt: skip
PROGRAMS = (
    *("fallocate", "wipefs", "mkfs.ext4", "mount", "/usr/bin/python3", "umount", "mount", "fio"),
    *("sync", "sync", "umount"),
)  # fmt: skip
"""What a round with one candidate orders of the helper, and the programs it starts, in that order."""


@dataclass(frozen=True)
class Ended:
    """A run with one of its helpers or programs killed, and what it told of its steps."""

    code: int
    said: str
    told: list[list[Any]]
    result: Result

    def named(self, kind: str) -> tuple[str, ...]:
        return tuple(what[1] for what in self.told if what[0] == kind)


def ended(directory: Path, *, order: int = 0, victims: Sequence[tuple[str, int]] = ()) -> Ended:
    """Such a run, at its end; nothing of it may be left by then. `victims` are programs and which of that name."""
    place, report = directory / "place", directory / "told.json"
    place.mkdir()
    script = HOOKS.format(report=str(report), order=order, victims=victims)
    arguments = ("--rounds", "1..1", "--candidates", "ext4")
    run = started(place, directory / "result.jsonl", *arguments, script=script)
    said = run.end()
    assert_nothing_lives(place, [each for each in psutil.process_iter() if _mentions(each, place)])
    assert names_in(place) == []
    return Ended(run.process.returncode, said, json.loads(report.read_text()), run.result)


def _mentions(process: psutil.Process, place: Path) -> bool:
    try:
        return any(str(place) in word for word in process.cmdline())
    except psutil.Error:
        return False


def some(names: tuple[str, ...], quick: tuple[int, ...], slow: tuple[int, ...]) -> list[Any]:
    """Numbers of orders or programs, each told by its name."""
    chosen = [pytest.param(number, id=names[number - 1]) for number in quick]
    return chosen + [pytest.param(number, id=names[number - 1], marks=pytest.mark.slow) for number in slow]


@pytest.mark.parametrize("number", some(ORDERS, quick=(1, 4, 13), slow=(2, 3, 5, 6, 7, 9, 10, 12)))
def test_killing_the_helper_at_each_order(tmp_path: Path, number: int) -> None:
    run = ended(tmp_path, order=number)
    assert run.named("order")[:number] == ORDERS[:number]
    if number == len(ORDERS) and run.code == ExitCode.OK:  # it had done all that was left to do before it was killed
        assert run.result.outcome == "finished"
        return
    if number == 1:
        assert run.code == ExitCode.MISSING, run.said
    else:
        assert run.code == ExitCode.RUN_FAILED, run.said
        assert "helper ended" in run.said
    assert (run.result.outcome, run.result.failures) == ("failed", ()), "no filesystem is to blame"


@pytest.mark.parametrize("number", some(PROGRAMS, quick=(1, 3), slow=(2, 4, 5, 6, 8)))
def test_killing_each_program_that_a_run_starts(tmp_path: Path, number: int) -> None:
    name = PROGRAMS[number - 1]
    run = ended(tmp_path, victims=[(name, PROGRAMS[:number].count(name))])
    assert run.named("program")[:number] == PROGRAMS[:number]
    assert run.code in (ExitCode.OK, ExitCode.RUN_FAILED), run.said
    assert run.result.outcome in ("finished", "failed")
