"""The table of faults, with how each was caused and what came of it: printed at the end of a test run."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any

import pytest

ROW = "fault"
"""What a report calls its row, by which it gets from whoever ran the test to whoever prints the table."""


def fault(kind: str, what: str, how: str) -> Callable[[Any], Any]:
    """Marks a test as a row of the table."""
    return pytest.mark.fault(kind, what, how)


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "fault(kind, what, how): a row of the table of faults")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    marker = item.get_closest_marker("fault")
    if marker is not None and (report.when == "call" or (report.when == "setup" and not report.passed)):
        report.user_properties.append((ROW, (*marker.args, report.outcome)))
    return report


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    reports = [report for found in terminalreporter.stats.values() for report in found]
    properties = [told for report in reports for told in getattr(report, "user_properties", ())]
    rows = [row for name, row in properties if name == ROW]
    if not rows:
        return
    terminalreporter.section("faults that were caused")
    merged: dict[tuple[str, str, str], list[str]] = {}
    for kind, what, how, outcome in rows:
        merged.setdefault((kind, what, how), []).append(outcome)
    widths = [max(len(row[column]) for row in merged) for column in range(3)]
    for row, outcomes in sorted(merged.items()):
        cells = "  ".join(cell.ljust(width) for cell, width in zip(row, widths))
        told = ", ".join(f"{outcomes.count(outcome)} {outcome}" for outcome in dict.fromkeys(outcomes))
        terminalreporter.write_line(f"{cells}  {told}")
