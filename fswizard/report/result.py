"""A result file like any other, to share: for reports and comparisons elsewhere."""

from __future__ import annotations

from dataclasses import replace

from fswizard.model.analysis import Findings
from fswizard.model.result_file import encoded, lines


def render(findings: Findings) -> str:
    """Without the rates of each second, which are most of a file."""
    result = replace(findings.result, throughput_series=())
    return b"".join(map(encoded, lines(result, findings.analysis, findings.answer))).decode()
