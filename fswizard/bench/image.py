"""The scratch image: a file that stands for a disk, on a filesystem that the user can write."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from fswizard.bench import scratch_file
from fswizard.bench.channel import HelperFailed
from fswizard.bench.helper import Attached, Helper
from fswizard.bench.journal import Journal
from fswizard.bench.narrator import Narrator
from fswizard.bench.site import Site, forget_cell
from fswizard.bench.venue import CandidateFailed
from fswizard.errors import FswizardError, RunFailed
from fswizard.model.filesystem import Candidate
from fswizard.model.layout import ARRAY, MD
from fswizard.model.plan import Plan
from fswizard.model.recipe import Metric
from fswizard.model.result import Doubt
from fswizard.model.text import safe
from fswizard.system import clock, commands, host
from fswizard.system.process import Finished, Process

MKFS_TIME = Metric("mkfs_time", "s", "lower")
BUSY_ATTEMPTS = 4
BUSY_PAUSE_S = 0.5


@dataclass(frozen=True, slots=True)
class Layout:
    """What stands in the run's private directories."""

    images: tuple[str, ...]
    """One for each member of the target; none where devices are measured."""
    mount: str
    scratch: str


class ImageSite:
    """A candidate, mounted from the image inside the helper's namespaces."""

    def __init__(
        self, helper: Helper, attached: Attached, candidate: Candidate, layout: Layout, laid_out: set[str]
    ) -> None:
        self._helper = helper
        self._attached = attached
        self._candidate = candidate
        self.directory = layout.mount
        self.scratch = layout.scratch
        self.devices = attached.names
        self.laid_out = laid_out
        self.mounted = False

    @property
    def candidate(self) -> Candidate:
        return self._candidate

    async def start(
        self, argv: Sequence[str], *, cwd: str | None = None, env: Mapping[str, str] | None = None
    ) -> Process:
        if self._candidate.filesystem.pool and tuple(argv) == ("sync", "--file-system", self.directory):
            return await self._helper.start_sync(self._attached.handle)  # zfs-fuse hears of no other
        return await self._helper.run(argv, cwd=cwd or self.directory, env={"TMPDIR": self.scratch, **(env or {})})

    async def remount(self) -> None:
        await self.umount()
        await self.mount()

    async def used_bytes(self) -> int | None:
        """The helper tells it after its sync, as the host does not see the mount; btrfs counts only what was synced."""
        return int((await self.sync()).stdout)

    async def sync(self) -> Finished:
        """CandidateFailed where that, or an earlier write-back, failed: the kernel tells it once."""
        with self._blamed_for_health():
            return await self._helper.sync(self._attached.handle)

    async def errors(self) -> dict[str, int]:
        """What the candidate and the kernel have counted against it."""
        with self._blamed_for_health():
            return await self._helper.health(self._attached.handle, self._candidate.filesystem.error_counters)

    @contextlib.contextmanager
    def _blamed_for_health(self) -> Iterator[None]:
        try:
            yield
        except HelperFailed as error:
            text = f"{self._candidate.name} could not write everything back."
            raise CandidateFailed("health", text, str(error)) from error

    async def mount(self) -> Finished:
        candidate = self._candidate
        options = () if candidate.filesystem.pool else candidate.mount_options  # those of a pool lie on it already
        finished = await self._helper.mount(
            self._attached.handle, candidate.filesystem.mount_type, options, self.directory
        )
        if finished.exit_code:
            raise CandidateFailed("mount", f"{candidate.name} could not be mounted.", finished.output)
        self.mounted = True
        return finished

    async def umount(self) -> Finished:
        """RunFailed where something else uses it, as no candidate is to blame for that."""
        finished = await self._helper.umount(self._attached.handle)
        for _ in range(BUSY_ATTEMPTS):
            if finished.exit_code and "busy" in finished.output:
                await clock.pause(BUSY_PAUSE_S)
                finished = await self._helper.umount(self._attached.handle)
        if finished.exit_code and "busy" in finished.output:
            raise RunFailed(
                f"{self._candidate.name} cannot be unmounted: another program uses it.",
                "Something looked into this run's own mounts; end it and run again.",
                finished.output,
            )
        if finished.exit_code:
            raise CandidateFailed("umount", f"{self._candidate.name} could not be unmounted.", finished.output)
        self.mounted = False
        return finished


class BareSite:
    """The image file itself, as the nearest thing to the bare device that the user may write."""

    def __init__(self, layout: Layout) -> None:
        self.directory = str(Path(layout.images[0]).parent)
        self.scratch = layout.scratch
        self.devices = ()
        self.laid_out: set[str] = set()

    async def start(
        self, argv: Sequence[str], *, cwd: str | None = None, env: Mapping[str, str] | None = None
    ) -> Process:
        return await commands.start(argv, cwd=cwd or self.directory, env={"TMPDIR": self.scratch, **(env or {})})

    async def remount(self) -> None:
        return

    async def used_bytes(self) -> None:
        return None


class ImageVenue:
    """Candidates made one after the other on the same image, or on the same several."""

    def __init__(self, plan: Plan, narrator: Narrator, helper: Helper, attached: Attached, layout: Layout) -> None:
        self._plan = plan
        self._narrator = narrator
        self._helper = helper
        self._attached = attached
        self._layout = layout
        self._laid_out: set[str] = set()
        self._site: ImageSite | None = None
        """The last candidate's."""
        self.devices = attached.names

    @asynccontextmanager
    async def open(self, candidate: Candidate) -> AsyncIterator[Site]:
        await self._clear(candidate)
        await self._make(candidate)
        forget_cell(self._laid_out, self._layout.scratch)
        site = self._site = ImageSite(self._helper, self._attached, candidate, self._layout, self._laid_out)
        self._narrator.begin("mount", f"mounting {candidate.name}", expected_s=0.1)
        self._narrator.command_ended(await site.mount(), as_root=True)
        try:
            yield site
            await self._check(candidate, site)
        except BaseException:
            if site.mounted:
                with contextlib.suppress(FswizardError, CandidateFailed):
                    await site.umount()
            raise

    async def _clear(self, candidate: Candidate) -> None:
        """Have nothing mounted of the candidate before, whose driver may have locked up.

        CandidateFailed where it is the same one, and RunFailed where it stands in the way of another.
        """
        if self._site is None or not self._site.mounted:
            return
        before = self._site.candidate
        try:
            await self._site.umount()
        except (HelperFailed, CandidateFailed) as error:
            text = f"{before.name} could not be unmounted: its driver does not let go of it."
            if before == candidate:
                raise CandidateFailed("umount", text, error.details) from error
            raise RunFailed(
                f"{text} No other candidate can be made in its place.",
                "What was measured is kept, and nothing stays mounted once the run has ended. Go on without it: "
                "`fswizard run --resume FILE`, or a new run with other --candidates.",
                error.details,
            ) from error

    def bare(self) -> AbstractAsyncContextManager[Site] | None:
        """None for several images: one alone is no limit of what is spread over all."""
        return contextlib.nullcontext(BareSite(self._layout)) if len(self._layout.images) == 1 else None

    async def check_device(self, *, reading: bool) -> None:
        for image, member in zip(self._layout.images, self._plan.target.members):
            await self._check_image(Path(image), member.size_bytes, reading=reading)
        if reading:
            await scratch_file.write_beside(self._layout.scratch)

    async def _check_image(self, image: Path, size_bytes: int, *, reading: bool) -> None:
        try:
            whole = image.stat().st_size == size_bytes
        except OSError as error:
            raise RunFailed(
                f"The scratch image cannot be read: {error.strerror}.", "Was its disk unplugged?"
            ) from error
        if not whole:
            raise RunFailed("Something changed the size of the scratch image.", "Nothing else may write to it.")
        if host.this.room(image).free_bytes == 0:
            raise RunFailed(
                f"The filesystem under the image ({image.parent.parent}) is full.", "Make room there and run again."
            )
        if reading:
            await scratch_file.read_whole(str(image))

    async def _make(self, candidate: Candidate) -> None:
        await self._prepare_blocks()
        program = candidate.filesystem.mkfs_program
        self._narrator.begin("format", f"formatting with {program}", expected_s=1.0)
        await self._helper.wipe(self._attached.handle)
        told = candidate.making_commands(*self._attached.paths, scratch=True)
        took_s = 0.0
        for words, order in zip(told, self._orders(candidate)):
            argv = tuple(word.replace(ARRAY, self._attached.array) for word in words)
            self._narrator.command_begins(argv, as_root=True)
            finished = await order()
            self._narrator.command_ended(replace(finished, argv=argv), as_root=True)
            if finished.exit_code:
                raise CandidateFailed("mkfs", f"{argv[0]} could not make {candidate.name}.", finished.output)
            took_s += finished.wall_s
        self._narrator.sample(MKFS_TIME, took_s)

    def _orders(self, candidate: Candidate) -> Iterator[Callable[[], Awaitable[Finished]]]:
        """What the helper is told, in the order of the commands; taking a device away goes with building."""
        handle, array = self._attached.handle, candidate.array
        name, arguments = candidate.filesystem.name, candidate.mkfs_arguments(scratch=True)
        if array is not None and array.layout.maker != MD:
            yield functools.partial(self._helper.build, handle, name, arguments, array)
            return
        if array is not None:
            yield functools.partial(self._helper.array, handle, array)
        yield functools.partial(self._helper.mkfs, handle, name, arguments)

    async def _prepare_blocks(self) -> None:
        """A filesystem that discarded blocks has made holes: later writes would have to fill them."""
        for image in self._layout.images:
            if scratch_file.is_sparse(image):
                await scratch_file.fill(image, self._plan, self._narrator)

    async def _check(self, candidate: Candidate, site: ImageSite) -> None:
        self._narrator.begin("check", "writing back, unmounting and looking for errors", expected_s=0.4)
        await site.sync()
        errors = await site.errors()
        await site.umount()
        if errors:
            await self.check_device(reading=True)
            text = ", ".join(f"{name} {count}" for name, count in errors.items())
            raise CandidateFailed("health", f"{candidate.name} counted errors of its own: {text}.")


@asynccontextmanager
async def open_image(plan: Plan, narrator: Narrator, journal: Journal) -> AsyncIterator[ImageVenue]:
    """Make, fill and attach the image, or several; leaving takes everything away."""
    members = plan.target.members
    homes = {member.path: journal.make_directory(Path(member.path)) for member in members}
    directory = homes[plan.target.path]
    images = tuple(str(homes[member.path] / _image_name(number)) for number, member in enumerate(members, 1))
    layout = Layout(images, str(directory / "mount"), str(directory / "scratch"))
    for made in (layout.mount, layout.scratch):
        Path(made).mkdir(mode=0o700)
    for image, member in zip(images, members):
        narrator.begin("prepare", f"reserving room for the scratch image in {safe(member.path)}")
        await scratch_file.reserve(image, member.size_bytes, member.host_filesystem, narrator)
        await scratch_file.fill(image, plan, narrator)
    narrator.begin("prepare", "starting the privileged helper")
    async with Helper.start() as helper:
        parts = [await helper.attach(image) for image in images]
        attached = await helper.joined(parts)
        if any(candidate.outlives_a_run for candidate in plan.candidates):
            journal.note_pool(attached.pool)
        for part, image in zip(parts, images):
            loop = ("losetup", "--direct-io=on", part.path, image)
            narrator.command_ended(Finished(loop, 0, b"", b"", 0.0), as_root=True)
        if not attached.direct_io:
            narrator.doubt(
                Doubt(
                    "image-cached",
                    f"The filesystem under the image ({plan.target.host_filesystem}) refuses direct I/O, so the image "
                    "is cached in memory and the figures are too good. Choose a directory on another filesystem.",
                )
            )
        try:
            yield ImageVenue(plan, narrator, helper, attached, layout)
        finally:
            narrator.begin("clean", "unmounting, and removing the scratch image", expected_s=0.5)


def _image_name(number: int) -> str:
    return "image" if number == 1 else f"image-{number}"
