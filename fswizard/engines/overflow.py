"""Random writes beyond a shingled disk's persistent cache: how fast before it overflows, and how fast afterwards."""

from __future__ import annotations

import math
import statistics
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated

from fswizard.engines.fio import FIGURES, FioJob
from fswizard.engines.shared.engine import MIB, TIB, Engine, WorkloadContext
from fswizard.language import _
from fswizard.model.filesystem import Strain
from fswizard.model.keys import number, size, whole
from fswizard.model.metrics import LATE_RATE, Metric
from fswizard.model.recipe import Cost, Job, Pace, PlannedCommand
from fswizard.model.units import duration_text, size_text
from fswizard.progress.workload_events import Doing, Measured, Progress, Tell, WorkloadEvent
from fswizard.system import clock

RATE_BEFORE_CLIFF = Metric("rate_before_cliff", "B/s", "higher")
SUSTAINED_RATE = Metric("sustained_rate", "B/s", "higher")
"""Rate after the cliff, or of the whole run if there is none."""
BYTES_BEFORE_CLIFF = Metric("bytes_before_cliff", "B", "higher")
SLOWEST_SECOND = Metric("slowest_second", "B/s", "higher")
RATE_IN_TENTH = tuple(Metric(f"rate_in_tenth_{tenth}", "B/s", "higher") for tenth in range(1, 11))
"""Rates over a run, for each tenth of its time."""


@dataclass(frozen=True, slots=True)
class OverflowJob(Engine):
    """Random writes until a shingled disk's persistent cache overflows."""

    engine = "overflow"
    programs = FioJob.programs
    metrics = (
        *FIGURES,
        *(RATE_BEFORE_CLIFF, SUSTAINED_RATE, BYTES_BEFORE_CLIFF, SLOWEST_SECOND, *RATE_IN_TENTH),
    )
    working_set_bytes: Annotated[int, size(MIB, 16 * TIB)]
    """Size of the file, which must be larger than the cache to overflow it."""
    seconds: Annotated[float, number(1, 604_800)]
    block_bytes: Annotated[int, size(512, MIB)] = 4096
    depth: Annotated[int, whole(1, 1024)] = 32

    @property
    def fio(self) -> FioJob:
        """The job that fio carries out."""
        return FioJob(
            "randwrite", self.block_bytes, self.working_set_bytes, self.seconds, depth=self.depth,
        )  # fmt: skip

    @property
    def direct(self) -> bool:
        return self.fio.direct

    @property
    def strain(self) -> Strain:
        return self.fio.strain

    @property
    def words(self) -> str:
        file = size_text(self.working_set_bytes)
        return _("fio random writes in a file of {file} for {seconds}", file=file, seconds=duration_text(self.seconds))

    @property
    def cost(self) -> Cost:
        return self.fio.cost

    def timed_bytes(self, pace: Pace) -> int | None:
        return self.fio.timed_bytes(pace)

    @property
    def leaves(self) -> Iterable[tuple[object, int]]:
        return self.fio.leaves

    @property
    def works_on(self) -> Job:
        return self.fio.works_on

    def commands(self) -> tuple[PlannedCommand, ...]:
        return self.fio.commands()

    async def run(self, context: WorkloadContext, emit: Tell, *, seed: int, cut_s: float = 0.0) -> None:
        rates: list[tuple[int, float]] = []
        begun_s: float | None = None

        def forward(what: WorkloadEvent) -> None:
            nonlocal begun_s
            if isinstance(what, Doing) and what.measured:
                begun_s = clock.monotonic()
            elif isinstance(what, Progress) and what.rate is not None and begun_s is not None:
                rates.append((int(clock.monotonic() - begun_s), what.rate * self.block_bytes))
            if not (isinstance(what, Measured) and what.metric == LATE_RATE):  # the tenths say more
                emit(what)

        await self.fio.run(context, forward, seed=seed)
        seconds: defaultdict[int, list[float]] = defaultdict(list)
        for second, rate in rates[:-1]:  # the last one counts the final fsync
            seconds[second].append(rate)
        for measured in _measured([statistics.mean(seconds[second]) for second in sorted(seconds)]):
            emit(measured)


@dataclass(frozen=True, slots=True)
class Cliff:
    """Where the rate of writing fell for good, if it did."""

    before: float
    """Bytes per second before the cliff, or of the whole run if there is none."""
    after: float
    """Bytes per second after the cliff, or of the whole run if there is none."""
    written_bytes: float
    """Bytes written before the cliff, or in the whole run if there is none."""


def cliff(rates: Sequence[float]) -> Cliff:
    """Split the rates of at least two seconds, in bytes per second, where the two parts differ most.

    Each part is at least a tenth of the run, as a stall is not a cliff; after it, less than half of the rate is left.
    """
    logs = [math.log(max(rate, 1.0)) for rate in rates]

    def apart(at: int) -> float:
        """Part of the variance that a step at this second explains."""
        return at * (len(logs) - at) * (statistics.mean(logs[:at]) - statistics.mean(logs[at:])) ** 2

    least = max(1, len(logs) // 10)
    at = max(range(least, len(logs) - least + 1), key=apart)
    before, after = statistics.median(rates[:at]), statistics.median(rates[at:])
    if after < 0.5 * before:
        return Cliff(before, after, sum(rates[:at]))
    whole = statistics.median(rates)
    return Cliff(whole, whole, sum(rates))


def _measured(rates: Sequence[float]) -> Iterator[Measured]:
    """The figures of a run, or none if it was too short."""
    if len(rates) < 2:
        return
    split = cliff(rates)
    yield Measured(RATE_BEFORE_CLIFF, split.before)
    yield Measured(SUSTAINED_RATE, split.after)
    yield Measured(BYTES_BEFORE_CLIFF, split.written_bytes)
    yield Measured(SLOWEST_SECOND, min(rates))
    for tenth, metric in enumerate(RATE_IN_TENTH):
        start = tenth * len(rates) // 10
        yield Measured(metric, statistics.mean(rates[start : max(start + 1, (tenth + 1) * len(rates) // 10)]))
