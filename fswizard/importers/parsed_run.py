"""What one run of a program tells, before it is put together with others."""

from __future__ import annotations

import re
from dataclasses import dataclass

from fswizard.engines.tree import TreeJob
from fswizard.errors import UsageError
from fswizard.model.metrics import Metric
from fswizard.model.recipe import Job, Workload
from fswizard.model.text import safe

ELSEWHERE = TreeJob("copy", "mixed", 0, 0)
"""Stands for work that this program has no job for: the model wants one, and nobody runs it."""


@dataclass(frozen=True, slots=True)
class Figure:
    """One metric of one workload."""

    workload: str
    metric: Metric
    value: float
    candidate: str = ""
    """Empty: the file tells of one candidate, whose name stands elsewhere."""


@dataclass(frozen=True, slots=True)
class Fault:
    """A run that did not come to its end."""

    workload: str
    kind: str
    text: str
    candidate: str = ""


@dataclass(frozen=True, slots=True)
class ParsedRun:
    """Everything that one run tells."""

    tool: str
    """Program that measured, with its version."""
    workloads: tuple[Workload, ...] = ()
    figures: tuple[Figure, ...] = ()
    faults: tuple[Fault, ...] = ()


def refuse(where: str, line: int, reason: str) -> UsageError:
    """A file that cannot be read, named with line and reason."""
    return UsageError(f"{safe(where)}, line {line}: {reason}.", "`fswizard import --help` lists what can be read.")


def slug(text: str) -> str:
    """A short stable name: small letters, digits and dashes."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:60] or "work"


def workload(name: str, title: str, metric: Metric, job: Job) -> Workload:
    """A workload that was carried out elsewhere."""
    return Workload(name, safe(title), job.engine, job, metric)
