"""The scratch image: a file that stands for a disk, on a filesystem that the user can write."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

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
from fswizard.language import _
from fswizard.model.estimates import ageing_s, free_when_aged_bytes
from fswizard.model.filesystem import Candidate
from fswizard.model.metrics import MKFS_TIME, UNPLUG_TIME
from fswizard.model.plan import FIRST_LOOK_BYTES, Plan
from fswizard.model.text import safe
from fswizard.privileged import commands
from fswizard.progress.emitter import Emitter
from fswizard.progress.workload_events import Progress, Ran, WorkloadEvent
from fswizard.system import clock, host, timeouts
from fswizard.system.process import Finished, Process
from fswizard.targets import privilege, scratch_file
from fswizard.targets.channel import HelperFailed
from fswizard.targets.helper import Attached, Helper
from fswizard.targets.journal import Journal
from fswizard.targets.prepared import CandidateFailed, PreparedTarget, require_no_errors

Look = Callable[[PreparedTarget], Awaitable[None]]
BUSY_ATTEMPTS = 4
BUSY_PAUSE_S = 0.5
NO_SPACE = "space allocation error"
"""In the kernel's log: blocks that a filesystem discarded could not be had again (block/blk-core.c)."""


class ImageContext:
    """A candidate, mounted from the image inside the helper's namespaces."""

    def __init__(
        self, helper: Helper, attached: Attached, candidate: Candidate, scratch: str, laid_out: set[str],
        *, memory_limit_bytes: int,
    ) -> None:  # fmt: skip
        self._helper = helper
        self._memory_limit_bytes = memory_limit_bytes
        self._attached = attached
        self.candidate = candidate
        self.directory = attached.directory
        self.scratch = scratch
        self.devices = attached.names
        self.laid_out = laid_out
        self.mounted = False
        self.synced_s = 0.0
        """What writing back took after each workload so far."""

    async def start(
        self, argv: Sequence[str], *, cwd: str | None = None, env: Mapping[str, str] | None = None,
        limited: bool = False,
    ) -> Process:  # fmt: skip
        environment, limit = {"TMPDIR": self.scratch, **(env or {})}, self._memory_limit_bytes if limited else 0
        return await self._helper.run(argv, cwd=cwd or self.directory, env=environment, memory_bytes=limit)

    async def remount(self) -> None:
        await self.umount()
        await self.mount()

    async def used_bytes(self) -> int | None:
        """The helper says so after its sync, as the host does not see the mount; btrfs counts only what was synced."""
        return int((await self.sync()).stdout)

    async def sync(self) -> Finished:
        """CandidateFailed where that, or an earlier write-back, failed: the kernel reports it once."""
        with self._blamed_for_health():
            finished = await self._helper.sync(self._attached.handle)
        self.synced_s += finished.wall_s
        return finished

    async def errors(self) -> dict[str, int]:
        """What the candidate and the kernel have counted against it."""
        with self._blamed_for_health():
            return await self._helper.health(self._attached.handle, self.candidate.filesystem.error_counters)

    @contextlib.contextmanager
    def _blamed_for_health(self) -> Iterator[None]:
        try:
            yield
        except HelperFailed as error:
            text = _("{candidate} could not write everything back.", candidate=self.candidate.name)
            raise CandidateFailed("health", text, str(error)) from error

    async def mount(self) -> Finished:
        candidate = self.candidate
        kind, options = candidate.filesystem.mount_type, list(candidate.scratch_mount_options)
        finished = await self._helper.order("mount", self._attached.handle, filesystem=kind, options=options)
        require_unkilled(finished)
        if finished.exit_code:
            raise CandidateFailed(
                "mount", _("{candidate} could not be mounted.", candidate=candidate.name), finished.output
            )
        self.mounted = True
        return finished

    async def umount(self) -> Finished:
        """RunFailed where something else uses it, as no candidate is to blame for that.

        To its end: whoever stops or skips meanwhile would find it unmounted, and fail to unmount it again.
        """
        return await timeouts.to_the_end(self._umount())

    async def _umount(self) -> Finished:
        finished, attempts = await self._helper.umount(self._attached.handle), 0
        while (busy := finished.exit_code and "busy" in finished.output) and attempts < BUSY_ATTEMPTS:
            await clock.pause(BUSY_PAUSE_S)
            finished, attempts = await self._helper.umount(self._attached.handle), attempts + 1
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
    """The device that candidates are made on, or the first of them, without one; root's fio alone touches it."""

    def __init__(self, helper: Helper, attached: Attached) -> None:
        self._helper = helper
        self._handle = attached.handle
        self.devices = attached.names[:1]

    async def start(self, sample: BareSample) -> Process:
        return await self._helper.bare(self._handle, sample)


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

    def __init__(self, plan: Plan, emitter: Emitter, helper: Helper, attached: Attached, scratch: str) -> None:
        self._plan = plan
        self._emitter = emitter
        self._helper = helper
        self._attached = attached
        self._scratch = scratch
        self._laid_out: set[str] = set()
        self._context: ImageContext | None = None
        """The last candidate's."""
        self._kept: dict[str, Attached] = {}
        """An image for each aged candidate, which holds it as it was before anything was measured on it."""
        self._not_aged: dict[str, CandidateFailed] = {}
        self.devices = attached.names
        self.limits_memory = helper.limits_memory
        self.touched = False
        """What lay on the devices is gone; until then the end of the run leaves them alone."""

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
            self._emitter.command_ended(await self._helper.copy(kept.handle, self._attached.handle), as_root=True)
        else:
            await self._make(candidate)
        forget_cell(self._laid_out, self._scratch)
        context = self._context = ImageContext(
            self._helper,
            self._attached,
            candidate,
            self._scratch,
            self._laid_out,
            memory_limit_bytes=self._plan.memory_limit_bytes,
        )
        self._emitter.begin("mount", _("mounting {candidate}", candidate=candidate.name), expected_s=0.1)
        self._emitter.command_ended(await context.mount(), as_root=True)
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
        except (HelperFailed, CandidateFailed) as error:
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
        handle = self._attached.handle
        try:
            same = await self._helper.inspect(handle, reading=False)
        except HelperFailed as error:
            raise _changed(str(error)) from error
        if same.exit_code:
            raise _changed(same.output)
        reported = await self._helper.disk_errors(handle)
        if any(NO_SPACE in line for line in reported):
            raise _full(self._plan.target.path)
        require_no_errors(reported)
        if reading:
            read = await self._helper.inspect(handle, reading=True)
            if read.exit_code:
                require_no_errors([read.output, *await self._helper.disk_errors(handle)])
            await scratch_file.write_beside(self._scratch)

    async def bare(self) -> Bare:
        """The first of several devices: what an array reaches is compared with one of its disks."""
        await self._wipe()
        return Bare(self._helper, self._attached)

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
            (kept,) = await _images(self._plan, self._emitter, self._helper)
            self._emitter.begin("fill", _("keeping the aged {candidate}", candidate=candidate.as_new))
            self._emitter.command_ended(await self._helper.copy(self._attached.handle, kept.handle), as_root=True)
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
        self._emitter.command_ended(await self._helper.wipe(self._attached.handle), as_root=True)

    async def _make(self, candidate: Candidate) -> None:
        self._emitter.begin(
            "format",
            _("formatting with {program}", program=candidate.filesystem.mkfs_program),
            expected_s=1.0,
        )
        await self._wipe()
        begun = functools.partial(self._emitter.command_begins, as_root=True)
        took_s = 0.0
        for order in candidate.orders(scratch=True):
            finished = await self._helper.order(order.verb, self._attached.handle, begun=begun, **order.fields)
            self._emitter.command_ended(finished, as_root=True)
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
        self._emitter.command_ended(unmounted, as_root=True)
        self._emitter.sample(UNPLUG_TIME, context.synced_s + unmounted.wall_s)
        if errors:
            text = ", ".join(f"{name} {count}" for name, count in errors.items())
            log = "\n".join(self._helper.kernel_log)
            raise CandidateFailed(
                "health", _("{candidate} counted errors of its own: {text}.", candidate=candidate.name, text=text), log
            )


async def _images(plan: Plan, emitter: Emitter, helper: Helper) -> list[Attached]:
    """Images that the helper makes: nobody else ever has them open, and nothing is left of them."""
    parts = []
    for member in plan.target.members:
        emitter.begin("fill", _(scratch_file.FILLING), expected_s=scratch_file.expected_s(plan))
        watch = functools.partial(scratch_file.watch, member.size_bytes, emitter)
        try:
            part = await helper.attach(member.path, member.size_bytes, watch)
        except (HelperFailed, Refused) as error:
            raise RunFailed(
                _(
                    "No scratch image can be made in {directory}: {reason}",
                    directory=safe(member.path),
                    reason=error.message,
                ),
                _("Choose a directory on a disk of this machine with --target image:SIZE@DIRECTORY."),
                error.details,
            ) from error
        except OSError as error:
            text = _(
                "No scratch image can be made in {directory}: {reason}.",
                directory=safe(member.path),
                reason=error.strerror,
            )
            raise RunFailed(text, _("Was its disk unplugged?")) from error
        parts.append(part)
        emitter.command_ended(Finished(commands.attach(part.path, commands.IMAGE), 0, b"", b"", 0.0), as_root=True)
        if not part.direct_io:
            raise RunFailed(
                _(
                    "The filesystem under the image ({filesystem}) refuses direct I/O, so the image would be "
                    "cached in memory and the figures too good.",
                    filesystem=member.host_filesystem,
                ),
                _("Choose a directory on another filesystem with --target image:SIZE@DIRECTORY."),
            )
    return parts


async def _look_first(look: Look, plan: Plan, emitter: Emitter, helper: Helper, scratch: str) -> None:
    small = replace(plan, target=replace(plan.target, size_bytes=FIRST_LOOK_BYTES))
    (attached,) = await _images(small, emitter, helper)
    await look(PreparedImage(small, emitter, helper, attached, scratch))
    with contextlib.suppress(HelperFailed, Refused):  # of one whose driver does not let it go
        await helper.detach(attached.handle)


@asynccontextmanager
async def open_images(
    plan: Plan, emitter: Emitter, journal: Journal, look: Look | None = None
) -> AsyncIterator[PreparedImage]:
    """Have the helper make the images; leaving takes everything away. `look` gets a small one before they are written.

    The helper starts first, so that a missing right or a password comes up before anything takes time.
    """
    emitter.begin("prepare", privilege.starting())
    async with Helper.start() as helper:
        scratch = journal.make_directory(Path(plan.target.path)) / "scratch"
        scratch.mkdir(mode=0o700)
        if look:
            await _look_first(look, plan, emitter, helper, str(scratch))
        attached = await helper.joined(await _images(plan, emitter, helper), plan.candidates)
        if any(candidate.outlives_a_run for candidate in plan.candidates):
            journal.note_pool(attached.pool)
        prepared = PreparedImage(plan, emitter, helper, attached, str(scratch))
        try:
            await prepared.age()
            yield prepared
        finally:
            emitter.begin("clean", _("unmounting, and removing the scratch image"), expected_s=0.5)
