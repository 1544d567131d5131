"""The target that the user chose: directories, a scratch image, or partitions and disks to be erased.

For devices this module finds the reasons against erasing them and the losses, and checks the confirmation.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from fswizard.disks import locations
from fswizard.drives import composed, details, drive_of
from fswizard.drives.devices import DeviceTarget, find_device, losses, refusals
from fswizard.errors import FswizardError, Refused, UsageError
from fswizard.filesystems.commands import IMAGE_UNIT_BYTES
from fswizard.language import _, joined
from fswizard.model.drive import Drive
from fswizard.model.estimates import room
from fswizard.model.plan import Member, Plan, Target
from fswizard.model.recipe import Recipe
from fswizard.model.text import safe
from fswizard.model.units import binary_size_text, parse_size
from fswizard.system.block_device import path_of

DISK_ANSWERS_S = 5.0
MOST_MEMBERS = 12


@dataclass(frozen=True, slots=True)
class TargetChoice:
    """A target as the user chose it; the plan fills in empty fields."""

    kind: str = "image"
    path: str = ""
    """Directory of the image, comma-separated directories, or the stable path of the device."""
    size_bytes: int = 0
    """Size of the image; 0 for the minimum of the recipe."""
    serial: str | None = None
    """Identifiers, such as serial numbers, that the user typed to confirm erasing the devices; comma-separated."""
    others: tuple[str, ...] = ()
    """Paths of the second and later devices."""


class Offer(NamedTuple):
    """A partition or whole disk as a possible target."""

    target: DeviceTarget
    refused: Refused | None
    """The error that the command line would report for it; None if it may be erased."""


def parse_target(text: str) -> TargetChoice:
    """Parse a target as written on the command line.

    Forms: `image:SIZE@DIR`, `dir:PATH,PATH`, `device:PATH`, `devices:PATH,PATH`, a directory for an image, or a path in
    /dev. Raises UsageError for anything else.
    """
    if os.path.isdir(text):
        text = f"image:@{text}"
    elif text.startswith("/dev/"):
        text = f"device:{text}"
    kind, __, rest = text.partition(":")
    size, __, directory = rest.partition("@")
    first, *others = [path.strip() for path in rest.split(",")]
    with contextlib.suppress(ValueError):
        if kind == "image":
            return TargetChoice(kind, directory, parse_size(size) if size else 0)
        if kind == "dir" and rest:
            return TargetChoice("directory", rest)
        if kind in ("device", "devices") and first and len(others) < MOST_MEMBERS:
            return TargetChoice("device", first, others=tuple(others))
    how_to_write = _(
        "Write image:SIZE@DIRECTORY, dir:PATH,PATH or device:/dev/disk/by-id/NAME; for candidates that are spread over "
        "several disks, {most} at most, devices:PATH,PATH,…",
        most=MOST_MEMBERS,
    )
    raise UsageError(_("'{text}' isn't a valid target.", text=text), how_to_write)


def plan_target(chosen: TargetChoice, recipe: Recipe, drive: Drive | None) -> tuple[Target, tuple[str, ...]]:
    """Return the target, and the losses as sentences.

    `drive` is the one for an image without a directory. Raises UsageError if the target is impossible, and Refused if
    data could be lost.
    """
    scratch_bytes_needed = room((workload.job for workload in recipe.workloads), "SCRATCH")
    if chosen.kind != "image":
        locations.require_scratch_space(scratch_bytes_needed)
    if chosen.kind == "device":
        return _plan_devices((chosen.path, *chosen.others), chosen.serial, recipe)
    if chosen.kind == "directory":
        _refuse_filling(recipe)
        return Target("directory", ""), ()
    directory = locations.checked_directory(chosen.path) if chosen.path else locations.default_directory(drive)
    size_bytes = chosen.size_bytes or recipe.image_bytes
    if size_bytes < recipe.image_bytes:
        raise UsageError(
            _(
                "An image of {size} is too small for the recipe {recipe}.",
                size=binary_size_text(size_bytes),
                recipe=recipe.name,
            ),
            _("It needs {image} or more.", image=binary_size_text(recipe.image_bytes)),
        )
    filesystem = locations.require_space(directory, size_bytes, scratch_bytes_needed)
    return Target("image", directory, size_bytes - size_bytes % IMAGE_UNIT_BYTES, filesystem), ()


def _plan_devices(paths: Sequence[str], typed: str | None, recipe: Recipe) -> tuple[Target, tuple[str, ...]]:
    """Plan devices as `plan_target` does, after querying each disk. Raises Refused if one must not be erased.

    `typed` is the comma-separated confirmation. Without it the plan can be shown, but `require_confirmation` prevents
    its execution.
    """
    devices = [find_device(path) for path in paths]
    targets = [_with_health(target, details(target.drive)) for target in devices]
    _require_separate_disks(targets)
    members = []
    for target in targets:
        if refused := refusal(target, recipe.image_bytes // len(targets)):
            raise refused
        members.append(member_of(target))
    if typed is not None:
        members = _confirmed(members, targets, typed)
    return Target.of("device", members), _losses(targets)


def member_of(target: DeviceTarget, typed: str = "") -> Member:
    """The device as it is now, and what the user typed to confirm it."""
    device = target.device
    return Member(target.path, device.size_bytes, "", device.number, device.diskseq, typed)


def _refuse_filling(recipe: Recipe) -> None:
    """Raise Refused if the recipe fills filesystems, which must not happen to the user's own."""
    if any(workload.job.fill_percent for workload in recipe.workloads):
        raise Refused(
            _("The recipe {recipe} fills the filesystem, and there are files of yours on it.", recipe=recipe.name),
            _("Measure it on a scratch image: --target image:SIZE@DIRECTORY."),
        )


def require_plausible(target: Target, recipe: Recipe) -> None:
    """Raise UsageError or Refused if a target read from a file is not one that `plan_target` could make."""
    if target.kind == "directory":
        _refuse_filling(recipe)
        return
    members, size_bytes = target.members, target.size_bytes
    fits = len(members) <= MOST_MEMBERS
    if target.kind == "image":
        fits = len(members) == 1 and size_bytes >= max(1, recipe.image_bytes) and size_bytes % IMAGE_UNIT_BYTES == 0
    if not fits or not all(os.path.isabs(member.path) for member in members):
        names = safe(", ".join(member.path for member in members))[:200]
        raise UsageError(_("'{text}' isn't a valid target.", text=names), _("Start a new run."))


def require_still_there(plan: Plan) -> None:
    """Raise UsageError if the target of an interrupted run has moved, or if a run on it can't be resumed."""
    target = plan.target
    if target.kind == "device":
        raise UsageError(
            _("A run on a disk or partition can't be resumed: what is on it now is unknown."),
            _("Start a new run on it; everything is checked again."),
        )
    moved = []
    if target.kind == "directory":
        for candidate in plan.candidates:
            directory = locations.checked_directory(candidate.directory)
            if locations.filesystem_name(directory) != candidate.filesystem.name:
                moved.append(directory)
    else:
        directory = locations.checked_directory(target.path)
        filesystem = locations.require_space(directory, target.size_bytes)
        if filesystem != target.host_filesystem or _identity(plan.drive) != _identity(drive_under(target)):
            moved.append(directory)
    if moved:
        raise UsageError(
            _("{names} is no longer on the disk or the filesystem that this run started on.",
              names=safe(", ".join(moved))),
            _("Attach and mount what was there, or start a new run."),
        )  # fmt: skip


def _identity(drive: Drive | None) -> str:
    """Serial number, model or kernel name of a drive, whichever is known first; empty without a drive."""
    return (drive.serial or drive.model or drive.name) if drive else ""


def drive_at(chosen: TargetChoice) -> Drive | None:
    """Disk of a chosen device, or of the image, before there is a plan; None if unknown."""
    if chosen.kind == "directory":
        return None
    return drive_of(chosen.path or locations.default_directory())


def drive_under(target: Target, otherwise: str = "", *, asking: bool = False) -> Drive | None:
    """Disk of a target, composed of several if it has several; None if unknown.

    `otherwise` is the path for members without one. With `asking`, each disk is queried for its details, in particular
    for SMR, within `DISK_ANSWERS_S`.
    """
    located = map(drive_of, dict.fromkeys(member.path or otherwise for member in target.members))
    drives = list({drive.name: drive for drive in located if drive is not None}.values())
    if asking:
        drives = [details(drive, timeout_s=DISK_ANSWERS_S) for drive in drives]
    return composed(drives) if len(drives) > 1 else next(iter(drives), None)


def offers(drive: Drive) -> tuple[Offer, ...]:
    """List the partitions of `drive` and the whole disk as possible targets. Read-only.

    Their health is that of `drive`. Devices that have vanished are left out.
    """
    offered = []
    for name in dict.fromkeys((*(part.name for part in drive.partitions), drive.name)):
        with contextlib.suppress(FswizardError):
            target = _with_health(find_device(path_of(name)), drive)
            offered.append(Offer(target, refusal(target, 0)))
    return tuple(offered)


def _with_health(target: DeviceTarget, drive: Drive) -> DeviceTarget:
    """`target` with the health of `drive`."""
    return replace(target, drive=replace(target.drive, health=drive.health))


def refusal(target: DeviceTarget, minimum_bytes: int) -> Refused | None:
    """All reasons against erasing a device, as one error; None if there is none."""
    against = refusals(target, minimum_bytes)
    return Refused(joined([refusal.text for refusal in against]), against[0].hint) if against else None


def _losses(targets: Sequence[DeviceTarget]) -> tuple[str, ...]:
    return tuple(loss for target in targets for loss in losses(target))


def _require_separate_disks(targets: Sequence[DeviceTarget]) -> None:
    """Raise Refused if two targets are on one disk: they would share its heads and fail together."""
    for target, second in itertools.combinations(targets, 2):
        device, other = target.device, second.device
        if other.disk in target.facts.contents:  # by whatever path to it
            raise Refused(
                _(
                    "{device} and {other} are on the same disk ({disk}): they would fail together, and what is "
                    "measured over them says nothing about several disks.",
                    device=device.name,
                    other=other.name,
                    disk=device.disk,
                ),
                _("Name whole disks, or partitions of different ones."),
            )


def require_confirmed(target: DeviceTarget, typed: str) -> None:
    """Raise Refused if `typed` does not confirm that a device may be erased."""
    if typed not in target.identifiers:
        kind, identifier = _(target.kind), target.identifier
        raise Refused(
            _("'{typed}' is not the {kind} of {disk}.", typed=safe(typed), kind=kind, disk=target.title),
            _("Look again which disk it is: its {kind} is {identifier}.", kind=kind, identifier=identifier),
        )


def _confirmed(members: Sequence[Member], targets: Sequence[DeviceTarget], typed: str) -> list[Member]:
    """Return `members` with what the user typed for each of them, comma-separated in any order.

    Raises Refused if one of the devices is not confirmed, or if something else was typed, too.
    """
    rest = [typed]
    if len(targets) > 1:
        rest = [word.strip() for word in typed.split(",") if word.strip()]
    assigned = []
    for target in targets:
        word = next((word for word in rest if word in target.identifiers), "".join(rest[:1]))
        require_confirmed(target, word)
        rest.remove(word)  # it confirms no second device
        assigned.append(word)
    if rest:
        raise Refused(
            _("'{text}' confirms none of the devices.", text=safe(",".join(rest))),
            _("Give what confirms each device once, and nothing else."),
        )
    return [replace(member, identifier=identifier) for member, identifier in zip(members, assigned)]


def require_confirmation(plan: Plan) -> None:
    """Raise Refused if the user has not confirmed erasing the devices of `plan`."""
    if plan.target.kind == "device" and not plan.target.confirmed:
        paths = ", ".join(member.path for member in plan.target.members)
        raise Refused(
            _("Everything on {paths} would be lost. {losses}", paths=paths, losses=" ".join(plan.losses)),
            how_to_confirm(plan),
        )


def how_to_confirm(plan: Plan) -> str:
    """Hint with the `--erase` option that confirms erasing the devices of `plan`."""
    devices = devices_of(plan)
    titles = ", ".join(device.title for device in devices)
    serials = shlex.quote(",".join(device.identifier for device in devices))
    return _("If you mean {titles}, confirm it: --erase {serials}", titles=titles, serials=serials)


def confirmed(plan: Plan, typed: str) -> Plan:
    """Return the plan with the devices confirmed by `typed`.

    Raises Refused if `typed` does not confirm them, or if a device or its contents changed since the plan was made.
    """
    members = _confirmed(plan.target.members, devices_of(plan), typed)
    plan = replace(plan, target=Target.of("device", members))
    require_unchanged(plan)
    return plan


def require_unchanged(plan: Plan, *, claimed: bool = False) -> tuple[DeviceTarget, ...]:
    """Return the devices of `plan`. Raises Refused if a device or its contents differ from what the user reviewed.

    With `claimed`, this run has the devices open, and their users have just been checked as root.
    """
    members, targets = plan.target.members, devices_of(plan)
    _require_separate_disks(targets)
    for member, target in zip(members, targets):
        if not claimed and (refused := refusal(target, plan.recipe.image_bytes // len(members))):
            raise refused
        require_confirmed(target, member.identifier)
        if replace(member_of(target, member.identifier), path=member.path) != member:
            raise Refused(
                _("{disk} is no longer the disk that was chosen.", disk=member.path), _("Make the plan again.")
            )
    if _losses(targets) != plan.losses:
        names = ", ".join(target.device.name for target in targets)
        raise Refused(
            _("The contents of {names} have changed since the plan was made.", names=names), _("Make the plan again.")
        )
    return targets


def devices_of(plan: Plan) -> tuple[DeviceTarget, ...]:
    """The devices that `plan` erases. Raises Refused if one has no identifier left to confirm it with."""
    targets = tuple(find_device(member.path) for member in plan.target.members)
    for target in targets:
        if not target.identifiers and (refused := refusal(target, 0)):
            raise refused
    return targets
