"""Where ratios stand on a logarithmic axis around 1."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from fswizard.model.analysis import Ratio

TICKS = (
    *(0.001, 0.01, 0.02, 0.05, 0.1, 0.2, 0.33, 0.5, 0.67, 0.8, 0.9),
    *(1.1, 1.25, 1.5, 2.0, 3.0, 5.0, 10.0, 20.0, 50.0, 100.0, 1000.0),
)
WIDEST, NARROWEST = math.log(1000), math.log(1.13)
CHARACTERS = 40
"""Width of the axis on a phone."""
TICK = 4
"""Characters of a tick's label, and twice the distance to another one."""


@dataclass(frozen=True, slots=True)
class Axis:
    """Its ends."""

    low: float
    """Logarithm of the ratio at the left end."""
    high: float

    @classmethod
    def around(cls, ratios: Iterable[Ratio]) -> Axis:
        """An axis that shows all estimates, and as much of the intervals as leaves room for the estimates."""
        known = [ratio for ratio in ratios if ratio.verdict != "failed" and ratio.ratio > 0]
        estimates = [math.log(ratio.ratio) for ratio in known]
        reach = 2.5 * max(map(abs, estimates), default=0.0) + NARROWEST
        bounds = [math.log(bound) for ratio in known for bound in (ratio.low, ratio.high) if bound]
        every = [*estimates, *(max(-reach, min(reach, bound)) for bound in bounds)]
        left = min(WIDEST, max(NARROWEST, -min(every, default=0.0)))
        right = min(WIDEST, max(NARROWEST, max(every, default=0.0)))
        return cls(-max(left, right / 3) * 1.06, max(right, left / 3) * 1.06)

    def position(self, ratio: float) -> float:
        """From 0 at the left end to 1 at the right end; what is beyond them stands at the end."""
        return max(0.0, min(1.0, (math.log(ratio) - self.low) / (self.high - self.low))) if ratio > 0 else 0.0

    def ticks(self, label: str) -> Iterator[float]:
        """Ratios to label on the axis, so that no label overlaps another or `label`, the one at 1."""
        taken = [(self.position(1.0), len(label) / 2)]
        for tick in sorted(TICKS, key=lambda tick: abs(math.log(tick)), reverse=True):
            at = self.position(tick)
            if 0 < at < 1 and all(abs(at - other) * CHARACTERS >= half + TICK for other, half in taken):
                taken.append((at, TICK / 2))
                yield tick
