"""One line tells what a run takes: in the wizard, in `plan`, and in `run`, where each round corrects it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from fswizard.errors import UsageError
from fswizard.model.estimates import expected, outlook
from fswizard.model.events import RoundFinished, SampleTaken, Step, StepStarted
from fswizard.model.plan import Plan
from fswizard.model.result import Sample
from fswizard.model.run_state import RunState
from fswizard.report.plan import plan_facts
from fswizard.report.writes import budget_text, limits_text
from fswizard.session.resuming import with_limits
from fswizard.tui.planning import draft, make_plan
from tests.builders import make_result
from tests.fakes.desktop import at_the_desktop
from tests.fakes.wizard import ARCHIVE, NEW, SSD, chosen

GB = 10**9


@pytest.fixture(scope="module")
def plan() -> Plan:
    """Three candidates on an SSD of 2 TB, each trial 10 s and 1 GB; an image of 4 GB takes 10 s."""
    with at_the_desktop():
        made = make_plan(chosen(drive=SSD, candidates=("ext4", "xfs", "btrfs")))
    target = replace(made.target, kind="directory", others=())
    drive = replace(SSD, written_bytes=None, life_used_percent=None)
    return replace(
        made, target=target, drive=drive, time_limit_s=180.0, preparation_s=10.0, seconds_per_trial=10.0,
        writes_bytes_per_trial=GB, write_budget_bytes=None, minimum_rounds=3, looks_first=False,
    )  # fmt: skip


def test_the_line_spans_what_is_sure_to_come_and_what_the_limits_allow(plan: Plan) -> None:
    assert budget_text(plan) == "2–3 min · writes about 9–15 GB, up to 0.004 % of this SSD's life"
    assert limits_text(replace(plan, write_budget_bytes=10 * GB)).endswith("or once 10.0 GB are written")
    exact = replace(plan, maximum_rounds=3)
    assert budget_text(replace(exact, drive=ARCHIVE)) == "2–3 min · writes about 9 GB"
    assert expected(replace(plan, write_budget_bytes=6 * GB)).most_bytes == pytest.approx(6 * GB), "workloads end early"


@pytest.mark.parametrize(
    ("elapsed_s", "time"),
    [(100.0, "2–3 min"), (101.0, "up to 3 min"), (181.0, "longer than planned")],
)
def test_a_time_that_has_passed_is_not_named(plan: Plan, elapsed_s: float, time: str) -> None:
    assert budget_text(plan, elapsed_s=elapsed_s).startswith(f"{time} · writes about 9–15 GB")


def test_a_resumed_run_and_its_limits_count_from_where_it_is_resumed(plan: Plan) -> None:
    earlier = make_result(plan=plan, finished_rounds=4, survivors=("ext4", "xfs"), discarded_rounds=(2,))
    left = RunState.of(plan, earlier).outlook
    assert (left.least_s, left.least_bytes) == (90, 2 * GB), "a round at least, of the survivors"
    assert (left.most_s, left.most_bytes) == (180, 16 * GB), "as the time allows; no wider than twice"
    limited = replace(plan, maximum_rounds=5)
    assert expected(limited, earlier).most_s == 10 + 2 * 20, "three rounds were whole and count"
    earlier = make_result(plan=plan, finished_rounds=4, survivors=("ext4", "xfs"))
    assert with_limits(plan, earlier, None, None).time_limit_s == 180.0
    slow = with_limits(replace(plan, seconds_per_trial=100.0), earlier, None, None)
    assert slow.time_limit_s == 10 + 1.5 * 2 * 100, "a round takes longer than all was to take"
    assert with_limits(plan, earlier, 60.0, 5e9).write_budget_bytes == 5 * GB
    with pytest.raises(UsageError, match="about 30 s"):
        with_limits(plan, earlier, 20.0, None)
    with pytest.raises(UsageError, match=r"writes about 2\.00 GB"):
        with_limits(plan, earlier, None, 1e9)


def test_a_round_corrects_it(plan: Plan) -> None:
    state = before = RunState.of(plan)
    state = state.after(StepStarted(10.0, Step(1, "prepare", "")))
    for number, name in enumerate(("ext4", "xfs", "btrfs")):
        state = state.after(StepStarted(20.0 + number * 20, Step(number, "workload", "", 1, name)))
        state = state.after(SampleTaken(30.0, Sample(1, name, "", "trial_written", 2.0 * GB, "B", "lower")))
    assert state.outlook == before.outlook
    state = state.after(RoundFinished(80.0, 1, ("ext4", "xfs")))
    assert state.outlook == outlook(plan, 1, elapsed_s=80.0, written_bytes=6 * GB, round_s=40.0, round_bytes=4 * GB)
    assert state.outlook.least_s == 80 + 2 * 2 * 20


DISK = {"drive": NEW, "devices": (NEW.stable_name,), "device_bytes": NEW.size_bytes, "candidates": ("ext4",)}


@pytest.mark.parametrize("changes", [DISK, {}])
def test_wizard_plan_and_run_have_the_same_line(changes: dict[str, Any]) -> None:
    with at_the_desktop():
        choices = chosen(**{"drive": SSD, **changes})
        drawn, made = draft(choices), make_plan(choices)
    assert drawn.writes_bytes == made.writes_bytes > 0
    assert budget_text(drawn) == budget_text(made) == budget_text(made, RunState.of(made).outlook)
    assert dict(plan_facts(made).rows)["Takes"] == budget_text(drawn)
