"""Candidates made in turn: on scratch images, which stand for disks, or on devices that the user gave up."""

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
from fswizard.disks.disk import CandidateFailed, Disk, DiskFailed, require_no_errors
from fswizard.disks.journal import Journal
from fswizard.disks.root import RootDisks, open_root
from fswizard.disks.udisks import UdisksDisks, open_udisks
from fswizard.engines import (
    BareSample,
    WorkloadDisturbed,
    WorkloadFailed,
    age,
    forget_cell,
    require_unkilled,
)
from fswizard.errors import FswizardError, Refused, RunFailed
from fswizard.filesystems import commands
from fswizard.language import _
from fswizard.model.estimates import ageing_s, filling_s, free_when_aged_bytes
from fswizard.model.filesystem import Candidate
from fswizard.model.metrics import MKFS_TIME, UNPLUG_TIME
from fswizard.model.plan import FIRST_LOOK_BYTES, Plan
from fswizard.model.result import Doubt
from fswizard.progress.emitter import Emitter
from fswizard.progress.workload_events import Progress, Ran, WorkloadEvent
from fswizard.results import state_directory
from fswizard.system import clock, host, timeouts
from fswizard.system.process import Finished, Process

Disks: TypeAlias = RootDisks | UdisksDisks
"""Who carries out what is asked of disks."""
WIPE_LIMIT_S = 10.0
"""So long is tried at the end of a run; then a doubt says that the last filesystem is still there."""
BUSY_ATTEMPTS = 4
BUSY_PAUSE_S = 0.5
NO_SPACE = "space allocation error"
"""In the kernel's log: blocks that a filesystem discarded could not be had again (block/blk-core.c)."""
PROBE_MIB = 16
"""Written beside the image after an error, to distinguish a failing disk from a failing candidate."""


def _require_done(finished: Finished, kind: str, text: str) -> Finished:
    """CandidateFailed where that failed, and WorkloadDisturbed where somebody killed the program."""
    require_unkilled(finished)
    if finished.exit_code:
        raise CandidateFailed(kind, text, finished.output)
    return finished


@dataclass(frozen=True)
class Bare:
    """The device that candidates are made on, or the first of them, without one; fio alone touches it."""

    _disk: Disk
    devices: tuple[str, ...]

    async def start(self, sample: BareSample) -> Process:
        return await self._disk.sample(sample)


@dataclass(eq=False, repr=False)
class PreparedImage:
    """Candidates made in turn on the same image, or on the same several; workloads reach the one that is mounted."""

    _plan: Plan
    _emitter: Emitter
    _disks: Disks
    _disk: Disk
    scratch: str
    touched: bool = False
    """What lay on the devices is gone; until then the end of the run leaves them alone."""
    laid_out: set[str] = field(default_factory=set)
    candidate: Candidate = field(init=False)
    """The last one that was opened."""
    _mounted: bool = False
    _synced_s: float = 0.0
    """What writing back took after each workload of the candidate so far."""
    _kept: dict[str, Disk] = field(default_factory=dict)
    """An image for each aged candidate, which holds it as it was before anything was measured on it."""
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
        await self._clear(candidate)
        if failed := self._not_aged.get(candidate.name):
            raise failed
        self.candidate, self._synced_s = candidate, 0.0
        await self._make()
        forget_cell(self.laid_out, self.scratch)
        self._emitter.begin("mount", _("mounting {candidate}", candidate=candidate.name), expected_s=0.1)
        self._ended(await self._mount())
        try:
            yield self
            await self._check()
        except BaseException:
            if self._mounted:
                with contextlib.suppress(FswizardError, CandidateFailed, WorkloadDisturbed):
                    await self._umount()
            raise

    async def _clear(self, candidate: Candidate) -> None:
        """Unmount the previous candidate, in case its driver had locked up.

        CandidateFailed where it is the same one, and RunFailed where it stands in the way of another.
        """
        if not self._mounted:
            return
        try:
            await self._umount()
        except (DiskFailed, CandidateFailed) as error:
            text = _(
                "{candidate} could not be unmounted: its driver does not release it.", candidate=self.candidate.name
            )
            if self.candidate == candidate:
                raise CandidateFailed("umount", text, error.details) from error
            raise RunFailed(
                _("{problem} No other candidate can be made in its place.", problem=text),
                _(
                    "The figures so far are kept, and nothing stays mounted once the run has ended. Resume without "
                    "it: `fswizard run --resume FILE`, or start a new run with other --candidates."
                ),
                error.details,
            ) from error

    async def _make(self) -> None:
        """The candidate as new, or as it was kept; not mounted yet."""
        emitter, candidate = self._emitter, self.candidate
        if kept := self._kept.get(candidate.name):
            emitter.begin("format", _("copying the aged {candidate} back", candidate=candidate.as_new), expected_s=2.0)
            await self._wipe()
            self._ended(await kept.copy_to(self._disk))
            return
        title = _("formatting with {program}", program=candidate.filesystem.mkfs_program)
        emitter.begin("format", title, expected_s=1.0)
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
        """RunFailed where something else uses it, as no candidate is to blame for that."""

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
                _("Find what uses this run's own mounts, end it, and run again."),
                finished.output,
            )

        # Whoever stops or skips meanwhile would find it unmounted, and fail to unmount it again.
        return await timeouts.to_the_end(umount())

    async def start(
        self, argv: Sequence[str], *, cwd: str | None = None, env: Mapping[str, str] | None = None,
        limited: bool = False,
    ) -> Process:  # fmt: skip
        environment = {"TMPDIR": self.scratch, **(env or {})}
        limit_bytes = self._plan.memory_limit_bytes if limited else 0
        return await self._disk.start(argv, cwd=cwd or self.directory, env=environment, memory_bytes=limit_bytes)

    async def remount(self) -> None:
        await self._umount()
        await self._mount()

    async def used_bytes(self) -> int | None:
        """After a sync, as btrfs counts only what was synced."""
        return int((await self.sync()).stdout)

    async def sync(self) -> Finished:
        """CandidateFailed where that, or an earlier write-back, failed: the kernel reports it once."""
        try:
            finished = await self._disk.sync()
        except DiskFailed as error:
            text = _("{candidate} could not write everything back.", candidate=self.candidate.name)
            raise CandidateFailed("health", text, str(error)) from error
        self._synced_s += finished.wall_s
        return finished

    async def _check(self) -> None:
        """Write back, look for what the candidate and the kernel have counted against it, and unmount it."""
        self._emitter.begin("check", _("writing back, unmounting and looking for errors"), expected_s=0.4)
        await self.sync()
        errors = await self._disk.errors(self.candidate)
        unmounted = await self._umount()
        self._ended(unmounted)
        self._emitter.sample(UNPLUG_TIME, self._synced_s + unmounted.wall_s)
        if errors:
            counts = ", ".join(f"{name} {count}" for name, count in errors.items())
            text = _("{candidate} counted errors of its own: {text}.", candidate=self.candidate.name, text=counts)
            raise CandidateFailed("health", text)

    async def check_device(self, *, reading: bool) -> None:
        self._require_space()
        await self._disk.require_same()
        reported = await self._disk.disk_errors()
        if any(NO_SPACE in line for line in reported):
            raise scratch_file.full(self._plan.target.path)
        require_no_errors(reported)
        if reading:
            read = await self._disk.read()
            if read.exit_code:
                require_no_errors([read.output, *await self._disk.disk_errors()])
            await write_beside(self.scratch)

    def _require_space(self) -> None:
        """RunFailed where a filesystem under an image is full, or no longer there."""
        for member in self._plan.target.members:
            try:
                free_bytes = host.this.space(member.path).free_bytes
            except OSError as error:
                text = _("The scratch image cannot be read: {reason}.", reason=error.strerror)
                raise RunFailed(text, _("Was its disk unplugged?")) from error
            if free_bytes == 0:
                raise scratch_file.full(member.path)

    async def bare(self) -> Bare:
        """The first of several devices: what an array reaches is compared with one of its disks."""
        await self._wipe()
        return Bare(self._disk, self._disk.names[:1])

    async def age(self) -> None:
        """Make each aged candidate, use it for years, and keep it; rounds begin with a copy of it.

        One that can't be aged fails as soon as it is opened.
        """
        for candidate in self._plan.aged:
            try:
                async with self.open(candidate):
                    await self._age()
            except (CandidateFailed, WorkloadFailed) as problem:
                text = _("{candidate} could not be aged: {text}", candidate=candidate.as_new, text=problem.text)
                self._not_aged[candidate.name] = CandidateFailed(problem.kind, text, problem.details)
                continue
            (kept,) = await _images(self._plan, self._emitter, self._disks)
            self._emitter.begin("fill", _("keeping the aged {candidate}", candidate=candidate.as_new))
            self._ended(await self._disk.copy_to(kept))
            self._kept[candidate.name] = kept

    async def _age(self) -> None:
        plan, emitter = self._plan, self._emitter
        title = _("ageing {candidate}", candidate=self.candidate.as_new)
        emitter.begin("fill", title, expected_s=ageing_s(plan))

        def emit(event: WorkloadEvent) -> None:
            if isinstance(event, Progress):
                emitter.progress(title, event)
            elif isinstance(event, Ran):
                emitter.command_ended(event.finished)

        free_bytes = free_when_aged_bytes(plan.recipe)
        await age(self, emit, seed=plan.seed, write_bytes=plan.churn_bytes, free_bytes=free_bytes)


async def write_beside(scratch: str) -> None:
    """RunFailed where the disk takes no more data, as one does that lost its connection or turned read-only."""
    probe = f"{scratch}/probe"
    argv = ["dd", "if=/dev/zero", f"of={probe}", "bs=1M", f"count={PROBE_MIB}", "conv=fsync", "status=none"]
    finished = await timeouts.finish(argv)
    with contextlib.suppress(OSError):
        os.unlink(probe)
    if os.strerror(errno.ENOSPC) in finished.output:
        raise scratch_file.full(scratch, finished.output)
    if finished.exit_code:
        require_no_errors([finished.output])


async def _images(plan: Plan, emitter: Emitter, disks: Disks) -> list[Disk]:
    """Images of which nothing is left when nobody uses them any more."""
    made: list[Disk] = []
    expected_s = filling_s(plan.target.size_bytes, plan.drive)
    for member in plan.target.members:
        emitter.begin("fill", _("writing the whole scratch image once"), expected_s=expected_s)
        disk = await disks.image(member.path, member.size_bytes, emitter)
        made.append(disk)
        words = commands.attach(f"/dev/{disk.names[0]}", commands.IMAGE)
        emitter.command_ended(Finished(words, 0, b"", b"", 0.0), as_root=disk.as_root)
        if not disk.direct_io:
            raise scratch_file.without_direct_io(member.path)
    return made


@asynccontextmanager
async def open_images(
    plan: Plan, emitter: Emitter, journal: Journal, look: Callable[[PreparedImage], Awaitable[None]] | None = None
) -> AsyncIterator[PreparedImage]:
    """Have the images made; leaving takes everything away. `look` gets a small one before they are written.

    A missing right or a password comes up before anything takes time.
    """
    if plan.by_udisks:
        emitter.begin("prepare", _("asking udisks2 for a loop device"))
        opened: AbstractAsyncContextManager[Disks] = open_udisks(plan.memory_limit_bytes, journal.note_image)
    else:
        emitter.begin("prepare", _("preparing what root mounts"))
        opened = open_root(plan.memory_limit_bytes)
    async with opened as disks:
        scratch = str(journal.make_directory(Path(plan.target.path)))
        if look:
            small = replace(plan, target=replace(plan.target, size_bytes=FIRST_LOOK_BYTES))
            (first,) = await _images(small, emitter, disks)
            await look(PreparedImage(small, emitter, disks, first, scratch))
            with contextlib.suppress(DiskFailed, Refused):  # its driver does not release it
                await first.detach()
        await _images(plan, emitter, disks)
        disk: Disk = disks.joined()
        _note_pool(plan, disk, journal)
        prepared = PreparedImage(plan, emitter, disks, disk, scratch)
        try:
            await prepared.age()
            yield prepared
        finally:
            emitter.begin("clean", _("unmounting, and removing the scratch image"), expected_s=0.5)


def _note_pool(plan: Plan, disk: Disk, journal: Journal) -> None:
    if any(candidate.outlives_a_run for candidate in plan.candidates):
        journal.note_pool(disk.pool)


class PreparedDevices(PreparedImage):
    """Candidates made in turn on devices of the user's."""

    async def check_device(self, *, reading: bool) -> None:
        """With `reading`, both ends are written and read: reading a whole disk would take hours."""
        await self._disk.require_same()
        require_no_errors(await self._disk.disk_errors())
        if reading:
            try:
                with contextlib.suppress(Refused):  # it may still be mounted
                    await self._disk.wipe()
            except DiskFailed as error:
                require_no_errors([error.details, *await self._disk.disk_errors()])


@asynccontextmanager
async def open_devices(plan: Plan, emitter: Emitter, journal: Journal) -> AsyncIterator[PreparedDevices]:
    """Look once more, then look as root and lock the devices; leaving wipes them, where anything was written."""
    require_confirmation(plan)
    shown = [target.facts.probed.type for target in require_unchanged(plan)]
    scratch = str(journal.make_directory(state_directory()))
    emitter.begin("prepare", _("checking the device as root"))
    async with open_root(plan.memory_limit_bytes) as disks:
        for member, kind in zip(plan.target.members, shown):
            disks.claim(member, kind)
        disk = disks.joined()
        _note_pool(plan, disk, journal)
        require_unchanged(plan, held=True)
        prepared = PreparedDevices(plan, emitter, disks, disk, scratch)
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
