"""Targets that are directories on mounted filesystems: nothing is formatted, and no privileges are needed."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass, field
from pathlib import Path

from fswizard.disks.disk import require_no_errors, succeeded
from fswizard.disks.disk_errors import DiskErrors
from fswizard.disks.journal import Journal
from fswizard.disks.memory_limit import Limited, limited
from fswizard.drives.topology import devices_at
from fswizard.engines import WorkloadContext, forget_cell, require_unkilled
from fswizard.errors import RunFailed
from fswizard.language import N_, _
from fswizard.model.filesystem import Candidate
from fswizard.model.metrics import UNPLUG_TIME
from fswizard.model.plan import Plan
from fswizard.model.result import Doubt
from fswizard.model.text import safe
from fswizard.progress.emitter import Emitter
from fswizard.results import state_directory
from fswizard.system import commands, timeouts
from fswizard.system.block_stats import counters, device_under
from fswizard.system.process import Finished, Process

USED_SPACE = N_(
    "These filesystems differ in age, fill and place on their disks, or lie on different disks, so a difference may "
    "come from that and not from the filesystem; and figures for many small files are those of a warm cache. A "
    "scratch image avoids all of that."
)


@dataclass
class DirectoryContext:
    """A private directory on a mounted filesystem."""

    directory: str
    scratch: str
    laid_out: set[str]
    limit: Limited | None = None

    @property
    def devices(self) -> tuple[str, ...]:
        device = device_under(self.directory)
        return (device,) if device else ()

    async def start(self, argv: Sequence[str], *, env: Mapping[str, str], limited: bool = False) -> Process:
        start = self.limit.start if limited and self.limit else commands.start
        return await start(argv, cwd=self.directory, env=env)

    async def sync(self) -> Finished:
        """Write everything back. Raises RunFailed on failure."""
        done = await timeouts.finish(["sync", "--file-system", self.directory])
        require_unkilled(done)
        return succeeded(done, RunFailed)

    async def remount(self) -> None:
        """Write back, and drop file contents from the cache; dropping names would take root."""
        await self.sync()
        await asyncio.to_thread(_forget_pages, self.directory)

    async def used_bytes(self) -> None:
        return None


def _forget_pages(directory: str) -> None:
    for folder, __, files in os.walk(directory):
        for name in files:
            descriptor = os.open(os.path.join(folder, name), os.O_RDONLY | os.O_NOFOLLOW)
            os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
            os.close(descriptor)


@dataclass
class PreparedDirectories:
    """A target where each candidate is an existing directory."""

    emitter: Emitter
    journal: Journal
    scratch: str
    limit: Limited | None
    errors: DiskErrors
    """Errors of the disks below all of them, as far as the user's permissions allow."""
    laid_out: set[str] = field(default_factory=set)
    devices = ()

    @property
    def limits_memory(self) -> bool:
        return self.limit is not None

    @asynccontextmanager
    async def open(self, candidate: Candidate) -> AsyncIterator[WorkloadContext]:
        self.emitter.begin("mount", _("making a directory in {directory}", directory=safe(candidate.directory)))
        directory = self.journal.make_directory(Path(candidate.directory))
        try:
            forget_cell(self.laid_out, self.scratch)
            context = DirectoryContext(str(directory), self.scratch, self.laid_out, self.limit)
            yield context
            self.emitter.begin("check", _("writing back"))
            self.emitter.sample(UNPLUG_TIME, (await context.sync()).wall_s)
        except BaseException as error:
            if not isinstance(error, RunFailed):  # the disk may hang; the journal keeps what is left
                await self.journal.remove_directory(directory)
            raise
        self.emitter.begin("check", _("removing the test files"))
        await self.journal.remove_directory(directory)

    def written_bytes(self, candidate: Candidate | None = None) -> int | None:
        counted = counters(device_under(candidate.directory)) if candidate else None
        return counted.written_bytes if counted else None

    async def bare(self) -> None:
        return None

    async def check_device(self, *, reading: bool) -> None:
        """Raise RunFailed if the filesystem is gone or its disk fails; a full filesystem is a valid result here."""
        if not os.path.isdir(self.scratch):
            raise RunFailed(_("{directory} is gone.", directory=self.scratch), _("Was a disk unplugged?"))
        require_no_errors([safe(line) for line in self.errors.of_disks()])
        if reading:
            raise RunFailed(
                _("A directory can no longer be read or written."),
                _(
                    "Its disk or its filesystem may be failing: check the kernel's log and the disk's health as "
                    "root, for example with `dmesg` and `smartctl -a`. The figures so far are kept."
                ),
            )


@asynccontextmanager
async def open_directories(plan: Plan, emitter: Emitter, journal: Journal) -> AsyncIterator[PreparedDirectories]:
    emitter.doubt(Doubt("used-space", _(USED_SPACE)))
    scratch = journal.make_directory(state_directory())
    names = [name for candidate in plan.candidates for name in devices_at(candidate.directory)]
    with closing(DiskErrors(lambda: names)) as errors, limited(plan.memory_limit_bytes) as limit:
        yield PreparedDirectories(emitter, journal, str(scratch), limit, errors)
