"""The probe against models of disks, on simulated time: a shingled one gives itself away, a plain one never does."""

from __future__ import annotations

import contextlib
import random
from collections.abc import Callable, Iterator
from dataclasses import replace

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


def test_a_shingled_disk_is_found() -> None:
    result = probed(as_published(), listen_s=81.0, time_limit_s=180.0)
    assert result.outcome == "drive-managed", result
    assert result.evidence.says == "drive-managed"


def test_one_that_is_five_times_as_quick_is_found_too() -> None:
    assert probed(ShingledDisk(), listen_s=3.0, time_limit_s=120.0).outcome == "drive-managed"


def test_a_plain_disk_is_inconclusive_and_never_called_conventional(seed: int) -> None:
    result = probed(PlainDisk(seed=seed), listen_s=16.0, time_limit_s=36.0)
    assert result.outcome == "inconclusive", result
    assert result.evidence.says == "unknown"


def test_the_stall_alone_gives_a_disk_away() -> None:
    result = probed(as_published(cache_bytes=1 << 40), listen_s=81.0, time_limit_s=180.0)
    assert result.evidence.code == "periodic-stall", result
    assert "times in a row, each time after" in result.evidence.text


def test_the_cliff_alone_gives_a_disk_away() -> None:
    result = probed(as_published(stall_s=0.0), listen_s=10.0, time_limit_s=180.0)
    assert result.evidence.code == "write-cliff", result


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


@pytest.mark.parametrize("cache_mib", [100, 2000])
@pytest.mark.parametrize("trimmed", [False, True])
def test_a_shingled_disk_is_found_whatever_its_cache_and_whether_it_was_trimmed(cache_mib: int, trimmed: bool) -> None:
    disk = as_published(cache_bytes=cache_mib << 20, trimmed=trimmed)
    assert probed(disk, listen_s=81.0, time_limit_s=180.0).outcome == "drive-managed"


@pytest.mark.parametrize("cache_mib", [100, 600, 2000])
def test_the_cliff_shows_at_every_size_of_the_cache_that_is_reached(cache_mib: int) -> None:
    disk = as_published(stall_s=0.0, cache_bytes=cache_mib << 20)
    assert probed(disk, listen_s=10.0, time_limit_s=180.0).evidence.code == "write-cliff"


def test_a_cache_that_is_not_reached_shows_no_cliff() -> None:
    result = probed(as_published(stall_s=0.0, cache_bytes=20 << 30), listen_s=10.0, time_limit_s=60.0)
    assert result.outcome == "inconclusive"
    assert "proves nothing" in result.evidence.text


def test_behind_an_adapter_that_cuts_writes_the_stall_comes_sooner_and_is_found() -> None:
    disk = as_published(cache_bytes=1 << 40)
    result = probed(disk, listen_s=81.0, time_limit_s=180.0, pieces=BRIDGE_PIECES)
    assert result.evidence.code == "periodic-stall", result
    assert "each time after 27 writes" in result.evidence.text


def test_a_plain_disk_behind_an_adapter_stays_inconclusive(seed: int) -> None:
    result = probed(PlainDisk(seed=seed), listen_s=81.0, time_limit_s=100.0, pieces=BRIDGE_PIECES)
    assert result.outcome == "inconclusive", result


def test_a_busy_processor_is_named_where_nothing_was_found_and_takes_nothing_from_what_was(seed: int) -> None:
    busy = "the processor was busy 80 % of the time."
    assert "The processor was busy 80 %" in probed(PlainDisk(seed=seed), 16.0, 36.0, busy=busy).evidence.text
    assert probed(as_published(), listen_s=81.0, time_limit_s=180.0, busy=busy).outcome == "drive-managed"
