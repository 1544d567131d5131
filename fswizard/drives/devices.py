"""A disk or partition named by the user: its identity, the losses, and the reasons against erasing it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, replace

from fswizard.drives import disk_facts, may_erase
from fswizard.drives.blank import is_blank
from fswizard.drives.contents import contents
from fswizard.drives.inventory import describe, stable_name
from fswizard.drives.may_erase import Facts, Finding, Probed
from fswizard.errors import Refused, UsageError
from fswizard.language import N_, _, in_english
from fswizard.model.drive import Drive
from fswizard.model.text import safe
from fswizard.model.units import size_text
from fswizard.system import clock
from fswizard.system.block_device import HERE, Device, Tree, look_at

_ASKING_S = 1.5
"""Time that smartctl, blkid and similar programs take to query a disk."""
_STABLE = tuple(f"/dev/disk/{directory}/" for directory in ("by-id", "by-partuuid", "by-path", "by-diskseq"))
"""Directories with names that do not change by formatting, unlike those by label or UUID."""


@dataclass(frozen=True, slots=True)
class DeviceTarget:
    """A block device in its current state."""

    path: str
    """Stable path, or the kernel's path if there is none."""
    drive: Drive
    facts: Facts
    tree: Tree
    blank: bool
    """Whether a sample of its blocks is empty; False if it could not be read."""

    @property
    def device(self) -> Device:
        return self.facts.device

    @property
    def title(self) -> str:
        """Kernel name and model."""
        return f"{self.device.name} ({self.drive.model or _('a disk without a name')})"

    @property
    def identifiers(self) -> tuple[str, ...]:
        """Texts that confirm the device; the first one is shown to the user.

        It is the serial number of the disk, or if that is not unique or a placeholder, the name in /dev/disk/by-id or
        the WWN; for a loop device its file.
        """
        return tuple(may_erase.identifiers(self.facts))

    @property
    def kind(self) -> str:
        """Kind of the first identifier, such as `serial number`."""
        return next(iter(may_erase.identifiers(self.facts).values()), may_erase.SERIAL)

    @property
    def identifier(self) -> str:
        """The text that a user is asked to type before it is erased."""
        return self.identifiers[0]

    @property
    def whole(self) -> bool:
        return self.device.name == self.device.disk

    @property
    def empty(self) -> bool:
        """Whether the device could be read completely and has neither known nor unknown contents."""
        return self.blank and not list(_contents(self))


def find_device(path: str, tree: Tree = HERE) -> DeviceTarget:
    """The block device at `path`. Raises UsageError if nothing is there, and Refused if it is something else.

    May take some seconds for a readable device without known contents.
    """
    device = _device_at(path, tree)
    (drive,) = describe((device.disk,), tree)
    probed = {name: _probed(name, device, tree) for name in (*device.names, *device.partitions)}
    facts = disk_facts.read(device, probed, tree)
    stable = path if path.startswith(_STABLE) else stable_name(device.name, tree) or path
    target = DeviceTarget(stable, drive, facts, tree, blank=True)
    return target if list(_contents(target)) else replace(target, blank=is_blank(device, tree))


def _device_at(path: str, tree: Tree) -> Device:
    if not path.startswith("/dev/"):
        raise UsageError(
            _("'{path}' isn't a device.", path=safe(path)),
            _("Write device:/dev/disk/by-id/NAME; `fswizard drives` lists them."),
        )
    if name := tree.device_at(path):
        return look_at(name, tree)
    if os.path.exists(tree.path(path)):
        raise Refused(
            _("{path} isn't a block device.", path=safe(path)), _("Name a disk or partition below /dev/disk/by-id.")
        )
    raise UsageError(_("{path}: there is no such device.", path=safe(path)), _("`fswizard drives` lists the disks."))


def _probed(name: str, device: Device, tree: Tree) -> Probed:
    """Contents of a device, with the number of devices of a btrfs or bcachefs that spans several."""
    properties = contents(name, tree)
    if properties is None:
        return Probed(unread=True)
    probed, uuid = Probed(properties), properties.get("ID_FS_UUID", "")
    if probed.type not in ("btrfs", "bcachefs") or not uuid:
        return probed
    others = (other for other in tree.names("/sys/class/block") if other not in (name, device.disk))
    return replace(probed, devices=1 + sum(tree.properties(each).get("ID_FS_UUID") == uuid for each in others))


@in_english()
def losses(target: DeviceTarget) -> tuple[str, ...]:
    """One sentence for each content that would be lost; in English, as they are stored in plans and compared."""
    device, size = target.device.name, size_text(target.device.size_bytes)
    nothing = N_("{device}: {size} without a known filesystem, which may hold data all the same")
    if target.blank:
        nothing = N_("Nothing was found on {device} ({size}): no partition table and no filesystem.")
    return tuple(_contents(target)) or (_(nothing, device=device, size=size),)


def _contents(target: DeviceTarget) -> Iterator[str]:
    sizes = {part.name: part.size_bytes for part in target.drive.partitions} if target.whole else {}
    for name in dict.fromkeys((target.device.name, *sorted(sizes))):
        inside, size = target.facts.contents[name], size_text(sizes.get(name, target.device.size_bytes))
        if inside.unread:
            yield _("{device}: its contents couldn't be read", device=name)
        elif inside.type:
            label = f' "{safe(inside.label)}"' if inside.label else ""
            yield f"{name}: {safe(inside.type)}{label}, {size}"
        elif name != target.device.name:
            yield _("{device}: a partition of {size}, apparently empty", device=name, size=size)
        if inside.table:
            yield _("{device}: its partition table ({kind})", device=name, kind=safe(inside.table))


def refusals(target: DeviceTarget, minimum_bytes: int = 0) -> tuple[Finding, ...]:
    """Reasons against formatting `target`, the most important first, in the reader's language.

    The run checks again, as root, before it writes.
    """
    # Programs such as smartctl and blkid have it open only briefly.
    deadline = clock.monotonic() + _ASKING_S
    while openers := tuple(disk_facts.openers(target.facts, target.tree)):
        if target.tree != HERE or clock.monotonic() > deadline:
            break
        clock.sleep(0.1)
    uses = [*target.facts.uses, *openers]
    if target.drive.health == "failing":
        uses.append(may_erase.make_finding("failing", device=target.device.disk))
    facts = replace(target.facts, uses=uses)
    return tuple(
        replace(each, text=_("{finding}.", finding=_(safe(each.text))), hint=_(safe(each.hint)))
        for each in may_erase.findings(facts, minimum_bytes)
    )
