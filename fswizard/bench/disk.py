"""A partition or whole disk that the person gave up: looked at again before anything is written, and left wiped."""

from __future__ import annotations

import asyncio
import contextlib
import shlex
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from fswizard.bench.helper import Attached, Helper
from fswizard.bench.image import ImageVenue, Layout
from fswizard.bench.journal import Journal
from fswizard.bench.narrator import Narrator
from fswizard.drives import details
from fswizard.drives.contents import content
from fswizard.drives.machine import HERE, Properties
from fswizard.drives.refusals import refusals
from fswizard.drives.targets import DeviceTarget, find_device, losses
from fswizard.errors import FswizardError, Refused, RunFailed
from fswizard.model.drive import Drive
from fswizard.model.plan import Plan, PlannedCommand, Target
from fswizard.model.result import Doubt
from fswizard.results import state_directory

WIPE_LIMIT_S = 10.0
"""So long is tried at the end of a run; then the person is told that the last filesystem is still there."""


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
    """Everything could be looked at, and nothing was found."""
    losses: tuple[str, ...]
    """What would be lost, a sentence each."""
    identifier: str = ""
    """What has to be typed before anything is written to it."""
    refused: Refused | None = None
    """What stands against it, in the words of the command line."""


def offers(drive: Drive, minimum_bytes: int) -> tuple[Offer, ...]:
    """The partitions of `drive` and the whole of it as targets of at least `minimum_bytes`; nothing is changed.

    Its health is taken from `drive`. What is gone meanwhile is left out.
    """
    found = []
    for name in dict.fromkeys((*(part.name for part in drive.partitions), drive.name)):
        with contextlib.suppress(FswizardError):
            path = f"/dev/{name.replace('!', '/')}"
            found.append(_offer(path, minimum_bytes, drive.health))
    return tuple(found)


def _offer(path: str, minimum_bytes: int, health: str) -> Offer:
    found = find_device(path)
    found = replace(found, drive=replace(found.drive, health=health))
    refused = _refusal(found, None, minimum_bytes)
    identifier = next(iter(found.identifiers), "")
    return Offer(found.path, found.name, found.size_bytes, found.whole, found.empty, losses(found), identifier, refused)


def plan_device(path: str, serial: str | None, minimum_bytes: int) -> tuple[Target, tuple[str, ...]]:
    """The device as target, and what would be lost on it. Refused where anything stands against formatting it.

    Without `serial` the plan can be shown; `require_confirmation` keeps it from being carried out.
    """
    found = find_device(path)
    found = replace(found, drive=replace(found.drive, health=details(found.drive).health))
    _refuse(found, serial, minimum_bytes)
    target = Target("device", found.path, found.size_bytes, "", found.number, found.diskseq, serial or "")
    return target, losses(found)


def require_confirmation(plan: Plan) -> None:
    """Refused for a device whose serial number was not typed."""
    if plan.target.kind == "device" and not plan.target.identifier:
        raise Refused(f"Everything on {plan.target.path} would be lost. {' '.join(plan.losses)}", how_to_confirm(plan))


def how_to_confirm(plan: Plan) -> str:
    """What has to be typed before the device of `plan` is erased."""
    found = find_device(plan.target.path)
    return f"If {_named(found)} is meant, confirm it with --erase {shlex.quote(found.identifiers[0])}"


@dataclass(frozen=True, slots=True)
class Question:
    """What a person has to type before a device is erased."""

    device: str
    """Kernel name and model."""
    identifier: str
    """To be typed exactly."""
    kind: str
    """What the identifier is, such as `serial number`."""
    empty: bool
    """Nothing was found on the device."""


def question(plan: Plan) -> Question:
    """What to ask before the device of `plan` is erased."""
    found = find_device(plan.target.path)
    identifier = found.identifiers[0]
    if identifier == found.drive.serial:
        kind = "serial number"
    else:
        kind = "file's path" if identifier.startswith("/") else "identifier"
    return Question(_named(found), identifier, kind, found.empty)


def confirmed(plan: Plan, typed: str) -> Plan:
    """The plan, ready to be carried out. Refused where `typed` is not the device's serial number, or where the
    device, or what lies on it, is not what the plan was made for any more."""
    plan = replace(plan, target=replace(plan.target, identifier=typed))
    _require_unchanged(plan)
    return plan


def device_commands(
    candidate_commands: tuple[PlannedCommand, ...], work: list[PlannedCommand], *, zoned: bool
) -> list[PlannedCommand]:
    """What will be run on a device, in order; where it is `zoned`, its zones are emptied each time."""
    wipe = PlannedCommand(("wipefs", "--all", "DEVICE"), as_root=True, text="leave nothing behind")
    umount = PlannedCommand(("umount", "MOUNT"), as_root=True, text="unmount")
    reset = [PlannedCommand(("blkzone", "reset", "DEVICE"), as_root=True, text="empty every zone")] if zoned else []
    return [*reset, *candidate_commands, *work, umount, *reset, wipe]


class DiskVenue(ImageVenue):
    """Candidates made one after the other on a device of the person's.

    What the device does without a filesystem is not measured: that would take writing to it as root.
    """

    touched = False
    """What lay on the device is gone; until then the end of the run leaves it alone, whatever somebody does with it."""

    def bare(self) -> None:
        return None

    async def check_device(self, *, reading: bool) -> None:
        """With `reading` the kernel's log is asked: reading a whole disk would take hours."""
        target = self._plan.target
        block = f"/sys/dev/block/{target.number}"
        disk = HERE.real(block)
        disk = disk if HERE.path(f"{disk}/diskseq").exists() else disk.rpartition("/")[0]
        if HERE.number(f"{disk}/diskseq") != target.diskseq:
            raise RunFailed(f"{self.device} is gone, or another disk by now.", "Was it unplugged?")
        if HERE.number(f"{block}/ro") or HERE.number(f"{disk}/ro"):
            raise RunFailed(f"{self.device} has turned read-only.", "It may be failing: look at its health first.")
        if reading and any("I/O error" in line for line in self._helper.kernel_log):
            raise RunFailed(
                f"{self.device} reported errors.", "It may be failing: look at its health first.",
                "\n".join(self._helper.kernel_log),
            )  # fmt: skip

    async def _prepare_blocks(self) -> None:
        await self._helper.wipe(self._attached.handle)
        self.touched = True


@asynccontextmanager
async def open_disk(plan: Plan, narrator: Narrator, journal: Journal) -> AsyncIterator[DiskVenue]:
    """Look once more, have the helper look and lock the device; leaving wipes it, where anything was written."""
    require_confirmation(plan)
    shown = content(_require_unchanged(plan)).filesystem
    directory = journal.make_directory(state_directory())
    layout = Layout("", str(directory / "mount"), str(directory / "scratch"))
    for made in (layout.mount, layout.scratch):
        Path(made).mkdir(mode=0o700)
    narrator.begin("prepare", "having the device checked by the privileged helper")
    async with Helper.start() as helper:
        target = plan.target
        attached = await helper.claim(target.number, target.diskseq, target.size_bytes, target.identifier, shown)
        if any(candidate.filesystem.pool for candidate in plan.candidates):
            journal.note_pool(attached.pool)
        _require_unchanged(plan, held=True)
        venue = DiskVenue(plan, narrator, helper, attached, layout)
        try:
            yield venue
        finally:
            if venue.touched:
                narrator.begin("clean", "wiping the device", expected_s=0.5)
                await _leave_wiped(helper, attached, narrator)


async def _leave_wiped(helper: Helper, attached: Attached, narrator: Narrator) -> None:
    """A run that was stopped may have left something mounted, or an order that is still being carried out."""
    deadline = time.monotonic() + WIPE_LIMIT_S
    while time.monotonic() < deadline and helper.waits_for_disk is None:
        with contextlib.suppress(FswizardError):
            await helper.umount(attached.handle)
        with contextlib.suppress(FswizardError):
            await helper.wipe(attached.handle)
            return
        await asyncio.sleep(0.1)
    narrator.doubt(
        Doubt("not-wiped", f"{attached.name} could not be wiped at the end: the last filesystem is still on it.")
    )


def _named(found: DeviceTarget) -> str:
    return f"{found.name} ({found.drive.model or 'a disk without a name'})"


def _refuse(found: DeviceTarget, serial: str | None, minimum_bytes: int) -> None:
    if (refused := _refusal(found, serial, minimum_bytes)) is not None:
        raise refused


def _refusal(found: DeviceTarget, serial: str | None, minimum_bytes: int) -> Refused | None:
    against = refusals(found, serial, minimum_bytes=minimum_bytes)
    return Refused(" ".join(refusal.text for refusal in against), against[0].hint) if against else None


def _require_unchanged(plan: Plan, *, held: bool = False) -> Properties:
    """What lies on the device. Refused where the device, or what lies on it, is not what the person was shown any more.

    `held` by the helper, it is open: then what uses it was checked as root a moment before.
    """
    target = plan.target
    found = find_device(target.path)
    if not held:
        _refuse(found, target.identifier, plan.recipe.image_bytes)
    now = (found.number, found.diskseq, found.size_bytes)
    if now != (target.number, target.diskseq, target.size_bytes):
        raise Refused(f"{target.path} is not the disk any more that was chosen.", "Make the plan again.")
    if losses(found) != plan.losses:
        raise Refused(f"What lies on {found.name} has changed since the plan was made.", "Make the plan again.")
    return found.properties[found.name]
