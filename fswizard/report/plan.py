"""A plan in blocks: what a run will do, lose and take, before it starts."""

from __future__ import annotations

import shlex
from itertools import groupby

from fswizard.model.estimates import expected
from fswizard.model.plan import Plan
from fswizard.model.result import Result
from fswizard.model.text import mid_sentence
from fswizard.model.units import duration_text, rounds_text, size_text
from fswizard.report.arrays import layout_texts
from fswizard.report.document import Commands, Document, Facts, Words
from fswizard.report.presentation import AFTERWARDS, memory_text, name_drive, place_text
from fswizard.report.writes import budget_text, limits_text

LOSES = "You lose"
PLACE = "Where"
NOTHING = "nothing: none of your disks or partitions is formatted"
ERASED = "everything on it: it is formatted again and again"
COMMANDS = "Commands (# as root, $ as you; DEVICE, MOUNT and IMAGE are named at the start)"


def plan_document(plan: Plan, *, settles: str = "", left_out: str = "") -> Document:
    """All of a plan. `settles` is what it is likely to settle, `left_out` which candidates are missing and why."""
    return (
        Words((f"{plan.recipe.title}: {plan.recipe.why}",)),
        plan_facts(plan, settles=settles, left_out=left_out),
        Commands(COMMANDS, plan_commands(plan), prompts=True),
    )


def plan_facts(plan: Plan, *, settles: str = "", left_out: str = "", earlier: Result | None = None) -> Facts:
    """What will happen, where, at what cost; `earlier` is the run that is resumed."""
    target, drive = plan.target, plan.drive
    names = [candidate.name for candidate in plan.candidates]
    kept = names if earlier is None else [name for name in names if name in earlier.candidates_left]
    renamed = ""
    if target.kind == "device":
        renamed = ", ".join(member.path for member in target.members if not member.path.startswith("/dev/disk/"))
    measured = [
        mid_sentence(each.title) + (f" (weight {each.weight:g})" if each.weight != 1 else "")
        for each in plan.recipe.workloads
    ]
    rows = (
        (LOSES, "; ".join(plan.losses) or (ERASED if target.kind == "device" else NOTHING)),
        ("Disk", ", ".join(filter(None, (drive.name, name_drive(drive)))) if drive else ""),
        (PLACE, place_text(plan) + AFTERWARDS[target.kind]),
        ("Note", renamed and f"{renamed} may have another name after a restart"),
        (
            "Compares",
            f"{', '.join(kept)}; baseline {plan.baseline}" + ("; each beside a new one" if plan.beside else ""),
        ),
        ("Dropped", ", ".join(name for name in names if name not in kept)),
        ("Left out", left_out),
        ("Layouts", "\n".join(layout_texts(plan))),
        ("So far", _so_far(earlier) if earlier else ""),
        ("Takes", budget_text(plan, expected(plan, earlier))),
        ("Limits", f"{plan.minimum_rounds} to {plan.maximum_rounds} rounds; {limits_text(plan)}"),
        ("Settles", settles),
        ("Needs", ", ".join(plan.needs)),
        ("Memory", memory_text(plan)),
        ("Measures", f"{plan.recipe.title}: {', '.join(measured)}"),
    )
    return Facts(tuple((label, words) for label, words in rows if words))


def plan_commands(plan: Plan) -> tuple[str, ...]:
    """Each command after # for root or $ for the user; one that is repeated at once stands there once."""
    lines = [f"{'#' if command.as_root else '$'} {shlex.join(command.argv)}" for command in plan.commands]
    counted = ((line, len(list(same))) for line, same in groupby(lines))
    return tuple(line if count == 1 else f"{line}  ({count} times)" for line, count in counted)


def _so_far(earlier: Result) -> str:
    words = f"{rounds_text(earlier.whole_rounds)} in {duration_text(earlier.elapsed_s)}, kept"
    if earlier.trials_written:
        words += f"; {size_text(earlier.written_bytes)} written"
    return f"{words}; the two lines below come on top"
