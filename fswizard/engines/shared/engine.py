"""An engine: programs that are timed with empty caches until their work is on the disk, and files that they need."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from fswizard.engines.shared.candidate import fill, filling, making, remove
from fswizard.engines.shared.context import BareDevice, WorkloadContext
from fswizard.engines.shared.programs import Done, Work, carry_out, syncing
from fswizard.language import _
from fswizard.model.keys import Keys
from fswizard.model.metrics import BYTES_WRITTEN, PREALLOCATION_TIME, SHARE_DONE, WORST_STALL
from fswizard.model.recipe import Cost, Job, PlannedCommand
from fswizard.progress.workload_events import Measured, Progress, Tell, WorkloadEvent

if TYPE_CHECKING:
    from typing_extensions import Self


@dataclass(frozen=True, slots=True)
class Files:
    """Files at a path, which jobs can share, and the programs that make them."""

    path: str
    size_bytes: int
    """Space that they take."""
    works: tuple[Work, ...]
    anew: bool = False
    """Whether they are made again even if they exist."""


@dataclass(frozen=True, slots=True)
class Timed:
    """A workload of programs that run in turn."""

    works: tuple[Work, ...]
    """Programs that are timed, together with the `sync` that follows them."""
    needs: tuple[Files, ...] = ()
    """What is made before anything is timed, unless it exists."""
    warm_up: Work | None = None
    """Program that runs each time before the candidate's caches are emptied."""
    makes: Files | None = None
    """What `works` make; in the scratch directory it is removed afterwards."""
    deletes: str = ""
    """Path that `works` delete."""
    reads: bool = True
    """It works on what is on the candidate, which must not be in memory."""
    syncs: bool = True
    """The sync is timed, too; False for a program that syncs itself."""

    def measured(self, directory: str) -> tuple[Work, ...]:
        return (*self.works, syncing(directory)) if self.syncs else self.works


class Engine(Job):
    """A job that can be read from a recipe, whose keys are its fields (`fswizard.model.keys`), and carried out."""

    __slots__ = ()

    def checked(self, keys: Keys) -> Self:
        """The same job, complete. Raises an error of `keys` if they contradict each other; `keys.outer` is the
        recipe."""
        return self

    def timed(self, directory: str, scratch: str, seed: str) -> Timed:
        """The work on the candidate at `directory`. The same seed gives the same accesses; generated files are always
        the same."""
        raise NotImplementedError

    def bring(self, scratch: str, seed: int) -> None:
        """Put files that the programs need into `scratch`."""

    def figures(self, done: Sequence[Done]) -> Iterable[Measured]:
        """The figures of the timed programs, the `sync` included."""
        raise NotImplementedError

    async def run_bare(
        self, device: BareDevice, emit: Tell, *, seed: int, seconds: float, bytes_per_s: float
    ) -> None:  # fmt: skip
        """Do the same on a device without a filesystem, for `seconds` in all, if the job `runs_bare`.

        A buffered sample writes no more than `bytes_per_s`, the rate of candidates, as all goes to the disk in the end.
        """
        raise NotImplementedError

    @property
    def _planned(self) -> Timed:
        return self.timed("MOUNT", "SCRATCH", "SEED")

    @property
    def cost(self) -> Cost:
        planned = self._planned
        before = [(files.anew, work) for files in planned.needs for work in files.works]
        return Cost(
            prepare_s=sum(work.seconds for _, work in before),
            measure_s=sum(work.seconds for work in planned.works),
            prepare_bytes=sum(work.written_bytes for _, work in before),
            measure_bytes=sum(work.written_bytes for work in planned.works),
            always_s=sum(work.seconds for anew, work in before if anew),
            always_bytes=sum(work.written_bytes for anew, work in before if anew),
        )

    @property
    def limit_s(self) -> float:
        """Time limit of each program, far beyond the worst stall of a shingled disk, which takes more than a minute."""
        return 180.0 + 40 * (self.cost.measure_s + self.cost.prepare_s)

    @property
    def _files(self) -> Iterator[Files]:
        planned = self._planned
        yield from planned.needs
        if planned.makes:
            yield planned.makes

    @property
    def leaves(self) -> Iterable[tuple[object, int]]:
        return [(files.path, files.size_bytes) for files in self._files if files.path.startswith("MOUNT/")]

    @property
    def brings(self) -> Iterable[tuple[object, int]]:
        return [(files.path, files.size_bytes) for files in self._files if files.path.startswith("SCRATCH/")]

    @property
    def works_on(self) -> object:
        return next((path for path, _ in self.leaves), self)

    def commands(self) -> tuple[PlannedCommand, ...]:
        """The programs that will run, in order, with the placeholders `MOUNT`, `SCRATCH` and `SEED`."""
        planned = self._planned
        works = []
        for files in planned.needs:
            for work in files.works:
                there = _("{what}, if it isn't there yet", what=work.text)
                works.append(work if files.anew else replace(work, text=there))
        if self.fill_percent:
            works.append(filling("MOUNT", "SCRATCH", self.fill_percent))
        if planned.warm_up is not None:
            works.append(planned.warm_up)
        return tuple(PlannedCommand(work.argv, text=work.text) for work in (*works, *planned.measured("MOUNT")))

    async def run(self, context: WorkloadContext, emit: Tell, *, seed: int, cut_s: float = 0.0) -> None:
        """Carry out the job, and emit `Doing` and `Progress` meanwhile and `Measured` for each figure.

        A job with `units` is ended after `cut_s`, unless that is 0: then its figures are those of the whole at its rate
        until then. Raises WorkloadFailed if the candidate cannot do the work, and WorkloadDisturbed if somebody killed
        or stopped a program. Cancelling kills the programs.
        """
        self.bring(context.scratch, seed)
        timed = self.timed(context.directory, context.scratch, str(seed % (1 << 31)))
        cost, limit_s = self.cost, self.limit_s

        async def step(work: Work, start: float, share: float = 0.0, **how: Any) -> Done:
            return await carry_out(work, context, _part(emit, start, share), limit_s=limit_s, **how)

        missing = [files for files in timed.needs if files.anew or files.path not in context.laid_out]
        prepare_share = cost.prepare_share if missing else 0.0
        step_share = prepare_share / max(1, sum(len(files.works) for files in missing))
        made = list[Done]()
        for files in missing:
            async with making(context, files.path):
                for work in files.works:
                    made.append(await step(work, len(made) * step_share, step_share))
        if timed.warm_up is not None:
            await step(timed.warm_up, prepare_share)
        async with making(context, timed.makes.path if timed.makes else ""):
            if self.fill_percent:
                await fill(context, self.fill_percent, _part(emit, prepare_share, 0.0))
            if timed.reads:
                await context.remount()
            elif made or self.fill_percent:  # or writing that back would count
                await step(syncing(context.directory), prepare_share)
            context.laid_out.discard(timed.deletes)
            done = []
            for work in timed.measured(context.directory):
                limited = not (work.is_sync or self.direct)
                how = {"measured": True, "limited": limited, "cut_s": cut_s}
                done.append(await step(work, prepare_share, 1 - prepare_share, **how))
            share = min(each.share for each in done)
            for figure in self.figures([_of_the_whole(each, share) for each in done]):
                emit(replace(figure, value=share * figure.value) if figure.metric == BYTES_WRITTEN else figure)
        if PREALLOCATION_TIME in self.metrics:
            emit(Measured(PREALLOCATION_TIME, duration_s(made)))
        if WORST_STALL in self.metrics:
            emit(Measured(WORST_STALL, max(each.worst_stall_s for each in done)))
        if share < 1:
            emit(Measured(SHARE_DONE, share))
        if timed.makes and (share < 1 or timed.makes.path.startswith(f"{context.scratch}/")):
            await remove(context, timed.makes.path)


def _of_the_whole(done: Done, share: float) -> Done:
    """What a program would have taken that was ended when it had done a share of its work."""
    finished = done.finished
    return done._replace(finished=replace(finished, wall_s=finished.wall_s / share, cpu_s=finished.cpu_s / share))


def duration_s(done: Iterable[Done]) -> float:
    return sum(each.finished.wall_s for each in done)


def cpu_s(done: Iterable[Done]) -> float:
    return sum(each.finished.cpu_s for each in done)


def _part(emit: Tell, start: float, share: float) -> Tell:
    """An emitter for a part that begins at `start` and is `share` of the whole."""

    def emit_part(event: WorkloadEvent) -> None:
        if isinstance(event, Progress) and event.fraction is not None:
            event = replace(event, fraction=start + share * event.fraction)
        emit(event)

    return emit_part
