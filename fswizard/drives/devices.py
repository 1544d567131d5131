"""A disk or partition that a user named: what would be lost on it, and what stands against formatting it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from fswizard.drives.inventory import describe
from fswizard.drives.machine import HERE, Machine, Properties
from fswizard.drives.topology import whole_disk
from fswizard.errors import Refused, UsageError
from fswizard.language import _, in_english, shown
from fswizard.model.drive import Drive
from fswizard.model.text import safe
from fswizard.model.units import size_text
from fswizard.privileged import disk_checks, disk_identity
from fswizard.privileged.block_device import Device, Tree
from fswizard.privileged.in_use import Finding, Probed
from fswizard.system import clock

_ASKING_S = 1.5
"""Time that smartctl, blkid and their like take to ask a disk."""
_LASTING = tuple(f"/dev/disk/{directory}/" for directory in ("by-id", "by-partuuid", "by-path", "by-diskseq"))
"""Names here outlive formatting; those by label or UUID do not."""


@dataclass(frozen=True, slots=True)
class DeviceTarget:
    """A block device in its current state."""

    path: str
    """Stable path, or else the kernel's own."""
    name: str
    """Kernel name, such as `sdb1`."""
    disk: str
    """Kernel name of the whole disk, which may be `name`."""
    number: str
    """`major:minor`."""
    diskseq: int
    """The kernel's serial number for this attachment of the disk, or 0 before Linux 5.15."""
    size_bytes: int
    drive: Drive
    properties: Mapping[str, Properties]
    """udev properties of the device, and of each partition of a whole disk, by kernel name: of all that would be
    overwritten."""
    identifiers: tuple[str, ...]
    """Texts that confirm the device, the first one shown: the disk's serial number, or if it is not unique or a
    placeholder, the name in /dev/disk/by-id, the WWN or the like; for a loop device its file."""
    kind: str
    """Kind of the first identifier, such as `serial number`."""
    unseen: tuple[str, ...] = ()
    """Kernel names of devices whose contents could not be read."""

    @property
    def title(self) -> str:
        """Kernel name and model."""
        return f"{self.name} ({self.drive.model or _('a disk without a name')})"

    @property
    def identifier(self) -> str:
        """The text that a user is asked to type before it is erased."""
        return self.identifiers[0]

    @property
    def whole(self) -> bool:
        return self.name == self.disk

    @property
    def empty(self) -> bool:
        """Whether all contents could be read, and there are none."""
        return not self.unseen and not list(_contents(self))


def find_device(path: str, machine: Machine = HERE) -> DeviceTarget:
    """The block device at `path`. Raises UsageError if nothing is there, and Refused if it is something else."""
    device = _device_at(path, machine)
    (drive,) = describe((device.disk,), machine)
    parts = {part.name: part for part in drive.partitions}
    if device.name == device.disk:
        stable_name, names = drive.stable_name, {device.name, *parts}
    else:
        stable_name = parts[device.name].stable_name if device.name in parts else ""
        names = {device.name}
    contents = {name: machine.contents(name) for name in sorted(names)}
    identifiers = disk_identity.identifiers(device)
    return DeviceTarget(
        path=path if path.startswith(_LASTING) else stable_name or path,
        name=device.name,
        disk=device.disk,
        number=device.number,
        diskseq=machine.number(f"/sys/block/{device.disk}/diskseq"),
        size_bytes=device.size_bytes,
        drive=drive,
        properties={name: properties or {} for name, properties in contents.items()},
        identifiers=tuple(identifiers),
        kind=next(iter(identifiers.values()), disk_identity.SERIAL),
        unseen=tuple(name for name, properties in contents.items() if properties is None),
    )


def _device_at(path: str, machine: Machine) -> Device:
    if not path.startswith("/dev/"):
        raise UsageError(
            _("'{path}' isn't a device.", path=safe(path)),
            _("Write device:/dev/disk/by-id/NAME; `fswizard drives` lists them."),
        )
    name = machine.device_at(path)
    if name:
        number = machine.text(f"/sys/class/block/{name}/dev")
        return Device(name, whole_disk(name, machine), number, Tree(machine.root))
    if os.path.exists(machine.path(path)):
        raise Refused(
            _("{path} isn't a block device.", path=safe(path)), _("Name a disk or partition below /dev/disk/by-id.")
        )
    raise UsageError(_("{path}: there is no such device.", path=safe(path)), _("`fswizard drives` lists the disks."))


@in_english()
def losses(target: DeviceTarget) -> tuple[str, ...]:
    """A sentence for each content of the device that would be lost, in English: a plan has them, and a run compares
    them."""
    sentences = [_("{device}: its contents couldn't be read", device=name) for name in target.unseen]
    sentences += _contents(target)
    if sentences:
        return tuple(sentences)
    size = size_text(target.size_bytes)
    nothing = _(
        "Nothing was found on {device} ({size}): no partition table and no filesystem.", device=target.name, size=size
    )
    return (nothing,)


def _contents(target: DeviceTarget) -> Iterator[str]:
    sizes = {part.name: part.size_bytes for part in target.drive.partitions}
    for name, properties in target.properties.items():
        inside, size = Probed(properties), size_text(sizes.get(name, target.size_bytes))
        if inside.type:
            label = f' "{safe(inside.label)}"' if inside.label else ""
            yield f"{name}: {safe(inside.type)}{label}, {size}"
        elif target.whole and name != target.name:
            yield _("{device}: a partition of {size}, apparently empty", device=name, size=size)
        if inside.table:
            yield _("{device}: its partition table ({kind})", device=name, kind=safe(inside.table))


def refusals(
    target: DeviceTarget, typed: str | None = None, *, minimum_bytes: int = 0, machine: Machine = HERE
) -> tuple[Finding, ...]:
    """Reasons against formatting `target`, the most important first, in the reader's language.

    The run checks again, as root, before it writes. `typed` confirms the loss, such as the serial number; None
    before the user has typed it.
    """
    device = Device(target.name, target.disk, target.number, Tree(machine.root))
    contents = {target.disk: machine.contents(target.disk) or {}, **target.properties}
    probed = {name: _probed(name, properties, target, machine) for name, properties in contents.items()}
    findings = (
        *disk_checks.findings(device, probed, minimum_bytes=minimum_bytes),
        *_openers(device, machine),
        *_unknown(target),
        *_unconfirmed(target, device, typed),
    )
    return tuple(
        replace(each, text=_("{finding}.", finding=shown(safe(each.text))), hint=shown(safe(each.hint)))
        for each in findings
    )


def _probed(name: str, properties: Properties, target: DeviceTarget, machine: Machine) -> Probed:
    """The contents with the number of devices of the same filesystem, which needs all of them."""
    probed, uuid = Probed(properties), properties.get("ID_FS_UUID", "")
    if probed.type not in ("btrfs", "bcachefs") or not uuid:
        return probed
    others = (other for other in machine.names("/sys/class/block") if other not in (name, target.disk))
    return Probed(properties, devices=1 + sum(machine.properties(each).get("ID_FS_UUID") == uuid for each in others))


def _openers(device: Device, machine: Machine) -> tuple[Finding, ...]:
    """Programs that hold the disk open, without those that query it briefly, as smartctl and blkid do."""
    deadline = clock.monotonic() + _ASKING_S
    while (openers := tuple(disk_checks.openers(device))) and machine.live and clock.monotonic() < deadline:
        clock.sleep(0.1)
    return openers


def _unknown(target: DeviceTarget) -> Iterator[Finding]:
    if target.drive.pending:
        hint = _("Try again, or check the disk's health.")
        yield Finding("unknown", shown(target.drive.pending).rstrip(".。"), hint)
    elif target.unseen:
        text = _("The contents of {device} couldn't be read", device=", ".join(target.unseen))
        yield Finding("unknown", text, _("Try again, or check the disk's health."))
    if target.drive.health == "failing":
        hint = _("Copy its files elsewhere and stop using it.")
        yield Finding("failing", _("{device} reports that it is failing", device=target.disk), hint)


def _unconfirmed(target: DeviceTarget, device: Device, typed: str | None) -> Iterator[Finding]:
    if not target.identifiers:
        yield from disk_identity.findings(device)
    elif typed is not None and typed not in target.identifiers:
        hint, kind = _("Check which disk it is: `fswizard drives` shows the serial numbers."), shown(target.kind)
        if target.kind != disk_identity.SERIAL:
            hint = _("Check which disk it is; its {kind} is {text}", kind=kind, text=target.identifiers[0])
        text = _("'{text}' is not the {kind} of {device}", text=typed, kind=kind, device=target.name)
        yield Finding("wrong-serial", text, hint)
