"""The wizard and the report tell the same figures of the same result."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fswizard.model.judgement import Findings
from fswizard.model.metrics import WORST_LATENCY, WORST_STALL
from fswizard.report import render
from fswizard.report.presentation import present
from fswizard.tui import outcome
from tests.unit.report_findings import make_findings

SHARES = {"ext4": 0.66, "xfs": 0.51}


def row(text: str, title: str) -> str:
    """The line that begins with `title`, without it."""
    return next(line.strip().removeprefix(title) for line in text.splitlines() if line.strip().startswith(title))


def both(findings: Findings) -> tuple[str, str]:
    return outcome.by_workload(present(findings), 100).plain, render(findings, "text")


@pytest.mark.parametrize("metric", [WORST_LATENCY.name, WORST_STALL.name, f"append_{WORST_LATENCY.name}"])
def test_the_worst_stall_whatever_measured_it(metric: str) -> None:
    findings = make_findings()
    summaries = (replace(s, metric=metric) if s.metric == WORST_LATENCY.name else s for s in findings.summaries)
    for text in both(replace(findings, summaries=tuple(summaries))):
        assert row(text, "worst stall").split()[:4] == ["620", "ms", "310", "ms"]


def test_the_share_of_the_bare_device_is_that_of_the_first_choice() -> None:
    findings = make_findings()
    shared = (replace(s, of_bare_device=SHARES.get(s.candidate)) if s.primary else s for s in findings.summaries)
    findings = replace(findings, summaries=tuple(shared))
    assert findings.first == "xfs"
    for text in both(findings):
        assert "51%" in text
        assert "66%" not in text
