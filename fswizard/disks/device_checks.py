"""Partitions and whole disks that the user gives up: what stands against it, what is lost, how it is confirmed."""

from __future__ import annotations

import contextlib
import itertools
import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace

from fswizard.drives import details
from fswizard.drives.devices import DeviceTarget, find_device, losses, refusals
from fswizard.errors import FswizardError, Refused
from fswizard.language import _
from fswizard.model.drive import Drive
from fswizard.model.plan import Member, Plan, Target
from fswizard.model.text import safe
from fswizard.system.block_device import path_of


@dataclass(frozen=True, slots=True)
class Offer:
    """A partition or whole disk that could be measured on, or why it cannot."""

    path: str
    """Its stable name; the kernel's own where there is none."""
    name: str
    """Kernel name."""
    size_bytes: int
    whole: bool
    """A whole disk, not a partition of one."""
    empty: bool
    """Whether all of it could be looked at, and nothing is on it."""
    losses: tuple[str, ...]
    """What would be lost, a sentence each."""
    refused: Refused | None = None
    """What stands against it, in the words of the command line."""


def offers(drive: Drive, minimum_bytes: int) -> tuple[Offer, ...]:
    """The partitions of `drive` and the whole of it as targets of at least `minimum_bytes`; nothing is changed.

    Its health is taken from `drive`. What is gone meanwhile is left out.
    """
    offered = []
    for name in dict.fromkeys((*(part.name for part in drive.partitions), drive.name)):
        with contextlib.suppress(FswizardError):
            offered.append(_offer(path_of(name), minimum_bytes, drive.health))
    return tuple(offered)


def _offer(path: str, minimum_bytes: int, health: str) -> Offer:
    target = find_device(path)
    target = replace(target, drive=replace(target.drive, health=health))
    refused, device = _refusal(target, None, minimum_bytes), target.device
    return Offer(target.path, device.name, device.size_bytes, target.whole, target.empty, losses(target), refused)


def plan_devices(
    paths: Sequence[str], serials: str | None, needed_bytes: int
) -> tuple[Target, tuple[str, ...], list[Drive]]:
    """The devices as target, what would be lost on them, and their disks, each asked about itself.

    Refused where anything stands against formatting one.

    `serials` is what was typed to confirm them, of several with commas between. Without it the plan can be shown;
    `require_confirmation` keeps it from being carried out.
    """
    targets = [find_device(path) for path in paths]
    drives = [details(target.drive) for target in targets]
    targets = [
        replace(target, drive=replace(target.drive, health=drive.health)) for target, drive in zip(targets, drives)
    ]
    _require_apart(targets)
    typed = _serial_of_each(targets, serials)
    members = []
    for target, serial in zip(targets, typed):
        _refuse(target, serial, needed_bytes // len(targets))
        device = target.device
        members.append(Member(target.path, device.size_bytes, "", device.number, device.diskseq, serial or ""))
    first, *others = members
    erased = Target(
        "device", first.path, first.size_bytes, "", first.number, first.diskseq, first.identifier, tuple(others)
    )
    return erased, tuple(loss for target in targets for loss in losses(target)), drives


def _require_apart(targets: Sequence[DeviceTarget]) -> None:
    """Several are disks of their own: two partitions of one would wait for the same heads, and fail together."""
    for target, second in itertools.combinations(targets, 2):
        device, other = target.device, second.device
        if device.name == other.name:
            raise Refused(_("{device} was named twice.", device=device.name), _("Name each device once."))
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


def _serial_of_each(targets: Sequence[DeviceTarget], typed: str | None) -> list[str | None]:
    """Which of the serial numbers that were typed, with commas between, confirms which device; Refused where one is
    left over or missing. None for each where one of the devices cannot be confirmed at all."""
    if len(targets) == 1:
        return [typed]
    if typed is None or not all(target.identifiers for target in targets):
        return [None for _ in targets]
    rest, each = f",{re.sub(r' *, *', ',', typed.strip())},", list[str | None]()
    for target in targets:
        serial = next((i for i in sorted(target.identifiers, key=len, reverse=True) if f",{i}," in rest), None)
        if serial is None:
            kind, device = target.kind, target.device.name
            raise Refused(
                _("You did not type the {kind} of {device}.", kind=kind, device=device),
                _(
                    "Check which disks they are; the {kind} of {device} is {value}",
                    kind=kind,
                    device=device,
                    value=target.identifier,
                ),
            )
        rest = rest.replace(f",{serial},", ",", 1)
        each.append(serial)
    if rest.strip(","):
        raise Refused(
            _("'{text}' confirms none of the devices.", text=safe(rest.strip(","))),
            _("Give what confirms each device once, and nothing else."),
        )
    return each


def require_confirmation(plan: Plan) -> None:
    """Refused for a device that nothing typed confirms."""
    if plan.target.kind == "device" and not plan.target.confirmed:
        paths = ", ".join(member.path for member in plan.target.members)
        raise Refused(
            _("Everything on {paths} would be lost. {losses}", paths=paths, losses=" ".join(plan.losses)),
            how_to_confirm(plan),
        )


def how_to_confirm(plan: Plan) -> str:
    """What has to be typed before the devices of `plan` are erased."""
    devices = devices_of(plan)
    kinds = ", ".join(dict.fromkeys(device.kind for device in devices))
    serials = ",".join(device.identifier for device in devices)
    titles = ", ".join(device.title for device in devices)
    return _(
        "If you mean {titles}, confirm with the {kinds}: --erase {serials}",
        titles=titles,
        kinds=kinds,
        serials=shlex.quote(serials),
    )


def confirmed(plan: Plan, typed: str) -> Plan:
    """The plan, ready to be carried out. Refused where `typed` does not confirm the device, or where the device, or
    its contents, changed since the plan was made."""
    first, *others = _serial_of_each(devices_of(plan), typed)
    members = (replace(member, identifier=serial or "") for member, serial in zip(plan.target.others, others))
    plan = replace(plan, target=replace(plan.target, identifier=first or "", others=tuple(members)))
    require_unchanged(plan)
    return plan


def require_unchanged(plan: Plan, *, held: bool = False) -> tuple[DeviceTarget, ...]:
    """The devices. Refused where one, or its contents, are not what the user was shown any more.

    `held` by this run, it is open: then what uses it was checked as root a moment before.
    """
    members, targets = plan.target.members, devices_of(plan)
    _require_apart(targets)
    for member, target in zip(members, targets):
        if not held:
            _refuse(target, member.identifier, plan.recipe.image_bytes // len(members))
        now = (target.device.number, target.device.diskseq, target.device.size_bytes)
        if now != (member.number, member.diskseq, member.size_bytes):
            raise Refused(
                _("{disk} is no longer the disk that was chosen.", disk=member.path), _("Make the plan again.")
            )
    if tuple(loss for target in targets for loss in losses(target)) != plan.losses:
        names = ", ".join(target.device.name for target in targets)
        raise Refused(
            _("The contents of {names} have changed since the plan was made.", names=names), _("Make the plan again.")
        )
    return targets


def devices_of(plan: Plan) -> tuple[DeviceTarget, ...]:
    """What is erased to carry out `plan`, each to be confirmed. Refused where nothing confirms one any more."""
    targets = tuple(find_device(member.path) for member in plan.target.members)
    for target in targets:
        if not target.identifiers:
            raise Refused(
                _("{device} can't be told from another disk that was attached meanwhile.", device=target.device.name),
                _("Unplug the other one, then make the plan again."),
            )
    return targets


def _refuse(target: DeviceTarget, serial: str | None, minimum_bytes: int) -> None:
    if (refused := _refusal(target, serial, minimum_bytes)) is not None:
        raise refused


def _refusal(target: DeviceTarget, serial: str | None, minimum_bytes: int) -> Refused | None:
    against = refusals(target, serial, minimum_bytes=minimum_bytes)
    return Refused(" ".join(refusal.text for refusal in against), against[0].hint) if against else None
