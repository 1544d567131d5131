"""The privileged helper's orders."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from fswizard.engines import BareSample, require_unkilled
from fswizard.language import _, number
from fswizard.model.filesystem import Candidate
from fswizard.model.text import safe
from fswizard.system import timeouts
from fswizard.system.process import Finished
from fswizard.targets.channel import Channel, HelperFailed, HelperProcess

Begun = Callable[[tuple[str, ...]], None]
Watch = Callable[[HelperProcess], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Attached:
    """An image or a disk that the helper holds as a block device, or several as one."""

    handle: int
    direct_io: bool
    """As read back from the kernel: the image is not cached a second time."""
    pool: str
    """What a ZFS pool, an array or a volume of it is called, if one is made."""
    directory: str
    """Where it is mounted, for programs that the helper starts."""
    names: tuple[str, ...]
    """Kernel name of each device, such as `loop0`."""
    paths: tuple[str, ...]

    @property
    def name(self) -> str:
        """Kernel name of the device; of several, the first."""
        return self.names[0]

    @property
    def path(self) -> str:
        return self.paths[0]


class Helper(Channel):
    """The running helper."""

    async def attach(self, directory: str, size_bytes: int, watch: Watch | None = None) -> Attached:
        """Have the helper make a scratch image below a directory of the user's, and a loop device on it.

        `watch` gets the process while the image is written, which prints how many bytes are.
        """
        given = os.open(directory, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
        job: HelperProcess = await self.ask("attach", given=given, size_bytes=size_bytes)
        try:
            if watch:
                await watch(job)
            finished = await job.wait()
        except BaseException:
            await job.kill()
            raise
        if finished.exit_code:
            raise HelperFailed(
                _("The scratch image could not be made."), _("Its disk may be failing."), finished.output
            )
        return _attached(job.attached)

    async def claim(self, number: str, diskseq: int, size_bytes: int, serial: str, shown: str) -> Attached:
        """Have the block device `number` (`major:minor`) checked as root, and hold it; Refused with the reason.

        `shown` is the type of the filesystem that the user was shown, empty for none.
        """
        answer = await self.ask(
            "claim", number=number, diskseq=diskseq, size_bytes=size_bytes, serial=serial, shown=shown
        )
        return _attached(answer)

    async def joined(self, parts: Sequence[Attached], candidates: Iterable[Candidate] = ()) -> Attached:
        """Several as one, which alone takes orders from then on; one alone is joined for candidates on a volume."""
        if len(parts) == 1 and not any(candidate.below for candidate in candidates):
            return parts[0]
        answer = await self.ask("join", handles=[part.handle for part in parts])
        return replace(
            _attached(answer),
            names=tuple(name for part in parts for name in part.names),
            paths=tuple(path for part in parts for path in part.paths),
        )

    async def order(
        self, verb: str, handle: int, *, begun: Begun | None = None, limit_s: float = timeouts.LIMIT_S, **fields: Any
    ) -> Finished:
        """Have the helper do what takes time; the exit code says whether it failed. Whoever stops waiting ends it.

        Making takes the fields of a candidate's `orders`; `mount` takes `options`, and the mount type as `filesystem`.
        What is mounted is the user's, and the host does not see it. `begun` is called with the command once it runs.
        """
        if self.waits_for_disk is not None:
            raise self.waits_for_disk
        job: HelperProcess = await self.ask(verb, handle=handle, **fields)
        if begun:
            begun(job.argv)
        try:
            return await timeouts.within(limit_s, job.wait())
        except asyncio.TimeoutError:
            await job.kill()
            raise HelperFailed(
                _("{program} did not end within {limit} s.", program=job.argv[0], limit=number(f"{limit_s:g}")),
                _("The disk may be failing."),
            ) from None
        except asyncio.CancelledError:
            await job.kill()
            raise

    async def detach(self, handle: int) -> None:
        await self.ask("detach", handle=handle)

    async def wipe(self, handle: int) -> Finished:
        """Take away every signature, and zero both ends; HelperFailed where that fails."""
        return _succeeded(await self.order("wipe", handle))

    async def copy(self, source: int, handle: int) -> Finished:
        """Write an image, with the filesystem that was made on it, over a wiped one; HelperFailed where that fails."""
        return _succeeded(await self.order("copy", handle, source=source))

    async def inspect(self, handle: int, *, reading: bool) -> Finished:
        """Whether the devices are as they were and, with `reading`, every block of images can be read: exit code 0."""
        return await self.order("inspect", handle, reading=reading)

    async def bare(self, handle: int, sample: BareSample) -> HelperProcess:
        """Start fio on a device that holds no filesystem; its contents are overwritten where it writes."""
        if self.waits_for_disk is not None:
            raise self.waits_for_disk
        job: HelperProcess = await self.ask("bare", handle=handle, **asdict(sample))
        return job

    async def umount(self, handle: int) -> Finished:
        """Never lazily: while something is open, the exit code is not 0 and the output names what it is."""
        return await self.order("umount", handle)

    async def sync(self, handle: int) -> Finished:
        """Write everything back; HelperFailed with the reason where that, or an earlier write-back, failed.

        The output is the bytes in use on the filesystem, its own structures included.
        """
        finished = await self.order("sync", handle)
        require_unkilled(finished)
        return _succeeded(finished)

    async def reclaim(self, pool: str) -> None:
        """Destroy a pool, or stop an array or volume, that a killed run left; Refused where it may be another's."""
        await self.ask("reclaim", pool=pool)

    async def health(self, handle: int, counted: Sequence[str]) -> dict[str, int]:
        """Counts above 0 of those errors that the catalogue names."""
        answer = await self.ask("health", handle=handle, counted=list(counted))
        return {str(name): int(count) for name, count in answer["counters"].items() if count}

    async def disk_errors(self, handle: int) -> tuple[str, ...]:
        """In words, every error that the disks below have reported since they came to the helper."""
        answer = await self.ask("health", handle=handle, counted=[])
        return tuple(safe(line) for line in answer["disks"])

    async def run(
        self, argv: Sequence[str], *, cwd: str, env: Mapping[str, str] | None = None, memory_bytes: int = 0
    ) -> HelperProcess:
        """Start a program as the user, without capabilities, inside the namespaces.

        With `memory_bytes`, all that have it share so much memory, page cache included, where `limits_memory`.
        """
        limit = memory_bytes if self.limits_memory else 0
        job: HelperProcess = await self.ask("run", argv=list(argv), cwd=cwd, env=dict(env or {}), memory_bytes=limit)
        return job


def _attached(answer: Mapping[str, Any]) -> Attached:
    names, paths = (answer["name"],), (answer["path"],)
    return Attached(answer["handle"], answer["direct_io"], answer["pool"], answer["directory"], names, paths)


def _succeeded(finished: Finished) -> Finished:
    if finished.exit_code:
        raise HelperFailed(
            _("{program} failed.", program=finished.argv[0]), _("The disk may be failing."), finished.output
        )
    return finished
