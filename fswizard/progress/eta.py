"""How long the run will still take: what the plan expected, corrected by what was measured."""

from __future__ import annotations

import math
import statistics
from collections import defaultdict

from fswizard.model.plan import Plan

SCALE_S = 2.0
"""So much as expected counts beside what was measured, lest the first short step decides for all."""


class Eta:
    """Knows how far a run is. All times in seconds since the run started."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        seconds = {workload.name: workload.seconds for workload in plan.recipe.workloads}
        in_workloads_s = math.fsum(seconds.values())
        less = 0 < plan.seconds_per_trial < in_workloads_s  # resumes a run that took less than planned
        factor = plan.seconds_per_trial / in_workloads_s if less else 1.0
        self._expected = {name: factor * expected_s for name, expected_s in seconds.items()}
        self._workload_s = dict(self._expected)
        """How long each workload takes, as it looks now."""
        self._beside_s = max(0.0, plan.seconds_per_trial - math.fsum(self._expected.values()))
        """How long a trial takes beside its workloads, as it looks now."""
        self._taken: defaultdict[str, list[float]] = defaultdict(list)
        """How long each workload took, in the trials so far."""
        self._beside: list[float] = []
        """What trials took beside their workloads."""
        self._prepared = False
        self._least_trials = plan.minimum_rounds * len(plan.measured)
        """Trials that will be done at least, the current one included."""
        self._likely_trials: int | None = None
        self._most_trials = plan.maximum_rounds * len(plan.measured)
        self._trial_began = 0.0
        self._in_trial = False
        self._in_workloads_s = 0.0
        """Of the current trial, what its workloads have taken."""
        self._done: set[str] = set()
        self._step_began = 0.0
        self._step_expected_s = 0.0
        self._workload = ""
        self._fraction = 0.0

    @property
    def trial_s(self) -> float:
        """Expected duration of a trial."""
        return self._beside_s + math.fsum(self._workload_s.values())

    def step_begins(self, now_s: float, expected_s: float, workload: str = "") -> None:
        """`workload` is its name, where the step is one in a trial."""
        self._workload_ends(now_s)
        self._step_began, self._step_expected_s = now_s, expected_s
        self._workload = workload if self._in_trial else ""

    def trial_begins(self, now_s: float) -> None:
        self._prepared, self._in_trial, self._trial_began = True, True, now_s
        self._workload, self._in_workloads_s, self._done = "", 0.0, set()

    def trial_ends(self, now_s: float) -> None:
        self._workload_ends(now_s)
        self._in_trial = False
        self._beside.append(now_s - self._trial_began - self._in_workloads_s)
        self._beside_s = statistics.median(self._beside)
        self._least_trials = max(0, self._least_trials - 1)
        if self._likely_trials is not None:
            self._likely_trials = max(0, self._likely_trials - 1)
        self._most_trials = max(0, self._most_trials - 1)

    def trials_ahead(self, least: int, likely: int | None, most: int) -> None:
        """Said at the start of a round: trials that are certain to come, those that the figures make likely (None where
        they have measured nothing yet), and those that rounds and write budget allow."""
        self._least_trials, self._likely_trials, self._most_trials = min(least, most), likely, most

    def outlook(self, now_s: float, step_fraction: float | None) -> tuple[float, float]:
        """Share of the run that is done, and the seconds that are left, as it looks now.

        A run goes on until all is settled or its time is up. Before there is a figure that says which, the guess
        lies between the end of what is certain to come and the limit of time or rounds, at their geometric mean.
        """
        least_s = self._seconds(self._least_trials, now_s)
        if step_fraction is not None and self._step_expected_s:
            least_s = max(least_s, (1 - step_fraction) * self._step_expected_s)
        most_s = max(least_s, min(self._plan.time_limit_s - now_s, self._seconds(self._most_trials, now_s)))
        left_s = math.sqrt((now_s + least_s) * (now_s + most_s)) - now_s
        if self._likely_trials is not None:
            left_s = min(most_s, max(least_s, self._seconds(self._likely_trials, now_s)))
        done = now_s / (now_s + left_s) if now_s + left_s > 0 else 0.0
        self._fraction = max(self._fraction, min(done, 1.0))
        return self._fraction, left_s

    def _seconds(self, trials: int, now_s: float) -> float:
        """What a number of trials take, the current one included, and the preparation as far as it is ahead."""
        left_s = trials * self.trial_s
        if self._in_trial:
            left_s -= self.trial_s - self._rest_of_trial_s(now_s)
        elif not self._prepared:
            left_s += max(0.0, self._plan.preparation_s - now_s)
        return max(0.0, left_s)

    def _rest_of_trial_s(self, now_s: float) -> float:
        ahead = [name for name in self._expected if name not in self._done and name != self._workload]
        rest_s = math.fsum(self._workload_s[name] for name in ahead)
        if self._workload:
            rest_s += max(0.0, self._workload_s[self._workload] - (now_s - self._step_began))
        beside_s = (
            now_s - self._trial_began - self._in_workloads_s - (now_s - self._step_began if self._workload else 0)
        )
        return rest_s + max(0.0, self._beside_s - beside_s)

    def _workload_ends(self, now_s: float) -> None:
        if self._workload:
            took_s = now_s - self._step_began
            self._taken[self._workload].append(took_s)
            self._in_workloads_s += took_s
            self._done.add(self._workload)
            self._workload = ""
            took = {name: statistics.median(taken) for name, taken in self._taken.items()}
            expected_s = math.fsum(self._expected[name] for name in took)
            factor = (SCALE_S + math.fsum(took.values())) / (SCALE_S + expected_s)
            # What was not measured yet is expected by how the others did.
            self._workload_s = {name: took.get(name, factor * seconds) for name, seconds in self._expected.items()}
