"""What a workload tells while it runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from fswizard.model.metrics import Metric
from fswizard.system.process import Finished


@dataclass(frozen=True, slots=True)
class Doing:
    """From here on something else happens: filling, measuring, syncing."""

    text: str
    """In words: `copying 2,000 small files`."""
    measured: bool = False
    """False while the workload only prepares itself."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far the workload is; each one replaces the one before."""

    fraction: float | None
    """Of the whole workload, its preparation included; None where nobody can know."""
    rate: float | None = None
    rate_unit: Literal["B/s", "1/s"] = "B/s"
    latency_s: float | None = None
    worst_latency_s: float | None = None


@dataclass(frozen=True, slots=True)
class Ran:
    """A program ended; for the log."""

    finished: Finished


@dataclass(frozen=True, slots=True)
class Measured:
    """One figure. A workload may measure further metrics than the primary one of its recipe."""

    metric: Metric
    value: float


WorkloadEvent = Doing | Progress | Ran | Measured
Tell = Callable[[WorkloadEvent], None]
