"""How long the run will still take: what the plan expected, corrected by what was measured."""

from __future__ import annotations

import statistics

from fswizard.model.plan import Plan


class Pace:
    """Knows how far a run is. All times in seconds since the run started."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._trial_durations: list[float] = []
        self._prepared = False
        self._trials_ahead = plan.minimum_rounds * len(plan.candidates)
        """Trials that will be done at least, the current one included."""
        self._trial_began = 0.0
        self._in_trial = False
        self._step_began = 0.0
        self._step_expected_s = 0.0
        self._fraction = 0.0

    @property
    def trial_s(self) -> float:
        """Expected duration of a trial."""
        if not self._trial_durations:
            return self._plan.seconds_per_trial
        return statistics.median(self._trial_durations)

    def step_begins(self, now_s: float, expected_s: float) -> None:
        self._step_began, self._step_expected_s = now_s, expected_s

    def trial_begins(self, now_s: float) -> None:
        self._prepared, self._in_trial, self._trial_began = True, True, now_s

    def trial_ends(self, now_s: float) -> None:
        self._in_trial = False
        self._trial_durations.append(now_s - self._trial_began)
        self._trials_ahead = max(0, self._trials_ahead - 1)

    def trials_ahead(self, count: int) -> None:
        """Said at the start of a round: how many trials are still certain to come."""
        self._trials_ahead = count

    def outlook(self, now_s: float, step_fraction: float | None) -> tuple[float, float]:
        """Share of the run that is done, and the seconds that are left, as it looks now.

        A run may go on until its time is up, so that is what is counted to; when all is settled before, it ends early.
        """
        left_s = self._trials_ahead * self.trial_s
        if self._in_trial:
            left_s -= min(now_s - self._trial_began, 0.98 * self.trial_s)
        elif not self._prepared:
            left_s += max(0.0, self._plan.preparation_s - now_s)
        if step_fraction is not None and self._step_expected_s:
            left_s = max(left_s, (1 - step_fraction) * self._step_expected_s)
        left_s = max(left_s, self._plan.time_limit_s - now_s, 0.0)
        done = now_s / (now_s + left_s) if now_s + left_s > 0 else 0.0
        self._fraction = max(self._fraction, min(done, 1.0))
        return self._fraction, left_s
