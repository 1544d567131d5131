"""Space and redundancy of candidates on several disks, and the consequence of a failed disk."""

from __future__ import annotations

from fswizard.model.filesystem import Candidate
from fswizard.model.plan import Plan
from fswizard.model.units import size_text

WHEN_A_DISK_FAILS = "When a disk fails"


def layout_texts(plan: Plan) -> tuple[str, ...]:
    """A line for each candidate, if the target has several devices."""
    if not plan.target.others:
        return ()
    return tuple(f"{candidate.name}: {_layout(plan, candidate)}" for candidate in plan.candidates)


def _layout(plan: Plan, candidate: Candidate) -> str:
    whole = size_text(sum(member.size_bytes for member in plan.target.members))
    room = f"{size_text(plan.target.room_bytes(candidate.array))} of {whole}"
    array = candidate.array
    if array is None:
        return f"{room}, on the first disk alone. Everything on it is lost with it."
    if array.degraded:
        return f"{room}, measured with one disk missing; {_may_fail(array.survives, 'more ')}."
    return f"{room}, {_may_fail(array.survives)}. {array.layout.failed}"


def _may_fail(count: int, more: str = "") -> str:
    if count < 1:
        return f"no {more}disk may fail"
    return f"any {count} {more}{'disk' if count == 1 else 'disks'} may fail"
