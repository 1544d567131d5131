"""What a run over several disks says beside speed: room, redundancy, and what a failed disk does."""

from __future__ import annotations

from fswizard.model.filesystem import Candidate
from fswizard.model.plan import Plan
from fswizard.model.units import size_text

WHEN_A_DISK_FAILS = "When a disk fails"
_ALONE = "Everything on it is lost with it."


def layout_texts(plan: Plan) -> tuple[str, ...]:
    """A line for each candidate; none where the target is one device."""
    if not plan.target.others:
        return ()
    return tuple(f"{candidate.name}: {_told(plan, candidate)}" for candidate in plan.candidates)


def _told(plan: Plan, candidate: Candidate) -> str:
    whole = size_text(sum(member.size_bytes for member in plan.target.members))
    room = f"{size_text(plan.target.room_bytes(candidate.array))} of {whole}"
    array = candidate.array
    if array is None:
        return f"{room}, on the first disk alone. {_ALONE}"
    if array.degraded:
        return f"{room}, measured with one disk missing; {_may_fail(array.survives, 'more ')}."
    return f"{room}, {_may_fail(array.survives)}. {array.layout.failed}"


def _may_fail(count: int, more: str = "") -> str:
    if count < 1:
        return f"no {more}disk may fail"
    return f"any {count} {more}disk{'s' * (count != 1)} may fail"
