"""The probe's own conduct, against a writer that costs no time: what it tells, and that it can be stopped."""

from __future__ import annotations

import contextlib
import itertools
import os
import threading
from collections.abc import Generator, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from fswizard.drives import probe as module
from fswizard.drives.machine import Machine
from fswizard.drives.probe import BLOCK_BYTES, MOMENT_S, ProbePlan, ProbeProgress, ProbeResult, probe
from fswizard.drives.probe_target import ProbeTarget, pieces_of_a_block
from fswizard.privileged import block_device
from fswizard.system import clock
from fswizard.targets.device_probe import FileWriter
from tests.builders import make_drive
from tests.fakes.clock import SimulatedClock
from tests.fakes.host import ModelHost, use

PLAN = ProbePlan("/dev/x", 64 << 20, 1000.0, False, 0, 1000.0, 500 * BLOCK_BYTES)


class Disk:
    """Answers as it is told to; counts what it was ordered to write."""

    def __init__(self, answers: Iterator[float | None]) -> None:
        self._answers = answers
        self.blocks: list[int] = []
        self.pauses: list[float] = []
        self.closed = 0

    @contextlib.contextmanager
    def opened(self) -> Iterator[Disk]:
        yield self

    def write(self, blocks: Sequence[int], pause_s: float) -> Generator[float | None, None, None]:
        self.pauses.append(pause_s)
        try:
            for block in blocks:
                while (answer := next(self._answers)) is None:
                    yield None
                self.blocks.append(block)
                yield answer
        finally:
            self.closed += 1


def steady() -> Disk:
    return Disk(itertools.repeat(0.02))


@pytest.fixture(autouse=True)
def _tell_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOMENT_S", 0.0)


def test_never_more_is_ordered_than_planned_and_every_progress_tells_what_a_screen_shows() -> None:
    disk = steady()
    *_, result = probe(PLAN, disk.opened())
    assert isinstance(result, ProbeResult)
    assert result.written_bytes == PLAN.maximum_bytes == len(disk.blocks) * BLOCK_BYTES
    assert set(disk.blocks) <= set(range(PLAN.listen_bytes // BLOCK_BYTES))
    assert len(set(disk.pauses)) > 2 and max(disk.pauses) < 0.1
    told = list(probe(PLAN, Disk(itertools.cycle([*[0.02] * 99, 0.4])).opened()))
    progress = [one for one in told if isinstance(one, ProbeProgress)]
    last = progress[-1]
    assert last.written_bytes == PLAN.maximum_bytes
    assert last.stalls == 5
    assert last.rate_bytes_s > 0
    assert max(one.worst_latency_s for one in progress) == 0.4
    assert 0 < last.left_s < PLAN.time_limit_s
    assert [one.left_s for one in progress] == sorted((one.left_s for one in progress), reverse=True)
    silence = list(probe(PLAN, Disk(iter([*[0.02] * 10, *[None] * 3, *[0.02] * 490])).opened()))
    silent = [one for one in silence if isinstance(one, ProbeProgress) and one.rate_bytes_s == 0]
    assert len(silent) == 3
    assert all(one.written_bytes == 10 * BLOCK_BYTES for one in silent)
    waited = [one.worst_latency_s for one in silent]
    assert waited == sorted(waited)


def test_it_can_be_stopped_from_another_thread_while_the_disk_is_silent() -> None:
    silent, stop = threading.Event(), threading.Event()

    def never() -> Iterator[float | None]:
        yield 0.02
        silent.set()
        stop.wait()
        while True:
            yield None

    disk, told = Disk(never()), list[ProbeProgress | ProbeResult]()
    running = threading.Thread(target=lambda: told.extend(probe(PLAN, disk.opened(), stopped=stop.is_set)))
    running.start()
    assert silent.wait(60)
    stop.set()
    running.join(60)
    assert isinstance(told[-1], ProbeResult)
    assert told[-1].outcome == "inconclusive"
    assert disk.closed == 1


def test_a_file_is_written_where_it_was_ordered_and_leaving_or_a_failing_disk_ends_it(tmp_path: Path) -> None:
    disk = steady()
    told = probe(PLAN, disk.opened())
    next(told)
    assert disk.closed == 0
    told.close()  # type: ignore[attr-defined]
    assert disk.closed == 1
    file = tmp_path / "read-only"
    file.write_bytes(bytes(BLOCK_BYTES))
    descriptor = os.open(file, os.O_RDONLY)
    with pytest.raises(OSError, match="Bad file descriptor"):
        list(probe(PLAN, contextlib.nullcontext(FileWriter(descriptor))))
    os.close(descriptor)
    assert block_device.WRITE_BYTES == BLOCK_BYTES, "both sides mean the same block"
    file = tmp_path / "scratch"
    file.write_bytes(bytes(6 * BLOCK_BYTES))
    descriptor = os.open(file, os.O_RDWR | os.O_DSYNC)
    answers = list(FileWriter(descriptor).write([4, 1], 0.0))
    os.close(descriptor)
    data = file.read_bytes()
    written = [number for number in range(6) if any(data[number * BLOCK_BYTES :][:BLOCK_BYTES])]
    assert written == [1, 4]
    assert len([answer for answer in answers if answer is not None]) == 2
    assert len(set(data[BLOCK_BYTES : 2 * BLOCK_BYTES])) == 256, "noise, which no disk can leave out or pack"


def test_a_silent_disk_is_told_of_every_moment_and_not_waited_for_when_the_probe_ends(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    answers_at_last = threading.Event()

    def silent(descriptor: int, blocks: Sequence[int], pause_s: float) -> Iterator[float]:
        yield 0.02
        while not answers_at_last.wait(0.001):  # simulated time passes meanwhile
            clock.sleep(MOMENT_S)

    monkeypatch.setattr(block_device, "write_random", silent)
    with clock.use(SimulatedClock()):
        answers = FileWriter(-1).write([0, 1], 0.0)
        assert [next(answers), next(answers)] == [0.02, None]
        answers.close()
        answers_at_last.set()


@pytest.mark.parametrize(
    ("limits", "pieces", "minimum_period"),
    [
        ({"max_sectors_kb": "1280", "max_segments": "168"}, 2, 50),
        ({"max_sectors_kb": "120", "max_segments": "2048"}, 9, 13),
        ({"max_sectors_kb": "4", "max_segments": "1"}, 256, 10),
        ({}, 1, 50),
    ],
    ids=["SATA", "USB adapter", "one page at a time", "not told"],
)
def test_the_plan_knows_into_how_many_pieces_an_adapter_cuts_a_block(
    tmp_path: Path, limits: dict[str, str], pieces: int, minimum_period: int
) -> None:
    queue = tmp_path / "sys/block/sdq/queue"
    queue.mkdir(parents=True)
    for name, value in limits.items():
        (queue / name).write_text(value)
    assert pieces_of_a_block("sdq", Machine(tmp_path)) == pieces
    assert replace(PLAN, pieces=pieces).minimum_period == minimum_period


@pytest.mark.parametrize(("waited_s", "named"), [(8.0, "busy 80 %"), (1.0, ""), (30.0, "busy 100 %")])
def test_a_processor_that_programs_waited_for_is_named(waited_s: float, named: str) -> None:
    target = ProbeTarget(PLAN, make_drive("unknown"), None, "")
    clock_of_test = SimulatedClock()
    with clock.use(clock_of_test), use(ModelHost()):
        busy = target.watch_processor()
        clock_of_test.advance(10.0)
        with use(ModelHost(pressure={"cpu": waited_s})):
            told = busy()
    assert named in told
    assert bool(told) == bool(named)
