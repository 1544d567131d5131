"""Set up a disk as a result recommends: the plan, the script, and the progress as root, for the user's process."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import dataclass

from fswizard.disks import rights
from fswizard.disks.choice import member_of, refusal, require_confirmed
from fswizard.disks.set_up import (
    FSTAB,
    Here,
    Order,
    check_machine,
    chosen_set_up,
    is_mount_point,
    partition_of,
    steps,
)
from fswizard.drives.devices import DeviceTarget, find_device, losses
from fswizard.errors import Missing, RunFailed
from fswizard.filesystems import availability
from fswizard.filesystems import mounting as grammar
from fswizard.language import _, in_english
from fswizard.model.codec import to_json
from fswizard.model.filesystem import Candidate
from fswizard.model.plan import Plan
from fswizard.system import commands
from fswizard.system.block_device import path_of

USUAL_MOUNT_POINT = "/mnt/data"
LISTING = ("lsblk", "--noheadings", "--bytes", "--raw", "--output", "SIZE,SERIAL,WWN,PARTUUID,MOUNTPOINT")
"""Command that lists the identity and the mounts of a disk, for comparison by the script (lsblk(8))."""


@dataclass(frozen=True, slots=True)
class SetUpPlan:
    """How a disk will be set up."""

    candidate: Candidate
    mount_point: str
    here: Here
    target: DeviceTarget

    @property
    def commands(self) -> tuple[str, ...]:
        """Shell commands, to be run as root in this order."""
        device = self.target.device
        text = "\n".join(step.shell for step in steps(self.candidate, self.mount_point, self.here))
        text = text.replace('"$disk"', device.path).replace('"$part"', path_of(partition_of(device.name)))
        return tuple(text.splitlines())

    @property
    def losses(self) -> tuple[str, ...]:
        """One sentence for each thing that would be lost."""
        return losses(self.target)


@dataclass(frozen=True, slots=True)
class SetUpDone:
    """Result of a set-up: the filesystem is mounted and belongs to its owner."""

    backup: str
    """Path of the previous fstab."""
    undo: tuple[str, ...]
    """Commands that undo it, to be run as root."""


def usual_mount_point(plan: Plan) -> str:
    """Default mount point: that of the recipe, if it is allowed."""
    return plan.recipe.mount_point if is_mount_point(plan.recipe.mount_point) else USUAL_MOUNT_POINT


def plan_set_up(candidate: Candidate, path: str, point: str) -> SetUpPlan:
    """Plan the set-up of the disk or partition at `path`, without changes.

    Raises Refused or Missing if it cannot be set up.
    """
    if not (here := availability(candidate.filesystem)).usable:
        title = candidate.filesystem.title
        raise Missing(_("{filesystem} can't be set up here: {reason}", filesystem=title, reason=here.reason), here.hint)
    target = find_device(path)
    candidate = chosen_set_up(candidate, point)
    if refused := refusal(target, candidate.filesystem.minimum_bytes):
        raise refused
    return SetUpPlan(candidate, point, check_machine(candidate, point, target.device), target)


def set_up(plan: SetUpPlan, typed: str) -> Iterator[str | SetUpDone]:
    """Carry out the plan as root; yields each step, finally a SetUpDone. Blocks; call `rights.authorise` before.

    Once started, it runs to its end even if this generator is closed. Raises Refused, Missing or RunFailed, which says
    what was undone.
    """
    require_confirmed(plan.target, typed)
    member, shown = member_of(plan.target, typed), plan.target.facts.probed.type
    order = Order(plan.candidate.name, plan.mount_point, member, shown)
    hint = _("Look at {fstab} and the disk before you go on.", fstab=FSTAB)
    unfinished = RunFailed(_("Setting the disk up ended before it was done."), hint)
    for message in rights.ask("fswizard.disks.setting_up", to_json(order), unfinished):
        if isinstance(message, str):
            yield message
        else:
            yield SetUpDone(message["backup"], undo_commands(plan.mount_point, message["uuid"]))


def undo_commands(point: str, uuid: str) -> tuple[str, ...]:
    """Commands that unmount the filesystem, and remove its line from fstab and its mount point; the disk is kept."""
    return (f"umount {point}", rf"sed -i '\|^UUID={uuid}\b|d' {FSTAB}", f"rmdir {point}")


CHECKS = f"""\
stop() {{ echo "Stopped: $*" >&2; exit 1; }}
[ "$(id -u)" = 0 ] || stop "run this as root: sudo sh FILE"
disk=$(readlink -f -- "$chosen")
[ -b "$disk" ] || stop "$chosen is not there"
listed=$({shlex.join(LISTING)} "$disk")
[ "$listed" = "$expected" ] || stop "$chosen is in use, or another disk than the one that was chosen"
holds=$(blkid -p -s TYPE -o value "$disk" || :)
[ "$holds" = "$content" ] || stop "$chosen holds something else than was shown: ${{holds:-nothing}}"
[ ! -L {FSTAB} ] || stop "{FSTAB} is a link: another program writes it"
awk -v point="$point" '$2 == point {{ taken = 1 }} END {{ exit taken }}' {FSTAB} /proc/mounts ||
    stop "$point is mounted or in {FSTAB} already"
if [ -e "$point" ] || [ -L "$point" ]; then stop "$point exists already"; fi
umask 022
stamp=$(date +%Y%m%d-%H%M%S)
exec 9< "$disk"
flock -n 9 || stop "$chosen is locked by another program"
trap 'exit 1' HUP INT TERM"""


@in_english()
def script(plan: SetUpPlan) -> str:
    """The plan as a script for sh, to be run as root. It verifies the disk, and undoes its steps if one fails."""
    target, point = plan.target, plan.mount_point
    listed = commands.query([*LISTING, target.device.path]).stdout.decode(errors="replace").rstrip("\n")
    values = {"chosen": target.path, "expected": listed, "content": target.facts.probed.type, "point": point}
    title = ascii(target.title)  # without line ends, which would end the comment
    lines = [
        "#!/bin/sh",
        f"# Sets up {title} as {plan.candidate.filesystem.name} on {point}, and ERASES what is on it.",
        "# Read it, then run it as root. It stops where anything is not as it was when it was written by fswizard.",
        "set -eu",
        *(f"{name}={shlex.quote(value)}" for name, value in values.items()),
        CHECKS,
    ]
    if plan.here.whole:
        lines.append("case $disk in *[0-9]) part=${disk}p1 ;; *) part=${disk}1 ;; esac")
    undoing = ""
    for number, step in enumerate(steps(plan.candidate, plan.mount_point, plan.here)):
        if step.text:
            lines += ["", f"# {step.text[:1].upper()}{step.text[1:]}"]
        if undo := step.undo:
            undoing = f"undo_{number}; {undoing}"
            lines += [
                f"undo_{number}() {{",
                f"    if {undo.when}; then",
                f"        {{ {' && '.join(undo.commands)}; }} || echo 'Not so that {undo.text}.' >&2",
                "    fi",
                "}",
                f"trap '{undoing}' EXIT",
            ]
        if step.program in grammar.LOCKING_PROGRAMS:
            lines.append("flock -u 9")
        if step.program == "mount":
            lines.append("exec 9<&-")
        lines.append(step.shell)
    undo_later = "; ".join(undo_commands(point, "$uuid"))
    report = f"printf '%s\\n' \"Done. To undo it: {undo_later}\""
    return "\n".join((*lines, "", "trap - EXIT", report, ""))
