"""A run on devices that the user gave up: looked at again before anything is written, and left wiped."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fswizard.disks.choice import require_confirmation, require_unchanged
from fswizard.disks.disk import Disk, DiskFailed
from fswizard.disks.image import PreparedImage
from fswizard.disks.journal import Journal
from fswizard.disks.prepared import require_no_errors
from fswizard.disks.root import open_root
from fswizard.errors import FswizardError, Refused, RunFailed
from fswizard.language import _
from fswizard.model.plan import Member, Plan
from fswizard.model.result import Doubt
from fswizard.progress.emitter import Emitter
from fswizard.results import state_directory
from fswizard.system import clock
from fswizard.system.block_device import HERE, look_at

WIPE_LIMIT_S = 10.0
"""So long is tried at the end of a run; then a doubt says that the last filesystem is still there."""


class PreparedDevices(PreparedImage):
    """Candidates made in turn on devices of the user's."""

    async def check_device(self, *, reading: bool) -> None:
        """With `reading`, both ends are written and read: reading a whole disk would take hours."""
        for name, member in zip(self.devices, self._plan.target.members):
            _check_member(name, member)
        require_no_errors(await self._disk.disk_errors())
        if reading:
            try:
                with contextlib.suppress(Refused):  # it may still be mounted
                    await self._disk.wipe()
            except DiskFailed as error:
                require_no_errors([error.details, *await self._disk.disk_errors()])


def _check_member(name: str, member: Member) -> None:
    found = HERE.device_of(member.number)
    now = look_at(found) if found else None
    if now is None or now.diskseq != member.diskseq:
        raise RunFailed(_("{name} is gone, or is now another disk.", name=name), _("Was it unplugged?"))
    if now.read_only:
        raise RunFailed(_("{name} has turned read-only.", name=name), _("It may be failing: check its health first."))


@asynccontextmanager
async def open_devices(plan: Plan, emitter: Emitter, journal: Journal) -> AsyncIterator[PreparedDevices]:
    """Look once more, then look as root and lock the devices; leaving wipes them, where anything was written."""
    require_confirmation(plan)
    shown = [target.facts.probed.type for target in require_unchanged(plan)]
    directory = journal.make_directory(state_directory())
    scratch = directory / "scratch"
    scratch.mkdir(mode=0o700)
    emitter.begin("prepare", _("checking the device as root"))
    async with open_root(plan.memory_limit_bytes) as disks:
        claimed = [await disks.claim(member, kind) for member, kind in zip(plan.target.members, shown)]
        disk = await disks.joined(claimed)
        if any(candidate.outlives_a_run for candidate in plan.candidates):
            journal.note_pool(disk.pool)
        require_unchanged(plan, held=True)
        prepared = PreparedDevices(plan, emitter, disks, disk, str(scratch))
        try:
            yield prepared
        finally:
            if prepared.touched:
                emitter.begin("clean", _("wiping the device"), expected_s=0.5)
                await _leave_wiped(disk, emitter)


async def _leave_wiped(disk: Disk, emitter: Emitter) -> None:
    """A run that was stopped may have left something mounted, or a program that still runs."""
    deadline = clock.monotonic() + WIPE_LIMIT_S
    while clock.monotonic() < deadline:
        with contextlib.suppress(FswizardError):
            await disk.umount()
        with contextlib.suppress(FswizardError):
            await disk.wipe()
            return
        await clock.pause(0.1)
    names = ", ".join(disk.names)
    emitter.doubt(
        Doubt("not-wiped", _("{names} could not be wiped at the end: the last filesystem is still on it.", names=names))
    )
