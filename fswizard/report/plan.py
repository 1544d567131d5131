"""A plan in blocks: what a run will do, lose and take, before it starts."""

from __future__ import annotations

import shlex
from itertools import groupby

from fswizard.language import N_, _, n_, p_
from fswizard.model.estimates import expected
from fswizard.model.plan import Plan
from fswizard.model.result import Result
from fswizard.model.text import mid_sentence
from fswizard.model.units import binary_text, duration_text, rounds_text, size_text
from fswizard.report.blocks import Commands, Document, Facts, Paragraph
from fswizard.report.subject import layout_texts, name_drive, place_text, weighed
from fswizard.report.writes import budget_text, limits_text

PLACES = {
    "image": N_("{place}, removed afterwards"),
    "device": N_("{place}; left empty, without a filesystem"),
    "directory": N_("{place}; nothing is formatted"),
}
"""What a run does with the place that it measures on, by kind of target."""


def plan_document(plan: Plan, *, left_out: str = "") -> Document:
    """All of a plan. `left_out` says which candidates are missing and why."""
    heading = _("Commands (# as root, $ as you; DEVICE, MOUNT and IMAGE are named at the start)")
    return (
        Paragraph(f"{_(plan.recipe.title)}: {_(plan.recipe.why)}"),
        plan_facts(plan, left_out=left_out),
        Commands(heading, plan_commands(plan)),
        *(Paragraph(sentence) for sentence in image_sentences(plan)),
    )


def plan_facts(plan: Plan, *, left_out: str = "", earlier: Result | None = None) -> Facts:
    """What will happen, where, at what cost; `earlier` is the run that is resumed."""
    target, drive = plan.target, plan.drive
    names = [candidate.name for candidate in plan.candidates]
    kept = names if earlier is None else [name for name in names if name in earlier.candidates_left]
    loses = _("nothing: none of your disks or partitions is formatted")
    renamed = ""
    if target.kind == "device":
        loses = _("everything on it: it is formatted again and again")
        renamed = ", ".join(member.path for member in target.members if not member.path.startswith("/dev/disk/"))
    so_far = ""
    if earlier:
        so_far = _(
            "{rounds} in {time}, kept; {size} written; the two lines below come on top",
            rounds=rounds_text(earlier.whole_rounds),
            time=duration_text(earlier.elapsed_s),
            size=size_text(earlier.written_bytes),
        )
    rounds = n_("{least} to {count} round", "{least} to {count} rounds", plan.maximum_rounds, least=plan.minimum_rounds)
    memory = ""
    if not all(workload.job.direct for workload in plan.recipe.workloads):
        memory = _("no memory limit for measured programs")
        if plan.memory_limit_bytes:
            size = binary_text(plan.memory_limit_bytes)
            memory = _("{size} for measured programs, page cache included", size=size)
    compared = _("{candidates}; baseline {baseline}", candidates=", ".join(kept), baseline=plan.baseline)
    measured = [weighed(workload, mid_sentence(workload.title)) for workload in plan.recipe.workloads]
    rows = (
        (_("You lose"), "; ".join(map(_, plan.losses)) or loses),
        (_("Disk"), ", ".join(filter(None, (drive.name, name_drive(drive)))) if drive else ""),
        (_("Where"), _(PLACES[target.kind], place=place_text(plan))),
        (_("Note"), renamed and _("{disk} may have another name after a restart", disk=renamed)),
        (p_("label in a plan", "Compares"), compared),
        (p_("label in a plan", "Dropped"), ", ".join(name for name in names if name not in kept)),
        (p_("label in a plan", "Left out"), left_out),
        (p_("label in a plan", "Layouts"), "\n".join(layout_texts(plan))),
        (p_("label in a plan", "So far"), so_far),
        (p_("label in a plan", "Takes"), budget_text(plan, expected(plan, earlier))),
        (p_("label in a plan", "Limits"), f"{rounds}; {limits_text(plan)}"),
        (p_("label in a plan", "Needs"), ", ".join(plan.needs)),
        (_("Memory"), memory),
        (p_("label in a plan", "Measures"), f"{_(plan.recipe.title)}: {', '.join(measured)}"),
    )
    return Facts(tuple((label, text) for label, text in rows if text))


def plan_commands(plan: Plan) -> tuple[str, ...]:
    """Each command after # for root or $ for the user; one that is repeated at once stands there once."""
    lines = []
    for command, same in groupby(f"{'#' if each.as_root else '$'} {shlex.join(each.argv)}" for each in plan.commands):
        count = len(list(same))
        lines.append(command if count == 1 else f"{command}  ({n_('{count} time', '{count} times', count)})")
    return tuple(lines)


def image_sentences(plan: Plan) -> tuple[str, ...]:
    """How the image around these commands is made and removed, if there is one."""
    if plan.target.kind != "image":
        return ()
    return (_("The image is first written whole and attached as a loop device, and at the end unmounted and removed."),)
