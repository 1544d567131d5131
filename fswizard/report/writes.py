"""How much a run writes, or wrote, and what that takes of a disk's life."""

from __future__ import annotations

from fswizard.model.drive import Drive
from fswizard.model.endurance import rated_bytes
from fswizard.model.plan import Plan
from fswizard.model.result import Result
from fswizard.model.units import rounds_text, size_text


def writes_text(plan: Plan) -> str:
    """Beforehand: what is expected, and the most."""
    most = f", at most {size_text(plan.write_budget_bytes)} in all" if plan.write_budget_bytes else ""
    return f"about {size_text(plan.writes_bytes)} in {rounds_text(plan.minimum_rounds)}{most}"


def written_text(result: Result) -> str:
    """Afterwards: what the devices counted, and what was expected of as many trials; empty where nobody counted."""
    if not result.trials_written:
        return ""
    written, planned = result.written_bytes, result.plan.writes_bytes_in(len(result.trials_written))
    drive = result.plan.drive
    wear = wear_text(drive, written) if drive else ""
    return f"{size_text(written)}, {size_text(planned)} planned" + (f"; {wear}" if wear else "")


def wear_text(drive: Drive, writes_bytes: float) -> str:
    """What share of a disk's life `writes_bytes` take, and what that rests on; empty where it does not wear."""
    if drive.kind == "flash-card":
        return "rated life not known: few makers of cards and sticks tell it"
    if drive.kind not in ("ssd", "nvme"):
        return ""
    if drive.endurance_bytes:
        used = f"{size_text(drive.written_bytes or 0)} so far took {drive.life_used_percent} % of it"
        return f"{_percent(writes_bytes / drive.endurance_bytes)} of its life, as {used}"
    life_bytes, of_model = rated_bytes(drive)
    if not life_bytes:
        return ""
    rated = (
        f"{size_text(life_bytes)} by its maker" if of_model else f"SSDs of its size: {size_text(life_bytes)} or more"
    )
    return f"{_percent(writes_bytes / life_bytes)} of its rated life ({rated})"


def _percent(share: float) -> str:
    percent = share * 100
    return "under 0.001 %" if percent < 0.001 else f"about {percent:.1g} %" if percent < 1 else f"about {percent:.0f} %"
