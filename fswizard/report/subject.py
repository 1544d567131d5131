"""What a run was, or will be, about: the disk, the place that it measures on, and the command to repeat it."""

from __future__ import annotations

import shlex
from collections.abc import Mapping

from fswizard.language import N_, _, n_, number, p_
from fswizard.model.drive import DRIVE_KINDS, Drive
from fswizard.model.plan import Plan
from fswizard.model.recipe import Workload
from fswizard.model.result import Outcome
from fswizard.model.units import binary_text, duration_text, rounds_text, size_text

OUTCOMES: Mapping[Outcome, str] = {
    "finished": "",
    "time-up": N_("time limit reached"),
    "budget-used": N_("write budget used up"),
    "stopped": N_("stopped early"),
    "cancelled": N_("cancelled"),
    "failed": N_("ended by a fault"),
    "killed": N_("cut off before its end"),
    "running": N_("still in progress"),
}


def run_text(rounds: int, elapsed_s: float, outcome: Outcome, discarded: int = 0) -> str:
    """Duration of a run, and how it ended: `3 rounds, 7 min, stopped early`."""
    parts = (
        rounds_text(rounds),
        duration_text(elapsed_s) if elapsed_s else "",
        n_("{count} discarded", "{count} discarded", discarded) if discarded else "",
        _(OUTCOMES[outcome]),
    )
    return ", ".join(filter(None, parts))


def name_drive(drive: Drive) -> str:
    """Model, size and kind: `ST8000AS0002, 8.00 TB, hard disk`."""
    size = size_text(drive.size_bytes) if drive.size_bytes else ""
    kind = _(DRIVE_KINDS.get(drive.kind, ""))
    return ", ".join(filter(None, (drive.model or _("a disk without a model name"), size, kind)))


def describe_drive(drive: Drive) -> str:
    """The same with its connection: `ST8000AS0002, 8.00 TB, hard disk, SATA, 5980 rpm`."""
    bus = "" if drive.bus in ("other", "nvme") else drive.bus.upper()
    parts = (
        name_drive(drive),
        f"{bus} ({drive.bridge})" if bus and drive.bridge else bus,
        _("{count} rpm", count=drive.rpm) if drive.rpm else "",
        _("firmware {version}", version=drive.firmware) if drive.firmware else "",
    )
    return ", ".join(filter(None, parts))


def describe_smr(drive: Drive) -> str:
    """The verdict with its evidence in a line; empty for other drives than hard disks."""
    verdict = drive.smr
    if verdict.kind == "not-a-hard-disk" or (drive.kind != "hdd" and verdict.kind == "unknown"):
        return ""
    if verdict.kind == "unknown":
        return _("unknown whether it is shingled")
    evidence = "; ".join(_(item.text).rstrip(".\u3002") for item in verdict.evidence if verdict.sign(item) == "✓")
    sentence = verdict.sentence(flash=drive.flash)
    return f"{sentence}: {evidence}" if evidence else sentence


def place_text(plan: Plan) -> str:
    """What is measured on: `a scratch image of 2 GiB on ext4 in /var/tmp`; without paths where they are hidden."""
    target, members = plan.target, plan.target.members
    if target.kind == "directory":
        directories = ", ".join(candidate.directory for candidate in plan.candidates)
        return _("directories of their own in {directories}", directories=directories)
    known = [member for member in members if member.path]
    if target.kind == "device":
        sizes = [
            p_("a device and its size", "{path} of {size}", path=member.path, size=size_text(member.size_bytes))
            for member in known
        ]
        text = n_("the device itself", "{count} devices themselves", len(members))
        return f"{text}: {', '.join(sizes)}" if sizes else text
    text = _("a scratch image of {size}", size=binary_text(target.size_bytes))
    if target.host_filesystem:
        text = p_("scratch images", "{images} on {filesystem}", images=text, filesystem=target.host_filesystem)
    paths = ", ".join(dict.fromkeys(member.path for member in known))
    return p_("scratch images", "{images} in {directories}", images=text, directories=paths) if paths else text


def weighed(workload: Workload, title: str) -> str:
    """Its title, with its weight unless that is 1."""
    if workload.weight == 1:
        return title
    if workload.weight == 0:
        return _("{test} (does not count)", test=title)
    return _("{test} (weight {weight})", test=title, weight=number(f"{workload.weight:g}"))


def attempt_command(plan: Plan) -> str:
    """One command that compares the same on another machine, without target, limits or order of this run.

    Empty where the recipe is the user's own.
    """
    if plan.recipe.from_user:
        return ""
    argv = ["fswizard", "run", plan.recipe.name]
    if plan.target.kind == "directory":
        directories = ",".join(candidate.directory for candidate in plan.candidates)
        return shlex.join([*argv, "--target", f"dir:{directories}"])
    argv += ["--candidates", "; ".join(candidate.name for candidate in plan.candidates)]
    if plan.target.others:
        argv += ["--target", f"devices:{','.join(plan.target.placeholders)}"]
    return shlex.join(argv)


def layout_texts(plan: Plan) -> tuple[str, ...]:
    """Space and redundancy of each candidate, and what a failed disk means, if the target has several devices."""
    texts = []
    whole = size_text(sum(member.size_bytes for member in plan.target.members))
    for candidate in plan.candidates if plan.target.others else ():
        array = candidate.array
        room = p_("space", "{size} of {whole}", size=size_text(plan.target.room_bytes(array)), whole=whole)
        if array is None:
            text = _("{room}, on the first disk alone. Everything on it is lost with it.", room=room)
        else:
            may_fail = _("{room}, no disk may fail.", room=room)
            if array.survives > 0:
                may_fail = n_(
                    "{room}, any {count} disk may fail.",
                    "{room}, any {count} disks may fail.",
                    array.survives,
                    room=room,
                )
            text = f"{may_fail} {_(array.layout.failed)}"
        texts.append(f"{candidate.name}: {text}")
    return tuple(texts)
