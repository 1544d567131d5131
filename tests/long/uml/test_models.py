"""The driver's models beside what was published about such disks."""

from __future__ import annotations

import ctypes
import random
import statistics
from collections.abc import Iterator
from functools import partial

import pytest

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


def test_a_part_of_a_disk_seeks_as_little_as_it_does_there(models: ctypes.CDLL) -> None:
    alone, part = (Modelled(models, "conventional", GIB, **of) for of in ({}, {"span_bytes": 4 << 40}))

    assert part.read_s(GIB // 2, 4096) < alone.read_s(GIB // 2, 4096) / 1.5


def test_what_passes_by_within_a_turn_costs_no_seek(models: ctypes.CDLL) -> None:
    disk = Modelled(models, "conventional", 8 * GIB)
    disk.read_s(GIB, 4096)

    assert disk.read_s(GIB + 64 * 1024, 4096) < 0.001
    assert disk.read_s(GIB, 4096) > 0.005  # back again is a turn


def test_the_card_writes_as_quickly_as_one_was_seen_to_within_what_it_keeps_open(models: ctypes.CDLL) -> None:
    disk, dice = Modelled(models, "card", 8 * GIB), random.Random(1)
    for size, mb_s in ((4 << 10, 1.20), (16 << 10, 4.54), (64 << 10, 8.78), (512 << 10, 12.07)):
        places = [dice.randrange(5 * 4 * MIB // size) * size for _ in range(3000)]
        took_s = sum(disk.write_s(place, size) for place in places)

        assert 3000 * size / took_s / 1e6 == pytest.approx(mb_s, rel=0.25)
    assert disk.counted("units_closed") == 0


def test_the_card_copies_what_is_left_of_a_unit_that_it_closes(models: ctypes.CDLL) -> None:
    disk, dice = Modelled(models, "card", 8 * GIB), random.Random(1)
    took_s = [disk.write_s(dice.randrange(2048) * 4 * MIB, 4096) for _ in range(200)]

    assert statistics.median(took_s) > 0.5
    assert disk.counted("units_closed") > 180


def test_a_card_that_is_written_in_order_copies_nothing(models: ctypes.CDLL) -> None:
    disk = Modelled(models, "card", 8 * GIB)
    took_s = sum(disk.write_s(number * MIB, MIB) for number in range(200))

    assert 200 * MIB / took_s / 1e6 == pytest.approx(12, rel=0.02)


def test_the_ssd_does_as_many_requests_as_its_data_sheet_says(models: ctypes.CDLL) -> None:
    disk, dice = Modelled(models, "ssd", 8 * GIB), random.Random(1)
    places = [dice.randrange(8 * GIB // 4096) * 4096 for _ in range(2000)]

    assert 2000 / sum(disk.read_s(place, 4096) for place in places) == pytest.approx(76_000, rel=0.05)
    assert 2000 / sum(disk.write_s(place, 4096) for place in places) == pytest.approx(14_000, rel=0.05)
    assert 100 * MIB / sum(disk.write_s(number * MIB, MIB) for number in range(100)) == pytest.approx(460e6, rel=0.01)


def test_a_full_cache_is_cleaned_at_each_write_and_in_rest(models: ctypes.CDLL) -> None:
    disk = Modelled(models, "shingled", 8 * GIB, cache_bytes=100 * MIB)

    def synchronously(band: int) -> float:
        disk.flush_s()
        return disk.write_s(band * 40 * MIB, 4096)

    small = [synchronously(band) for band in range(150)]
    assert max(small[:99]) < 0.02
    assert statistics.fmean(small[100:]) == pytest.approx(0.5, rel=0.05)  # two bands at every second write
    clock.sleep(1000)
    disk.read_s(0, 4096)
    assert disk.counted("cached_bytes") == 0


def test_between_two_flushes_small_writes_share_a_track_of_the_cache(models: ctypes.CDLL) -> None:
    disk = Modelled(models, "shingled", 8 * GIB, cache_bytes=100 * MIB)
    took_s = [disk.write_s(band * 40 * MIB, 4096) for band in range(150)]

    assert max(took_s) < 0.02
    assert disk.counted("cached_bytes") == MIB + 150 * 4096


def test_what_the_driver_does_not_know_is_refused(models: ctypes.CDLL) -> None:
    for kind, wrong in (("drum", {}), ("card", {"turns": 1}), ("card", {"open_units": 65}), ("ssd", {"span_bytes": 1})):
        with pytest.raises(ValueError, match=kind):
            Modelled(models, kind, GIB, **wrong)
