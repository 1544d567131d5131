"""Random writes beyond a shingled disk's persistent cache: how fast before it overflows, and how fast afterwards."""

from __future__ import annotations

import math
import statistics
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated

from fswizard.engines.fio import FioJob
from fswizard.engines.shared.engine import MIB, TIB, Engine, WorkloadContext
from fswizard.model.filesystem import Strain
from fswizard.model.keys import number, size, whole
from fswizard.model.metrics import LATE_RATE, STEADINESS, Metric
from fswizard.model.recipe import Cost, Job, Pace, PlannedCommand
from fswizard.model.units import duration_text, size_text
from fswizard.progress.workload_events import Doing, Measured, Progress, Tell, WorkloadEvent
from fswizard.system import clock

RATE_BEFORE_CLIFF = Metric("rate_before_cliff", "B/s", "higher")
SUSTAINED_RATE = Metric("sustained_rate", "B/s", "higher")
"""After the cliff; of the whole run where there is none."""
BYTES_BEFORE_CLIFF = Metric("bytes_before_cliff", "B", "higher")
SLOWEST_SECOND = Metric("slowest_second", "B/s", "higher")
RATE_IN_TENTH = tuple(Metric(f"rate_in_tenth_{tenth}", "B/s", "higher") for tenth in range(1, 11))
"""The course of a run, a tenth of its time each."""

EDGE = 0.5
"""It is a cliff when less than this share of the rate is left."""


@dataclass(frozen=True, slots=True)
class OverflowJob(Engine):
    """Random writes for so long that a shingled disk's persistent cache overflows."""

    engine = "overflow"
    programs = FioJob.programs
    metrics = (
        *FioJob.metrics,
        *(RATE_BEFORE_CLIFF, SUSTAINED_RATE, BYTES_BEFORE_CLIFF, SLOWEST_SECOND, *RATE_IN_TENTH),
    )
    working_set_bytes: Annotated[int, size(MIB, 16 * TIB)]
    """Beyond the cache, else it only fills it again and again."""
    seconds: Annotated[float, number(1, 604_800)]
    block_bytes: Annotated[int, size(512, MIB)] = 4096
    depth: Annotated[int, whole(1, 1024)] = 32

    @property
    def fio(self) -> FioJob:
        """What fio does."""
        return FioJob(
            "randwrite", self.block_bytes, self.working_set_bytes, self.seconds, depth=self.depth,
            cap_seconds=self.seconds,
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
        return f"fio random writes in a file of {file} for {duration_text(self.seconds)}"

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

    async def run(self, context: WorkloadContext, tell: Tell, *, seed: int) -> None:
        rates: list[tuple[int, float]] = []
        begun_s: float | None = None

        def told(what: WorkloadEvent) -> None:
            nonlocal begun_s
            if isinstance(what, Doing) and what.measured:
                begun_s = clock.monotonic()
            elif isinstance(what, Progress) and what.rate is not None and begun_s is not None:
                rates.append((int(clock.monotonic() - begun_s), what.rate * self.block_bytes))
            if not (isinstance(what, Measured) and what.metric in (LATE_RATE, STEADINESS)):  # the tenths tell more
                tell(what)

        await self.fio.run(context, told, seed=seed)
        seconds: defaultdict[int, list[float]] = defaultdict(list)
        for second, rate in rates[:-1]:  # the last one counts the final fsync
            seconds[second].append(rate)
        for measured in _measured([statistics.mean(seconds[second]) for second in sorted(seconds)]):
            tell(measured)


@dataclass(frozen=True, slots=True)
class Cliff:
    """Where the rate of writing fell for good, if it did."""

    before: float
    """Bytes per second up to there; of the whole run where there is no cliff."""
    after: float
    """Bytes per second from there on; the same where there is no cliff."""
    written_bytes: float
    """Up to there; in the whole run where there is no cliff."""


def cliff(rates: Sequence[float]) -> Cliff:
    """Split the rates of at least two seconds, in bytes per second, where the two parts differ most.

    Each part is at least a tenth of the run, for a stall is no cliff.
    """
    logs = [math.log(max(rate, 1.0)) for rate in rates]

    def apart(at: int) -> float:
        """What a step at this second explains of the spread."""
        return at * (len(logs) - at) * (statistics.mean(logs[:at]) - statistics.mean(logs[at:])) ** 2

    least = max(1, len(logs) // 10)
    at = max(range(least, len(logs) - least + 1), key=apart)
    before, after = statistics.median(rates[:at]), statistics.median(rates[at:])
    if after < EDGE * before:
        return Cliff(before, after, sum(rates[:at]))
    whole = statistics.median(rates)
    return Cliff(whole, whole, sum(rates))


def _measured(rates: Sequence[float]) -> Iterator[Measured]:
    """Nothing where the run was too short to tell."""
    if len(rates) < 2:
        return
    found = cliff(rates)
    yield Measured(RATE_BEFORE_CLIFF, found.before)
    yield Measured(SUSTAINED_RATE, found.after)
    yield Measured(BYTES_BEFORE_CLIFF, found.written_bytes)
    yield Measured(SLOWEST_SECOND, min(rates))
    for tenth, metric in enumerate(RATE_IN_TENTH):
        start = tenth * len(rates) // 10
        yield Measured(metric, statistics.mean(rates[start : max(start + 1, (tenth + 1) * len(rates) // 10)]))
