"""What the next run on a disk will take, and is likely to settle, by earlier runs on it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path

from fswizard import results
from fswizard.errors import FswizardError
from fswizard.language import _
from fswizard.model.estimates import Calibration, calibration, estimate, expected
from fswizard.model.plan import Plan
from fswizard.results import Entry
from fswizard.session import harness_ceiling
from fswizard.session.direct_io import is_buffered
from fswizard.stats import provable

MOST_READ = 4
"""Reading a result takes a tenth of a second where it is a long one."""


def estimated(plan: Plan, calibrations: Sequence[Calibration] = ()) -> Plan:
    """The plan with the durations and bytes expected on its disk and this machine; the best calibration comes first."""
    return estimate(
        plan,
        calibrations,
        buffered=[candidate.name for candidate in plan.measured if is_buffered(candidate)],
        bare=plan.target.kind != "directory",
        ceiling_s=harness_ceiling.expected_s(plan.recipe),
    )


def calibrations(plan: Plan, history: Iterable[Entry]) -> tuple[Calibration, ...]:
    """What earlier runs took on the disk of the plan, those of its recipe first, then the newest.

    `history` has the newest first. Of arrays nothing is known, as what they write goes by the layout.
    """
    if plan.target.others:
        return ()
    entries = [entry for entry in history if _same_disk(plan, entry) and entry.path.exists()]
    entries.sort(key=lambda entry: entry.header.recipe != plan.recipe.name)
    read = (_calibration(entry.path, entry.path.stat().st_mtime_ns) for entry in entries[:MOST_READ])
    return tuple(filter(None, read))


@lru_cache(maxsize=4 * MOST_READ)
def _calibration(path: Path, changed_ns: int) -> Calibration | None:
    """Of a result file as it was when it changed last; None where it is damaged."""
    try:
        return calibration(results.load(path))
    except FswizardError:
        return None


def settles_text(plan: Plan, history: Iterable[Entry]) -> str:
    """`differences of 8 % or more, if figures vary as on 2026-11-20`; empty where nothing like it was measured.

    `history` has the newest first; what counts is the same recipe and weights on the same disk.
    """
    for entry in history:
        if entry.header.recipe != plan.recipe.name or not _same_disk(plan, entry):
            continue
        try:
            result = results.load(entry.path)
        except FswizardError:
            continue
        least = provable(result, len(plan.candidates), _rounds(plan)) if _work(result.plan) == _work(plan) else None
        if least is not None:
            return _(
                "differences of {least} % or more, if figures vary as on {when}",
                least=math.ceil(round(least * 100, 6)),
                when=entry.when[:10],
            )
    return ""


def _same_disk(plan: Plan, entry: Entry) -> bool:
    """It was measured on the plan's disk, in the same way; never true of a disk without model and serial number."""
    drive, header = plan.drive, entry.header
    if drive is None or not (drive.model or drive.serial):
        return False
    return (header.target, header.drive, header.serial) == (plan.target.kind, drive.model, drive.serial)


def _work(plan: Plan) -> dict[str, float]:
    return {workload.name: workload.weight for workload in plan.recipe.workloads}


def _rounds(plan: Plan) -> int:
    """That fit into the plan's time."""
    round_s = len(plan.measured) * plan.seconds_per_trial
    return round((expected(plan).most_s - plan.preparation_s) / round_s) if round_s else plan.minimum_rounds
