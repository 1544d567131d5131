"""A plan takes what the latest run of its tests took on the same disk, where there is one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from fswizard import results
from fswizard.disks.choice import TargetChoice
from fswizard.engines.fio import FioJob
from fswizard.filesystems import parse_candidates
from fswizard.model.drive import Drive
from fswizard.model.estimates import as_before
from fswizard.model.events import RunStarted
from fswizard.model.plan import Plan
from fswizard.model.recipe import Recipe
from fswizard.model.result import Result
from fswizard.results import Entry, ResultWriter, all_results, new_path
from fswizard.session import Choices, make_plan
from tests.builders import make_drive, make_result
from tests.recording import recorded

pytestmark = pytest.mark.usefixtures("state", "everything_is_installed")

DISK = make_drive(kind="ssd", model="FAST SSD", serial="F1", rotational=False)
TIMED = FioJob("randwrite", 4096, 1 << 30, seconds=4, depth=32)
NAMES = "ext4; xfs; btrfs:noatime"


def kept(name: str, drive: Drive | None = DISK, started: str = "2026-01-02T03:04:05Z") -> Result:
    """The result of a recorded run, in the history, as if it had been on that disk at that time."""
    begun, *further = recorded(name)
    assert isinstance(begun, RunStarted)
    plan, environment = replace(begun.plan, drive=drive), replace(begun.environment, started=started)
    path = new_path(plan)
    with closing(ResultWriter(path)) as writer:
        for event in (replace(begun, plan=plan, environment=environment), *further):
            writer.write(event)
    return results.load(path)


def plan(directory: Path, recipe: Recipe, names: str = NAMES, history: Sequence[Entry] | None = None) -> Plan:
    choices = Choices(
        recipe, parse_candidates(names), target=TargetChoice("image", str(directory), 4 << 30), drive=DISK, seed=1
    )
    return make_plan(choices, all_results() if history is None else history)


def test_the_same_run_takes_what_it_took_before_and_other_tests_what_they_usually_take(tmp_path: Path) -> None:
    came = kept("xfs-searching")
    made = plan(tmp_path, came.plan.recipe)
    trials = len(came.trials)
    assert made.preparation_s + trials * made.seconds_per_trial == pytest.approx(came.elapsed_s, rel=0.01)
    assert made.writes_bytes_per_trial * trials == pytest.approx(came.counted_bytes, rel=0.01)
    assert made.measured_on == came.environment.started[:10]
    reweighed = came.plan.recipe.weighed({came.plan.recipe.workloads[0].name: 7.0})
    for other in (replace(came.plan.recipe, name="other"), reweighed):
        assert plan(tmp_path, other) == plan(tmp_path, other, history=())


def test_a_run_that_ended_in_its_first_trial_says_nothing() -> None:
    result = make_result()
    assert as_before(result.plan, result) == result.plan


@pytest.mark.parametrize("drive", [replace(DISK, serial="another"), replace(DISK, model="", serial=""), None])
def test_another_disk_says_nothing(tmp_path: Path, drive: Drive | None) -> None:
    recipe = kept("xfs-searching", drive).plan.recipe
    assert plan(tmp_path, recipe) == plan(tmp_path, recipe, history=())


@pytest.mark.parametrize("damage", [lambda lines: (*lines[:9], b"{damaged}\n", *lines[9:]), lambda lines: lines[:1]])
def test_what_is_damaged_is_passed_over_for_what_is_older(
    tmp_path: Path, damage: Callable[[list[bytes]], Sequence[bytes]]
) -> None:
    recipe = kept("xfs-searching").plan.recipe
    kept("xfs-searching", started="2026-02-03T04:05:06Z")
    newest, _ = all_results()
    lines = newest.path.read_bytes().splitlines(keepends=True)
    newest.path.write_bytes(b"".join(damage(lines)))
    assert plan(tmp_path, recipe).measured_on == "2026-01-02"
    newest.path.write_bytes(b"".join(lines))
    assert plan(tmp_path, recipe).measured_on == "2026-02-03"
