"""What the next run on a disk will take, by earlier runs on it."""

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

    They are those of the newest run in `history`, which has the newest first, of the plan's recipe and weights on its
    disk, measured in the same way. None of a disk without model and serial number counts, and none of arrays, as what
    they take goes by the layout.
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
    """A result file as it was when it changed last, as reading takes a tenth of a second; None of a damaged one."""
    try:
        return results.load(path)
    except FswizardError:
        return None


def _work(plan: Plan) -> object:
    """What makes two runs take as long: the tests, the images that are written before, and old files."""
    weights = {workload.name: workload.weight for workload in plan.recipe.workloads}
    return weights, plan.target.filled_bytes, bool(plan.aged)
