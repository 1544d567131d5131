"""Going on with a run that was killed, ended early, or ran out of time."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from pathlib import Path

from fswizard import results
from fswizard.errors import FswizardError, UsageError
from fswizard.filesystems import parse_candidate, require_members
from fswizard.model.filesystem import Candidate
from fswizard.model.plan import MAXIMUM_ROUNDS, Plan
from fswizard.model.result import Result
from fswizard.model.text import safe
from fswizard.results import Entry
from fswizard.session.budget import another_round_is_affordable
from fswizard.session.planning import available, require_available, require_programs
from fswizard.stats import decide, judge
from fswizard.system import host
from fswizard.targets import require_still_there

LONGEST_LIST = 3


@dataclass(frozen=True, slots=True)
class Resumption:
    """A run that can go on: `Session(plan, path, earlier=earlier)`."""

    path: Path
    plan: Plan
    earlier: Result


def take_up(path: Path, *, time_limit_s: float | None = None, write_budget_bytes: float | None = None) -> Resumption:
    """The run in a result file, ready to go on. Its time limit starts anew, or is `time_limit_s`.

    What it wrote before counts against its write budget, or against `write_budget_bytes`, which may be infinite.

    Raises UsageError, or Missing, where it cannot go on: it was measured elsewhere, is complete, still runs, or what
    it worked on is not there any more. The file is not trusted: candidates are made as this program knows them.
    """
    if results.is_being_written(path):
        raise UsageError(f"The run of {safe(str(path))} is still in progress.", "Wait until it ends, or stop it first.")
    earlier = results.load(path)
    _check_origin(earlier)
    plan = earlier.plan
    if not 1 <= plan.minimum_rounds <= plan.maximum_rounds <= MAXIMUM_ROUNDS:
        raise UsageError("This run's plan has an impossible number of rounds.", "Start a new run instead.")
    _check_incomplete(earlier)
    require_still_there(plan)
    for candidate in plan.candidates if plan.target.kind == "image" else ():
        _check_candidate(candidate, plan)
    require_programs(plan.commands, "the run", " any more")
    plan = replace(plan, time_limit_s=plan.time_limit_s if time_limit_s is None else time_limit_s)
    if write_budget_bytes is not None:
        plan = replace(plan, write_budget_bytes=None if write_budget_bytes == math.inf else int(write_budget_bytes))
    if not another_round_is_affordable(plan, earlier, candidates_left(earlier)):
        raise UsageError(
            "This run has used up its write budget.", "Give it more: `fswizard run --resume FILE --write-budget 100G`."
        )
    return Resumption(path, plan, earlier)


def resumable() -> tuple[Entry, ...]:
    """The newest of the runs that can go on, newest first; a few at most."""
    entries: list[Entry] = []
    for entry in results.all_results():
        if len(entries) < LONGEST_LIST and (entry.ending is None or entry.ending.outcome != "finished"):
            try:
                take_up(entry.path)
            except FswizardError:
                continue
            entries.append(entry)
    return tuple(entries)


def last_round(earlier: Result) -> int:
    """Number of the last round that was begun."""
    begun = (*(sample.round for sample in earlier.samples), *(failure.round for failure in earlier.failures))
    return max((earlier.finished_rounds, *begun, *earlier.discarded_rounds))


def interrupted_rounds(earlier: Result) -> tuple[int, ...]:
    """Rounds that were begun and not gone through whole, and are not discarded yet."""
    begun = range(earlier.finished_rounds + 1, last_round(earlier) + 1)
    return tuple(number for number in begun if number not in earlier.discarded_rounds)


def candidates_left(earlier: Result) -> set[str]:
    """Who takes part in the next round: all but those that failed, fell behind or were skipped in whole rounds."""
    if earlier.survivors is None:
        return {candidate.name for candidate in earlier.plan.candidates}
    return set(earlier.survivors)


def _check_origin(earlier: Result) -> None:
    environment = earlier.environment
    if environment.source:
        raise UsageError("These figures were imported; there is no run to resume.", "`fswizard run` starts one.")
    if (environment.host, environment.processor) != (host.this.name(), host.this.processor()):
        raise UsageError(
            "This run was started on another machine; rounds of two machines can't be mixed.",
            "Resume it there, or start a new run here.",
        )


def _check_incomplete(earlier: Result) -> None:
    counted = replace(earlier, discarded_rounds=(*earlier.discarded_rounds, *interrupted_rounds(earlier)))
    stop = decide(judge(counted), earlier.plan, candidates_left(earlier)).stop
    if earlier.outcome == "finished" or (stop and earlier.finished_rounds):
        raise UsageError(
            "This run is complete: more rounds would not settle more.", "`fswizard report` shows its result."
        )


def _check_candidate(candidate: Candidate, plan: Plan) -> None:
    """Made exactly as it was: all parts of a run must measure the same filesystem."""
    known = parse_candidate(candidate.name).on(len(plan.target.members))
    if _as_made(known) != _as_made(candidate):
        raise UsageError(
            f"This version of fswizard makes {candidate.name} differently than that run did.", "Start a new run."
        )
    require_available(known, available(known), "here any more")
    require_members(known.name, known.array, len(plan.target.members))


def _as_made(candidate: Candidate) -> tuple[object, ...]:
    filesystem = candidate.filesystem
    return (
        filesystem.name,
        filesystem.mkfs_program,
        filesystem.mount_type,
        candidate.mkfs_arguments(scratch=True),
        candidate.array,
        candidate.mount_options,
        candidate.directory,
    )
