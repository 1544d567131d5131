"""Nobody wins against himself: the promise behind every recommendation, kept on real disks."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from fswizard.bench.session import Session
from fswizard.stats import judge
from tests.loop.runs import short_plan, watch

pytestmark = [pytest.mark.root, pytest.mark.loop, pytest.mark.fio, pytest.mark.slow]

RUNS = 20


async def test_twenty_runs_of_the_same_filesystem_have_no_winner(tmp_path: Path) -> None:
    """`relatime` is the kernel's default, so that `ext4:relatime` is `ext4`."""
    verdicts: Counter[str] = Counter()
    for seed in range(1, RUNS + 1):
        directory = tmp_path / str(seed)
        directory.mkdir()
        plan = short_plan(directory, "ext4; ext4:relatime", minimum_rounds=3, maximum_rounds=4, seed=seed)
        session = Session(plan, directory / "result.jsonl", patience_s=0)
        await watch(session)
        verdicts.update(ratio.verdict for ratio in judge(session.result).overall if ratio.candidate == "ext4:relatime")
    print(f"ext4:relatime against ext4 in {RUNS} runs: {dict(verdicts)}")
    assert verdicts["tie"] + verdicts["undecided"] == RUNS
