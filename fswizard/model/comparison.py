"""What two results say side by side."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from fswizard.model.analysis import Ratio
from fswizard.model.metrics import Better


@dataclass(frozen=True, slots=True)
class Change:
    """One candidate at one workload in both results."""

    candidate: str
    title: str
    """Title of the candidate."""
    kind: str
    """Its filesystem, by the catalogue's name."""
    workload: str
    """Its title; empty for all workloads together."""
    unit: str
    better: Better
    before: float
    """Median of the first result; 0 for all workloads together, which have no figure of their own."""
    after: float
    ratio: Ratio
    """Second result over first, above 1 is better; its `baseline` is the candidate itself."""


@dataclass(frozen=True, slots=True)
class Difference:
    """What differs between two runs, and may be why their figures do."""

    what: str
    """In a word or two that fit into a sentence: `kernel`, `btrfs-progs`."""
    before: str
    """Empty where nobody knows."""
    after: str
    unlike: bool = False
    """The two did not measure the same thing: another disk, recipe or memory limit."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """What two results say together."""

    changes: tuple[Change, ...]
    differences: tuple[Difference, ...]
    """What differs between the two runs, what matters most first."""
    left_out: tuple[str, ...] = ()
    """What was not compared, and why."""
    doubts: tuple[str, ...] = ()
    """Reasons to trust one of the two less, but not the other."""
    of: Literal["time", "disks", "fill"] = "time"
    """One disk earlier and later, two disks, or an empty filesystem and one that was filled before."""
