"""What fio prints for people, and whole terminal sessions in which fio was called."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field

from fswizard.importers.fio_names import describe, fault_kind
from fswizard.importers.parsed_run import Fault, Figure, ParsedRun, refuse
from fswizard.model.metrics import IOPS, THROUGHPUT, WORST_LATENCY, Metric
from fswizard.model.recipe import Workload

_HEAD = re.compile(r"^(?P<name>\S.*?): \(groupid=\d+, jobs=\d+\): err=\s*(?P<error>\d+)", re.MULTILINE)
_OPTIONS = re.compile(
    r"^(?P<name>\S.*?): \(g=\d+\): rw=(?P<rw>\w+), bs=(?:\(R\)\s*)?(?P<read>[\d.]+\w*)"
    r"(?:.*?\(W\)\s*(?P<write>[\d.]+\w*))?.*?ioengine=(?P<engine>\w+), iodepth=(?P<iodepth>\d+)"
)
_NEW = re.compile(
    r"\s*(?P<side>read|write)\s*: IOPS=(?P<iops>[\d.]+[kMG]?), BW=(?P<bw>[\d.]+)(?P<unit>[KMGT]?i?B)/s"
    r"(?: \((?P<si>[\d.]+)(?P<siunit>[kMGT]?B)/s\))?"
)
_OLD = re.compile(
    r"\s*(?P<side>read|write)\s*: io=\S+, bw=(?P<bw>[\d.]+)(?P<unit>[KMGT]?B)/s, iops=\s*(?P<iops>[\d.]+[kMG]?)"
)
_LATENCY = re.compile(r"\s*lat \((?P<unit>[num]sec)\)\s*: min=.*?, max=\s*(?P<max>[\d.]+[kMG]?)")
_MKFS = re.compile(r"(?:^|[$#]\s*)(?:sudo\s+)?mkfs(?:\.|\s+-t\s*)(?P<name>\w+)")
_SECONDS = {"nsec": 1e-9, "usec": 1e-6, "msec": 1e-3}
_DECIMAL = {"": 1, "k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
_BINARY = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


@dataclass
class _Session:
    """What was seen so far, line by line."""

    candidate: str = ""
    options: dict[str, dict[str, str]] = field(default_factory=dict)
    job: str = ""
    error: int = 0
    workload: str = ""
    workloads: dict[str, Workload] = field(default_factory=dict)
    values: dict[tuple[str, str, Metric], list[float]] = field(default_factory=dict)
    faults: list[Fault] = field(default_factory=list)

    def keep(self, metric: Metric, value: float) -> None:
        self.values.setdefault((self.candidate, self.workload, metric), []).append(value)


def recognises(text: str) -> bool:
    """Whether a text holds a group of jobs as fio reports it."""
    return _HEAD.search(text) is not None


def read(text: str, where: str) -> ParsedRun:
    """Every run of fio in `text`; the same job again is another run of it.

    In a terminal session a `mkfs` names the candidate of what follows. UsageError, with line and reason,
    where a group of jobs has no figures.
    """
    session = _Session()
    head = 0
    for number, line in enumerate(text.splitlines(), 1):
        if found := _MKFS.search(line):
            session.candidate = found["name"]
        elif found := _OPTIONS.match(line):
            side = found["write"] if "write" in found["rw"] and found["write"] else found["read"]
            session.options[found["name"]] = {"rw": found["rw"], "bs": side, "iodepth": found["iodepth"]}
        elif found := _HEAD.match(line):
            _end(session, where, head)
            session.job, session.error, session.workload, head = found["name"], int(found["error"]), "", number
        elif session.job and (found := _NEW.match(line) or _OLD.match(line)):
            _figures(session, found)
        elif session.workload and (found := _LATENCY.match(line)):
            session.keep(WORST_LATENCY, _number(found["max"]) * _SECONDS[found["unit"]])
    _end(session, where, head)
    version = re.search(r"^fio-(\S+)", text, re.MULTILINE)
    figures = tuple(Figure(w, metric, tuple(v), c) for (c, w, metric), v in session.values.items())
    tool = f"fio {version[1]}" if version else "fio"
    return ParsedRun(tool, tuple(session.workloads.values()), figures, tuple(session.faults))


def _end(session: _Session, where: str, head: int) -> None:
    """The group of jobs before is over: it has figures, or it failed."""
    if not session.job:
        return
    if session.error:
        workload = session.workload or _enter(session, "write").name
        text = f"fio: {os.strerror(session.error)}."
        session.faults.append(Fault(workload, fault_kind(session.error), text, session.candidate))
    elif not session.workload:
        raise refuse(where, head, f"the job {session.job!r} has neither reads nor writes")
    session.job = ""


def _enter(session: _Session, direction: str) -> Workload:
    workload = describe(session.job, direction, session.options.get(session.job, {}))
    session.workload = workload.name
    return session.workloads.setdefault(workload.name, workload)


def _figures(session: _Session, found: re.Match[str]) -> None:
    _enter(session, found["side"])
    if session.error:
        return
    session.keep(IOPS, _number(found["iops"]))
    groups = found.groupdict()
    if groups.get("si"):
        session.keep(THROUGHPUT, _bytes(groups["si"], groups["siunit"]))
    else:
        session.keep(THROUGHPUT, _bytes(found["bw"], found["unit"]))


def _number(text: str) -> float:
    return float(text.rstrip("kMG")) * _DECIMAL[text[len(text.rstrip("kMG")) :]]


def _bytes(number: str, unit: str) -> float:
    """fio 2 wrote KB for 1024 bytes, later versions KiB for 1024 and kB for 1000."""
    binary = "i" in unit or unit[:1] == "K"
    return float(number) * (_BINARY if binary else _DECIMAL)[unit.rstrip("iB")]
