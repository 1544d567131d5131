"""Nobody wins against himself: the promise behind every recommendation, kept on real disks."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from tests.bench import recordings

pytestmark = [pytest.mark.root, pytest.mark.loop, pytest.mark.fio, pytest.mark.slow]

RUNS = 100


def test_of_a_hundred_runs_of_the_same_filesystem_five_at_most_have_a_winner(tmp_path: Path) -> None:
    """An hour or less. The ones that are checked in are judged by every test run."""
    verdicts: Counter[str] = Counter()
    for seed in range(1, RUNS + 1):
        directory = tmp_path / str(seed)
        directory.mkdir()
        verdicts[recordings.same(directory, seed).ratio().verdict] += 1
    print(f"ext4:relatime against ext4 in {RUNS} runs: {dict(verdicts)}")
    assert verdicts["tie"] + verdicts["undecided"] >= 0.95 * RUNS
