"""What a workload reports while it runs, and its throughput second by second, gathered from that."""

from __future__ import annotations

from collections import defaultdict
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
    """How far a program of the workload is; each one replaces the one before."""

    fraction: float | None
    """Done share of the program that runs now; None where nobody can know."""
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
Emit = Callable[[WorkloadEvent], None]


class SeriesRecorder:
    """Takes the progress of the measured part, which begins with the first call of `begin`."""

    def __init__(self) -> None:
        self.unit: Literal["B/s", "1/s"] = "B/s"
        """Of the first rate; what comes in another one later, as by the sync at the end, is left out."""
        self._began_s: float | None = None
        self._seconds: defaultdict[int, list[float]] = defaultdict(list)

    @property
    def began(self) -> bool:
        return self._began_s is not None

    def begin(self, now_s: float) -> None:
        self._began_s = now_s if self._began_s is None else self._began_s

    def take(self, progress: Progress, now_s: float) -> None:
        if self._began_s is None or progress.rate is None:
            return
        if not self._seconds:
            self.unit = progress.rate_unit
        if progress.rate_unit == self.unit:
            self._seconds[int(now_s - self._began_s)].append(progress.rate)

    @property
    def rates(self) -> tuple[float, ...]:
        """The mean of each second, in three digits; 0 where it got nowhere."""
        if not self._seconds:
            return ()
        last = max(self._seconds)
        seconds = (self._seconds.get(second, [0.0]) for second in range(last + 1))
        return tuple(float(f"{sum(rates) / len(rates):.3g}") for rates in seconds)
