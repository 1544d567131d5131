"""The driver's models compared with published figures of such disks."""

from __future__ import annotations

import ctypes
import random
import statistics
from collections.abc import Callable, Iterator
from functools import partial
from itertools import pairwise

import pytest

from fswizard.engines.fio import cliff
from fswizard.system import clock
from tests.fakes.clock import SimulatedClock
from tests.long.uml.models import Modelled, compiled

pytestmark = pytest.mark.cc

MIB, GIB = 1 << 20, 1 << 30
SIZE_BYTES = 8_001_563_222_016
PLATEAUS = {2: 4.0, 4: 8.0, 8: 14.0, 16: 20.0, 32: 30.0}
"""MiB at a time to MiB/s beyond the cache (github.com/aicodix/smr)."""
CLIFFS = {1: 17.0, 2: 23.0, 4: 27.5, 8: 28.0, 16: 31.0, 32: 31.0}
"""MiB at a time to GiB written before the rate fell (same source)."""
QUARTER = 0.25


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    return compiled(tmp_path_factory.mktemp("models"))


@pytest.fixture
def shingled(models: ctypes.CDLL) -> Callable[[], Modelled]:
    """A new ST8000AS0002."""
    return partial(Modelled, models, "shingled", SIZE_BYTES)


@pytest.fixture(autouse=True)
def time() -> Iterator[SimulatedClock]:
    with clock.use(SimulatedClock()) as time:
        yield time


def test_the_shingled_disk_writes_in_order_as_reviews_measured_real_ones(shingled: Callable[[], Modelled]) -> None:
    disk = shingled()
    took_s = sum(disk.write_s(number * MIB, MIB) for number in range(1000))
    assert 1000 * MIB / took_s / 1e6 == pytest.approx(150, rel=QUARTER)


@pytest.mark.parametrize("size_mib", CLIFFS)
def test_random_writes_of_the_shingled_disk_slow_down_where_those_of_real_ones_do(
    size_mib: int, shingled: Callable[[], Modelled], time: SimulatedClock
) -> None:
    """Synchronous ones, as the real ones were, until the cache is full, and 500 more."""
    dice, disk = random.Random(size_mib), shingled()

    def write() -> float:
        seconds = disk.write_s(dice.randrange(SIZE_BYTES // MIB - size_mib) * MIB, size_mib * MIB) + disk.flush_s()
        time.advance(seconds)
        return seconds

    before = [write()]
    while not disk.cleaned:
        before.append(write())
    assert len(before) * size_mib / 1024 == pytest.approx(CLIFFS[size_mib], rel=QUARTER)
    after_s = statistics.fmean(write() for _ in range(500))
    if size_mib in PLATEAUS:
        assert size_mib / after_s == pytest.approx(PLATEAUS[size_mib], rel=QUARTER)
    else:
        usual_s = statistics.median(before)
        assert size_mib / usual_s == pytest.approx(46, rel=QUARTER), "MiB/s within the cache"
        stalls = [number for number, seconds in enumerate(before[:-1]) if seconds > usual_s + 0.1]
        apart = statistics.fmean(later - sooner for sooner, later in pairwise(stalls))
        assert apart == pytest.approx(240, rel=QUARTER)
        assert before[stalls[0]] - usual_s == pytest.approx(0.3, rel=QUARTER)


def test_the_shingled_disk_cleans_while_it_is_idle(shingled: Callable[[], Modelled], time: SimulatedClock) -> None:
    """As quickly as real ones (github.com/sssl/SMR-simulation)."""
    disk = shingled()
    for band in range(1000):
        time.advance(disk.write_s(band * disk.band_bytes, MIB))
    time.advance(60 + disk.idle_s)
    disk.read_s(0, MIB)
    assert 60 / disk.cleaned == pytest.approx(0.6, rel=QUARTER)


@pytest.mark.parametrize(("kind", "seek_ms", "turn_ms"), [("conventional", 8.5, 8.333), ("shingled", 12.0, 10.033)])
def test_an_average_seek_is_that_of_the_data_sheet(
    kind: str, seek_ms: float, turn_ms: float, models: ctypes.CDLL
) -> None:
    dice, disk = random.Random(1), Modelled(models, kind, 4 << 40)
    took_s = [disk.read_s(dice.randrange(disk.size_bytes // 4096) * 4096, 4096) for _ in range(4000)]
    assert statistics.fmean(took_s) * 1000 - turn_ms / 2 == pytest.approx(seek_ms, rel=0.05)


def test_the_program_finds_the_cliff_of_a_shingled_disk_where_its_cache_is_full(models: ctypes.CDLL) -> None:
    disk = Modelled(models, "shingled", 8 * GIB, cache_bytes=100 * MIB)
    rates = []
    for band in range(150):
        disk.flush_s()
        rates.append(4096 / disk.write_s(band * 40 * MIB, 4096))
    at = cliff(rates)
    assert at is not None
    assert statistics.median(rates[at:]) < 0.05 * statistics.median(rates[:at])
    assert rates.index(min(rates)) == pytest.approx(100, abs=2)
