"""A plan in blocks: what a run will do, lose and take, before it starts."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from itertools import groupby

from fswizard.language import N_, _, n_, p_
from fswizard.model.estimates import expected
from fswizard.model.plan import Plan
from fswizard.model.result import Result
from fswizard.model.text import mid_sentence
from fswizard.model.units import duration_text, rounds_text, size_text
from fswizard.report.arrays import layout_texts
from fswizard.report.blocks import Commands, Document, Facts, Paragraph
from fswizard.report.subject import AFTERWARDS, memory_text, name_drive, place_text, weighed
from fswizard.report.writes import budget_text, limits_text

LOSES = N_("You lose")
PLACE = N_("Where")
NOTHING = N_("nothing: none of your disks or partitions is formatted")
ERASED = N_("everything on it: it is formatted again and again")
COMMANDS = N_("Commands (# as root, $ as you; DEVICE, MOUNT and IMAGE are named at the start)")


def plan_document(plan: Plan, *, left_out: str = "") -> Document:
    """All of a plan. `left_out` says which candidates are missing and why."""
    return (
        Paragraph(f"{_(plan.recipe.title)}: {_(plan.recipe.why)}"),
        plan_facts(plan, left_out=left_out),
        Commands(_(COMMANDS), plan_commands(plan)),
        *(Paragraph(sentence) for sentence in image_sentences(plan)),
    )


def plan_facts(plan: Plan, *, left_out: str = "", earlier: Result | None = None) -> Facts:
    """What will happen, where, at what cost; `earlier` is the run that is resumed."""
    target, drive = plan.target, plan.drive
    names = [candidate.name for candidate in plan.candidates]
    kept = names if earlier is None else [name for name in names if name in earlier.candidates_left]
    renamed = ""
    if target.kind == "device":
        renamed = ", ".join(member.path for member in target.members if not member.path.startswith("/dev/disk/"))
    measured = [weighed(workload, mid_sentence(workload.title)) for workload in plan.recipe.workloads]
    rows = (
        (_(LOSES), "; ".join(map(_, plan.losses)) or _(ERASED if target.kind == "device" else NOTHING)),
        (_("Disk"), ", ".join(filter(None, (drive.name, name_drive(drive)))) if drive else ""),
        (_(PLACE), _(AFTERWARDS[target.kind], place=place_text(plan))),
        (_("Note"), renamed and _("{disk} may have another name after a restart", disk=renamed)),
        (p_("label in a plan", "Compares"), _compared(plan, kept)),
        (p_("label in a plan", "Dropped"), ", ".join(name for name in names if name not in kept)),
        (p_("label in a plan", "Left out"), left_out),
        (p_("label in a plan", "Layouts"), "\n".join(layout_texts(plan))),
        (p_("label in a plan", "So far"), _so_far(earlier) if earlier else ""),
        (p_("label in a plan", "Takes"), budget_text(plan, expected(plan, earlier))),
        (p_("label in a plan", "Limits"), _limits(plan)),
        (p_("label in a plan", "Needs"), ", ".join(plan.needs)),
        (_("Memory"), memory_text(plan)),
        (
            p_("label in a plan", "Measures"),
            f"{_(plan.recipe.title)}: {', '.join(measured)}",
        ),
    )
    return Facts(tuple((label, words) for label, words in rows if words))


def plan_commands(plan: Plan) -> tuple[str, ...]:
    """Each command after # for root or $ for the user; one that is repeated at once stands there once."""
    lines = [f"{'#' if command.as_root else '$'} {shlex.join(command.argv)}" for command in plan.commands]
    counted = ((line, len(list(same))) for line, same in groupby(lines))
    return tuple(line if count == 1 else f"{line}  ({_times(count)})" for line, count in counted)


def image_sentences(plan: Plan) -> tuple[str, ...]:
    """How the image around these commands is made and removed, if there is one."""
    if plan.target.kind != "image":
        return ()
    return (_("The image is first written whole and attached as a loop device, and at the end unmounted and removed."),)


def _times(count: int) -> str:
    return n_("{count} time", "{count} times", count)


def _compared(plan: Plan, names: Sequence[str]) -> str:
    candidates = ", ".join(names)
    return _("{candidates}; baseline {baseline}", candidates=candidates, baseline=plan.baseline)


def _limits(plan: Plan) -> str:
    rounds = n_("{least} to {count} round", "{least} to {count} rounds", plan.maximum_rounds, least=plan.minimum_rounds)
    return f"{rounds}; {limits_text(plan)}"


def _so_far(earlier: Result) -> str:
    words = {"rounds": rounds_text(earlier.whole_rounds), "time": duration_text(earlier.elapsed_s)}
    if not earlier.trials_written:
        return _("{rounds} in {time}, kept; the two lines below come on top", **words)
    written = size_text(earlier.written_bytes)
    text = N_("{rounds} in {time}, kept; {size} written; the two lines below come on top")
    return _(text, size=written, **words)
