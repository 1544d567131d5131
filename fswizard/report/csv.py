"""Comma-separated values: one row for each figure, and one for each failure, as a spreadsheet reads them."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator

from fswizard.model.analysis import Findings
from fswizard.report.content import set_up

COLUMNS = ("round", "candidate", "workload", "metric", "value", "unit", "better", "primary", "status", "note")
"""`candidate` is empty for the bare device; `status` is ok, failed or discarded;
the value of a failure is empty and its note says what happened. The first rows, whose status is `answer`, have the
recommendation in their notes."""


def render(findings: Findings) -> str:
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows(_rows(findings))
    return file.getvalue()


def _rows(findings: Findings) -> Iterator[tuple[object, ...]]:
    result, answer = findings.result, findings.answer
    for words in filter(None, (answer.verdict, answer.certainty, *answer.lines, *set_up(findings).commands)):
        yield ("", "", "", "", "", "", "", "", "answer", _no_formula(words))
    for s in result.samples:
        status = "discarded" if s.round in result.discarded_rounds else "ok"
        primary = "yes" if s.primary else "no"
        names = map(_no_formula, (s.candidate, s.workload, s.metric))
        yield (s.round, *names, repr(s.value), _no_formula(s.unit), s.better, primary, status, "")
    for failure in result.failures:
        names = map(_no_formula, (failure.candidate, failure.workload))
        note = _no_formula(f"{failure.kind}: {failure.text}")
        yield (failure.round, *names, "", "", "", "", "", "failed", note)


def _no_formula(text: str) -> str:
    """Spreadsheets carry out a cell that begins like a formula; a quotation mark in front keeps it text."""
    return f"'{text}" if text.startswith(("=", "+", "-", "@")) else text
