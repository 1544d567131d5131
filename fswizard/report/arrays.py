"""Space and redundancy of candidates on several disks, and the consequence of a failed disk."""

from __future__ import annotations

from fswizard.language import N_, _, n_, p_
from fswizard.model.filesystem import Candidate
from fswizard.model.plan import Plan
from fswizard.model.units import size_text

WHEN_A_DISK_FAILS = N_("When a disk fails")


def layout_texts(plan: Plan) -> tuple[str, ...]:
    """A line for each candidate, if the target has several devices."""
    if not plan.target.others:
        return ()
    return tuple(f"{candidate.name}: {_layout(plan, candidate)}" for candidate in plan.candidates)


def _layout(plan: Plan, candidate: Candidate) -> str:
    whole = size_text(sum(member.size_bytes for member in plan.target.members))
    room = p_("space", "{size} of {whole}", size=size_text(plan.target.room_bytes(candidate.array)), whole=whole)
    array = candidate.array
    if array is None:
        return _("{room}, on the first disk alone. Everything on it is lost with it.", room=room)
    if array.survives < 1:
        may_fail = _("{room}, no disk may fail.", room=room)
    else:
        may_fail = n_(
            "{room}, any {count} disk may fail.", "{room}, any {count} disks may fail.", array.survives, room=room
        )
    return f"{may_fail} {_(array.layout.failed)}"
