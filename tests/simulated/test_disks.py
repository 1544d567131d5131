"""What the program says of disks whose nature is known, with real filesystems on them."""

from __future__ import annotations

from pathlib import Path

import pytest

from fswizard.findings import conclude
from fswizard.model.judgement import Findings
from tests.bench import recordings
from tests.builders import make_drive
from tests.simulated.disks import CachedSsd, SeekingDisk, ShingledDisk, moody, slowing
from tests.simulated.runs import overflow, random_writes, run

pytestmark = [pytest.mark.root, pytest.mark.nbd, pytest.mark.loop, pytest.mark.fio]

SAME = "ext4; ext4:relatime"
"""`relatime` is the kernel's default: two names for the same."""


def codes(findings: Findings) -> set[str]:
    return {doubt.code for doubt in findings.doubts}


def median(findings: Findings, metric: str) -> float:
    return next(summary.median for summary in findings.summaries if summary.metric == metric)


def test_on_a_plain_disk_an_option_that_matters_is_found(tmp_path: Path) -> None:
    disk = SeekingDisk(seek_s=0.002, flush_costs_s=0.008)
    result = run(disk, tmp_path, random_writes(0.6, fsync=1), "ext4; ext4:nobarrier", maximum_rounds=8)
    findings = conclude(result)
    ratio = findings.judgement.of("ext4:nobarrier")
    assert ratio is not None and ratio.verdict == "faster", ratio
    assert findings.advice.choice == ("ext4",), "what risks files is not advised, however fast it is"
    assert not codes(findings) & {"cache-exhausted", "cache-not-exceeded"}


def test_an_ssd_whose_cache_runs_out_is_told(tmp_path: Path) -> None:
    findings = conclude(run(CachedSsd(), tmp_path, random_writes(4.0), "ext4", minimum_rounds=1, maximum_rounds=1))
    assert median(findings, "late_rate") < 0.7
    doubt = next(doubt for doubt in findings.doubts if doubt.code == "cache-exhausted")
    assert "ext4 wrote" in doubt.text and "A longer recipe shows the one that lasts" in doubt.text


@pytest.mark.slow
def test_an_option_that_gains_15_percent_lies_within_its_interval(tmp_path: Path) -> None:
    """Three runs of twelve rounds; those that are checked in are judged by every test run."""
    held = 0
    for seed in (1, 2, 3):
        directory = tmp_path / str(seed)
        directory.mkdir()
        recording = recordings.faster(directory, seed)
        ratio = recording.ratio()
        assert ratio.verdict != "slower", ratio
        held += recording.holds(ratio)
    assert held >= 2


@pytest.mark.slow
def test_an_ssd_whose_cache_lasts_is_not_suspected(tmp_path: Path) -> None:
    disk = CachedSsd(cache_bytes=1 << 30)
    findings = conclude(run(disk, tmp_path, random_writes(3.0), "ext4", minimum_rounds=1, maximum_rounds=1))
    assert "cache-exhausted" not in codes(findings), median(findings, "late_rate")


def test_a_disk_that_becomes_slower_is_told_and_names_no_winner(tmp_path: Path) -> None:
    disk = SeekingDisk(seek_s=0.004, course=slowing)
    result = run(disk, tmp_path, random_writes(0.5), SAME, minimum_rounds=5, maximum_rounds=5)
    findings = conclude(result)
    assert "drift" in codes(findings)
    assert "slower from the first round to the last" in " ".join(doubt.text for doubt in findings.doubts)
    assert len(findings.judgement.leaders) == 2


def test_on_a_noisy_disk_it_is_left_open_who_is_faster(tmp_path: Path) -> None:
    disk = SeekingDisk(seek_s=0.004, course=moody(1))
    result = run(disk, tmp_path, random_writes(0.5), SAME, minimum_rounds=3, maximum_rounds=3)
    ratio = conclude(result).judgement.of("ext4:relatime")
    assert ratio is not None and ratio.verdict == "undecided", ratio


def shingled() -> ShingledDisk:
    """A cache so small that a test overflows it."""
    return ShingledDisk(size_bytes=192 << 20, cache_bytes=6 << 20, band_bytes=1 << 20, streams=True)


def test_a_short_recipe_does_not_show_what_a_shingled_disk_does_beyond_its_cache(tmp_path: Path) -> None:
    drive = make_drive("drive-managed")
    result = run(
        shingled(), tmp_path, random_writes(0.5), "ext4", drive=drive, minimum_rounds=1, maximum_rounds=1
    )  # fmt: skip
    doubt = next(doubt for doubt in conclude(result).doubts if doubt.code == "cache-not-exceeded")
    assert "An overflow recipe shows it." in doubt.text


def test_the_overflow_recipe_shows_the_cliff_of_a_shingled_disk(tmp_path: Path) -> None:
    findings = conclude(run(shingled(), tmp_path, overflow(48 << 20, 10.0), "ext4", minimum_rounds=1, maximum_rounds=1))
    assert median(findings, "sustained_rate") < 0.5 * median(findings, "rate_before_cliff")
    assert "cache-exhausted" not in codes(findings)
