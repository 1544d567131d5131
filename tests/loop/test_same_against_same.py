"""Nobody wins against himself: the promise behind every recommendation, kept on real disks."""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from fswizard.engines.fio import FioJob
from fswizard.model.analysis import Verdict
from fswizard.stats import analyse
from tests.loop.runs import COPY_TREE, RANDOM_WRITE, SHORT, short_session, watch

pytestmark = [pytest.mark.root, pytest.mark.loop, pytest.mark.fio, pytest.mark.slow]

RUNS = 20
LONGER = FioJob("randwrite", 4096, 8 << 20, seconds=0.3, depth=4)
WORKLOADS = (replace(RANDOM_WRITE, job=LONGER, seconds=0.7, writes_bytes=64 << 20), COPY_TREE)


def of_itself(directory: Path, seed: int) -> Verdict:
    """What a run of four rounds says of ext4 under another name: `relatime` is the kernel's default."""
    session = short_session(directory, "ext4; ext4:relatime", replace(SHORT, workloads=WORKLOADS), rounds=4, seed=seed)
    asyncio.run(watch(session))
    if session.error is not None:
        raise session.error
    ratio = analyse(session.result).of("ext4:relatime")
    assert ratio is not None
    return ratio.verdict


def test_of_twenty_runs_of_the_same_filesystem_two_at_most_have_a_winner(tmp_path: Path) -> None:
    """A quarter of an hour. A hundred recorded ones are judged by every test run."""
    verdicts: Counter[Verdict] = Counter()
    for seed in range(1, RUNS + 1):
        directory = tmp_path / str(seed)
        directory.mkdir()
        verdicts[of_itself(directory, seed)] += 1
    assert verdicts["alike"] + verdicts["open"] >= RUNS - 2, verdicts
