"""Three results of the same disk: by the last one, copying a video became a quarter faster."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from fswizard.model.result import Result
from tests.fakes.wizard import entry, finished_result, keep_results

FASTER = 1.25
FASTER_WORKLOAD = "copy-video"
STARTED = {
    "later": "2025-12-31T18:20:00Z",
    "earlier": "2025-06-30T09:41:00Z",
    "first": "2024-12-24T20:00:00Z",
}


def keep_three(patch: pytest.MonkeyPatch) -> None:
    keep_results(patch, *(entry(name, started) for name, started in STARTED.items()), load=_load)


def _load(path: Path) -> Result:
    result = finished_result()
    result = replace(result, environment=replace(result.environment, started=STARTED[path.stem]))
    if path.stem != "later":
        return result
    samples = tuple(
        replace(sample, value=sample.value / FASTER) if sample.workload == FASTER_WORKLOAD else sample
        for sample in result.samples
    )
    return replace(result, samples=samples, environment=replace(result.environment, kernel="6.12.1-1"))
