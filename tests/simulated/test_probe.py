"""The probe against models of disks, on simulated time: a shingled one gives itself away, a plain one never does."""

from __future__ import annotations

import contextlib
import random
from collections.abc import Callable, Iterator

import pytest

from fswizard.drives.probe import BLOCK_BYTES, ProbePlan, ProbeProgress, ProbeResult, probe
from fswizard.system import clock
from tests.fakes.clock import SimulatedClock
from tests.simulated.disks import Disk, PlainDisk, ShingledDisk, as_published
from tests.simulated.writer import ModelWriter

MAXIMUM_BYTES = 8 << 30
SEEDS = range(10)


@pytest.fixture(autouse=True, params=SEEDS)
def seed(request: pytest.FixtureRequest) -> Iterator[int]:
    """Every test runs with ten of them, on a clock of its own."""
    random.seed(request.param)
    with clock.use(SimulatedClock()):
        yield request.param


def plan_for(model: Disk, listen_s: float, time_limit_s: float) -> ProbePlan:
    return ProbePlan("/dev/x", 256 << 20, listen_s, False, model.size_bytes, time_limit_s, MAXIMUM_BYTES)


def probed(
    model: Disk, listen_s: float, time_limit_s: float, disturbed: Callable[[int], str] = lambda written_bytes: ""
) -> ProbeResult:
    opened = contextlib.nullcontext(ModelWriter(model))
    *_, result = probe(plan_for(model, listen_s, time_limit_s), opened, disturbed=disturbed)
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
    assert "times in a row it stalls after" in result.evidence.text


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
