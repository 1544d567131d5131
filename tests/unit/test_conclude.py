from __future__ import annotations

from dataclasses import replace

import pytest

from fswizard.advice import conclude
from fswizard.errors import UsageError
from fswizard.model.codec import from_json, to_json
from fswizard.model.judgement import Findings
from fswizard.model.metrics import DURATION
from fswizard.model.result import Doubt, Result
from tests.builders import make_plan, make_result, make_samples, make_workload


def two_workloads() -> Result:
    workloads = [make_workload("write"), make_workload("delete", DURATION)]
    write = {"ext4": (100.0,) * 3, "xfs": (200.0,) * 3}
    delete = {"ext4": (10.0,) * 3, "xfs": (80.0,) * 3}
    return make_result(
        plan=make_plan(workloads=workloads), samples=make_samples(write) + make_samples(delete, "delete", DURATION)
    )


def test_other_weights_rank_anew_without_measuring() -> None:
    assert conclude(two_workloads()).advice.choice == ("ext4",)
    weighed = conclude(two_workloads(), weights={"delete": 0})
    assert weighed.advice.choice == ("xfs",)
    assert weighed.result.plan.recipe.workload("delete").weight == 0
    assert weighed.result.plan.recipe.workload("write").weight == 1


def test_other_needs_rank_anew() -> None:
    result = make_result({"ext4": (200.0,) * 3, "btrfs": (100.0,) * 3})
    assert conclude(result).advice.choice == ("ext4",)
    assert conclude(result, needs=("checksums",)).advice.choice == ("btrfs",)
    needy = replace(result, plan=replace(result.plan, needs=("checksums",)))
    assert conclude(needy, needs=()).advice.choice == ("ext4",)


@pytest.mark.parametrize("weight", [-1.0, float("nan"), float("inf")])
def test_senseless_weights_are_refused(weight: float) -> None:
    with pytest.raises(UsageError, match="The weight of write"):
        conclude(make_result(), weights={"write": weight})


def test_unknown_workloads_and_needs_are_refused_with_what_there_is() -> None:
    with pytest.raises(UsageError, match="no workload wirte") as refused:
        conclude(make_result(), weights={"wirte": 1.0})
    assert refused.value.hint == "There are: write."
    with pytest.raises(UsageError, match="say nothing about teleport") as refused:
        conclude(make_result(), needs=("teleport",))
    assert refused.value.hint == "Known: checksums."


def test_weights_of_nothing_are_refused() -> None:
    with pytest.raises(UsageError, match="No workload has any weight"):
        conclude(make_result(), weights={"write": 0})


def test_doubts_of_the_run_and_of_the_figures_stand_together_once() -> None:
    result = make_result(
        {"ext4": (100.0,), "xfs": (110.0,)},
        doubts=(Doubt("on-battery", "Battery."), Doubt("few-rounds", "As the run said.")),
    )
    assert [doubt.code for doubt in conclude(result).doubts] == ["on-battery", "few-rounds"]


def test_findings_survive_the_way_to_json_and_back() -> None:
    findings = conclude(two_workloads())
    assert from_json(Findings, to_json(findings)) == findings
    assert {summary.metric for summary in findings.summaries} == {"throughput", "duration"}
