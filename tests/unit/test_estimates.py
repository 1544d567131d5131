"""Durations that are expected are those of runs that happened."""

from __future__ import annotations

import statistics
from collections import defaultdict

import pytest

from fswizard import recipes
from fswizard.model.estimates import filling_s, on_disk_s, trial_overhead_s
from fswizard.model.events import RoundFinished, RunStarted, StepStarted
from tests.recording import recorded

KIND = "unknown"
"""The recorded machine does not tell what disk it has."""


def within(expected: float, took: float, factor: float) -> bool:
    return took / factor < expected < took * factor


def test_a_trial_of_the_quick_look_takes_as_long_as_expected() -> None:
    taken: defaultdict[str, list[float]] = defaultdict(list)
    rounds: list[float] = []
    candidates, before = 0, None
    for event in recorded("quick"):
        if isinstance(event, RunStarted):
            candidates = len(event.plan.candidates)
        elif isinstance(event, StepStarted):
            if before is not None and before.step.stage == "workload":
                taken[before.step.workload].append(event.at_s - before.at_s)
            if not rounds and event.step.round:
                rounds.append(event.at_s)
            before = event
        elif isinstance(event, RoundFinished) and event.round <= 3:
            rounds.append(event.at_s)
    quick = recipes.find("quick")
    for workload in quick.workloads:
        took = statistics.median(taken[workload.name])
        assert within(on_disk_s(workload.job, workload.seconds, KIND) + 0.2, took + 0.2, 1.5), workload.name
    trial_s = trial_overhead_s(KIND) + sum(workload.seconds for workload in quick.workloads)
    assert within(trial_s, (rounds[3] - rounds[0]) / 3 / candidates, 1.5)


@pytest.mark.parametrize("name", ["quick", "desktop-ssd", "archive-disk"])
def test_a_hard_disk_takes_longer_for_what_has_no_time_of_its_own(name: str) -> None:
    for workload in recipes.find(name).workloads:
        on_ssd, on_hdd = (on_disk_s(workload.job, workload.seconds, kind) for kind in ("ssd", "hdd"))
        assert on_ssd == workload.seconds
        assert on_ssd < on_hdd <= 3 * on_ssd
    assert filling_s(1 << 30, "hdd") > filling_s(1 << 30, "ssd") > filling_s(1 << 30, "nvme")
