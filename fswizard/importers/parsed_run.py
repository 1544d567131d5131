"""Figures and faults of one run of a program."""

from __future__ import annotations

import re
from dataclasses import dataclass

from fswizard.engines.tree import TreeJob
from fswizard.errors import UsageError
from fswizard.language import _
from fswizard.model.metrics import Metric
from fswizard.model.recipe import Job, Workload
from fswizard.model.text import safe

ELSEWHERE = TreeJob("copy", "mixed", 0, 0)
"""Placeholder, which nobody runs, for work that this program has no job for."""


@dataclass(frozen=True, slots=True)
class Figure:
    """One metric of one workload."""

    workload: str
    metric: Metric
    value: float
    candidate: str = ""
    """Candidate, or empty if the file has only one, which is named elsewhere."""


@dataclass(frozen=True, slots=True)
class Fault:
    """A failure of a run."""

    workload: str
    kind: str
    text: str
    candidate: str = ""


@dataclass(frozen=True, slots=True)
class ParsedRun:
    """Figures and faults of one run."""

    tool: str
    """Program with its version."""
    workloads: tuple[Workload, ...] = ()
    """Their names are all that makes two runs the same work, a line for each fact; figures refer to them."""
    figures: tuple[Figure, ...] = ()
    faults: tuple[Fault, ...] = ()


def refuse(where: str, line: int, reason: str) -> UsageError:
    """The error for a file that cannot be read, with line and reason."""
    return UsageError(
        _("{file}, line {line}: {reason}.", file=safe(where), line=line, reason=reason),
        _("`fswizard import --help` lists what can be read."),
    )


def slug(text: str) -> str:
    """A stable name: small letters, digits and dashes."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-") or "work"


def workload(name: str, title: str, metric: Metric, job: Job) -> Workload:
    """A workload that was carried out elsewhere."""
    return Workload(name, safe(title), job.engine, job, metric)
