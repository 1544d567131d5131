"""What more rounds are likely to bring."""

from __future__ import annotations

import math
from dataclasses import dataclass

from fswizard.language import _, shown
from fswizard.model.units import duration_text, rounds_text

UNLIKELY = 0.05
"""Rounds are not run that change the answer less often."""
LIKELY = 0.8
"""What is said to be likely comes true in four of five cases."""

HALF = 0.5
"""Of a round, by which a time limit exceeds the rounds that it is meant for, as no two take equally long."""


@dataclass(frozen=True, slots=True)
class Close:
    """Two candidates that all rounds of the forecast are likely not to separate: they would stay undecided."""

    one: str
    """Title of the first one."""
    other: str
    chance: float
    """Chance that they stay undecided."""
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
    """Seconds that a trial takes."""

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
        if self.enough is None and self.close:
            close = self.close[0]
            apart = max(1, math.ceil(close.within * 100))
            return _(
                "Another {amount} would not separate {one} from {other} (probably under {percent} % apart).",
                amount=self._more, one=shown(close.one), other=shown(close.other), percent=apart,
            )  # fmt: skip
        return _("Another {amount} would settle it with a chance of {chance}.", amount=self._more, chance=self._chance)

    @property
    def offer(self) -> str:
        """`Another 5 min: 83 % chance of a clear result`; empty where hardly any chance is left."""
        likely = self.settled[self.rounds - 1] >= UNLIKELY
        words = _("Another {amount}: {chance} chance of a clear result", amount=self._more, chance=self._chance)
        return words if likely else ""

    @property
    def limit_s(self) -> float:
        """Time that is enough for the rounds of `text`, if no candidate drops out; another round does not fit."""
        return (self.rounds + HALF) * self.trials[0] * self.trial_s

    @property
    def rounds(self) -> int:
        """As many as are likely to settle it, or all that are left."""
        return self.enough or len(self.settled)

    @property
    def _more(self) -> str:
        seconds = self.seconds(self.rounds)
        return duration_text(seconds) if seconds else rounds_text(self.rounds)

    @property
    def _chance(self) -> str:
        return _("{percent} %", percent=f"{self.settled[self.rounds - 1] * 100:.0f}")

    @property
    def enough(self) -> int | None:
        """The fewest rounds that are likely to settle it; None where all are not."""
        return next((rounds for rounds, chance in enumerate(self.settled, 1) if chance >= LIKELY), None)
