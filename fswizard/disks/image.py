"""The scratch image: a file that stands for a disk, on a filesystem that the user can write."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace
from pathlib import Path

from fswizard.disks import filling as scratch_file
from fswizard.disks.disk import Disk, DiskFailed, Disks
from fswizard.disks.journal import Journal
from fswizard.disks.prepared import CandidateFailed, PreparedTarget, require_no_errors
from fswizard.disks.root import open_root
from fswizard.disks.udisks import open_udisks
from fswizard.engines import (
    BareSample,
    WorkloadContext,
    WorkloadDisturbed,
    WorkloadFailed,
    age,
    forget_cell,
    require_unkilled,
)
from fswizard.errors import FswizardError, Refused, RunFailed
from fswizard.filesystems import commands
from fswizard.language import _
from fswizard.model.estimates import ageing_s, free_when_aged_bytes
from fswizard.model.filesystem import Candidate
from fswizard.model.metrics import MKFS_TIME, UNPLUG_TIME
from fswizard.model.plan import FIRST_LOOK_BYTES, Plan
from fswizard.model.text import safe
from fswizard.progress.emitter import Emitter
from fswizard.progress.workload_events import Progress, Ran, WorkloadEvent
from fswizard.system import clock, host, timeouts
from fswizard.system.process import Finished, Process

Look = Callable[[PreparedTarget], Awaitable[None]]
BUSY_ATTEMPTS = 4
BUSY_PAUSE_S = 0.5
NO_SPACE = "space allocation error"
"""In the kernel's log: blocks that a filesystem discarded could not be had again (block/blk-core.c)."""


class ImageContext:
    """A candidate that is mounted from a disk."""

    def __init__(
        self, disk: Disk, candidate: Candidate, scratch: str, laid_out: set[str], *, memory_limit_bytes: int
    ) -> None:
        self._disk = disk
        self._memory_limit_bytes = memory_limit_bytes
        self.candidate = candidate
        self.scratch = scratch
        self.laid_out = laid_out
        self.mounted = False
        self.synced_s = 0.0
        """What writing back took after each workload so far."""

    @property
    def directory(self) -> str:
        return self._disk.directory

    @property
    def devices(self) -> tuple[str, ...]:
        return self._disk.names

    async def start(
        self, argv: Sequence[str], *, cwd: str | None = None, env: Mapping[str, str] | None = None,
        limited: bool = False,
    ) -> Process:  # fmt: skip
        environment, limit = {"TMPDIR": self.scratch, **(env or {})}, self._memory_limit_bytes if limited else 0
        return await self._disk.start(argv, cwd=cwd or self.directory, env=environment, memory_bytes=limit)

    async def remount(self) -> None:
        await self.umount()
        await self.mount()

    async def used_bytes(self) -> int | None:
        """After a sync, as btrfs counts only what was synced."""
        return int((await self.sync()).stdout)

    async def sync(self) -> Finished:
        """CandidateFailed where that, or an earlier write-back, failed: the kernel reports it once."""
        with self._blamed_for_health():
            finished = await self._disk.sync()
        self.synced_s += finished.wall_s
        return finished

    async def errors(self) -> Mapping[str, int]:
        """What the candidate and the kernel have counted against it."""
        with self._blamed_for_health():
            return await self._disk.errors(self.candidate)

    @contextlib.contextmanager
    def _blamed_for_health(self) -> Iterator[None]:
        try:
            yield
        except DiskFailed as error:
            text = _("{candidate} could not write everything back.", candidate=self.candidate.name)
            raise CandidateFailed("health", text, str(error)) from error

    async def mount(self) -> Finished:
        finished = await self._disk.mount(self.candidate)
        require_unkilled(finished)
        if finished.exit_code:
            raise CandidateFailed(
                "mount", _("{candidate} could not be mounted.", candidate=self.candidate.name), finished.output
            )
        self.mounted = True
        return finished

    async def umount(self) -> Finished:
        """RunFailed where something else uses it, as no candidate is to blame for that.

        To its end: whoever stops or skips meanwhile would find it unmounted, and fail to unmount it again.
        """
        return await timeouts.to_the_end(self._umount())

    async def _umount(self) -> Finished:
        finished, attempts = await self._disk.umount(), 0
        while (busy := finished.exit_code and "busy" in finished.output) and attempts < BUSY_ATTEMPTS:
            await clock.pause(BUSY_PAUSE_S)
            finished, attempts = await self._disk.umount(), attempts + 1
        if busy:
            raise RunFailed(
                _("{candidate} cannot be unmounted: another program uses it.", candidate=self.candidate.name),
                _("Find what uses this run's own mounts, end it, and run again."),
                finished.output,
            )
        require_unkilled(finished)
        if finished.exit_code:
            raise CandidateFailed(
                "umount", _("{candidate} could not be unmounted.", candidate=self.candidate.name), finished.output
            )
        self.mounted = False
        return finished


class Bare:
    """The device that candidates are made on, or the first of them, without one; fio alone touches it."""

    def __init__(self, disk: Disk) -> None:
        self._disk = disk
        self.devices = disk.names[:1]
        self.as_root = disk.as_root

    async def start(self, sample: BareSample) -> Process:
        return await self._disk.sample(sample)


def _changed(details: str) -> RunFailed:
    return RunFailed(_("Something changed the size of the scratch image."), _("Nothing else may write to it."), details)


def _check_space(plan: Plan) -> None:
    for member in plan.target.members:
        try:
            free_bytes = host.this.space(member.path).free_bytes
        except OSError as error:
            text = _("The scratch image cannot be read: {reason}.", reason=error.strerror)
            raise RunFailed(text, _("Was its disk unplugged?")) from error
        if free_bytes == 0:
            raise _full(member.path)


def _full(path: str) -> RunFailed:
    return RunFailed(
        _("The filesystem under the image ({path}) is full.", path=safe(path)),
        _("Free some space there and run again."),
    )


class PreparedImage:
    """Candidates made in turn on the same image, or on the same several."""

    def __init__(self, plan: Plan, emitter: Emitter, disks: Disks, disk: Disk, scratch: str) -> None:
        self._plan = plan
        self._emitter = emitter
        self._disks = disks
        self._disk = disk
        self._scratch = scratch
        self._laid_out: set[str] = set()
        self._context: ImageContext | None = None
        """The last candidate's."""
        self._kept: dict[str, Disk] = {}
        """An image for each aged candidate, which holds it as it was before anything was measured on it."""
        self._not_aged: dict[str, CandidateFailed] = {}
        self.limits_memory = disks.limits_memory
        self.touched = False
        """What lay on the devices is gone; until then the end of the run leaves them alone."""

    @property
    def devices(self) -> tuple[str, ...]:
        return self._disk.names

    def written_bytes(self, candidate: Candidate | None = None) -> int | None:
        return self._disk.written_bytes()

    @asynccontextmanager
    async def open(self, candidate: Candidate) -> AsyncIterator[WorkloadContext]:
        await self._clear(candidate)
        if candidate.name in self._not_aged:
            raise self._not_aged[candidate.name]
        if kept := self._kept.get(candidate.name):
            self._emitter.begin(
                "format", _("copying the aged {candidate} back", candidate=candidate.as_new), expected_s=2.0
            )
            await self._wipe()
            self._emitter.command_ended(await kept.copy_to(self._disk), as_root=self._disk.as_root)
        else:
            await self._make(candidate)
        forget_cell(self._laid_out, self._scratch)
        context = self._context = ImageContext(
            self._disk,
            candidate,
            self._scratch,
            self._laid_out,
            memory_limit_bytes=self._plan.memory_limit_bytes,
        )
        self._emitter.begin("mount", _("mounting {candidate}", candidate=candidate.name), expected_s=0.1)
        self._emitter.command_ended(await context.mount(), as_root=self._disk.as_root)
        try:
            yield context
            await self._check(candidate, context)
        except BaseException:
            if context.mounted:
                with contextlib.suppress(FswizardError, CandidateFailed, WorkloadDisturbed):
                    await context.umount()
            raise

    async def _clear(self, candidate: Candidate) -> None:
        """Have nothing mounted of the candidate before, whose driver may have locked up.

        CandidateFailed where it is the same one, and RunFailed where it stands in the way of another.
        """
        if self._context is None or not self._context.mounted:
            return
        before = self._context.candidate
        try:
            await self._context.umount()
        except (DiskFailed, CandidateFailed) as error:
            text = _("{candidate} could not be unmounted: its driver does not release it.", candidate=before.name)
            if before == candidate:
                raise CandidateFailed("umount", text, error.details) from error
            raise RunFailed(
                _("{problem} No other candidate can be made in its place.", problem=text),
                _(
                    "The figures so far are kept, and nothing stays mounted once the run has ended. Resume without "
                    "it: `fswizard run --resume FILE`, or start a new run with other --candidates."
                ),
                error.details,
            ) from error

    async def check_device(self, *, reading: bool) -> None:
        _check_space(self._plan)
        try:
            same = await self._disk.inspect(reading=False)
        except DiskFailed as error:
            raise _changed(str(error)) from error
        if same.exit_code:
            raise _changed(same.output)
        reported = await self._disk.disk_errors()
        if any(NO_SPACE in line for line in reported):
            raise _full(self._plan.target.path)
        require_no_errors(reported)
        if reading:
            read = await self._disk.inspect(reading=True)
            if read.exit_code:
                require_no_errors([read.output, *await self._disk.disk_errors()])
            await scratch_file.write_beside(self._scratch)

    async def bare(self) -> Bare:
        """The first of several devices: what an array reaches is compared with one of its disks."""
        await self._wipe()
        return Bare(self._disk)

    async def age(self) -> None:
        """Make each aged candidate, use it for years, and keep it; rounds begin with a copy of it.

        One that can't be aged fails as soon as it is opened.
        """
        for candidate in (each for each in self._plan.candidates if each.aged):
            try:
                async with self.open(candidate) as context:
                    await self._use_for_years(candidate, context)
            except (CandidateFailed, WorkloadFailed) as problem:
                text = _("{candidate} could not be aged: {text}", candidate=candidate.as_new, text=problem.text)
                self._not_aged[candidate.name] = CandidateFailed(problem.kind, text, problem.details)
                continue
            (kept,) = await _images(self._plan, self._emitter, self._disks)
            self._emitter.begin("fill", _("keeping the aged {candidate}", candidate=candidate.as_new))
            self._emitter.command_ended(await self._disk.copy_to(kept), as_root=kept.as_root)
            self._kept[candidate.name] = kept

    async def _use_for_years(self, candidate: Candidate, context: WorkloadContext) -> None:
        plan, emitter, text = self._plan, self._emitter, _("ageing {candidate}", candidate=candidate.as_new)
        emitter.begin("fill", text, expected_s=ageing_s(plan))

        def emit(event: WorkloadEvent) -> None:
            if isinstance(event, Progress):
                emitter.progress(text, event)
            elif isinstance(event, Ran):
                emitter.command_ended(event.finished)

        free_bytes = free_when_aged_bytes(plan.recipe)
        await age(context, emit, seed=plan.seed, write_bytes=plan.churn_bytes, free_bytes=free_bytes)

    async def _wipe(self) -> None:
        self.touched = True
        for wiped in await self._disk.wipe():
            self._emitter.command_ended(wiped, as_root=self._disk.as_root)

    async def _make(self, candidate: Candidate) -> None:
        self._emitter.begin(
            "format",
            _("formatting with {program}", program=candidate.filesystem.mkfs_program),
            expected_s=1.0,
        )
        await self._wipe()
        begun = functools.partial(self._emitter.command_begins, as_root=self._disk.as_root)
        took_s = 0.0
        for finished in await self._disk.make(candidate, begun):
            self._emitter.command_ended(finished, as_root=self._disk.as_root)
            require_unkilled(finished)
            if finished.exit_code:
                raise CandidateFailed(
                    "mkfs",
                    _("{program} could not make {candidate}.", program=finished.argv[0], candidate=candidate.name),
                    finished.output,
                )
            took_s += finished.wall_s
        self._emitter.sample(MKFS_TIME, took_s)

    async def _check(self, candidate: Candidate, context: ImageContext) -> None:
        self._emitter.begin("check", _("writing back, unmounting and looking for errors"), expected_s=0.4)
        await context.sync()
        errors = await context.errors()
        unmounted = await context.umount()
        self._emitter.command_ended(unmounted, as_root=self._disk.as_root)
        self._emitter.sample(UNPLUG_TIME, context.synced_s + unmounted.wall_s)
        if errors:
            text = ", ".join(f"{name} {count}" for name, count in errors.items())
            raise CandidateFailed(
                "health", _("{candidate} counted errors of its own: {text}.", candidate=candidate.name, text=text)
            )


async def _images(plan: Plan, emitter: Emitter, disks: Disks) -> list[Disk]:
    """Images of which nothing is left when nobody uses them any more."""
    made = []
    for member in plan.target.members:
        emitter.begin("fill", _(scratch_file.FILLING), expected_s=scratch_file.expected_s(plan))
        disk = await disks.image(member.path, member.size_bytes, scratch_file.Filling(member.size_bytes, emitter))
        made.append(disk)
        words = commands.attach(f"/dev/{disk.names[0]}", commands.IMAGE)
        emitter.command_ended(Finished(words, 0, b"", b"", 0.0), as_root=disk.as_root)
        if not disk.direct_io:
            raise RunFailed(
                _(
                    "The filesystem under the image ({filesystem}) refuses direct I/O, so the image would be "
                    "cached in memory and the figures too good.",
                    filesystem=member.host_filesystem,
                ),
                _("Choose a directory on another filesystem with --target image:SIZE@DIRECTORY."),
            )
    return made


async def _look_first(look: Look, plan: Plan, emitter: Emitter, disks: Disks, scratch: str) -> None:
    small = replace(plan, target=replace(plan.target, size_bytes=FIRST_LOOK_BYTES))
    (disk,) = await _images(small, emitter, disks)
    await look(PreparedImage(small, emitter, disks, disk, scratch))
    with contextlib.suppress(DiskFailed, Refused):  # of one whose driver does not let it go
        await disk.detach()


@asynccontextmanager
async def open_images(
    plan: Plan, emitter: Emitter, journal: Journal, look: Look | None = None
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
        scratch = journal.make_directory(Path(plan.target.path)) / "scratch"
        scratch.mkdir(mode=0o700)
        if look:
            await _look_first(look, plan, emitter, disks, str(scratch))
        disk = await disks.joined(await _images(plan, emitter, disks), plan.candidates)
        if any(candidate.outlives_a_run for candidate in plan.candidates):
            journal.note_pool(disk.pool)
        prepared = PreparedImage(plan, emitter, disks, disk, str(scratch))
        try:
            await prepared.age()
            yield prepared
        finally:
            emitter.begin("clean", _("unmounting, and removing the scratch image"), expected_s=0.5)
