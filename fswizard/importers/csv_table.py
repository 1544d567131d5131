"""A table of figures in CSV, with a line for each run of a workload on a candidate."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterator, Sequence

from fswizard.errors import UsageError
from fswizard.importers.parsed_run import ELSEWHERE, Fault, Figure, ParsedRun, refuse, slug, workload
from fswizard.language import N_, _
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
    return {*COLUMNS[:2]} <= {*_header(text)}


def read_each(text: str, where: str) -> Iterator[ParsedRun]:
    """A run for each line of a table, failed if it has no value. Raises UsageError with line and reason."""
    columns = _header(text)
    if sorted(columns) != sorted(COLUMNS):
        raise refuse(where, 1, _("the columns must be {columns}", columns=",".join(COLUMNS)))
    rows = _rows(text, where)
    next(rows)
    workloads: dict[str, Workload] = {}
    values = 0
    for number, cells in rows:
        if not any(cells):
            continue
        if len(cells) != len(COLUMNS):
            raise refuse(
                where, number, _("it has {number} columns instead of {right}", number=len(cells), right=len(COLUMNS))
            )
        candidate, title, value, unit = (cells[columns.index(column)] for column in COLUMNS)
        if not candidate or not title:
            raise refuse(where, number, _("candidate and workload must not be empty"))
        if unit not in UNITS:
            raise refuse(
                where,
                number,
                _("the unit must be one of {units}, not '{unit}'", units=", ".join(UNITS), unit=unit[:20]),
            )
        metric, factor = UNITS[unit]
        made = workloads.setdefault(slug(title), workload(slug(title), title, metric, ELSEWHERE))
        if made.title != safe(title):
            raise refuse(
                where, number, _("the workload needs a name that differs more from '{title}'", title=made.title)
            )
        if made.metric != metric:
            raise refuse(where, number, _("{unit} cannot be compared with the workload's other values", unit=unit))
        if value:
            values += 1
            figure = Figure(made.name, metric, _number(value, where, number) * factor, candidate)
            yield ParsedRun("CSV table", (made,), (figure,))
        else:
            fault = Fault(made.name, "program", N_("The table has no value."), candidate)
            yield ParsedRun("CSV table", (made,), faults=(fault,))
    if not values:
        raise refuse(where, 1, _("the table has no values"))


def _header(text: str) -> Sequence[str]:
    try:
        return [cell.lower() for cell in next(_rows(text.partition("\n")[0], ""), (1, []))[1]]
    except UsageError:
        return []


def _rows(text: str, where: str) -> Iterator[tuple[int, Sequence[str]]]:
    """Line numbers and cells; between them stands what stands in the first line, as spreadsheets write `;` or tabs."""
    head = text.partition("\n")[0]
    delimiter = next((one for one in ",;\t" if one in head), ",")
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        for cells in reader:
            yield reader.line_num, [cell.strip() for cell in cells]
    except csv.Error as error:
        raise refuse(where, reader.line_num, _("this isn't a line of a table ({reason})", reason=error)) from error


def _number(text: str, where: str, line: int) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 < value < LARGEST:
        reason = _("the value must be a number above 0 with a decimal point, not '{text}'", text=text[:20])
        raise refuse(where, line, reason)
    return value
