"""What a run is likely to settle is told before it, where the same was measured on the same disk."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import pytest

from fswizard.cli.run import plan_text
from fswizard.model.plan import Plan
from fswizard.results import all_results, new_path, write_result
from fswizard.session import settles_text
from tests.builders import make_drive, make_plan, make_recipe, make_result, make_workload

pytestmark = pytest.mark.usefixtures("state")

DISK = make_drive()
PLAN = make_plan(("ext4", "xfs", "btrfs"), drive=DISK, time_limit_s=180.0, seconds_per_trial=10.0)


def measured(noise: float, plan: Plan = PLAN, started: str = "2026-01-02T03:04:05Z", rounds: int = 4) -> None:
    rng = random.Random(1)
    figures = {c.name: [100 * (1 + rng.gauss(0, noise)) for _ in range(rounds)] for c in plan.candidates}
    result = make_result(figures, plan=plan)
    write_result(new_path(plan), replace(result, environment=replace(result.environment, started=started)))


def least(text: str) -> int:
    words, _, rest = text.partition(" % or more, if figures vary as on 2026-")
    assert rest
    return int(words.removeprefix("differences of "))


def test_the_noise_of_the_last_time_tells_what_can_be_settled_in_the_time() -> None:
    measured(0.03)
    in_three_minutes, in_one = (settles_text(replace(PLAN, time_limit_s=s), all_results()) for s in (180.0, 90.0))
    assert in_three_minutes.endswith("2026-01-02")
    assert 5 < least(in_three_minutes) < least(in_one) < 30
    assert f"Settles     {in_three_minutes}\n" in plan_text(PLAN, in_three_minutes)


def test_the_latest_result_counts() -> None:
    measured(0.2)
    measured(0.001, started="2026-02-03T04:05:06Z")
    assert settles_text(PLAN, all_results()) == "differences of 5 % or more, if figures vary as on 2026-02-03"


@pytest.mark.parametrize(
    "other",
    [
        {"drive": make_drive(serial="another")},
        {"drive": None},
        {"recipe": make_recipe(name="everyday")},
        {"workloads": [make_workload(weight=2.0)]},
        {"target": replace(PLAN.target, kind="device")},
    ],
    ids=str,
)
def test_another_disk_or_other_work_says_nothing(other: dict[str, Any]) -> None:
    measured(0.03, make_plan(("ext4", "xfs", "btrfs"), **{"drive": DISK, **other}))
    assert settles_text(PLAN, all_results()) == ""


def test_one_round_or_a_damaged_file_says_nothing() -> None:
    measured(0.03, rounds=1)
    assert settles_text(PLAN, all_results()) == ""
    measured(0.03)
    path = all_results()[0].path
    path.write_bytes(path.read_bytes().splitlines(keepends=True)[0])
    assert settles_text(PLAN, all_results()[:1]) == ""


def test_without_an_earlier_result_the_plan_says_nothing() -> None:
    assert settles_text(PLAN, all_results()) == ""
    assert "Settles" not in plan_text(PLAN)
