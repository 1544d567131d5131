"""Bytes that a run writes, or wrote, and their share of a disk's life."""

from __future__ import annotations

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
    near = run.most_bytes <= NEARLY * run.least_bytes
    words = f"{_time_text(run, elapsed_s)} · writes {'about ' if near else ''}{_writes_text(run)}"
    if plan.drive is not None and (share := _share_of_life(plan.drive, run.most_bytes)):
        words += f", {'' if near else 'up to '}{share}"
    return words + (f", by the run of {run.measured_on}" if run.measured_on else "")


def budget_figures(plan: Plan) -> tuple[str, str]:
    """The same time and bytes for the columns of a table: `3–4 min`, `12 GB`."""
    run = expected(plan)
    return _time_text(run, 0.0), _writes_text(run)


def limits_text(plan: Plan) -> str:
    """The limits that end a run."""
    time = f"no new round starts after {duration_text(plan.time_limit_s)}"
    return time + (f", or once {size_text(plan.write_budget_bytes)} are written" if plan.write_budget_bytes else "")


def _time_text(run: Outlook, elapsed_s: float) -> str:
    most = duration_text(run.most_s)
    if elapsed_s <= run.least_s:
        return _range(_in_minutes(run.least_s) if most.endswith(" min") else duration_text(run.least_s), most)
    return f"up to {most}" if elapsed_s <= run.most_s else "longer than planned"


def _in_minutes(seconds: float) -> str:
    """A duration beside one in minutes: from one minute to two, the nearest half."""
    return ("1 min" if seconds < 75 else "1½ min") if 60 <= seconds < 90 else duration_text(seconds)


def _writes_text(run: Outlook) -> str:
    least, most = _two_digits(run.least_bytes), _two_digits(run.most_bytes)
    return most if run.most_bytes <= NEARLY * run.least_bytes else _range(least, most)


def _range(low: str, high: str) -> str:
    """`3–4 min`, `1½–4 min`, `45 s to 3 min`, `3 min`."""
    (number, _, unit), (_, _, other) = low.partition(" "), high.partition(" ")
    if low == high:
        return high
    return f"{number}–{high}" if unit == other and " " not in unit else f"{low} to {high}"


def _two_digits(size_bytes: float) -> str:
    """As precise as an estimate: `12 GB`, `1.2 TB`."""
    number, _, unit = size_text(size_bytes).partition(" ")
    value = float(f"{float(number):.2g}")
    return f"{value:.0f} {unit}" if value >= 10 else f"{value:g} {unit}"


def _share_of_life(drive: Drive, writes_bytes: float) -> str:
    """`0.002 % of this SSD's rated life`; empty if the disk does not wear, or its life is unknown."""
    if drive.kind not in ("ssd", "nvme"):
        return ""
    life_bytes = drive.endurance_bytes or rated_bytes(drive)[0]
    if not life_bytes:
        return ""
    life = "life" if drive.endurance_bytes else "rated life"
    return f"{_percent(writes_bytes / life_bytes).removeprefix('about ')} of this SSD's {life}"


def written_text(result: Result) -> str:
    """Bytes that the devices counted, and those planned for as many trials; empty if the devices did not count."""
    if not result.trials_written:
        return ""
    written, planned = result.written_bytes, result.plan.writes_bytes_in(len(result.trials_written))
    drive = result.plan.drive
    wear = wear_text(drive, written) if drive else ""
    return f"{size_text(written)}, {size_text(planned)} planned" + (f"; {wear}" if wear else "")


def wear_text(drive: Drive, writes_bytes: float) -> str:
    """Share of a disk's life that `writes_bytes` take, and its source; empty if the disk does not wear."""
    if drive.kind == "flash-card":
        return "rated life unknown: few makers of cards and sticks publish it"
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
