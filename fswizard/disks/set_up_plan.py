"""Set up a disk as a result recommends: the plan, the script, and the progress as root, for the user's process."""

from __future__ import annotations

import os
import pwd
import shlex
from collections.abc import Iterator
from dataclasses import dataclass, replace

from fswizard.disks import as_root, rights
from fswizard.disks.choice import refusal
from fswizard.disks.set_up import (
    FSTAB,
    TEST_FILE,
    Here,
    Order,
    SetUpChoices,
    check_machine,
    chosen_set_up,
    is_mount_point,
    partition_of,
    steps,
)
from fswizard.drives.devices import find_device, losses
from fswizard.errors import Missing, Refused, RunFailed
from fswizard.filesystems import availability
from fswizard.filesystems import mounting as grammar
from fswizard.filesystems.commands import LABELS
from fswizard.language import _, in_english
from fswizard.model.codec import to_json
from fswizard.model.filesystem import Candidate
from fswizard.model.plan import Plan
from fswizard.model.text import safe
from fswizard.system import commands
from fswizard.system.block_device import Device, path_of

USUAL_MOUNT_POINT = "/mnt/data"
LISTING = ("lsblk", "--noheadings", "--bytes", "--raw", "--output", "SIZE,SERIAL,WWN,PARTUUID,MOUNTPOINT")
"""Command that lists the identity and the mounts of a disk, for comparison by the script (lsblk(8))."""


@dataclass(frozen=True, slots=True)
class SetUpPlan:
    """How a disk will be set up."""

    candidate: Candidate
    choices: SetUpChoices
    here: Here
    path: str
    """Stable path of the disk."""
    title: str
    device: Device
    content_type: str = ""
    """Type of the contents that the user saw, as in `Order`."""
    losses: tuple[str, ...] = ()
    """One sentence for each thing that would be lost."""
    empty: bool = True
    kind: str = ""
    """Kind of identifier that confirms it, such as `serial number`."""
    identifiers: tuple[str, ...] = ()
    listed: str = ""
    """Output of `LISTING` for the disk."""

    @property
    def commands(self) -> tuple[str, ...]:
        """Shell commands, to be run as root in this order."""
        text = "\n".join(step.shell for step in steps(self.candidate, self.choices, self.here))
        text = text.replace('"$disk"', self.device.path).replace('"$part"', path_of(partition_of(self.device.name)))
        return tuple(text.splitlines())


@dataclass(frozen=True, slots=True)
class SetUpDone:
    """Result of a set-up: the filesystem is mounted and its owner can write to it."""

    mount_point: str
    test_file: str
    backup: str
    """Path of the previous fstab."""
    undo: tuple[str, ...]
    """Commands that undo it, to be run as root."""


def usual_choices(candidate: Candidate, plan: Plan) -> SetUpChoices:
    """Default values of the form."""
    point = plan.recipe.mount_point
    if not is_mount_point(point):
        point = USUAL_MOUNT_POINT
    owner = pwd.getpwuid(os.getuid()) if os.getuid() else as_root.caller(os.environ)
    longest = LABELS[candidate.filesystem.name][1]
    return SetUpChoices(point.rpartition("/")[2][:longest], point, owner.pw_name)


def plan_set_up(candidate: Candidate, path: str, choices: SetUpChoices) -> SetUpPlan:
    """Plan the set-up of the disk or partition at `path`, without changes.

    Raises Refused or Missing if it cannot be set up.
    """
    if not (here := availability(candidate.filesystem)).usable:
        title = candidate.filesystem.title
        raise Missing(_("{filesystem} can't be set up here: {reason}", filesystem=title, reason=here.reason), here.hint)
    target = find_device(path)
    device = target.device
    choices = replace(choices, partition=choices.partition and target.whole)
    candidate = chosen_set_up(candidate, choices)
    if refused := refusal(target, None, candidate.filesystem.minimum_bytes):
        raise refused
    on_machine = check_machine(candidate, choices, device)
    listed = commands.query([*LISTING, device.path]).stdout.decode(errors="replace").rstrip("\n")
    return SetUpPlan(
        candidate, choices, on_machine, target.path, target.title, device, target.facts.probed.type,
        losses(target), target.empty, target.kind, target.identifiers, listed,
    )  # fmt: skip


def require_confirmed(plan: SetUpPlan, typed: str) -> None:
    """Raise Refused if `typed` does not confirm the disk."""
    if typed not in plan.identifiers:
        text = _("'{typed}' is not the {kind} of {disk}.", typed=safe(typed), kind=plan.kind, disk=plan.title)
        identifier = plan.identifiers[0]
        raise Refused(text, _("Look again which disk it is: its {kind} is {value}.", kind=plan.kind, value=identifier))


def set_up(plan: SetUpPlan, typed: str) -> Iterator[str | SetUpDone]:
    """Carry out the plan as root; yields each step, finally a SetUpDone. Blocks; call `rights.authorise` before.

    Once started, it runs to its end even if this generator is closed. Raises Refused, Missing or RunFailed, which says
    what was undone.
    """
    require_confirmed(plan, typed)
    device = plan.device
    claimed = device.number, device.diskseq, device.size_bytes, typed, plan.content_type
    order = Order(plan.candidate.name, plan.choices, *claimed)
    hint = _("Look at {fstab} and the disk before you go on.", fstab=FSTAB)
    unfinished = RunFailed(_("Setting the disk up ended before it was done."), hint)
    for message in rights.ask("fswizard.disks.setting_up", to_json(order), unfinished):
        if "step" in message:
            yield message["step"]
        else:
            point = plan.choices.mount_point
            yield SetUpDone(point, f"{point}/{TEST_FILE}", message["backup"], _undo(point, message["uuid"]))
            return


def _undo(point: str, uuid: str) -> tuple[str, ...]:
    """Commands that unmount the filesystem and remove its line from fstab; the disk is not changed."""
    return (f"umount {point}", rf"sed -i '\|^UUID={uuid}\b|d' {FSTAB}")


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
awk -v point="$point" '$2 == point {{ taken = 1 }} END {{ exit taken }}' {FSTAB} || stop "{FSTAB} has $point already"
[ -z "$(ls -A "$point" 2> /dev/null)" ] || stop "$point is not an empty directory"
umask 022
stamp=$(date +%Y%m%d-%H%M%S)
exec 9< "$disk"
flock -n 9 || stop "$chosen is locked by another program"
trap 'exit 1' HUP INT TERM"""


@in_english()
def script(plan: SetUpPlan) -> str:
    """The plan as a script for sh, to be run as root. It verifies the disk, and undoes its steps if one fails."""
    choices, made = plan.choices, plan.candidate.filesystem.name
    values = {"chosen": plan.path, "expected": plan.listed, "content": plan.content_type, "point": choices.mount_point}
    title = "".join(letter if letter.isprintable() and letter.isascii() else "?" for letter in plan.title)
    lines = [
        "#!/bin/sh",
        f"# Sets up {title} as {made} on {choices.mount_point}, and ERASES what is on it.",
        "# Read it, then run it as root. It stops where anything is not as it was when it was written by fswizard.",
        "set -eu",
        *(f"{name}={shlex.quote(value)}" for name, value in values.items()),
        CHECKS,
        *(["case $disk in *[0-9]) part=${disk}p1 ;; *) part=${disk}1 ;; esac"] if choices.partition else []),
    ]
    text, undoing = "", ""
    for number, step in enumerate(steps(plan.candidate, choices, plan.here)):
        if step.text != text:
            text = step.text
            lines += ["", f"# {text[:1].upper()}{text[1:]}"]
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
    commands_to_undo = "; ".join(_undo(choices.mount_point, "$uuid"))
    report = f"printf '%s\\n' \"Done. To undo it: {commands_to_undo}\""
    return "\n".join((*lines, "", "trap - EXIT", report, ""))
