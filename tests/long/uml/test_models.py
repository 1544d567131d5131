"""The driver's models compared with published figures of such disks."""

from __future__ import annotations

import ctypes
import random
import statistics
from collections.abc import Iterator
from functools import partial

import pytest

from fswizard.engines.overflow import cliff
from fswizard.system import clock
from tests.fakes.clock import SimulatedClock
from tests.long.reproduce.own_figures import SIZE_BYTES, figures
from tests.long.uml.models import Modelled, compiled

pytestmark = pytest.mark.cc

MIB, GIB = 1 << 20, 1 << 30


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    return compiled(tmp_path_factory.mktemp("models"))


@pytest.fixture(autouse=True)
def _simulated_time() -> Iterator[None]:
    with clock.use(SimulatedClock()):
        yield


def test_the_shingled_disk_does_what_was_measured_on_real_ones_each_within_a_quarter(models: ctypes.CDLL) -> None:
    off = {
        figure.title: figure.ours / figure.published
        for figure in figures(partial(Modelled, models, "shingled", SIZE_BYTES))
        if abs(figure.ours / figure.published - 1) > 0.25
    }
    assert not off


def test_an_average_seek_is_that_of_the_data_sheet(models: ctypes.CDLL) -> None:
    dice = random.Random(1)
    for kind, seek_ms, turn_ms in (("conventional", 8.5, 8.333), ("shingled", 12.0, 10.033)):
        disk = Modelled(models, kind, 4 << 40)
        took = [disk.read_s(dice.randrange(disk.size_bytes // 4096) * 4096, 4096) for _ in range(4000)]
        assert statistics.fmean(took) * 1000 - turn_ms / 2 == pytest.approx(seek_ms, rel=0.05)


def test_the_card_writes_as_quickly_as_one_was_seen_to_within_what_it_keeps_open(models: ctypes.CDLL) -> None:
    disk, dice = Modelled(models, "card", 8 * GIB), random.Random(1)
    for size, mb_s in ((4 << 10, 1.20), (512 << 10, 12.07)):
        places = [dice.randrange(5 * 4 * MIB // size) * size for _ in range(3000)]
        took_s = sum(disk.write_s(place, size) for place in places)
        assert 3000 * size / took_s / 1e6 == pytest.approx(mb_s, rel=0.25)


def test_the_ssd_does_as_many_requests_as_its_data_sheet_says(models: ctypes.CDLL) -> None:
    disk, dice = Modelled(models, "ssd", 8 * GIB), random.Random(1)
    places = [dice.randrange(8 * GIB // 4096) * 4096 for _ in range(2000)]
    assert 2000 / sum(disk.read_s(place, 4096) for place in places) == pytest.approx(76_000, rel=0.05)
    assert 2000 / sum(disk.write_s(place, 4096) for place in places) == pytest.approx(14_000, rel=0.05)


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
