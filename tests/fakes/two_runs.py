"""A machine with two results of the same disk, half a year apart: writing became a quarter faster."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

from fswizard.model.events import RunEnded
from fswizard.model.result import Result
from fswizard.results import Entry, Header
from fswizard.session.session import WHY_STOPPED
from tests.fakes.wizard import FakeMachine, finished_result, verdict

FASTER = 1.25
NAMES = ("ext4", "xfs", "btrfs", "ext4:noatime")


class TwoRuns(FakeMachine):
    def history(self) -> tuple[Entry, ...]:
        ending = RunEnded(540.0, "finished", WHY_STOPPED["one-left"], ("xfs",), 6, verdict(), "winner")
        header = Header(1, "2025-12-31T18:20:00Z", "archive-disk", "image", NAMES, "ST8000AS0002-1NA17Z")
        return tuple(
            Entry(Path(f"/results/{name}.jsonl"), replace(header, started=started), ending)
            for name, started in (
                ("later", header.started),
                ("earlier", "2025-06-30T09:41:00Z"),
                ("first", "2024-12-24T20:00:00Z"),
            )
        )

    def load(self, path: Path) -> Result:
        result = finished_result(self)
        started = next(entry.header.started for entry in self.history() if entry.path == path)
        result = replace(result, environment=replace(result.environment, started=started))
        if path.stem != "later":
            return result
        chance = random.Random(2)
        writing = result.plan.recipe.workloads[0].name
        samples = tuple(
            replace(s, value=s.value * chance.lognormvariate(0, 0.005) / (FASTER if s.workload == writing else 1.0))
            for s in result.samples
        )
        environment = replace(result.environment, kernel="6.12.1-1")
        return replace(result, samples=samples, environment=environment)
