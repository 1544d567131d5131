"""What more rounds are likely to bring."""

from __future__ import annotations

import math
from dataclasses import dataclass

from fswizard.model.units import duration_text, rounds_text

UNLIKELY = 0.05
"""Rounds are not run that change the answer less often."""
LIKELY = 0.8
"""What is said to be likely comes true in four of five cases."""


@dataclass(frozen=True, slots=True)
class Close:
    """Two candidates that all rounds of the forecast are likely not to separate: they would stay undecided."""

    one: str
    other: str
    chance: float
    """That they stay so."""
    within: float
    """They are likely to be less than so much apart: 0.03 is 3 %."""


@dataclass(frozen=True, slots=True)
class Forecast:
    """What happens if the run goes on. Rounds to come are counted from 1."""

    settled: tuple[float, ...]
    """Chance that a winner or a tie is proven, by number of further rounds."""
    changed: tuple[float, ...]
    """Chance that the answer differs from the present one, by number of further rounds."""
    trials: tuple[float, ...]
    """Average trials, by number of further rounds; fewer than all, as candidates drop out and runs end."""
    close: tuple[Close, ...] = ()
    """Best estimates first."""
    trial_s: float = 0.0
    """What a trial takes."""

    @property
    def likely_trials(self) -> int:
        """Trials until it is as likely as not that the run is over."""
        rounds = next((rounds for rounds, chance in enumerate(self.settled, 1) if chance >= 0.5), len(self.settled))
        return round(self.trials[rounds - 1])

    def seconds(self, rounds: int) -> float:
        """Average time that this number of further rounds takes."""
        return self.trials[rounds - 1] * self.trial_s

    @property
    def text(self) -> str:
        """`Another 5 min would settle it with a chance of 83 %.`, or whom another 30 min would not separate."""
        rounds = self.enough or len(self.settled)
        seconds = self.seconds(rounds)
        more = f"Another {duration_text(seconds) if seconds else rounds_text(rounds)} would"
        if self.enough is None and self.close:
            close = self.close[0]
            apart = max(1, math.ceil(close.within * 100))
            return f"{more} not separate {close.one} from {close.other} (probably under {apart} % apart)."
        return f"{more} settle it with a chance of {self.settled[rounds - 1] * 100:.0f} %."

    @property
    def enough(self) -> int | None:
        """The fewest rounds that are likely to settle it; None where all are not."""
        return next((rounds for rounds, chance in enumerate(self.settled, 1) if chance >= LIKELY), None)
