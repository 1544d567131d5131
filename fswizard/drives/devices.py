"""A disk or partition that a user named, and the data that would be lost on it."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from fswizard.drives.contents import probe, udev_runs
from fswizard.drives.disks import describe_all, whole_disk
from fswizard.drives.machine import HERE, Machine, Properties
from fswizard.errors import Refused, UsageError
from fswizard.language import _, in_english, shown
from fswizard.model.drive import Drive
from fswizard.model.text import safe
from fswizard.model.units import size_text
from fswizard.privileged import disk_checks, disk_identity
from fswizard.privileged.block_device import Device, Tree, path_of
from fswizard.privileged.in_use import Finding, Probed
from fswizard.system import clock
from fswizard.system.block_stats import SECTOR_BYTES

_ASKING_S = 1.5


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
    """udev properties of the device, and of each partition of a whole disk."""
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
        return not self.unseen and not any(list(_losses(name, udev, self)) for name, udev in self.properties.items())

    @property
    def names(self) -> tuple[str, ...]:
        """Kernel names of all devices that would be overwritten."""
        return tuple(self.properties)


def find_device(path: str, machine: Machine = HERE) -> DeviceTarget:
    """The block device at `path`. Raises UsageError if nothing is there, and Refused if it is something else."""
    name = _kernel_name(path, machine)
    directory = machine.real(f"/sys/class/block/{name}")
    disk = whole_disk(name, machine)
    (drive,) = describe_all((disk,), machine, timeout_s=5.0)
    partitions = {part.name for part in drive.partitions} - {name}
    names = (name, *sorted(partitions)) if name == disk else (name,)
    answers = {each: _properties(each, machine) for each in names}
    properties = {each: answer or {} for each, answer in answers.items()}
    part = next((part for part in drive.partitions if part.name == name), None)
    best = (drive.stable_name if name == disk else part.stable_name if part else "") or path
    # Names by label or UUID do not outlive formatting, but these do.
    directories = (["disk", directory] for directory in ("by-id", "by-partuuid", "by-path", "by-diskseq"))
    stable = path if path.split("/")[2:4] in directories else best
    number = machine.text(f"{directory}/dev")
    identifiers = disk_identity.identifiers(Device(name, disk, number, Tree(machine.root)))
    return DeviceTarget(
        path=stable,
        name=name,
        disk=disk,
        number=number,
        diskseq=machine.number(f"/sys/block/{disk}/diskseq"),
        size_bytes=machine.number(f"{directory}/size") * SECTOR_BYTES,
        drive=drive,
        properties=properties,
        identifiers=tuple(identifiers),
        kind=next(iter(identifiers.values()), disk_identity.SERIAL),
        unseen=tuple(each for each, answer in answers.items() if answer is None),
    )


@in_english()
def losses(target: DeviceTarget) -> tuple[str, ...]:
    """A sentence for each content of the device that would be lost, in English: a plan has them, and a run compares
    them."""
    sentences = [_("{device}: its contents couldn't be read", device=name) for name in target.unseen]
    sentences += [loss for name, udev in target.properties.items() for loss in _losses(name, udev, target)]
    if not sentences:
        size = size_text(target.size_bytes)
        sentences.append(
            _(
                "Nothing was found on {device} ({size}): no partition table and no filesystem.",
                device=target.name, size=size,
            )
        )  # fmt: skip
    return tuple(sentences)


def _losses(name: str, udev: Properties, target: DeviceTarget) -> Iterator[str]:
    part = next((part for part in target.drive.partitions if part.name == name), None)
    size = size_text(part.size_bytes if part else target.size_bytes)
    inside = Probed(udev)
    if inside.type:
        label = f' "{safe(inside.label)}"' if inside.label else ""
        yield f"{name}: {safe(inside.type)}{label}, {size}"
    elif name != target.disk and target.whole:
        yield _("{device}: a partition of {size}, apparently empty", device=name, size=size)
    if inside.table:
        yield _("{device}: its partition table ({kind})", device=name, kind=safe(inside.table))


def refusals(
    target: DeviceTarget, typed: str | None = None, *, minimum_bytes: int = 0, machine: Machine = HERE
) -> tuple[Finding, ...]:
    """Reasons against formatting `target`, the most important first, in the reader's language.

    The helper checks again, as root, before it writes. `typed` confirms the loss, such as the serial number; None
    before the user has typed it.
    """
    device = Device(target.name, target.disk, target.number, Tree(machine.root))
    disk = {} if target.disk in target.names else {target.disk: _properties(target.disk, machine) or {}}
    probed = {name: _probed(name, udev, target, machine) for name, udev in {**target.properties, **disk}.items()}
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


def _probed(name: str, udev: Properties, target: DeviceTarget, machine: Machine) -> Probed:
    """The contents with the number of devices of the same filesystem, which needs all of them."""
    probed, uuid = Probed(udev), udev.get("ID_FS_UUID", "")
    if probed.type not in ("btrfs", "bcachefs") or not uuid:
        return probed
    others = (other for other in machine.names("/sys/class/block") if other not in (name, target.disk))
    return Probed(udev, devices=1 + sum(machine.properties(other).get("ID_FS_UUID") == uuid for other in others))


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
    for name in target.unseen:
        see, root = _("Run `blkid -p /dev/{device}` to see why.", device=name), _("It may take root.")
        text = _("The contents of {device} couldn't be read", device=name)
        yield Finding("unknown", text, see if os.geteuid() == 0 else root)
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


def _kernel_name(path: str, machine: Machine) -> str:
    if not path.startswith("/dev/"):
        raise UsageError(
            _("'{path}' isn't a device.", path=safe(path)),
            _("Write device:/dev/disk/by-id/NAME; `fswizard drives` lists them."),
        )
    if machine.live:
        try:
            status = os.stat(path)
        except OSError as error:
            hint = _("`fswizard drives` lists the disks.")
            raise UsageError(f"{safe(path)}: {error.strerror}.", hint) from error
        if not stat.S_ISBLK(status.st_mode):
            raise Refused(
                _("{path} isn't a block device.", path=safe(path)),
                _("Name a disk or partition below /dev/disk/by-id."),
            )
        number = f"{os.major(status.st_rdev)}:{os.minor(status.st_rdev)}"
        return os.path.basename(machine.real(f"/sys/dev/block/{number}"))
    name = machine.real(path).removeprefix("/dev/").replace("/", "!")
    if not machine.path(f"/sys/class/block/{name}/dev").exists():
        raise UsageError(
            _("{path}: there is no such device.", path=safe(path)), _("`fswizard drives` lists the disks.")
        )
    return name


def _properties(name: str, machine: Machine) -> Properties | None:
    """Properties by udev, or by blkid if udev does not run; None if neither could read the device."""
    udev = machine.properties(name)
    if not machine.live:
        return udev
    if udev_runs(machine):
        return udev if "USEC_INITIALIZED" in udev else None
    probed = probe(path_of(name))
    return None if probed is None else {**udev, **probed}
