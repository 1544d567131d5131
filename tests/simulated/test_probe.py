"""The probe against models of disks, on simulated time: a shingled one gives itself away, a plain one never does."""

from __future__ import annotations

import contextlib
import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import product
from typing import Any

import pytest

from fswizard.drives.probe import BLOCK_BYTES, ProbePlan, ProbeProgress, ProbeResult, probe
from fswizard.system import clock
from tests.fakes.clock import SimulatedClock
from tests.simulated.disks import Disk, PlainDisk, ShingledDisk, as_published
from tests.simulated.writer import ModelWriter

MAXIMUM_BYTES = 8 << 30
SEEDS = range(10)
BRIDGE_BYTES, BRIDGE_PIECES = 120 << 10, 9
"""What a USB adapter takes at a time, and into how many of these a block is cut."""


@pytest.fixture(autouse=True, params=SEEDS)
def seed(request: pytest.FixtureRequest) -> Iterator[int]:
    """Every test runs with ten of them, on a clock of its own."""
    random.seed(request.param)
    with clock.use(SimulatedClock()):
        yield request.param


def plan_for(model: Disk, listen_s: float, time_limit_s: float) -> ProbePlan:
    return ProbePlan("/dev/x", 256 << 20, listen_s, False, model.size_bytes, time_limit_s, MAXIMUM_BYTES)


def probed(
    model: Disk,
    listen_s: float,
    time_limit_s: float,
    disturbed: Callable[[int], str] = lambda written_bytes: "",
    *,
    busy: str = "",
    pieces: int = 1,
) -> ProbeResult:
    opened = contextlib.nullcontext(ModelWriter(model, BLOCK_BYTES if pieces == 1 else BRIDGE_BYTES))
    plan = replace(plan_for(model, listen_s, time_limit_s), pieces=pieces)
    *_, result = probe(plan, opened, disturbed=disturbed, busy=lambda: busy)
    assert isinstance(result, ProbeResult)
    assert result.elapsed_s <= time_limit_s + 2.0, "a write and what is cleaned before it may be under way"
    return result


STALLS, CLIFF = "periodic-stall", "write-cliff"
LONG = (81.0, 180.0)
SHINGLED: tuple[tuple[dict[str, Any], tuple[float, float], int, str, str], ...] = (
    ({}, LONG, 1, "", ""),
    *(({"cache_bytes": mib << 20, "trimmed": trimmed}, LONG, 1, "", "")
      for mib, trimmed in product((100, 2000), (False, True))),
    ({"cache_bytes": 1 << 40}, LONG, 1, STALLS, "times in a row, each time after"),
    ({"cache_bytes": 1 << 40}, LONG, BRIDGE_PIECES, STALLS, "each time after 27 writes"),
    *(({"stall_s": 0.0, "cache_bytes": mib << 20}, (10.0, 180.0), 1, CLIFF, "") for mib in (100, 600, 2000)),
)  # fmt: skip
"""Of the disk as published: what differs, seconds to listen and in all, pieces of a block, and what gives it away."""


@pytest.mark.parametrize(("differs", "seconds", "pieces", "code", "words"), SHINGLED)
def test_a_shingled_disk_is_found(
    differs: dict[str, Any], seconds: tuple[float, float], pieces: int, code: str, words: str
) -> None:
    result = probed(as_published(**differs), *seconds, pieces=pieces)
    assert result.outcome == result.evidence.says == "drive-managed", result
    assert code in ("", result.evidence.code) and words in result.evidence.text


def test_one_that_is_five_times_as_quick_is_found_too() -> None:
    assert probed(ShingledDisk(), listen_s=3.0, time_limit_s=120.0).outcome == "drive-managed"


def test_a_plain_disk_and_a_cache_that_is_not_reached_are_inconclusive_and_never_called_conventional(seed: int) -> None:
    for disk, listen_s, time_limit_s, pieces in (
        (PlainDisk(seed=seed), 16.0, 36.0, 1),
        (PlainDisk(seed=seed), 81.0, 100.0, BRIDGE_PIECES),
        (as_published(stall_s=0.0, cache_bytes=20 << 30), 10.0, 60.0, 1),
    ):
        result = probed(disk, listen_s, time_limit_s, pieces=pieces)
        assert (result.outcome, result.evidence.says) == ("inconclusive", "unknown"), result
        assert "proves nothing" in result.evidence.text


def test_no_more_is_written_than_was_stated_and_the_filling_counts(seed: int) -> None:
    disk = ModelWriter(PlainDisk(seed=seed))
    plan = ProbePlan("/dev/x", 64 << 20, 1.0, True, 256 << 20, 60.0, 100 * BLOCK_BYTES)
    *progress, result = probe(plan, contextlib.nullcontext(disk))
    assert isinstance(result, ProbeResult)
    assert result.written_bytes == len(disk.offsets) * BLOCK_BYTES == plan.maximum_bytes
    assert disk.offsets[:64] == list(range(0, 64 << 20, BLOCK_BYTES))
    assert max(disk.offsets) < plan.press_bytes
    assert {one.stage for one in progress if isinstance(one, ProbeProgress)} == {"fill", "listen"}


def test_a_disturbed_probe_proves_nothing() -> None:
    result = probed(as_published(), 81.0, 180.0, disturbed=lambda written_bytes: "somebody else wrote too.")
    assert result.outcome == "inconclusive"
    assert "somebody else wrote too." in result.evidence.text


def test_a_busy_processor_is_named_where_nothing_was_found_and_takes_nothing_from_what_was(seed: int) -> None:
    busy = "The processor was busy 80 % of the time."
    assert "The processor was busy 80 %" in probed(PlainDisk(seed=seed), 16.0, 36.0, busy=busy).evidence.text
    assert probed(as_published(), listen_s=81.0, time_limit_s=180.0, busy=busy).outcome == "drive-managed"
