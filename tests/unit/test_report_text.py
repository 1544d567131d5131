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
from fswizard.model.result import Doubt, Sample
from fswizard.report import FORMATS, content, render
from fswizard.report.blocks import ratio_cell
from fswizard.report.subject import attempt_command
from fswizard.report.text import WIDTH
from fswizard.sharing import export
from tests.builders import make_drive, make_plan, make_result
from tests.unit.report_findings import FAILURE, make_findings, renamed


def whole(findings: Findings, name: str = "text") -> str:
    return render(findings, name, full=True)


def flat(text: str) -> str:
    return " ".join(text.split())


def test_every_fact_is_there_and_nothing_that_identifies_the_machine_leaves_it() -> None:
    findings = make_findings()
    facts = dict(content.facts(findings).rows)
    assert {"Disk", "Serial", "Recording", "Measured", "Rounds", "System", "Tools"} <= facts.keys()
    assert [value for value in facts.values() if flat(value) not in flat(whole(findings))] == []
    assert "Serial" not in str(export(findings.result, "text", full=True))


def test_a_ratio_has_its_interval_and_mark() -> None:
    rows = {title: cells for title, *cells in content.ratios(make_findings()).table.rows}
    assert rows["Overall"] == ["", "1.11 (1.09–1.13) ▲", "0.92 (0.91–0.94) ▼", "failed ✗", ""]
    assert rows["Large-files (weight 2)"][2:] == ["1.02 (1.01–1.04) ═", "failed ✗", "98%"]
    assert [ratio_cell(None), ratio_cell(Ratio("xfs", "ext4", "", 1.2))] == ["–", "1.20 ○"]


@pytest.mark.parametrize("name", ["", "zzz"])
def test_a_failure_and_a_stall_of_no_candidate_break_no_report(name: str) -> None:
    findings = make_findings()
    assert list(content.worst_stalls(findings)) == ["xfs 0.3 s", "ext4 0.6 s"]
    stall = Sample(1, name, "random-append", "worst_latency", 3.0, "s", "lower")
    result = replace(findings.result, failures=(replace(FAILURE, candidate=name),), samples=(stall,))
    assert all(render(conclude(result), form) for form in FORMATS)
    assert list(content.worst_stalls(conclude(result))) == []


NAMES = st.text(st.characters(min_codepoint=32, max_codepoint=0x2FFF, exclude_categories=("Cs",)), min_size=1)


@settings(deadline=None, max_examples=50)
@given(NAMES)
@example("x" * 8 + "\xa0")
def test_only_commands_are_wider_than_80_columns_whatever_the_names(name: str) -> None:
    findings = renamed(make_findings(), {"xfs": name * 9, "Large-files": (name * 9)[:60]})
    plan = replace(findings.result.plan, drive=make_drive(model=name * 9, serial=""))
    findings = replace(findings, result=replace(findings.result, plan=plan))
    lines = whole(findings).partition("Commands of the run")[0].splitlines()
    assert max(map(cell_len, lines)) <= WIDTH


def test_the_command_to_repeat_a_run_names_nothing_of_this_machine() -> None:
    plan = make_plan(("ext4", "xfs:noatime"), seed=7, needs=("checksums",), target=Target("image", "/srv/a b", 3 << 30))
    words = ["fswizard", "run", "quick", "--candidates", "ext4; xfs:noatime"]
    assert shlex.split(attempt_command(plan)) == words
    disks = Target("device", "/dev/a", 8 << 40, others=(Member("/dev/b", 8 << 40),))
    command = attempt_command(replace(plan, target=disks))
    assert shlex.split(command) == [*words, "--target", "devices:DEVICE-1,DEVICE-2"]
    assert attempt_command(replace(plan, recipe=replace(plan.recipe, source="mine.toml"))) == ""


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
    plan = make_plan(target=Target("device", "/dev/sdb", 8 << 40))
    facts = dict(content.facts(conclude(make_result(plan=plan, **fields))).rows)
    assert facts["Measured"].endswith(", left wiped") == wiped
