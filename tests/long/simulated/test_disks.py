"""What the program says of disks whose nature is known: models on simulated time; with --slow in real runs, too."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from fswizard.advice import conclude
from fswizard.engines.overflow import cliff
from fswizard.model.analysis import Findings
from fswizard.system import clock
from tests.builders import make_drive, make_result
from tests.fakes.clock import SimulatedClock
from tests.long.simulated.disks import CachedSsd, Disk, SeekingDisk, ShingledDisk, moody, slowing
from tests.long.simulated.runs import overflow, random_writes, run


def real_run(test: Callable[..., None]) -> Callable[..., None]:
    """With a real filesystem, in real time; the tests before them ask the models alone."""
    for mark in (pytest.mark.slow, pytest.mark.root, pytest.mark.nbd, pytest.mark.loop, pytest.mark.fio):
        test = mark(test)
    return test


ONE_ROUND: Mapping[str, Any] = {"minimum_rounds": 1, "maximum_rounds": 1}


@pytest.fixture
def _simulated_time() -> Iterator[None]:
    random.seed(1)
    with clock.use(SimulatedClock()):
        yield


def rate(disk: Disk, seconds: float, flushes: int = 0) -> float:
    """Single random writes of 4 KiB, each followed by that many flushes, in a second of simulated time."""
    began_s, count = clock.monotonic(), 0
    while (took_s := clock.monotonic() - began_s) < seconds:
        offset = random.randrange(disk.size_bytes // 4096) * 4096
        clock.sleep(disk.write_s(offset, 4096) + sum(disk.flush_s() for _ in range(flushes)))
        count += 1
    return count / took_s


def measured(disk: Disk, rounds: int, seconds: float = 2.0, **flushes: int) -> Findings:
    """Every candidate in each round, and what the program concludes."""
    taken: dict[str, list[float]] = {name: [] for name in flushes}
    for _ in range(rounds):
        for name in random.sample(list(flushes), len(flushes)):
            taken[name].append(rate(disk, seconds, flushes[name]))
    return conclude(make_result(taken))


@pytest.mark.usefixtures("_simulated_time")
def test_an_option_that_saves_flushes_is_found_by_as_much_as_they_cost() -> None:
    disk = SeekingDisk(seek_s=0.002, flush_costs_s=0.008)
    findings = measured(disk, rounds=8, plain=2, nobarrier=0)
    ratio = findings.analysis.of("nobarrier")
    assert ratio is not None and ratio.verdict == "faster"
    assert ratio.ratio == pytest.approx(disk.nobarrier_gains, rel=0.05)


@pytest.mark.usefixtures("_simulated_time")
def test_a_disk_that_slows_down_is_told_and_names_no_winner() -> None:
    findings = measured(SeekingDisk(seek_s=0.004, course=slowing), rounds=5, one=0, other=0)
    assert "drift" in codes(findings)
    assert "slower from the first round to the last" in " ".join(doubt.text for doubt in findings.doubts)
    assert len(findings.analysis.leaders) == 2


@pytest.mark.usefixtures("_simulated_time")
@pytest.mark.parametrize("seed", range(10))
def test_on_a_moody_disk_nobody_is_called_faster(seed: int) -> None:
    findings = measured(SeekingDisk(seek_s=0.004, course=moody(seed)), rounds=3, seconds=0.5, one=0, other=0)
    ratio = findings.analysis.of("other")
    assert ratio is not None and ratio.verdict in ("open", "alike"), ratio


@pytest.mark.usefixtures("_simulated_time")
def test_the_cliff_of_a_shingled_disk_is_found_where_its_cache_is_full() -> None:
    disk = shingled()
    found = cliff([rate(disk, 0.05) * 4096 for _ in range(60)])
    assert found.after < 0.5 * found.before
    assert found.written_bytes * 0.05 == pytest.approx(disk.cache_bytes, rel=0.3)


def codes(findings: Findings) -> set[str]:
    return {doubt.code for doubt in findings.doubts}


def median(findings: Findings, metric: str) -> float:
    return next(summary.median for summary in findings.summaries if summary.metric == metric)


@real_run
def test_on_a_plain_disk_an_option_that_matters_is_found(tmp_path: Path) -> None:
    disk = SeekingDisk(seek_s=0.002, flush_costs_s=0.008)
    result = run(disk, tmp_path, random_writes(0.6, fsync=1), "ext4; ext4:nobarrier", maximum_rounds=8)
    findings = conclude(result)
    ratio = findings.analysis.of("ext4:nobarrier")
    assert ratio is not None and ratio.verdict == "faster", ratio
    assert findings.answer.choice == ("ext4",), "what risks files is not advised, however fast it is"
    assert not codes(findings) & {"cache-exhausted", "cache-not-exceeded"}


@real_run
def test_an_ssd_whose_cache_runs_out_is_told(tmp_path: Path) -> None:
    findings = conclude(run(CachedSsd(), tmp_path, random_writes(4.0), "ext4", **ONE_ROUND))
    assert median(findings, "late_rate") < 0.7
    doubt = next(doubt for doubt in findings.doubts if doubt.code == "cache-exhausted")
    assert "ext4 wrote" in doubt.text and "A longer recipe shows the one that lasts" in doubt.text


@real_run
def test_an_option_that_gains_15_percent_lies_within_its_interval(tmp_path: Path) -> None:
    """A write and its fsync are a seek and two flushes, with `nobarrier` the seek alone. Recorded runs of it are judged
    by every test run."""
    held, seek_s, gain = 0, 0.020, 1.15
    disk = SeekingDisk(seek_s=seek_s, flush_costs_s=(gain - 1) / 2 * seek_s)
    for seed in (1, 2, 3):
        directory = tmp_path / str(seed)
        directory.mkdir()
        limits: dict[str, Any] = {"minimum_rounds": 6, "maximum_rounds": 6, "time_limit_s": 3600.0}
        result = run(disk, directory, random_writes(1.0, fsync=1), "ext4; ext4:nobarrier", seed=seed, **limits)
        ratio = conclude(result).analysis.of("ext4:nobarrier")
        assert ratio is not None and ratio.verdict != "slower", ratio
        held += bool(ratio.low and ratio.high and ratio.low <= disk.nobarrier_gains <= ratio.high)
    assert held >= 2


@real_run
def test_an_ssd_whose_cache_lasts_is_not_suspected(tmp_path: Path) -> None:
    disk = CachedSsd(cache_bytes=1 << 30)
    findings = conclude(run(disk, tmp_path, random_writes(3.0), "ext4", **ONE_ROUND))
    assert "cache-exhausted" not in codes(findings), median(findings, "late_rate")


def shingled() -> ShingledDisk:
    """A cache so small that a test overflows it."""
    return ShingledDisk(size_bytes=192 << 20, cache_bytes=6 << 20, band_bytes=1 << 20)


@real_run
def test_a_short_recipe_does_not_show_what_a_shingled_disk_does_beyond_its_cache(tmp_path: Path) -> None:
    drive = make_drive("drive-managed")
    result = run(shingled(), tmp_path, random_writes(0.5), "ext4", drive=drive, **ONE_ROUND)
    doubt = next(doubt for doubt in conclude(result).doubts if doubt.code == "cache-not-exceeded")
    assert "The recipe cache-overflow shows one." in doubt.text


@real_run
def test_the_overflow_recipe_shows_the_cliff_of_a_shingled_disk(tmp_path: Path) -> None:
    findings = conclude(run(shingled(), tmp_path, overflow(48 << 20, 10.0), "ext4", **ONE_ROUND))
    assert median(findings, "sustained_rate") < 0.5 * median(findings, "rate_before_cliff")
    assert "cache-exhausted" not in codes(findings)
