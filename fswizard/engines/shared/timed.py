"""Programs that are timed with empty caches until their work is on the disk, and the files that they need."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace

from fswizard.engines.shared.engine import Engine, WorkloadContext
from fswizard.engines.shared.running import making, part, remove
from fswizard.engines.shared.work import Work, carry_out
from fswizard.engines.shared.workers import fill, filling
from fswizard.language import _
from fswizard.model.metrics import BYTES_WRITTEN, PREALLOCATION_TIME, SHARE_DONE, WORST_STALL
from fswizard.model.recipe import PlannedCommand
from fswizard.progress.workload_events import Measured, Tell
from fswizard.system.process import Finished


@dataclass(frozen=True, slots=True)
class LaidOut:
    """Files that are made before anything is timed, unless they exist."""

    path: str
    works: tuple[Work, ...]
    """The programs that make it."""
    anew: bool = False
    """Whether they are made again even if they exist."""


@dataclass(frozen=True, slots=True)
class Timed:
    """A workload of programs that run in turn."""

    works: tuple[Work, ...]
    """Programs that are timed together with the `sync` that follows them."""
    lay_out: tuple[LaidOut, ...] = ()
    warm_up: Work | None = None
    """Program that runs each time before the candidate's caches are emptied."""
    makes: str = ""
    """Path that `works` make; one in the scratch directory is removed afterwards."""
    deletes: str = ""
    """Path that `works` delete."""
    reads: bool = True
    """It works on what is on the candidate, which must not be in memory."""


class TimedEngine(Engine):
    """A job that is a `Timed`."""

    __slots__ = ()

    def timed(self, directory: str, scratch: str, seed: str) -> Timed:
        """The work on the candidate at `directory`."""
        raise NotImplementedError

    def bring(self, context: WorkloadContext, seed: int) -> None:
        """Put files that the programs need into `context.scratch`."""

    def figures(self, finished: Sequence[Finished]) -> Iterable[Measured]:
        """The figures of the timed programs, the last of which is the `sync`."""
        raise NotImplementedError

    def commands(self) -> tuple[PlannedCommand, ...]:
        timed = self.timed("MOUNT", "SCRATCH", "SEED")
        planned = []
        for wanted in timed.lay_out:
            for work in wanted.works:
                text = work.text if wanted.anew else _("{what}, if it isn't there yet", what=work.text)
                planned.append(PlannedCommand(work.argv, text=text))
        works = [*timed.works, syncing("MOUNT")]
        if timed.warm_up is not None:
            works.insert(0, timed.warm_up)
        if self.fill_percent:
            works.insert(0, filling("MOUNT", "SCRATCH", self.fill_percent))
        return (*planned, *(PlannedCommand(work.argv, text=work.text) for work in works))

    async def run(self, context: WorkloadContext, emit: Tell, *, seed: int, cut_s: float = 0.0) -> None:
        self.bring(context, seed)
        timed = self.timed(context.directory, context.scratch, str(seed))
        limit_s = 180.0 + 40 * (self.cost.measure_s + self.cost.prepare_s)
        missing = [wanted for wanted in timed.lay_out if wanted.anew or wanted.path not in context.laid_out]
        prepare_share = self.cost.prepare_share if missing else 0.0
        step_share = prepare_share / max(1, sum(len(wanted.works) for wanted in missing))
        made = list[Finished]()
        for wanted in missing:
            async with making(context, wanted.path):
                for work in wanted.works:
                    step = part(emit, len(made) * step_share, step_share)
                    made.append((await carry_out(work, context, limit_s, step)).finished)
        if timed.warm_up is not None:
            await carry_out(timed.warm_up, context, limit_s, part(emit, prepare_share, 0.0))
        async with making(context, timed.makes) if timed.makes else nullcontext():
            if self.fill_percent:
                await fill(context, self.fill_percent, part(emit, prepare_share, 0.0))
            if timed.reads:
                await context.remount()
            elif made or self.fill_percent:  # or writing that back would count
                await carry_out(syncing(context.directory), context, limit_s, part(emit, prepare_share, 0.0))
            context.laid_out.discard(timed.deletes)
            done = []
            for work in (*timed.works, syncing(context.directory)):
                step = part(emit, prepare_share, 1 - prepare_share)
                done.append(await carry_out(work, context, limit_s, step, measured=True, cut_s=cut_s))
            share = min(each.share for each in done)
            for measured in self.figures([_of_the_whole(each.finished, share) for each in done]):
                emit(replace(measured, value=share * measured.value) if measured.metric == BYTES_WRITTEN else measured)
        worst_stall_s = max(each.worst_stall_s for each in done)
        for metric, seconds in ((PREALLOCATION_TIME, duration_s(made)), (WORST_STALL, worst_stall_s)):
            if metric in self.metrics:
                emit(Measured(metric, seconds))
        if share < 1:
            emit(Measured(SHARE_DONE, share))
        if timed.makes and (share < 1 or timed.makes.startswith(f"{context.scratch}/")):
            await remove(context, timed.makes)


def _of_the_whole(finished: Finished, share: float) -> Finished:
    """What a program would have taken that was ended when it had done a share of its work."""
    return replace(finished, wall_s=finished.wall_s / share, cpu_s=finished.cpu_s / share)


def syncing(directory: str) -> Work:
    return Work(("sync", "--file-system", directory), _("until it is on the disk"), kind="sync")


def duration_s(finished: Sequence[Finished]) -> float:
    return sum(program.wall_s for program in finished)


def cpu_s(finished: Sequence[Finished]) -> float:
    return sum(program.cpu_s for program in finished)
