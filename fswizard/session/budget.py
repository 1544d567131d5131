"""What a run may still write: another round is begun where it fits into the write budget."""

from __future__ import annotations

import statistics
from collections.abc import Collection

from fswizard.model.metrics import BARE_WRITTEN
from fswizard.model.plan import Plan
from fswizard.model.result import Result


def round_bytes(plan: Plan, result: Result, survivors: Collection[str]) -> float:
    """What another round is expected to write: what the devices counted in earlier ones, else what the plan says."""
    expected = 0.0
    for name in survivors:
        counted = [sample.value for sample in result.trials_written if sample.candidate == name]
        expected += statistics.median(counted) if counted else plan.writes_bytes_per_trial
    bare = [sample.value for sample in result.samples if sample.metric == BARE_WRITTEN.name]
    return expected + (statistics.median(bare) if bare else 0.0)


def affordable_rounds(
    plan: Plan, result: Result, survivors: Collection[str], *, before_bytes: float = 0.0
) -> int | None:
    """How many more rounds fit into the write budget; None where it sets no limit.

    `before_bytes` were written in trials before the run was resumed: its budget counts from there.
    """
    needed = round_bytes(plan, result, survivors)
    if plan.write_budget_bytes is None or not needed:
        return None
    return max(0, int((plan.write_budget_bytes + before_bytes - result.written_bytes) / needed))
