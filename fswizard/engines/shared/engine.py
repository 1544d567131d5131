"""Base class of engines: programs timed with empty caches until their work is on the disk, and their input files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial

from fswizard.engines.shared.context import BareDevice, WorkloadContext
from fswizard.engines.shared.programs import Done, Work, carry_out, last_line, succeed, syncing, worker
from fswizard.language import _
from fswizard.model.frozen import frozen
from fswizard.model.metrics import BYTES_WRITTEN, CPU, PREALLOCATION_TIME, SHARE_DONE, WORST_STALL
from fswizard.model.recipe import Cost, Job, PlannedCommand
from fswizard.progress.workload_events import Emit, Measured

FILLING_LIMIT_S = 86_400.0
"""A large disk takes most of a day."""


@frozen
class Files:
    """Files at a path, which jobs can share, and the programs that create them."""

    path: str
    size_bytes: int
    """Space that they take."""
    works: tuple[Work, ...] = ()
    recreate: bool = False
    """Create them again even if they exist."""


@frozen
class Timed:
    """A workload of programs that run in turn."""

    works: tuple[Work, ...]
    """Programs that are timed, together with the final `sync`."""
    needs: tuple[Files, ...] = ()
    """Files to create before anything is timed, unless they exist."""
    warm_up: Work | None = None
    """Program that runs each time before the candidate's caches are emptied."""
    makes: Files | None = None
    """Files created by `works`; in the scratch directory they are removed afterwards."""
    deletes: str = ""
    """Path deleted by `works`."""
    reads: bool = True
    """It uses existing files on the candidate, which must not be cached."""


class Engine(Job):
    """A job that can be run, and read from a recipe with its fields as keys (`fswizard.model.keys`)."""

    __slots__ = ()

    def timed(self, directory: str, scratch: str, seed: str) -> Timed:
        """The work on the candidate at `directory`. The same seed gives the same accesses; generated files are always
        the same."""
        raise NotImplementedError

    def write_inputs(self, scratch: str, seed: int) -> None:
        """Write input files of the programs into `scratch`."""

    def figures(self, done: Sequence[Done]) -> Iterable[Measured]:
        """The figures of the timed programs, the final `sync` included."""
        raise NotImplementedError

    async def run_bare(
        self, device: BareDevice, emit: Emit, *, seed: int, seconds: float, bytes_per_s: float
    ) -> None:  # fmt: skip
        """Run the job on a device without a filesystem, for `seconds` in all, if the job `runs_bare`."""
        raise NotImplementedError

    @property
    def planned(self) -> Timed:
        """The work with the placeholders `MOUNT`, `SCRATCH` and `SEED`."""
        return self.timed("MOUNT", "SCRATCH", "SEED")

    @property
    def cost(self) -> Cost:
        timed, before = self.planned, list[Work]()
        for files in timed.needs:
            if files.path.startswith("MOUNT/"):  # those in the scratch directory are created once for all rounds
                before += files.works
        return Cost(
            prepare_s=sum(work.seconds for work in before),
            measure_s=sum(work.seconds for work in timed.works),
            prepare_bytes=sum(work.written_bytes for work in before),
            measure_bytes=sum(work.written_bytes for work in timed.works),
        )

    @property
    def leaves(self) -> list[tuple[str, int]]:
        timed = self.planned
        return [(files.path, files.size_bytes) for files in (*timed.needs, timed.makes) if files]

    def commands(self) -> tuple[PlannedCommand, ...]:
        """The programs that will run, in order, with placeholders."""
        timed = self.planned
        works = [work for files in timed.needs for work in files.works]
        if any(files.path.startswith("SCRATCH/") for files in timed.needs):
            works.append(syncing("SCRATCH"))
        if self.fill_percent:
            works.append(filling("MOUNT", "SCRATCH", self.fill_percent))
        if timed.warm_up:
            works.append(timed.warm_up)
        return tuple(work.planned for work in (*works, *timed.works, syncing("MOUNT")))

    async def run(self, context: WorkloadContext, emit: Emit, *, seed: int, cut_s: float = 0.0) -> None:
        """Run the job, and emit `Doing` and `Progress` during the run and `Measured` for each figure.

        A job with `units` is stopped after `cut_s`, unless that is 0; its figures are then extrapolated to the whole
        work. Raises WorkloadFailed if the candidate cannot do the work, and WorkloadDisturbed if someone killed or
        stopped a program. Cancelling kills the programs.
        """
        self.write_inputs(context.scratch, seed)
        timed = self.timed(context.directory, context.scratch, str(seed % (1 << 31)))
        makes = timed.makes.path if timed.makes else ""
        # Far beyond the worst stall of a shingled disk, which takes more than a minute.
        limit_s = 180.0 + 40 * (self.cost.measure_s + self.cost.prepare_s)
        step = partial(carry_out, context=context, emit=emit, limit_s=limit_s)
        made, done = list[Done](), list[Done]()
        missing = [files for files in timed.needs if files.recreate or files.path not in context.laid_out]
        for files in missing:
            await clear(context, files.path)
            made += [await step(work) for work in files.works]
            context.laid_out.add(files.path)
        if any(files.path.startswith(f"{context.scratch}/") for files in missing):
            await step(syncing(context.scratch))  # so that its disk has no pending writes later
        if makes:
            await clear(context, makes)
        if self.fill_percent:
            await step(filling(context.directory, context.scratch, self.fill_percent), limit_s=FILLING_LIMIT_S)
        if timed.warm_up:
            await step(timed.warm_up)
        if timed.reads:
            await context.remount()
        elif made or self.fill_percent:  # or writing that back would count
            await step(syncing(context.directory))
        context.laid_out.discard(timed.deletes)
        for work in (*timed.works, syncing(context.directory)):
            limited = not (work.is_sync or self.direct)
            done.append(await step(work, measured=True, limited=limited, cut_s=cut_s))
        if makes:
            context.laid_out.add(makes)
            if share_done(done) < 1 or makes.startswith(f"{context.scratch}/"):
                await clear(context, makes)
        for figure in self._all_figures(made, done):
            emit(figure)

    def _all_figures(self, made: Sequence[Done], done: Sequence[Done]) -> Iterator[Measured]:
        share = share_done(done)
        for figure in self.figures(done):
            yield replace(figure, value=share * figure.value) if figure.metric == BYTES_WRITTEN else figure
        yield Measured(CPU, sum(each.finished.cpu_s for each in done) / share)
        if PREALLOCATION_TIME in self.metrics:
            yield Measured(PREALLOCATION_TIME, duration_s(made))
        if WORST_STALL in self.metrics:
            yield Measured(WORST_STALL, max(each.worst_stall_s for each in done))
        if share < 1:
            yield Measured(SHARE_DONE, share)


@frozen
class FormerJob(Engine):
    """Work that only earlier versions did. Recipes can't have it, as they choose one of its metrics."""

    engine = "former"
    metrics = ()

    def timed(self, directory: str, scratch: str, seed: str) -> Timed:
        return Timed(())


def share_done(done: Iterable[Done]) -> float:
    """Completed share of the work; below 1 if a program was stopped."""
    return min(each.share for each in done)


def duration_s(done: Sequence[Done]) -> float:
    """Duration of programs, extrapolated to the whole work."""
    return sum(each.finished.wall_s for each in done) / share_done(done)


async def clear(context: WorkloadContext, path: str) -> None:
    """Delete what earlier workloads created at `path`; a candidate's directory was empty in the beginning."""
    if path in context.laid_out or not path.startswith(f"{context.directory}/"):
        context.laid_out.discard(path)
        await succeed(context, "rm", "-rf", path, limit_s=300.0)


def filling(directory: str, scratch: str, percent: int) -> Work:
    argv = worker("fileserver", scratch, "fill", f"{directory}/filling", percent)
    return Work(argv, _("filling it to {percent} %", percent=percent), reader=last_line)


def ageing(directory: str, scratch: str, seed: int | str, write_bytes: int, free_bytes: int) -> Work:
    """Write `write_bytes` to the candidate, then leave `free_bytes` of it free.

    The same seed gives the same files, in nearly the same locations on the same filesystem.
    """
    argv = worker("ageing", scratch, f"{directory}/years", seed, write_bytes, free_bytes)
    return Work(argv, _("ageing it"), reader=last_line)


async def age(context: WorkloadContext, emit: Emit, *, seed: int, write_bytes: int, free_bytes: int) -> None:
    """Run `ageing`; raises WorkloadFailed if the candidate can't do that."""
    work = ageing(context.directory, context.scratch, seed, write_bytes, free_bytes)
    await carry_out(work, context, emit, limit_s=FILLING_LIMIT_S)


async def cached_share(context: WorkloadContext) -> float | None:
    """Test whether direct I/O is direct: the share of a direct write (O_DIRECT) that is in memory during the write.

    None if O_DIRECT is refused. Raises WorkloadFailed if nothing can be written at all.
    """
    argv = worker("direct", context.scratch, context.directory, *context.devices)
    share = (await succeed(context, *argv, limit_s=300.0)).stdout
    return float(share) if share else None
