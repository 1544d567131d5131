"""The comparison of two results."""

from __future__ import annotations

from fswizard.model.analysis import Ratio
from fswizard.model.frozen import frozen


@frozen
class Change:
    """One candidate at one workload in both results."""

    candidate: str
    """Title."""
    workload: str
    """Title of the workload; empty for all workloads together."""
    unit: str
    before: float
    """Geometric mean in the first result; 0 for all workloads together, which have no common figure."""
    after: float
    ratio: Ratio
    """Second result over first, above 1 is better. Its `baseline` is the candidate itself."""


@frozen
class Comparison:
    changes: tuple[Change, ...]
    """For all workloads together, then for each."""
    differences: tuple[tuple[str, str, str], ...]
    """Facts that differ between the runs and may explain different figures: what, before, after."""
    left_out: tuple[str, ...] = ()
    """Titles of what was not measured in the same way in both."""
    doubts: tuple[str, ...] = ()
    """Reasons to trust one of the two results less."""
