"""A table of figures in CSV, with a line for each run of a workload on a candidate."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterator, Sequence

from fswizard.importers.parsed_run import ELSEWHERE, Fault, Figure, ParsedRun, refuse, slug, workload
from fswizard.model.metrics import DURATION, OPERATION_RATE, THROUGHPUT
from fswizard.model.recipe import Workload
from fswizard.model.text import safe

COLUMNS = ("candidate", "workload", "value", "unit")
UNITS = {
    "B/s": (THROUGHPUT, 1.0),
    "kB/s": (THROUGHPUT, 1e3),
    "MB/s": (THROUGHPUT, 1e6),
    "GB/s": (THROUGHPUT, 1e9),
    "1/s": (OPERATION_RATE, 1.0),
    "s": (DURATION, 1.0),
    "ms": (DURATION, 1e-3),
}
"""Unit to metric, and the factor that turns a value into the metric's unit."""
LARGEST = 1e18


def recognises(text: str) -> bool:
    """Whether the first line has the first two columns."""
    return {*COLUMNS[:2]} <= {*_cells(text.partition("\n")[0])}


def read_each(text: str, where: str) -> Iterator[ParsedRun]:
    """A run for each line of a table, failed if it has no value. Raises UsageError with line and reason."""
    head, *lines = text.splitlines()
    columns = _cells(head)
    if sorted(columns) != sorted(COLUMNS):
        raise refuse(where, 1, f"the columns must be {','.join(COLUMNS)}")
    workloads: dict[str, Workload] = {}
    values = 0
    for number, line in enumerate(lines, 2):
        if not line.strip(" ,"):
            continue
        cells = _cells(line)
        if len(cells) != len(COLUMNS):
            raise refuse(where, number, f"it has {len(cells)} columns instead of {len(COLUMNS)}")
        candidate, title, value, unit = (cells[columns.index(column)] for column in COLUMNS)
        if not candidate or not title:
            raise refuse(where, number, "candidate and workload must not be empty")
        if unit not in UNITS:
            raise refuse(where, number, f"the unit must be one of {', '.join(UNITS)}, not {unit[:20]!r}")
        metric, factor = UNITS[unit]
        made = workloads.setdefault(slug(title), workload(slug(title), title, metric, ELSEWHERE))
        if made.title != safe(title):
            raise refuse(where, number, f"the workload needs a name that differs more from {made.title!r}")
        if made.metric != metric:
            raise refuse(where, number, f"{unit} cannot be compared with the workload's other values")
        if value:
            values += 1
            figure = Figure(made.name, metric, _number(value, where, number) * factor, candidate)
            yield ParsedRun("CSV table", (made,), (figure,))
        else:
            fault = Fault(made.name, "program", "The table has no value.", candidate)
            yield ParsedRun("CSV table", (made,), faults=(fault,))
    if not values:
        raise refuse(where, 1, "the table has no values")


def _cells(line: str) -> Sequence[str]:
    try:
        return [cell.strip() for cell in next(csv.reader([line], strict=True), [])]
    except csv.Error:
        return []


def _number(text: str, where: str, line: int) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 < value < LARGEST:
        raise refuse(where, line, f"the value must be a number above 0 with a decimal point, not {text[:20]!r}")
    return value
