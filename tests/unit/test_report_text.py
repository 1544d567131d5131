"""What a report says, of whom, and that its text never gets too wide."""

from __future__ import annotations

import shlex
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from fswizard.advice import conclude
from fswizard.model.analysis import Findings, Ratio
from fswizard.model.plan import Member, Target
from fswizard.model.result import Doubt, Failure, Sample
from fswizard.report import FORMATS, content, render
from fswizard.report.blocks import ratio_cell
from fswizard.report.subject import attempt_command
from fswizard.report.text import WIDTH
from fswizard.sharing import export
from tests.builders import make_drive, make_plan, make_result
from tests.unit.report_findings import FAILURE, WORKLOADS, make_findings, renamed, with_result


def whole(findings: Findings, name: str = "text") -> str:
    return render(findings, name, full=True)


def flat(text: str) -> str:
    return " ".join(text.split())


TEXT = whole(make_findings())


def test_commands_and_every_fact_are_there() -> None:
    findings = make_findings()
    assert all(command in TEXT for command in content.set_up(findings).commands)
    facts = dict(content.facts(findings).rows)
    assert {"Disk", "Serial", "Recording", "Measured", "Rounds", "System", "Tools"} <= facts.keys()
    assert all(flat(value) in flat(TEXT) for value in facts.values())
    assert "Serial" not in str(export(findings.result, "text", full=True))


def test_a_ratio_has_its_interval_and_mark() -> None:
    rows = {title: cells for title, *cells in content.ratios(make_findings()).table.rows}
    assert rows["Overall"][1:3] == ["1.21 (1.15–1.28) ▲", "1.01 (0.96–1.06) ○"]
    assert rows["Large-files (weight 2)"][:2] == ["180 MB/s", "1.04 (1.00–1.08) ═"]
    assert rows["Delete-tree"][1] == "0.71 (0.68–0.74) ▼"
    assert rows["Overall"][-2] == "failed ✗"
    assert [row[-1] for row in rows.values()] == ["", "98%", "", ""]
    assert [ratio_cell(None), ratio_cell(Ratio("xfs", "ext4", "", 1.2))] == ["–", "1.20 ○"]


def test_stalls_and_failures_are_listed() -> None:
    assert list(content.worst_stalls(make_findings())) == ["xfs 0.3 s", "ext4 0.6 s"]
    assert flat(FAILURE.text).rstrip(".") in flat(TEXT) and FAILURE.kind in TEXT


@pytest.mark.parametrize("name", ["", "zzz"])
def test_a_failure_and_a_stall_of_no_candidate_break_no_report(name: str) -> None:
    result = make_result()
    work = result.plan.recipe.workloads[0].name
    stall = Sample(1, name, work, "worst_latency", 3.0, "s", "lower")
    failure = Failure(1, name, work, "EIO", "It broke.")
    findings = conclude(replace(result, failures=(failure,), samples=(*result.samples, stall)))
    assert "EIO" in whole(findings) and not list(content.worst_stalls(findings))
    assert all(render(findings, form) for form in FORMATS)


NAMES = st.text(st.characters(min_codepoint=32, max_codepoint=0x2FFF, exclude_categories=("Cs",)), min_size=1)


@settings(deadline=None, max_examples=50)
@given(NAMES)
@example("x" * 8 + "\xa0")
def test_only_commands_are_wider_than_80_columns_whatever_the_names(name: str) -> None:
    findings = renamed(make_findings(), {"xfs": name * 9, "Large-files": (name * 9)[:60]})
    findings = with_result(findings, plan={"drive": make_drive(model=name * 9, serial=""), "commands": ()})
    lines = whole(findings).partition("To repeat it")[0].splitlines()
    assert max(map(cell_len, lines)) <= WIDTH


def test_the_command_to_repeat_a_run_names_nothing_of_this_machine() -> None:
    plan = make_plan(("ext4", "xfs:noatime"), WORKLOADS, seed=7, needs=("checksums",))
    plan = replace(plan, target=Target("image", "/srv/a b", 3 << 30))
    words = ["fswizard", "run", "quick", "--candidates", "ext4; xfs:noatime"]
    assert shlex.split(attempt_command(plan)) == words
    disks = Target("device", "/dev/a", 8 << 40, others=(Member("/dev/b", 8 << 40),))
    command = attempt_command(replace(plan, recipe=replace(plan.recipe, image_bytes=2 << 30), target=disks))
    assert shlex.split(command) == [*words, "--target", "devices:DEVICE-1,DEVICE-2"]


@pytest.mark.parametrize(
    ("fields", "wiped"),
    [
        ({"outcome": "finished"}, True),
        ({"outcome": "failed", "doubts": (Doubt("not-wiped", "sdb could not be wiped at the end."),)}, False),
        ({"outcome": "killed"}, False),
    ],
    ids=["finished", "a pulled disk", "a killed run"],
)
def test_a_device_is_called_wiped_only_where_it_was(fields: dict[str, Any], wiped: bool) -> None:
    target = Target("device", "/dev/disk/by-id/ata-ST8000AS0002", 8 << 40)
    text = whole(conclude(make_result(plan=make_plan(target=target), **fields)))
    assert ("left wiped" in flat(text)) == wiped
