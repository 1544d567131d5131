"""A machine with three results of the same disk: by the last one, copying a video became a quarter faster."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from fswizard.model.result import Result
from fswizard.results import Entry
from tests.fakes.wizard import FakeMachine, entry, finished_result

FASTER = 1.25
FASTER_WORKLOAD = "copy-video"


class TwoRuns(FakeMachine):
    def history(self) -> tuple[Entry, ...]:
        return (
            entry("later", "2025-12-31T18:20:00Z"),
            entry("earlier", "2025-06-30T09:41:00Z"),
            entry("first", "2024-12-24T20:00:00Z"),
        )

    def load(self, path: Path) -> Result:
        result = finished_result(self)
        started = next(each.header.started for each in self.history() if each.path == path)
        result = replace(result, environment=replace(result.environment, started=started))
        if path.stem != "later":
            return result
        samples = tuple(
            replace(sample, value=sample.value / FASTER) if sample.workload == FASTER_WORKLOAD else sample
            for sample in result.samples
        )
        return replace(result, samples=samples, environment=replace(result.environment, kernel="6.12.1-1"))
