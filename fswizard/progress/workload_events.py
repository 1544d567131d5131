"""Events of a workload, and its throughput by second, collected from them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from typing import Literal

from fswizard.model.frozen import frozen
from fswizard.model.metrics import Metric
from fswizard.system.process import Finished


@frozen
class Doing:
    """A new activity begins: filling, measuring, syncing."""

    text: str
    """Description: `copying 2,000 small files`."""
    measured: bool = False
    """False while the workload prepares its files."""


@frozen
class Progress:
    """Progress of a program of the workload; replaces the previous one."""

    fraction: float | None
    """Completed share of the program that is running; None if unknown."""
    rate: float | None = None
    rate_unit: Literal["B/s", "1/s"] = "B/s"
    latency_s: float | None = None
    worst_latency_s: float | None = None


@frozen
class Ran:
    """A program ended; for the log."""

    finished: Finished


@frozen
class Measured:
    """One figure. A workload may measure other metrics in addition to the primary one."""

    metric: Metric
    value: float


WorkloadEvent = Doing | Progress | Ran | Measured
Emit = Callable[[WorkloadEvent], None]


class SeriesRecorder:
    """Collects the progress of the measured part, which begins with the first call of `begin`."""

    def __init__(self) -> None:
        self.unit: Literal["B/s", "1/s"] = "B/s"
        """Unit of the first rate; rates in other units, as from a final sync, are ignored."""
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
        """Mean rate of each second, rounded to three digits; 0 without progress."""
        if not self._seconds:
            return ()
        last = max(self._seconds)
        seconds = (self._seconds.get(second, [0.0]) for second in range(last + 1))
        return tuple(float(f"{sum(rates) / len(rates):.3g}") for rates in seconds)
