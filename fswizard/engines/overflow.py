"""Random writes beyond a shingled disk's persistent cache: the rate before and after it overflows."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import field
from statistics import fmean, median
from typing import Annotated

from fswizard.engines.fio import FIGURES, FioJob
from fswizard.engines.shared.context import MIB, TIB
from fswizard.engines.shared.engine import Engine, Timed
from fswizard.engines.shared.fio_output import rates_by_second
from fswizard.engines.shared.programs import Done
from fswizard.model.frozen import frozen
from fswizard.model.keys import within
from fswizard.model.metrics import LATE_RATE, Metric
from fswizard.model.recipe import Pace
from fswizard.progress.workload_events import Measured

RATE_BEFORE_CLIFF = Metric("rate_before_cliff", "B/s", "higher")
SUSTAINED_RATE = Metric("sustained_rate", "B/s", "higher")
"""Rate after the cliff, or of the whole run if there is none."""
BYTES_BEFORE_CLIFF = Metric("bytes_before_cliff", "B", "higher")
SLOWEST_SECOND = Metric("slowest_second", "B/s", "higher")


@frozen
class OverflowJob(Engine):
    """Random writes until a shingled disk's persistent cache overflows."""

    engine = "overflow"
    programs = FioJob.programs
    metrics = (*FIGURES, RATE_BEFORE_CLIFF, SUSTAINED_RATE, BYTES_BEFORE_CLIFF, SLOWEST_SECOND)
    strain = "overwrite"
    direct = True
    working_set_bytes: Annotated[int, within(MIB, 16 * TIB)]
    """Size of the file, which must be larger than the cache to overflow it."""
    seconds: Annotated[float, within(1, 604_800)] = field()  # required, although jobs have a default
    block_bytes: Annotated[int, within(512, MIB)] = 4096
    depth: Annotated[int, within(1, 1024)] = 32

    @property
    def fio(self) -> FioJob:
        """The underlying fio job."""
        return FioJob("randwrite", self.block_bytes, self.working_set_bytes, self.seconds, depth=self.depth)

    def timed_bytes(self, pace: Pace) -> int | None:
        return self.fio.timed_bytes(pace)

    def timed(self, directory: str, scratch: str, seed: str) -> Timed:
        return self.fio.timed(directory, scratch, seed)

    def figures(self, done: Sequence[Done]) -> Iterator[Measured]:
        yield from (measured for measured in self.fio.figures(done) if measured.metric != LATE_RATE)
        rates = rates_by_second(done[0].answer[:-1])  # the last figures count the final fsync
        if len(rates) >= 2:
            at = cliff(rates)
            yield Measured(RATE_BEFORE_CLIFF, median(rates[:at]))
            yield Measured(SUSTAINED_RATE, median(rates[at:]))
            yield Measured(BYTES_BEFORE_CLIFF, sum(rates[:at]))
            yield Measured(SLOWEST_SECOND, min(rates))


def cliff(rates: Sequence[float]) -> int | None:
    """The second in which the rate drops permanently to less than half; None if it does not.

    It splits the run into the two parts that differ most, each at least a tenth of it, as a stall is not a cliff.
    """
    logs = [math.log(max(rate, 1.0)) for rate in rates]

    def explained(at: int) -> float:
        """Share of the variance explained by a step at this second, unnormalised."""
        return at * (len(logs) - at) * (fmean(logs[:at]) - fmean(logs[at:])) ** 2

    least = max(1, len(logs) // 10)
    at = max(range(least, len(logs) - least + 1), key=explained)
    return at if median(rates[at:]) < 0.5 * median(rates[:at]) else None
