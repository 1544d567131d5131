"""Resuming a run that was killed, was stopped, or ran out of time or of its write budget."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from pathlib import Path

from fswizard import results
from fswizard.disks.choice import require_still_there
from fswizard.disks.way import why_root
from fswizard.engines import FormerJob
from fswizard.errors import FswizardError, Missing, UsageError
from fswizard.language import N_, _, in_english
from fswizard.model.estimates import affordable_rounds, another_round_fits, as_before, round_bytes
from fswizard.model.plan import Plan
from fswizard.model.result import Result
from fswizard.model.text import safe
from fswizard.model.units import duration_text, size_text
from fswizard.results import Entry
from fswizard.session.checked import checked
from fswizard.session.planning import available, require_available, require_programs, with_commands
from fswizard.stats import analyse, decide
from fswizard.stats.comparison import formatting
from fswizard.system import host

LONGEST_LIST = 3
COMPLETE = N_("This run is complete: more rounds would not settle more.")


@dataclass(frozen=True, slots=True)
class Resumption:
    """A run that can be resumed with `Session(plan, path, earlier=earlier)`."""

    path: Path
    plan: Plan
    earlier: Result


@in_english()
def take_up(path: Path, *, time_limit_s: float | None = None, write_budget_bytes: float | None = None) -> Resumption:
    """Prepare to resume the run of a result file. Its time and its writes count from zero again.

    Its limits are `time_limit_s` and `write_budget_bytes`, which may be infinite, or by default those of the run,
    with the time raised to suffice for a round.

    Raises UsageError or Missing if it cannot be resumed: it was started on another machine, is complete, is still
    running, its target no longer exists, or not even one round fits into the limits. The file is not trusted:
    candidates are created as defined by this program.
    """
    if results.is_being_written(path):
        raise UsageError(
            _("The run of {path} is still in progress.", path=safe(str(path))),
            _("Wait until it ends, or stop it first."),
        )
    earlier = results.load(path)
    if any(workload.engine == FormerJob.engine for workload in earlier.plan.recipe.workloads):
        raise UsageError(_("This version of fswizard doesn't have all its tests."), _("Start a new run."))
    environment = earlier.environment
    if (environment.host, environment.processor) != (host.this.name(), host.this.processor()):
        raise UsageError(
            _("This run was started on another machine; rounds of two machines can't be mixed."),
            _("Resume it there, or start a new run here."),
        )
    plan = with_commands(checked(earlier.plan))  # those in the file may be any
    if earlier.outcome == "failed":
        raise UsageError(
            _("A fault ended this run, so its figures may be wrong."), _("Fix the fault, then start a new run.")
        )
    counted = replace(earlier, discarded_rounds=(*earlier.discarded_rounds, *interrupted_rounds(earlier)))
    stop = decide(analyse(counted), earlier.plan, earlier.candidates_left).stop
    if earlier.outcome == "finished" or (stop and earlier.finished_rounds):
        raise UsageError(COMPLETE, _("`fswizard report` shows its result."))
    require_still_there(earlier.plan)
    if plan.target.kind == "image":
        for then, now in zip(earlier.plan.candidates, plan.candidates):
            if formatting(then) != formatting(now):  # all parts of a run must measure the same filesystem
                text = _(
                    "This version of fswizard makes {candidate} differently than that run did.", candidate=now.name
                )
                raise UsageError(text, _("Start a new run."))
            require_available(now, available(now))
    require_programs(plan.commands)
    if plan.by_udisks and (reason := why_root(plan.candidates)):  # root would make and mount them differently
        raise Missing(
            _("This run's scratch image was mounted by udisks2, which can't be had here: {reason}.", reason=reason),
            _("Resume it where it was started, or start a new run."),
        )
    plan = replace(as_before(plan, earlier), looks_first=False)  # what a trial takes is known by now
    plan = with_limits(plan, earlier, time_limit_s, write_budget_bytes)
    return Resumption(path, plan, earlier)


def why_not(path: Path) -> str:
    """Why a run cannot be resumed, in a sentence; empty if it can."""
    try:
        take_up(path)
    except FswizardError as error:
        return error.message
    return ""


def resumable() -> tuple[Entry, ...]:
    """The newest runs that can be resumed, newest first, at most LONGEST_LIST."""
    entries: list[Entry] = []
    for entry in results.all_results():
        if len(entries) < LONGEST_LIST and entry.unfinished and not why_not(entry.path):
            entries.append(entry)
    return tuple(entries)


def last_round(earlier: Result) -> int:
    """Number of the last round that was begun."""
    return max([earlier.finished_rounds, *earlier.discarded_rounds, *_begun(earlier)])


def interrupted_rounds(earlier: Result) -> tuple[int, ...]:
    """Incomplete rounds that are not discarded yet."""
    begun = (number for number in _begun(earlier) if number > earlier.finished_rounds)
    return tuple(sorted(number for number in begun if number not in earlier.discarded_rounds))


def _begun(earlier: Result) -> set[int]:
    """Rounds with samples or failures; a file may contain any numbers."""
    return {sample.round for sample in earlier.samples} | {failure.round for failure in earlier.failures}


def with_limits(plan: Plan, earlier: Result, time_limit_s: float | None, write_budget_bytes: float | None) -> Plan:
    """The plan with limits that count from its resumption. Raises UsageError if not even one round fits into them."""
    left = earlier.candidates_left
    round_s, more_bytes = len(left) * plan.seconds_per_trial, round_bytes(plan, earlier, left)
    if time_limit_s is None and plan.time_limit_s:
        time_limit_s = max(plan.time_limit_s, plan.preparation_s + 1.5 * round_s)
    if write_budget_bytes is None:
        write_budget_bytes = plan.write_budget_bytes or math.inf
    plan = replace(
        plan,
        time_limit_s=time_limit_s or 0.0,
        write_budget_bytes=None if write_budget_bytes == math.inf else int(write_budget_bytes),
    )
    affordable = affordable_rounds(plan, more_bytes, earlier.written_bytes - earlier.counted_bytes) > 0
    if not (affordable and another_round_fits(plan, earlier.whole_rounds, plan.preparation_s, round_s)):
        text = _(
            "Another round takes about {duration} and writes about {writes}, which exceeds the limits.",
            duration=duration_text(plan.preparation_s + round_s),
            writes=size_text(plan.filled_bytes + more_bytes),
        )
        raise UsageError(text, _("Give it more time or a larger write budget, or start a new run."))
    return plan
