"""What two results say together."""

from __future__ import annotations

from dataclasses import dataclass

from fswizard.model.judgement import Ratio


@dataclass(frozen=True, slots=True)
class Change:
    """One candidate at one workload in both results."""

    candidate: str
    title: str
    """Of the candidate."""
    workload: str
    """Its title; empty for all workloads together."""
    unit: str
    before: float
    """Median of the first result; 0 for all workloads together, which have no figure of their own."""
    after: float
    ratio: Ratio
    """Second result over first, above 1 is better; its `baseline` is the candidate itself."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """What two results say together."""

    changes: tuple[Change, ...]
    differences: tuple[str, ...]
    """What else differs between the two runs, and may be the cause."""
    left_out: tuple[str, ...]
    """What was not compared, and why."""
