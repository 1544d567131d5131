"""Age on real filesystems: files and free space in pieces, the same before each round; and what is copied for that."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from fswizard.disks import image
from fswizard.disks.choice import TargetChoice
from fswizard.disks.image import PreparedImage
from fswizard.engines import WorkloadFailed, age
from fswizard.engines.shared import ageing_worker
from fswizard.filesystems import parse_candidates
from fswizard.model.metrics import THROUGHPUT, USED
from fswizard.session import Choices, make_plan
from tests.loop.devices import Bench, run
from tests.loop.runs import WRITES, session_in, watch

pytestmark = [pytest.mark.root, pytest.mark.loop]

SIZE = 256 << 20


def extents(path: Path) -> int:
    subprocess.run(["sync", "--file-system", path], check=True)
    found = re.search(r"(\d+) extents? found", run("filefrag", str(path)))
    assert found
    return int(found[1])


def test_what_is_written_afterwards_lies_in_pieces(bench: Bench) -> None:
    mounted = bench.mount(bench.made("mkfs.ext4", "-q", "-F", size_bytes=SIZE).path)
    content = bytes(32 << 20)
    (mounted / "new").write_bytes(content)
    new = extents(mounted / "new")
    (mounted / "new").unlink()
    command = [sys.executable, ageing_worker.__file__, mounted / "years", "1", str(3 * SIZE), str(64 << 20)]
    lines = subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout.splitlines()
    assert json.loads(lines[-1])["fraction"] == 1
    assert int(run("stat", "--file-system", "--format=%a", str(mounted))) * 4096 >= 64 << 20
    (mounted / "old").write_bytes(content)
    assert extents(mounted / "old") >= 4 * new


@pytest.mark.fio
async def test_each_round_begins_with_the_same_aged_filesystem_and_a_new_one_beside_it(tmp_path: Path) -> None:
    target = TargetChoice("image", str(tmp_path), 128 << 20)
    plan = make_plan(Choices(WRITES, parse_candidates("ext4; ext4:aged"), target=target, rounds=(2, 2), seed=1))
    session = session_in(tmp_path, plan)
    await watch(session)
    used = {name: [s.value for s in session.result.samples if (s.candidate, s.metric) == (name, USED.name)]
            for name in ("ext4", "ext4:aged")}  # fmt: skip
    assert [len(values) for values in used.values()] == [2 * len(plan.recipe.workloads)] * 2
    assert min(used["ext4:aged"]) > 2 * max(used["ext4"])
    first, second = used["ext4:aged"][: len(plan.recipe.workloads)], used["ext4:aged"][len(plan.recipe.workloads) :]
    assert first == pytest.approx(second, rel=0.02)
    assert {s.candidate for s in session.result.samples if s.metric == THROUGHPUT.name} >= set(used)
    assert not list(tmp_path.glob("fswizard-*"))


@pytest.mark.fio
async def test_one_that_can_not_be_aged_fails_and_the_others_are_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def full(context: PreparedImage, *rest: Any, **options: Any) -> None:
        if context.candidate.filesystem.name == "ext2":
            raise WorkloadFailed("ENOSPC", "ageing_worker failed: No space left on device.")
        await age(context, *rest, **options)

    monkeypatch.setattr(image, "age", full)
    target = TargetChoice("image", str(tmp_path), 128 << 20)
    names = parse_candidates("ext4:aged; ext2:aged")
    plan = make_plan(Choices(WRITES, names, target=target, rounds=(2, 2), seed=1))
    session = session_in(tmp_path, plan)
    await watch(session)
    (failure,) = session.result.failures
    assert (failure.candidate, failure.kind, failure.round) == ("ext2:aged", "ENOSPC", 1)
    assert failure.text.startswith("ext2 could not be aged")
    assert [trial.candidate for trial in session.result.trials if trial.round == 2] == ["ext4:aged"]
