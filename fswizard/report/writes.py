"""Bytes that a run writes, or wrote, and their share of a disk's life."""

from __future__ import annotations

import re

from fswizard.language import _, number, p_
from fswizard.model.drive import Drive
from fswizard.model.endurance import rated_bytes
from fswizard.model.estimates import Outlook, expected
from fswizard.model.plan import Plan
from fswizard.model.result import Result
from fswizard.model.units import duration_text, size_text

NEARLY = 1.25
"""Largest ratio of two estimates that are shown as one figure."""


def budget_text(plan: Plan, outlook: Outlook | None = None, *, elapsed_s: float = 0.0) -> str:
    """The line on time and bytes of a run: `3–4 min · writes about 12 GB, …`.

    `outlook` is None before a new run. Times that have passed are left out: `up to 4 min`, `longer than planned`.
    """
    run = outlook or expected(plan)
    time = _range(duration_text(run.least_s), duration_text(run.most_s), one=run.most_s <= NEARLY * run.least_s)
    if elapsed_s > run.most_s:
        time = _("longer than planned")
    elif elapsed_s > run.least_s:
        time = p_("range", "up to {time}", time=duration_text(run.most_s))

    near = run.most_bytes <= NEARLY * run.least_bytes
    size = _range(_two_digits(run.least_bytes), _two_digits(run.most_bytes), one=near)
    writes = p_("bytes", "writes about {size}", size=size)
    if share := share_of_life(plan.drive, run.most_bytes):
        writes = _("{writes}, up to {share}", writes=writes, share=share)
    return f"{time} · {writes}"


def limits_text(plan: Plan) -> str:
    """The limits that end a run."""
    time = duration_text(plan.time_limit_s)
    if not plan.write_budget_bytes:
        return _("no new round starts after {time}", time=time)
    size = size_text(plan.write_budget_bytes)
    return _("no new round starts after {time}, or once {size} are written", time=time, size=size)


def _range(low: str, high: str, *, one: bool) -> str:
    """`3–4 min`, `45 s to 3 min`; the higher end alone if it is to be `one` figure."""
    value, _space, unit = low.partition(" ")
    if one or low == high:
        return high
    if unit == high.partition(" ")[2] and " " not in unit:
        return f"{value}–{high}"
    return p_("range", "{low} to {high}", low=low, high=high)


def _two_digits(size_bytes: float) -> str:
    """As precise as an estimate: `12 GB`, `1.2 TB`."""
    text = size_text(float(f"{size_bytes:.1e}"))
    return re.sub(r"([.,]\d*?)0+(?!\d)", lambda match: match[1].rstrip(".,"), text)


def share_of_life(drive: Drive | None, writes_bytes: float) -> str:
    """`0.002 % of this SSD's life`; empty if the disk does not wear, or its life is unknown."""
    if drive is None or drive.kind not in ("ssd", "nvme"):
        return ""
    life_bytes = drive.endurance_bytes or rated_bytes(drive)
    if not life_bytes:
        return ""
    percent = max(0.001, 100 * writes_bytes / life_bytes)
    share = _("{percent} %", percent=number(f"{percent:.1g}" if percent < 1 else f"{percent:.0f}"))
    return _("{share} of this SSD's life", share=share)


def written_text(result: Result) -> str:
    """Bytes that the devices counted, and those planned for as many trials; empty if the devices did not count."""
    if not result.trials_written:
        return ""
    written, planned = result.written_bytes, result.plan.writes_bytes_in(len(result.trials_written))
    text = p_("bytes", "{written}, {planned} planned", written=size_text(written), planned=size_text(planned))
    share = share_of_life(result.plan.drive, written)
    return f"{text}; {share}" if share else text
