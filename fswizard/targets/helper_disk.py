"""Disks by the privileged helper: what udisks2 does not allow, or where it is not there."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager

from fswizard.disks.disk import Begun, Disk, Filling
from fswizard.engines import BareSample
from fswizard.errors import Refused, RunFailed
from fswizard.language import _
from fswizard.model.filesystem import Candidate
from fswizard.model.plan import Member
from fswizard.model.text import safe
from fswizard.system import block_stats
from fswizard.system.process import Finished, Process
from fswizard.targets.channel import HelperFailed, HelperProcess
from fswizard.targets.helper import Attached, Helper
from fswizard.targets.privilege import IMAGES, Purpose


class HelperDisk:
    """A device, or several as one, that the helper holds."""

    as_root = True

    def __init__(self, helper: Helper, attached: Attached) -> None:
        self._helper = helper
        self.attached = attached
        self.names = attached.names
        self.directory = attached.directory
        self.direct_io = attached.direct_io
        self.pool = attached.pool
        self._before_bytes = self._counted_bytes() or 0

    async def wipe(self) -> Finished:
        return await self._helper.wipe(self.attached.handle)

    async def make(self, candidate: Candidate, begun: Begun) -> Sequence[Finished]:
        made = []
        for order in candidate.orders(scratch=True):
            made.append(await self._helper.order(order.verb, self.attached.handle, begun=begun, **order.fields))
            if made[-1].exit_code:
                break
        return made

    async def copy_to(self, other: Disk) -> Finished:
        assert isinstance(other, HelperDisk)
        return await self._helper.copy(self.attached.handle, other.attached.handle)

    async def mount(self, candidate: Candidate) -> Finished:
        kind, options = candidate.filesystem.mount_type, list(candidate.scratch_mount_options)
        return await self._helper.order("mount", self.attached.handle, filesystem=kind, options=options)

    async def umount(self) -> Finished:
        return await self._helper.umount(self.attached.handle)

    async def sync(self) -> Finished:
        return await self._helper.sync(self.attached.handle)

    async def errors(self, candidate: Candidate) -> Mapping[str, int]:
        return await self._helper.health(self.attached.handle, candidate.filesystem.error_counters)

    async def disk_errors(self) -> Sequence[str]:
        return await self._helper.disk_errors(self.attached.handle)

    async def inspect(self, *, reading: bool) -> Finished:
        return await self._helper.inspect(self.attached.handle, reading=reading)

    async def sample(self, sample: BareSample) -> Process:
        return await self._helper.bare(self.attached.handle, sample)

    async def start(
        self, argv: Sequence[str], *, cwd: str, env: Mapping[str, str], memory_bytes: int = 0
    ) -> Process:  # fmt: skip
        return await self._helper.run(argv, cwd=cwd, env=env, memory_bytes=memory_bytes)

    def written_bytes(self) -> int | None:
        counted = self._counted_bytes()
        return None if counted is None else counted - self._before_bytes

    def _counted_bytes(self) -> int | None:
        counted = block_stats.counters(*self.names)
        return counted.written_bytes if counted else None

    @property
    def hangs(self) -> bool:
        return self._helper.waits_for_disk is not None

    async def detach(self) -> None:
        await self._helper.detach(self.attached.handle)


class HelperDisks:
    """Disks that the helper makes or claims."""

    def __init__(self, helper: Helper) -> None:
        self.helper = helper
        self.limits_memory = helper.limits_memory

    async def image(self, directory: str, size_bytes: int, filling: Filling) -> HelperDisk:
        async def watch(process: HelperProcess) -> None:
            for command in (process.argv, *process.further):
                filling.begins(command)
            async for chunk in process.chunks():
                filling.written(int(chunk.split()[-1]))
            filling.ended(await process.wait())

        try:
            return HelperDisk(self.helper, await self.helper.attach(directory, size_bytes, watch))
        except (HelperFailed, Refused) as error:
            text = _(
                "No scratch image can be made in {directory}: {reason}", directory=safe(directory), reason=error.message
            )
            hint = _("Choose a directory on a disk of this machine with --target image:SIZE@DIRECTORY.")
            raise RunFailed(text, hint, error.details) from error
        except OSError as error:
            text = _(
                "No scratch image can be made in {directory}: {reason}.",
                directory=safe(directory),
                reason=error.strerror,
            )
            raise RunFailed(text, _("Was its disk unplugged?")) from error

    async def claim(self, member: Member, shown: str) -> HelperDisk:
        """Have a device checked as root, and held; Refused with the reason.

        `shown` is the type of the filesystem that the user was shown, empty for none.
        """
        attached = await self.helper.claim(member.number, member.diskseq, member.size_bytes, member.identifier, shown)
        return HelperDisk(self.helper, attached)

    async def joined(self, parts: Sequence[HelperDisk], candidates: Sequence[Candidate]) -> HelperDisk:
        attached = await self.helper.joined([part.attached for part in parts], candidates)
        return HelperDisk(self.helper, attached)

    @classmethod
    @asynccontextmanager
    async def start(cls, needed: Purpose = IMAGES) -> AsyncIterator[HelperDisks]:
        """Start the helper for one purpose; leaving ends it, and with it whatever it made."""
        async with Helper.start(needed) as helper:
            yield cls(helper)
