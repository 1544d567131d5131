"""The last step: a disk set up for good as a result recommends, by the helper or by a script to read and copy."""

from __future__ import annotations

import os
import pwd
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace

from fswizard.disks import rights
from fswizard.drives.devices import DeviceTarget, find_device, losses, refusals
from fswizard.errors import Missing, Refused, RunFailed
from fswizard.filesystems import availability
from fswizard.language import _, in_english
from fswizard.model.drive import Drive
from fswizard.model.filesystem import Candidate
from fswizard.model.plan import Plan
from fswizard.model.text import safe
from fswizard.privileged import commands as made
from fswizard.privileged import set_up_plan, setting_up
from fswizard.privileged.block_device import path_of
from fswizard.privileged.refusal import Refusal
from fswizard.privileged.set_up_plan import FSTAB, Names, SetUp
from fswizard.system import commands

USUAL_MOUNT_POINT = "/mnt/data"
COLUMNS = "SIZE,SERIAL,WWN,PARTUUID"
"""By which a script knows the disk again (lsblk(8))."""


@dataclass(frozen=True, slots=True)
class SetUpChoices:
    """What the user is asked."""

    label: str
    mount_point: str
    owner: str
    partition: bool = True
    """A whole disk gets a partition table; a partition never does."""
    may_be_absent: bool = True


@dataclass(frozen=True, slots=True)
class SetUpPlan:
    """All that will be done, and to which disk."""

    what: SetUp
    names: Names
    path: str
    """Its stable name."""
    title: str
    number: str
    """`major:minor`."""
    diskseq: int
    size_bytes: int
    shown: str
    """The type of the filesystem on it, empty for none."""
    losses: tuple[str, ...]
    """What would be lost, a sentence each."""
    empty: bool
    kind: str
    """What confirms it, such as `serial number`."""
    identifiers: tuple[str, ...]
    listed: str = ""
    """What lsblk says of it."""

    @property
    def commands(self) -> tuple[str, ...]:
        """As root, in order; those left out that this machine has no use for."""
        steps = set_up_plan.steps(self.what, self.names)
        return tuple(set_up_plan.shell(step) for step in steps if not step.only_with or os.path.exists(step.only_with))


@dataclass(frozen=True, slots=True)
class SetUpDone:
    """It is mounted, and its owner can write to it."""

    mount_point: str
    test_file: str
    backup: str
    """The copy of fstab."""
    undo: tuple[str, ...]
    """Commands, as root."""


def why_not_set_up(candidate: Candidate) -> str:
    """In a sentence; empty where it can be set up."""
    if candidate.directory or not candidate.filesystem.mkfs_program:
        return _("This result compares filesystems that exist already, so there is nothing to set up.")
    if candidate.array and candidate.array.layout.alone:
        return _("Its volume's passphrase is yours to choose; set it up by hand, with the commands of the report.")
    if candidate.array:
        return _("It spreads over several disks; set it up by hand, with the commands of the report.")
    if candidate.filesystem.pool:
        return _("ZFS mounts its pools itself; set it up by hand, with the commands of the report.")
    if candidate.filesystem.name not in made.LABELS:
        return _("{filesystem} is not set up by fswizard.", filesystem=candidate.filesystem.title)
    return ""


def usual_choices(candidate: Candidate, plan: Plan) -> SetUpChoices:
    """What the form begins with."""
    point = plan.recipe.mount_point
    owner = pwd.getpwuid(os.getuid()).pw_name
    try:
        set_up_plan.require_mount_point(point)
    except Refusal:
        point = USUAL_MOUNT_POINT
    longest = made.LABELS[candidate.filesystem.name][1]
    return SetUpChoices(point.rpartition("/")[2][:longest], point, owner)


def chosen_set_up(candidate: Candidate, choices: SetUpChoices, *, whole: bool) -> SetUp:
    """Refused where the candidate or a choice cannot be."""
    if reason := why_not_set_up(candidate):
        raise Refused(reason)
    filesystem = candidate.filesystem
    what = SetUp(
        filesystem.name, candidate.mkfs_arguments(scratch=False), filesystem.mount_type or filesystem.name,
        candidate.mount_options, filesystem.fsck_pass, choices.partition and whole, choices.label, choices.mount_point,
        choices.owner, choices.may_be_absent,
    )  # fmt: skip
    try:
        set_up_plan.require(what)
    except Refusal as refusal:
        raise _refused(refusal) from refusal
    return what


def plan_set_up(candidate: Candidate, path: str, choices: SetUpChoices) -> SetUpPlan:
    """The plan for the disk or partition at `path`; Refused where anything stands against it. Nothing is changed."""
    if not (here := availability(candidate.filesystem)).usable:
        raise Missing(
            _("{filesystem} can't be set up here: {reason}", filesystem=candidate.filesystem.title, reason=here.reason),
            here.hint,
        )
    target = find_device(path)
    what = chosen_set_up(candidate, choices, whole=target.whole)
    if against := refusals(target, None, minimum_bytes=candidate.filesystem.minimum_bytes):
        raise Refused(" ".join(refusal.text for refusal in against), against[0].hint)
    try:
        owner = setting_up.owner_of(what.owner)
        setting_up.require_free(what, target.device.name)
    except Refusal as refusal:
        raise _refused(refusal) from refusal
    if what.filesystem in ("ntfs", "ntfs-3g") and target.whole and not what.partition:
        raise Refused(_("NTFS needs a partition: mkfs.ntfs takes no whole disk."), _("Choose a partition table, too."))
    return _planned(what, target, owner)


def _planned(what: SetUp, target: DeviceTarget, owner: pwd.struct_passwd) -> SetUpPlan:
    device = target.device
    names = _names(what, device.name, owner.pw_uid, owner.pw_gid)
    listed = commands.query(["lsblk", "--nodeps", "--noheadings", "--bytes", "--output", COLUMNS, names.disk]).stdout
    return SetUpPlan(
        what, names, target.path, target.title, device.number, device.diskseq, device.size_bytes,
        target.facts.probed.type, losses(target), target.empty, target.kind, target.identifiers,
        _words(listed),
    )  # fmt: skip


def set_up_on(candidate: Candidate, choices: SetUpChoices, name: str, drive: Drive) -> SetUpPlan:
    """The plan for an empty disk that is not here, which nothing confirms, so that it can only be shown."""
    what = chosen_set_up(candidate, choices, whole=True)
    names = _names(what, name, 1000, 1000)
    return SetUpPlan(what, names, names.disk, f"{name} ({drive.model})", "", 0, drive.size_bytes, "", (), True, "", ())


def _names(what: SetUp, name: str, uid: int, gid: int) -> Names:
    disk = path_of(name)
    separator = "p" if name[-1].isdigit() else ""
    return Names(disk, f"{disk}{separator}1" if what.partition else disk, uid, gid)


def _words(listed: bytes) -> str:
    return safe(" ".join(listed.decode(errors="replace").split()))


def require_confirmed(plan: SetUpPlan, typed: str) -> None:
    """Refused where `typed` does not confirm the disk."""
    if typed not in plan.identifiers:
        if not plan.identifiers:
            raise Refused(
                _("{disk} is confused with another disk.", disk=plan.title),
                _("Unplug the other one, then choose again."),
            )
        hint = _("Look again which disk it is: its {kind} is {value}.", kind=plan.kind, value=plan.identifiers[0])
        raise Refused(
            _("'{typed}' is not the {kind} of {disk}.", typed=safe(typed), kind=plan.kind, disk=plan.title), hint
        )


def set_up(plan: SetUpPlan, typed: str) -> Iterator[str | SetUpDone]:
    """Have it done as root: yields what is done now, at last a SetUpDone. Blocks; call `rights.authorise` before.

    Once begun it goes on to its end, whoever listens. Refused, Missing or RunFailed say what was taken back.
    """
    require_confirmed(plan, typed)
    now = find_device(plan.path).device
    if (now.number, now.diskseq, now.size_bytes) != (plan.number, plan.diskseq, plan.size_bytes):
        raise Refused(_("{disk} is no longer the disk that was chosen.", disk=plan.title), _("Choose again."))
    claim = {
        "number": plan.number, "diskseq": plan.diskseq, "size_bytes": plan.size_bytes, "serial": typed,
        "shown": plan.shown,
    }  # fmt: skip
    words = {step.name: step.text for step in set_up_plan.steps(plan.what, plan.names)}
    for message in rights.ask("fswizard.privileged.setting_up", {**claim, **asdict(plan.what)}):
        if "step" in message:
            yield words[message["step"]]
        else:
            yield _done(plan, message["done"])
            return
    raise RunFailed(
        _("Setting the disk up ended before it was done."), _("Look at {fstab} and the disk before you go on.", fstab=FSTAB)
    )


def _done(plan: SetUpPlan, said: Mapping[str, str]) -> SetUpDone:
    point = plan.what.mount_point
    undo = set_up_plan.undo(point, said["uuid"])
    return SetUpDone(point, f"{point}/{set_up_plan.TEST_FILE}", said["backup"], undo)


def _refused(refusal: Refusal) -> Refused:
    text = safe(refusal.text)
    return Refused(f"{text[:1].upper()}{text[1:]}.", safe(refusal.hint))


CHECKS = """\
stop() { echo "Stopped: $*" >&2; exit 1; }
[ "$(id -u)" = 0 ] || stop "run this as root: sudo sh FILE"
disk=$(readlink -f -- "$chosen") || stop "$chosen is not there"
[ -b "$disk" ] || stop "$chosen is not there"
listed=$(lsblk --nodeps --noheadings --bytes --output {columns} "$disk" | xargs)
[ "$listed" = "$expected" ] || stop "$chosen is another disk than the one that was chosen"
[ -z "$(lsblk --noheadings --output MOUNTPOINT "$disk" | tr -d '[:space:]')" ] || stop "$chosen is mounted"
[ "$(lsblk --noheadings --list --output NAME "$disk" | wc -l)" = 1 ] || stop "$chosen has partitions, or is in use"
holds=$(blkid -p -s TYPE -o value "$disk" || :)
[ "$holds" = "$content" ] || stop "$chosen holds something else than was shown: ${holds:-nothing}"
[ -f /etc/fstab ] || stop "there is no /etc/fstab"
[ ! -L /etc/fstab ] || stop "/etc/fstab is a link: another program writes it"
awk -v point="$point" '$2 == point { taken = 1 } END { exit taken }' /etc/fstab || stop "/etc/fstab has $point already"
[ ! -L "$point" ] || stop "$point is a link"
[ -z "$(ls -A "$point" 2> /dev/null)" ] || stop "$point is not an empty directory"
if mountpoint -q "$point"; then stop "something is mounted on $point"; fi
"""


@in_english()
def script(plan: SetUpPlan) -> str:
    """The same for sh, to be read and run as root: it knows the disk again, and takes fstab back where it fails."""
    what, chosen = plan.what, plan.path
    names = replace(plan.names, disk="$disk", partition="$part" if what.partition else "$disk")
    values = {
        "chosen": chosen, "expected": plan.listed, "content": plan.shown, "point": what.mount_point,
    }  # fmt: skip
    lines = [
        "#!/bin/sh",
        f"# Sets up {_comment(plan.title)} as {what.filesystem} on {what.mount_point}, and ERASES what is on it.",
        "# Read it, then run it as root. It stops where anything is not as it was when it was written by fswizard.",
        "set -eu",
        *(f"{name}={shlex.quote(value)}" for name, value in values.items()),
        *CHECKS.replace("{columns}", COLUMNS).splitlines(),
        "stamp=$(date +%Y%m%d-%H%M%S)",
        *(['case $disk in *[0-9]) part=${disk}p1 ;; *) part=${disk}1 ;; esac'] if what.partition else []),
    ]  # fmt: skip
    for step in set_up_plan.steps(what, names):
        command = set_up_plan.shell(step)
        lines += ["", f"# {step.text[:1].upper()}{step.text[1:]}"]
        if step.name == "fstab":
            lines += [
                f'take_back() {{ umount "$point" 2> /dev/null || :; cp -p "{names.backup}" {FSTAB}; }}',
                "trap take_back EXIT",
                f'[ -z "$(tail -c 1 {FSTAB})" ] || echo >> {FSTAB}',
            ]
        lines.append(f"if [ -e {step.only_with} ]; then {command}; fi" if step.only_with else command)
    undo = "; ".join(set_up_plan.undo(what.mount_point, "${uuid}"))
    said = f"printf '%s\\n' \"Done. To undo it: {undo}\""
    return "\n".join((*lines, "", "trap - EXIT", said, ""))


def _comment(text: str) -> str:
    """In one line, whatever a disk says of itself."""
    return "".join(letter if letter.isprintable() and letter.isascii() else "?" for letter in text)
