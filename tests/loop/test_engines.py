"""One file and a recipe are enough for an engine: the one that is defined here is known to nobody else."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import pytest

from fswizard import engines, recipes, report, results
from fswizard.advice import conclude
from fswizard.engines.shared.context import MIB
from fswizard.engines.shared.engine import Engine, Files, Timed, duration_s
from fswizard.engines.shared.programs import Done, Work
from fswizard.model.keys import within
from fswizard.model.metrics import DURATION, WORST_STALL, Metric
from fswizard.model.recipe import Job, Program
from fswizard.progress.workload_events import Measured
from fswizard.session.session import Session
from tests.loop.runs import short_plan, watch

COUNTED = Metric("files_counted", "1", "higher")
RECIPE = """
schema = 1
name = "many-files"
title = "Many files"
why = "For tests."
minutes = 3
image = "64M"
candidates = ["ext4", "ext2"]

[[workload]]
name = "count"
title = "Counting files"
engine = "counting"
metric = "files_counted"
files = 40
each = "4K"
"""


@dataclass(frozen=True, slots=True)
class CountingJob(Engine):
    """Writes files and counts them."""

    engine = "counting"
    metrics = (COUNTED, DURATION, WORST_STALL)
    programs = (Program("sh", "counting files", packages={"": "dash"}),)
    files: Annotated[int, within(1, 1000)]
    each_bytes: Annotated[int, within(1, MIB)]
    order: Literal["up", "down"] = "up"

    def timed(self, directory: str, scratch: str, seed: str) -> Timed:
        path = f"{directory}/counted"
        script = (
            f'mkdir "$0"; cd "$0"; for n in $(seq {self.files}); do head -c {self.each_bytes} /dev/zero >$n; done; ls'
        )
        total_bytes = self.files * self.each_bytes
        work = Work(("sh", "-c", script, path), "counting files", self.files / 100, total_bytes)
        return Timed((work,), makes=Files(path, total_bytes, (work,)))

    def figures(self, done: Sequence[Done]) -> Iterable[Measured]:
        yield Measured(COUNTED, len(done[0].finished.stdout.split()))
        yield Measured(DURATION, duration_s(done))


@pytest.fixture(autouse=True)
def _registered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(Job.kinds, CountingJob.engine, CountingJob)


def test_every_file_of_the_directory_is_an_engine_of_its_name() -> None:
    files = {path.stem for path in Path(engines.__file__).parent.glob("*.py")} - {"__init__"}
    assert files | {CountingJob.engine} == set(Job.kinds)
    assert all(kind.engine == name and kind.metrics for name, kind in Job.kinds.items())


@pytest.mark.root
@pytest.mark.loop
def test_it_runs_on_an_image_and_its_figure_is_in_the_report(tmp_path: Path) -> None:
    recipe = recipes.parse(RECIPE, "many-files.toml")
    plan = short_plan(tmp_path, "ext4; ext2", recipe, minimum_rounds=1, maximum_rounds=1)
    assert any(command.argv[0] == "sh" and "MOUNT/counted" in command.argv for command in plan.commands)
    asyncio.run(watch(Session(plan, tmp_path / "result.jsonl", idle_wait_s=0)))
    result = results.load(tmp_path / "result.jsonl")
    counted = [s.value for s in result.samples if s.metric == COUNTED.name and s.primary and s.candidate]
    assert counted == [40, 40]
    assert COUNTED.name in report.render(conclude(result), "csv")
