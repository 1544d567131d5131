"""Cost of the next run on a disk, estimated from earlier runs on it."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path

from fswizard import results
from fswizard.errors import FswizardError
from fswizard.model.estimates import as_before, estimate
from fswizard.model.plan import Plan
from fswizard.model.result import Result
from fswizard.results import Entry
from fswizard.session import harness_ceiling


def estimated(plan: Plan, history: Iterable[Entry] = ()) -> Plan:
    """The plan with the durations and bytes expected on its disk and this machine.

    They are taken from the newest run in `history` (newest first) with the same recipe, weights, disk and kind of
    target. Disks without model and serial number have no history, nor do arrays, because their cost depends on the
    layout.
    """
    drive, target = plan.drive, plan.target
    plan = estimate(plan, ceiling_s=harness_ceiling.expected_s(plan.recipe))
    if drive is None or not (drive.model or drive.serial) or target.others:
        return plan
    for entry in history:
        header = entry.header
        same = (header.recipe, header.target, header.drive, header.serial)
        if same == (plan.recipe.name, target.kind, drive.model, drive.serial) and entry.path.exists():
            result = _loaded(entry.path, entry.path.stat().st_mtime_ns)
            if result and _work(result.plan) == _work(plan) and result.trials:
                return as_before(plan, result)
    return plan


@lru_cache(maxsize=4)
def _loaded(path: Path, changed_ns: int) -> Result | None:
    """A result file, cached until it changes, as reading takes a tenth of a second; None if it is damaged."""
    try:
        return results.load(path)
    except FswizardError:
        return None


def _work(plan: Plan) -> object:
    """Key of runs with the same cost: the tests, the images that are filled before, and ageing."""
    weights = {workload.name: workload.weight for workload in plan.recipe.workloads}
    return weights, plan.target.filled_bytes, bool(plan.aged)
