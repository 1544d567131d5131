"""Recorded real runs whose truth is known, through the judgement as it is now."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.bench.recordings import FASTER, GAIN, ROUNDS, SAME, Recording, add, load, report


def judged(path: Path) -> list[tuple[Recording, str, bool]]:
    recordings = load(path)
    ratios = [recording.ratio() for recording in recordings]
    return [(one, ratio.verdict, one.holds(ratio)) for one, ratio in zip(recordings, ratios)]


def test_of_a_hundred_runs_against_itself_five_at_most_have_a_winner() -> None:
    told = judged(SAME)
    assert len(told) >= 100
    assert sum(verdict in ("faster", "slower") for _, verdict, _ in told) <= 0.05 * len(told)
    assert sum(held for _, _, held in told) >= 0.95 * len(told)


def test_a_known_difference_is_found_lies_within_its_interval_and_is_never_turned_round() -> None:
    told = judged(FASTER)
    assert len(told) >= 100
    assert {one.truth["ext4:nobarrier"] for one, _, _ in told} == {GAIN}
    assert sum(held for _, _, held in told) >= 0.95 * len(told)
    assert sum(verdict == "faster" for _, verdict, _ in told) >= 0.9 * len(told)
    assert "slower" not in {verdict for _, verdict, _ in told}


def made(ratio: float, rounds: int = ROUNDS) -> Recording:
    figures = {"random-write": {"ext4": [100.0] * rounds, "ext4:noatime": [100.0 * ratio] * rounds}}
    return Recording("2026-01-02", {"ext4": 1.0, "ext4:noatime": 1.2}, figures)


def test_a_replay_stops_where_the_program_would_have_stopped() -> None:
    looks = list(made(1.2).replay())
    assert [decision.stop for _, decision in looks] == ["", "", "one-left"]
    assert made(1.2).ratio().verdict == "faster"


@pytest.mark.parametrize(("measured", "held"), [(1.2, True), (1.5, False)])
def test_an_interval_that_misses_the_truth_is_counted(measured: float, held: bool) -> None:
    recording = made(measured)
    assert recording.holds(recording.ratio()) is held


def test_the_report_counts_verdicts(tmp_path: Path) -> None:
    for ratio in (1.2, 1.21, 0.5):
        add(made(ratio), tmp_path / "some.jsonl")
    assert "| 2 | 1 | 0 | 0 | 67% |" in report(tmp_path / "some.jsonl")
