"""Output of filebench 1.4 and 1.5."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from fswizard.engines.fileserver import FileServerJob, operation_metrics
from fswizard.importers.parsed_run import Fault, Figure, ParsedRun, refuse
from fswizard.language import N_, _
from fswizard.model.metrics import CPU, MEAN_LATENCY, OPERATION_RATE, PREALLOCATION_TIME, THROUGHPUT
from fswizard.model.recipe import Workload

ALL, APPEND = "operations", "random-append"

_VERSION = re.compile(r"^Filebench Version (\S+)", re.MULTILINE)
_OPERATION = re.compile(
    r"(?P<name>[A-Za-z][\w-]*)\s+(?P<count>\d+)ops\s+[\d.]+ops/s\s+[\d.]+mb/s\s+(?P<mean>[\d.]+)ms/op"
    r"(?:\s+[\d.]+us/op-cpu)?\s*(?:\[\s*[\d.]+ms\s*-\s*(?P<worst>[\d.]+)ms\s*\])?\s*"
)
_SUMMARY = re.compile(
    r"IO Summary:\s*(?P<count>\d+) ops,?\s+(?P<rate>[\d.]+) ops/s,?\s+\(?\d+/\d+ r(?:/w|d/wr)\)?,?\s+"
    r"(?P<mb>[\d.]+)mb/s,?\s+(?:(?P<cpu>[\d.]+)us cpu/op,?\s+)?(?P<mean>[\d.]+)ms(?: latency|/op)"
)
_PREALLOCATED = re.compile(r"Preallocated \d+ of \d+ of fileset \S+ in (\d+) seconds")
_STEMS = {
    "create": "create", "wrt": "write", "write": "write", "append": "append", "read": "read", "open": "open",
    "close": "close", "delete": "delete", "stat": "stat",
}  # fmt: skip
_FULL = re.compile(r"No space left|out of space|ENOSPC|disk full", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Operation:
    count: int
    mean_s: float
    worst_s: float


def recognises(text: str) -> bool:
    """Whether a text looks like filebench's output."""
    return re.search(r"^Filebench Version|IO Summary:", text, re.MULTILINE) is not None


def read_each(text: str, where: str, volume: str = "") -> Iterator[ParsedRun]:
    """The runs in a file, as scripts that repeat filebench often write to one file."""
    starts = [match.start() for match in _VERSION.finditer(text)]
    starts = [0, *starts[1:], len(text)]
    for start, end in itertools.pairwise(starts):
        above = text.count("\n", 0, start)
        yield from _read_run(text[start:end], where, above, volume)


def _read_run(text: str, where: str, above: int, volume: str) -> Iterator[ParsedRun]:
    """One run of filebench: a ParsedRun for each of its summaries; a run without figures failed.

    `volume` is the output of df afterwards, if any, which shows whether the volume was full. Raises UsageError with
    line and reason.
    """
    version = _VERSION.search(text)
    tool = f"filebench {version[1]}" if version else "filebench"
    operations: dict[str, list[_Operation]] = {}
    complete = inside = False
    number = above
    for number, line in enumerate(text.splitlines(), above + 1):
        if "IO Summary" in line:
            summary = _SUMMARY.search(line)
            if summary is None:
                reason = _("no summary that filebench prints: '{line}'", line=line.strip()[:60])
                raise refuse(where, number, reason)
            yield _parsed_run(tool, text, operations, summary)
            operations, complete, inside = {}, True, False
        elif "Per-Operation Breakdown" in line:
            operations, inside = {}, True
        elif inside and (re.match(r"\s*[\d.]+:", line) or not line.strip()):
            inside = False
        elif inside:
            name, operation = _operation(line, where, number)
            operations.setdefault(name, []).append(operation)
    if operations:
        raise refuse(where, number, _("it ends before filebench's summary (IO Summary): it is cut off"))
    if not complete:
        (made,) = _workloads(text, ())
        yield ParsedRun(tool, (made,), faults=(_fault(made.name, text, volume),))


def _parsed_run(
    tool: str, text: str, operations: Mapping[str, Sequence[_Operation]], summary: re.Match[str]
) -> ParsedRun:
    together = {kind: _together(several) for kind, several in operations.items()}
    workloads = tuple(_workloads(text, together))
    of_all = workloads[0].name
    count, rate = int(summary["count"]), float(summary["rate"])
    figures = [Figure(of_all, OPERATION_RATE, rate), Figure(of_all, THROUGHPUT, float(summary["mb"]) * (1 << 20))]
    figures.append(Figure(of_all, MEAN_LATENCY, float(summary["mean"]) / 1e3))
    if summary["cpu"]:
        figures.append(Figure(of_all, CPU, float(summary["cpu"]) * count / 1e6))
    for name, operation in together.items():
        counted, mean, *__, worst = operation_metrics(name)
        for metric, value in ((counted, operation.count), (mean, operation.mean_s), (worst, operation.worst_s)):
            figures.append(Figure(of_all, metric, float(value)))
    if made := _PREALLOCATED.search(text):
        figures.append(Figure(of_all, PREALLOCATION_TIME, float(made[1])))
    if "append" in together:
        figures.append(Figure(workloads[1].name, operation_metrics("append")[1], together["append"].mean_s))
    return ParsedRun(tool, workloads, tuple(figures))


def _operation(line: str, where: str, number: int) -> tuple[str, _Operation]:
    """Kind and figures of one line of the breakdown."""
    match = _OPERATION.fullmatch(line.strip())
    if match is None:
        reason = _("this line isn't from filebench's per-operation breakdown: '{line}'", line=line.strip()[:60])
        raise refuse(where, number, reason)
    worst, name = float(match["worst"] or 0), match["name"]
    kind = next((kind for start, kind in _STEMS.items() if name.startswith(start)), re.sub(r"\d+$", "", name))
    return kind, _Operation(int(match["count"]), float(match["mean"]) / 1e3, worst / 1e3)


def _together(operations: Sequence[_Operation]) -> _Operation:
    count = sum(operation.count for operation in operations)
    total_s = sum(operation.count * operation.mean_s for operation in operations)
    return _Operation(count, total_s / count if count else 0.0, max(operation.worst_s for operation in operations))


def _fault(workload: str, text: str, volume: str) -> Fault:
    took = re.search(r"Run took (\d+) seconds", text)
    seconds = f"{int(took[1]):,}" if took else ""
    if _FULL.search(text) or _is_full(text, volume):
        said = N_("The volume was full: filebench stopped without figures.")
        if took:
            said = N_("The volume was full: filebench stopped after {seconds} s without figures.")
        return Fault(workload, "ENOSPC", said.format(seconds=seconds))
    said = N_("filebench stopped without figures.")
    if took:
        said = N_("filebench stopped after {seconds} s without figures.")
    return Fault(workload, "program", said.format(seconds=seconds))


def _is_full(text: str, volume: str) -> bool:
    """Whether df shows the volume of the fileset at 100 %."""
    place = re.search(r"making tree for fil\w*set (\S+)", text)
    mounted = list(re.finditer(r"(\d+)% +(/\S*)$", volume, re.MULTILINE))
    under = [m for m in mounted if place and (place[1] + "/").startswith(m[2].rstrip("/") + "/")]
    deepest = max(under, key=lambda match: len(match[2]), default=None)
    return deepest is not None and int(deepest[1]) >= 100


def _workloads(text: str, operations: Iterable[str]) -> Iterator[Workload]:
    threads = re.search(r"Starting (\d+) \S+ threads", text)
    files = re.search(r"(?:Fileset \S+:|\S+ populated:) (\d+) files.*?([\d.]+)MB", text)
    took = re.search(r"Run took (\d+) seconds", text)
    personality = re.search(r": ([^:\n]+?) Version \S+ personality", text)
    number = int(files[1]) if files else 0
    mean_bytes = int(float(files[2]) * (1 << 20) / number) if files and number else 0
    job = FileServerJob(int(threads[1]) if threads else 1, number, mean_bytes, 8 << 10, float(took[1]) if took else 0.0)
    name = personality[1] if personality else "filebench"
    # Of a personality without a name, its operations tell it from others.
    facts = [personality[1] if personality else " ".join(sorted(operations))]
    facts += [f"threads={job.threads}"] if threads else []
    facts += [f"files={number}"] if number else []
    of_all, of_appends = ("\n".join((kind, *facts)) for kind in (ALL, APPEND))
    title = N_("{program}: all operations").format(program=name)
    yield Workload(of_all, title, job.engine, job, OPERATION_RATE)
    if "append" in operations:
        # Without weight, as the overall figure contains it already.
        title = N_("{program}: latency of appends").format(program=name)
        yield Workload(of_appends, title, job.engine, job, operation_metrics("append")[1], 0.0)
