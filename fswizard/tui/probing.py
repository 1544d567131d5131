"""A probe as it is shown: what it will do, the rate while it writes, and what came of it."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from textual.content import Content

from fswizard.model.units import duration_text, size_text
from fswizard.tui.drawing import Piece, bullet, facts, fit, lines, meter, text, wrap
from fswizard.tui.widgets.graph import AXIS, chart, nice_top, resample

if TYPE_CHECKING:
    from fswizard.drives.probe import ProbePlan, ProbeProgress, ProbeResult

STAGES = {
    "fill": ("filling", "writes the scratch file once, in order, so that it has its place on the disk"),
    "listen": ("listening", "writes here and there, and listens for stalls that come after a fixed count of writes"),
    "press": ("pressing", "writes here and there without a pause, until the rate falls for good or the time is up"),
}
"""A word for below the curve, and what happens."""
CLIFF = " cliff ▲"


def before(plan: ProbePlan, width: int) -> Content:
    """What the probe will do, and what it can find."""
    where = f"a scratch file without a name in {plan.path}" if plan.fill else f"{plan.path}, on which nothing was found"
    span = size_text(max(plan.listen_bytes, plan.press_bytes))
    most = f"{size_text(plan.maximum_bytes)}, in at most {duration_text(plan.time_limit_s)}"
    pairs: list[tuple[str, Piece]] = [
        ("Writes to", where),
        ("At most", text((most, "bold"), "; it ends at once where a sign is found, and whenever you stop it")),
        ("How", f"pieces of 1 MiB, here and there within {span}, each on the disk before the next one"),
        ("Looks for", "stalls that come after a fixed count of writes, and the cliff behind which a full cache crawls"),
        ("Can say", "“drive-managed” or “inconclusive”; never that a disk is not shingled"),
        ("You lose", ("nothing" if plan.fill else "nothing: what was looked for there was not found", "$success")),
    ]
    return facts(pairs, width, gap=width >= 70)


def during(plan: ProbePlan, told: Sequence[ProbeProgress], width: int, height: int) -> Content:
    """Where it stands, and the rate since the beginning with its stages and stalls, on `height` lines."""
    last = told[-1]
    share = min(1.0, last.elapsed_s / plan.time_limit_s) if plan.time_limit_s else 1.0
    left = f"  {duration_text(last.left_s)} left at most"
    bar = text(meter(share, max(8, width - len(left))), (left, "$muted"))
    word, does = STAGES[last.stage]
    words = wrap(text((f"{word}: ", "bold"), does), width)
    return lines((bar, *words, Content(""), picture(plan, told, width, height - 2 - len(words))))


def picture(plan: ProbePlan, told: Sequence[ProbeProgress], width: int, height: int, sign: str = "") -> Content:
    """The rate since the beginning, and figures; `sign` is the code of what was found."""
    return lines((*_curve(told, width, max(2, height - 5), sign), Content(""), *_figures(plan, told[-1], width)))


def _curve(told: Sequence[ProbeProgress], width: int, height: int, sign: str) -> list[Content]:
    room = max(8, width - AXIS)
    rates = [each.rate_bytes_s for each in told]
    top = nice_top(max(rates, default=0.0))
    rows = chart(rates, room + AXIS, height, top=top, label=f"{size_text(top)}/s", style="$primary")
    stalled = [0.0, *(float(later.stalls > sooner.stalls) for sooner, later in pairwise(told))]
    found = "".join("▲" if mark else " " for mark in resample(stalled, room)).rjust(room)
    if sign == "write-cliff":
        found = found[: -len(CLIFF)] + CLIFF
    rows.append(text(fit(("stalls", "$faint"), AXIS - 2, "right"), "  ", (found, "bold $warning")))
    rows.append(text(" " * AXIS, (_stages(told, room), "$faint")))
    return rows


def _stages(told: Sequence[ProbeProgress], room: int) -> str:
    """Each stage's word where it began."""
    count, line = len(told), " " * room
    scale = min(1.0, room / count)
    for number, each in enumerate(told):
        if number == 0 or told[number - 1].stage != each.stage:
            at = room - int((count - number) * scale)
            line = (line[:at] + f"┆{STAGES[each.stage][0]}").ljust(room)[:room]
    return line


def _figures(plan: ProbePlan, last: ProbeProgress, width: int) -> list[Content]:
    names = ("now", "longest write", "stalls", "written")
    figures = (
        f"{size_text(last.rate_bytes_s)}/s" if last.rate_bytes_s else "no answer",
        duration_text(last.worst_latency_s),
        str(last.stalls),
        f"{size_text(last.written_bytes)} of {size_text(plan.maximum_bytes)}",
    )
    wide = max(8, (width - 10) // 4)
    widths = (wide, wide, wide, width - 3 * wide)
    return [
        Content("").join(fit((name, "$muted"), cells) for name, cells in zip(names, widths)),
        Content("").join(fit((figure, "bold"), cells) for figure, cells in zip(figures, widths)),
    ]


def after(result: ProbeResult, width: int) -> Content:
    """What came of it, in words."""
    if result.outcome == "drive-managed":
        head = text(("◆ Shingled, drive-managed", "bold $warning"))
        others = "fall off like that" if result.evidence.code == "write-cliff" else "stall in such a rhythm"
        then = f"Other disks do not {others}. The suggestions for filesystems take it into account."
    else:
        head = text(("? Inconclusive", "bold"))
        then = "The disk may still be shingled: most show nothing within minutes. The verdict stays as it was."
    rows = [head, bullet(("·", "$faint"), result.evidence.text, width), *wrap((then, "$muted"), width)]
    return lines(rows)
