"""Targets that candidates are made on in turn: a scratch image, or devices that may be erased."""

from __future__ import annotations

import contextlib
import errno
import functools
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeAlias

from fswizard.disks import scratch_file
from fswizard.disks.choice import require_confirmation, require_unchanged
from fswizard.disks.directory import PreparedDirectories
from fswizard.disks.disk import CandidateFailed, DiskFailed, require_no_errors
from fswizard.disks.journal import Journal
from fswizard.disks.root import RootDisk, RootDisks, open_root
from fswizard.disks.udisks import UdisksDisk, UdisksDisks, open_udisks
from fswizard.engines import (
    WorkloadDisturbed,
    WorkloadFailed,
    age,
    forget_cell,
    require_unkilled,
)
from fswizard.errors import FswizardError, Refused, RunFailed
from fswizard.language import _
from fswizard.model.estimates import needed_bytes
from fswizard.model.filesystem import Candidate
from fswizard.model.metrics import MKFS_TIME, UNPLUG_TIME
from fswizard.model.plan import FIRST_LOOK_BYTES, Plan
from fswizard.model.result import Doubt
from fswizard.progress.emitter import Emitter
from fswizard.progress.workload_events import Progress, Ran, WorkloadEvent
from fswizard.results import state_directory
from fswizard.system import clock, timeouts
from fswizard.system.process import Finished, Process

Disks: TypeAlias = RootDisks | UdisksDisks
AnyDisk: TypeAlias = RootDisk | UdisksDisk
WIPE_LIMIT_S = 10.0
"""Time limit for wiping at the end of a run; after it, a warning says that the last filesystem is still there."""
BUSY_ATTEMPTS = 4
BUSY_PAUSE_S = 0.5
PROBE_MIB = 16
"""Size of the test file written next to the image to tell a failing disk from a failing candidate."""


def _require_done(finished: Finished, kind: str, text: str) -> Finished:
    """Return `finished`. Raises CandidateFailed if it failed, and WorkloadDisturbed if somebody killed it."""
    require_unkilled(finished)
    if finished.exit_code:
        raise CandidateFailed(kind, text, finished.output)
    return finished


@dataclass(eq=False, repr=False)
class PreparedImage:
    """Candidates made in turn on the same image or devices; workloads run on the one that is mounted."""

    _plan: Plan
    _emitter: Emitter
    _disks: Disks
    _disk: AnyDisk
    scratch: str
    touched: bool = False
    """Whether anything was written to the devices; otherwise the end of the run does not wipe them."""
    laid_out: set[str] = field(default_factory=set)
    candidate: Candidate = field(init=False)
    """The candidate opened last."""
    _mounted: bool = False
    _synced_s: float = 0.0
    """Seconds spent on writing back after the workloads of the current candidate."""
    _aged: dict[str, AnyDisk] = field(default_factory=dict)
    """Image with the initial state of each aged candidate."""
    _not_aged: dict[str, CandidateFailed] = field(default_factory=dict)

    @property
    def devices(self) -> tuple[str, ...]:
        return self._disk.names

    @property
    def directory(self) -> str:
        return self._disk.directory

    @property
    def limits_memory(self) -> bool:
        return self._disks.limits_memory

    def written_bytes(self, candidate: Candidate | None = None) -> int | None:
        return self._disk.written_bytes()

    @asynccontextmanager
    async def open(self, candidate: Candidate) -> AsyncIterator[PreparedImage]:
        await self._clear()
        if failed := self._not_aged.get(candidate.name):
            raise failed
        self.candidate, self._synced_s = candidate, 0.0
        await self._make()
        forget_cell(self.laid_out, self.scratch)
        self._emitter.begin("mount", _("mounting {candidate}", candidate=candidate.name))
        self._ended(await self._mount())
        try:
            yield self
            await self._check()
        except BaseException:
            if self._mounted:
                with contextlib.suppress(FswizardError, CandidateFailed, WorkloadDisturbed):
                    await self._umount()
            raise

    async def _clear(self) -> None:
        """Unmount the previous candidate if it is still mounted. Raises RunFailed if its driver does not release it."""
        if not self._mounted:
            return
        try:
            await self._umount()
        except (DiskFailed, CandidateFailed) as error:
            name = self.candidate.name
            raise RunFailed(
                _("{candidate} could not be unmounted: its driver does not release it.", candidate=name),
                _("The figures so far are kept. Start a new run without it."),
                error.details,
            ) from error

    async def _make(self) -> None:
        """Make the candidate, or copy its aged image back, without mounting it."""
        emitter, candidate = self._emitter, self.candidate
        if image := self._aged.get(candidate.name):
            emitter.begin("format", _("copying the aged {candidate} back", candidate=candidate.as_new))
            await self._wipe()
            self._ended(await image.copy_to(self._disk))
            return
        title = _("formatting with {program}", program=candidate.filesystem.mkfs_program)
        emitter.begin("format", title)
        await self._wipe()
        begun = functools.partial(emitter.command_begins, as_root=self._disk.as_root)
        took_s = 0.0
        for finished in await self._disk.make(candidate, begun):
            self._ended(finished)
            text = _("{program} could not make {candidate}.", program=finished.argv[0], candidate=candidate.name)
            took_s += _require_done(finished, "mkfs", text).wall_s
        emitter.sample(MKFS_TIME, took_s)

    async def _wipe(self) -> None:
        self.touched = True
        for wiped in await self._disk.wipe():
            self._ended(wiped)

    def _ended(self, finished: Finished) -> None:
        self._emitter.command_ended(finished, as_root=self._disk.as_root)

    async def _mount(self) -> Finished:
        text = _("{candidate} could not be mounted.", candidate=self.candidate.name)
        finished = _require_done(await self._disk.mount(self.candidate), "mount", text)
        self._mounted = True
        return finished

    async def _umount(self) -> Finished:
        """Unmount the candidate. Raises RunFailed if another program uses it, which no candidate is to blame for."""

        async def umount() -> Finished:
            name = self.candidate.name
            for __ in range(1 + BUSY_ATTEMPTS):
                finished = await self._disk.umount()
                if finished.exit_code == 0 or "busy" not in finished.output:
                    _require_done(finished, "umount", _("{candidate} could not be unmounted.", candidate=name))
                    self._mounted = False
                    return finished
                await clock.pause(BUSY_PAUSE_S)
            raise RunFailed(
                _("{candidate} cannot be unmounted: another program uses it.", candidate=name),
                _("Find what uses this run's own mounts, such as a file manager, end it, and run again."),
                finished.output,
            )

        # If this were cancelled, the cleanup would fail to unmount it a second time.
        return await timeouts.to_the_end(umount())

    async def start(self, argv: Sequence[str], *, env: Mapping[str, str], limited: bool = False) -> Process:
        return await self._disk.start(argv, cwd=self.directory, env=env, limited=limited)

    async def remount(self) -> None:
        await self._umount()
        await self._mount()

    async def used_bytes(self) -> int | None:
        """Bytes in use, metadata included, after a sync, as btrfs counts only synced data."""
        await self.sync()
        space = os.statvfs(self.directory)
        return (space.f_blocks - space.f_bfree) * space.f_frsize

    async def sync(self) -> Finished:
        """Write back. Raises CandidateFailed if this or an earlier write-back failed, which is reported once."""
        try:
            finished = await self._disk.sync()
        except DiskFailed as error:
            text = _("{candidate} could not write everything back.", candidate=self.candidate.name)
            raise CandidateFailed("health", text, str(error)) from error
        self._synced_s += finished.wall_s
        return finished

    async def _check(self) -> None:
        """Write back, read the error counters, and unmount. Raises CandidateFailed if the candidate counted errors."""
        self._emitter.begin("check", _("writing back, unmounting and looking for errors"))
        await self.sync()
        errors = await self._disk.errors()
        unmounted = await self._umount()
        self._ended(unmounted)
        self._emitter.sample(UNPLUG_TIME, self._synced_s + unmounted.wall_s)
        if errors:
            counts = ", ".join(f"{name} {count}" for name, count in errors.items())
            text = _("{candidate} counted errors of its own: {text}.", candidate=self.candidate.name, text=counts)
            raise CandidateFailed("health", text)

    async def check_device(self, *, reading: bool) -> None:
        """Raise RunFailed if the disk is another one or reports errors, with `reading` also while it is used."""
        await self._disk.require_same()
        require_no_errors(await self._disk.disk_errors())
        if reading and self._disk.image:
            read = await self._disk.image.read()
            if read.exit_code:
                require_no_errors([read.output, *await self._disk.disk_errors()])
            await write_test_file(self.scratch)
        elif reading:  # only write to both ends, as reading a whole disk takes hours
            try:
                with contextlib.suppress(Refused):  # it may still be mounted
                    await self._disk.wipe()
            except DiskFailed as error:
                require_no_errors([error.details, *await self._disk.disk_errors()])

    async def bare(self) -> AnyDisk:
        """Wipe the target for samples without a filesystem, on its first device: an array is compared with one disk."""
        await self._wipe()
        return self._disk

    async def age(self) -> None:
        """Age each candidate that is measured aged, and save an image of it, which rounds start from.

        A candidate that can't be aged fails when it is opened.
        """
        for candidate in self._plan.aged:
            try:
                async with self.open(candidate):
                    await self._age()
            except WorkloadFailed as problem:
                text = _("{candidate} could not be aged: {text}", candidate=candidate.as_new, text=problem.text)
                self._not_aged[candidate.name] = CandidateFailed(problem.kind, text, problem.details)
                continue
            image = await _image(self._plan, self._emitter, self._disks)
            self._emitter.begin("fill", _("keeping the aged {candidate}", candidate=candidate.as_new))
            self._ended(await self._disk.copy_to(image))
            self._aged[candidate.name] = image

    async def _age(self) -> None:
        plan, emitter = self._plan, self._emitter
        title = _("ageing {candidate}", candidate=self.candidate.as_new)
        emitter.begin("fill", title)

        def emit(event: WorkloadEvent) -> None:
            if isinstance(event, Progress):
                emitter.progress(title, event)
            elif isinstance(event, Ran):
                emitter.command_ended(event.finished)

        free_bytes = needed_bytes(plan.recipe)
        await age(self, emit, seed=plan.seed, write_bytes=plan.churn_bytes, free_bytes=free_bytes)


PreparedTarget: TypeAlias = PreparedImage | PreparedDirectories
"""What the code that measures gets."""


async def write_test_file(scratch: str) -> None:
    """Write and remove a file. Raises RunFailed if that fails, as on a disk that is disconnected or read-only."""
    probe = f"{scratch}/probe"
    argv = ["dd", "if=/dev/zero", f"of={probe}", "bs=1M", f"count={PROBE_MIB}", "conv=fsync", "status=none"]
    finished = await timeouts.finish(argv)
    with contextlib.suppress(OSError):
        os.unlink(probe)
    if os.strerror(errno.ENOSPC) in finished.output:
        raise scratch_file.full(scratch, finished.output)
    if finished.exit_code:
        require_no_errors([finished.output])


async def _image(plan: Plan, emitter: Emitter, disks: Disks) -> AnyDisk:
    """Write an image, and attach it. It vanishes with its last user."""
    target = plan.target
    emitter.begin("fill", _("writing the whole scratch image once"))
    return await disks.image(target.path, target.size_bytes, emitter)


@asynccontextmanager
async def open_image(
    plan: Plan,
    emitter: Emitter,
    journal: Journal,
    first_look: Callable[[PreparedImage], Awaitable[None]] | None = None,
) -> AsyncIterator[PreparedImage]:
    """Make the image of a plan, and remove everything on exit.

    `first_look` gets a small image before the full one is written. Missing privileges are reported before anything
    slow begins.
    """
    emitter.begin("prepare", _("preparing to mount"))
    opened: AbstractAsyncContextManager[Disks] = open_root(plan.memory_limit_bytes)
    if plan.by_udisks:
        opened = open_udisks(plan.memory_limit_bytes, journal.note_image)
    async with opened as disks:
        scratch = str(journal.make_directory(Path(plan.target.path)))
        if first_look:
            small = replace(plan, target=replace(plan.target, size_bytes=FIRST_LOOK_BYTES))
            first = await _image(small, emitter, disks)
            await first_look(PreparedImage(small, emitter, disks, first, scratch))
            await first.detach()
        disk = await _image(plan, emitter, disks)
        _note_pool(plan, disk, journal)
        prepared = PreparedImage(plan, emitter, disks, disk, scratch)
        try:
            await prepared.age()
            yield prepared
        finally:
            emitter.begin("clean", _("unmounting, and removing the scratch image"))


def _note_pool(plan: Plan, disk: AnyDisk, journal: Journal) -> None:
    if any(candidate.outlives_a_run for candidate in plan.candidates):
        journal.note_pool(disk.pool)


@asynccontextmanager
async def open_devices(plan: Plan, emitter: Emitter, journal: Journal) -> AsyncIterator[PreparedImage]:
    """Check the devices as the user and as root, and claim them. On exit they are wiped if anything was written."""
    require_confirmation(plan)
    content_types = [target.facts.probed.type for target in require_unchanged(plan)]
    scratch = str(journal.make_directory(state_directory()))
    emitter.begin("prepare", _("checking the device as root"))
    async with open_root(plan.memory_limit_bytes) as disks:
        disk = disks.claim(plan.target.members, content_types)
        _note_pool(plan, disk, journal)
        require_unchanged(plan, claimed=True)
        prepared = PreparedImage(plan, emitter, disks, disk, scratch)
        try:
            yield prepared
        finally:
            if prepared.touched:
                emitter.begin("clean", _("wiping the device"))
                await _leave_wiped(disk, emitter)


async def _leave_wiped(disk: AnyDisk, emitter: Emitter) -> None:
    """Unmount and wipe, retrying for `WIPE_LIMIT_S`, as a stopped run may still have a mount or a running program."""
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
