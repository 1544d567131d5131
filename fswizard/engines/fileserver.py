"""The file-server mix of filebench: processes that create, append, read, delete and stat files for a given time.

filebench (1.4.9.1 and 1.5-alpha3) moves more bytes in the same eleven operations, so its rates are not comparable with
these; its ratios between filesystems agree within wide intervals (`tests/bench/RESULTS.md`). `writewholefile` rounds
files of more than 1 MiB up to whole MiB: files of 1.25 MiB on average are written as 1.53 to 1.54 MiB and read as 1.42
to 1.50 MiB in six published runs, here as 1.25 and 1.27 MiB. It also takes its files in rotation, here they are random:
by a simulation of 2,000 files a quarter of its reads and deletions meet a file made less than 160 loops before, here a
tenth.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any

from fswizard.engines.shared import filling
from fswizard.engines.shared.engine import GIB, Engine, WorkloadContext, WorkloadFailed
from fswizard.engines.shared.fileserver_worker import NAMES as OPERATIONS
from fswizard.engines.shared.fileserver_worker import PRECREATED_FIFTHS
from fswizard.engines.shared.running import making, part, put_worker, succeed, worker_command
from fswizard.language import N_, _, n_
from fswizard.model.estimates import FILES_MADE_PER_S, SEQUENTIAL_BYTES_PER_S, SSD
from fswizard.model.keys import Keys, number, size, whole
from fswizard.model.metrics import BYTES_WRITTEN, CPU, LATENCIES, OPERATION_RATE, PREALLOCATION_TIME, Metric
from fswizard.model.recipe import Cost, Job, Pace, PlannedCommand
from fswizard.model.units import duration_text, size_text
from fswizard.progress.workload_events import Doing, Measured, Ran, Tell
from fswizard.system.process import Finished


def operation_metrics(operation: str) -> tuple[Metric, Metric, Metric, Metric, Metric]:
    """Count, mean, median, 99th percentile and worst latency of one kind of operation of the file-server mix."""
    return (
        Metric(f"{operation}_count", "1", "higher"),
        Metric(f"{operation}_latency", "s", "lower"),
        Metric(f"{operation}_median_latency", "s", "lower"),
        Metric(f"{operation}_p99_latency", "s", "lower"),
        Metric(f"{operation}_worst_latency", "s", "lower"),
    )


@dataclass(frozen=True, slots=True)
class FileServerJob(Engine):
    """The file-server mix of filebench: create and write, append, read whole, delete, stat."""

    engine = "fileserver"
    metrics = (
        *(OPERATION_RATE, *LATENCIES, BYTES_WRITTEN, CPU, PREALLOCATION_TIME),
        *(metric for operation in OPERATIONS for metric in operation_metrics(operation)),
    )
    threads: Annotated[int, whole(1, 256)]
    files: Annotated[int, whole(5, 10_000_000)]
    mean_file_bytes: Annotated[int, size(1, GIB)]
    mean_append_bytes: Annotated[int, size(1, GIB)]
    seconds: Annotated[float, number(0.1, 604_800)]
    fill_percent: Annotated[int, whole(0, 99, key="fill")] = 0

    def checked(self, keys: Keys) -> FileServerJob:
        if self.files < 5 * self.threads:  # each has four that exist, and one that does not
            raise keys.error("files", whole(5 * self.threads, 10_000_000))
        return self

    @property
    def words(self) -> str:
        return n_(
            "{threads} programs create, append to, read and delete among {count} file",
            "{threads} programs create, append to, read and delete among {count} files",
            self.files,
            threads=self.threads,
        )

    @property
    def counts(self) -> str:
        return N_("operations")

    @property
    def cost(self) -> Cost:
        files = self.files * PRECREATED_FIFTHS / 5
        prepare_bytes = int(files * self.mean_file_bytes)
        prepare_s = prepare_bytes / SEQUENTIAL_BYTES_PER_S + files / FILES_MADE_PER_S
        # What is in memory at the end, which is limited, goes to the disk afterwards.
        return Cost(prepare_s, self.seconds * 1.1, prepare_bytes, self.timed_bytes(SSD))

    def timed_bytes(self, pace: Pace) -> int:
        """Bytes written, which are half of the traffic."""
        return int(self.seconds * pace.bytes_per_s / 2)

    @property
    def leaves(self) -> Iterable[tuple[object, int]]:
        return [(self, int(self.files * (self.mean_file_bytes + self.mean_append_bytes)))]

    def small(self, files: int, seconds: float) -> tuple[Job, float] | None:
        files = min(self.files, max(files, 5 * self.threads))
        job = replace(self, files=files, seconds=min(self.seconds, seconds), fill_percent=0)
        return job, files * self.mean_file_bytes

    def commands(self) -> tuple[PlannedCommand, ...]:
        preparing = PlannedCommand(
            self._command("prepare", "MOUNT", "SCRATCH", "0"), text=_("making {files}", files=self._files)
        )
        serving = PlannedCommand(
            self._command("run", "MOUNT", "SCRATCH", "SEED"), text=_("serving {files}", files=self._files)
        )
        sync = PlannedCommand(_syncing("MOUNT"), text=_("until it is on the disk"))
        fill = (filling.planned(self.fill_percent),) if self.fill_percent else ()
        return preparing, *fill, serving, sync

    async def run(self, context: WorkloadContext, emit: Tell, *, seed: int) -> None:
        """Always makes new files, as the mix changes them. Measured time includes the sync, which completes the
        work."""
        directory, scratch = context.directory, context.scratch
        share = self.cost.prepare_share
        put_worker(filling.WORKER, context)
        emit(Doing(_("making {files}", files=self._files)))
        async with making(context, _path(directory)):
            preparing = self._command("prepare", directory, scratch, "0")
            __, made = await filling.listen(context, preparing, self._limit_s, part(emit, 0.0, share))
            on_disk = await succeed(context, _syncing(directory), limit_s=self._limit_s)
        if self.fill_percent:
            await filling.fill(context, self.fill_percent, part(emit, share, 0.0))
        await context.remount()
        emit(
            Doing(
                _(
                    "serving {files} with {count} workers for {duration}",
                    files=self._files,
                    count=self.threads,
                    duration=duration_text(self.seconds),
                ),
                measured=True,
            )
        )
        working = self._command("run", directory, scratch, str(seed % (1 << 31)))
        figures, worked = await filling.listen(
            context, working, self._limit_s, part(emit, share, 1 - share), limited=True
        )
        emit(Doing(_("writing the rest to the disk"), measured=True))
        synced = await succeed(context, _syncing(directory), limit_s=self._limit_s)
        emit(Ran(synced))
        for measured in _measured(figures, worked, synced, made.wall_s + on_disk.wall_s):
            emit(measured)

    def _command(self, what: str, directory: str, scratch: str, seed: str) -> tuple[str, ...]:
        sizes = (self.threads, self.files, self.mean_file_bytes, self.mean_append_bytes)
        arguments = (_path(directory), *map(str, sizes), f"{self.seconds:g}", seed)
        return worker_command(filling.WORKER, what, *arguments, scratch=scratch)

    @property
    def _files(self) -> str:
        size = size_text(self.mean_file_bytes)
        return n_("{count} file of about {size}", "{count} files of about {size}", self.files, size=size)

    @property
    def _limit_s(self) -> float:
        return 180.0 + 20 * (self.cost.prepare_s + self.cost.measure_s)


def _measured(figures: Mapping[str, Any], worked: Finished, synced: Finished, made_s: float) -> Iterator[Measured]:
    if not figures.get("operations"):
        raise WorkloadFailed("program", _("The file-server mix ended without doing anything."))
    yield Measured(OPERATION_RATE, figures["operations"] / (figures["elapsed_s"] + synced.wall_s))
    yield from map(Measured, LATENCIES, (figures["all"][f"{which}_s"] for which in ("median", "p99", "worst")))
    yield Measured(BYTES_WRITTEN, figures["bytes_written"])
    yield Measured(CPU, worked.cpu_s + synced.cpu_s)
    yield Measured(PREALLOCATION_TIME, made_s)
    for operation in OPERATIONS:
        one = figures["by_operation"][operation]
        if one["count"]:
            values = (one["count"], *(one[f"{which}_s"] for which in ("mean", "median", "p99", "worst")))
            yield from map(Measured, operation_metrics(operation), values)


def _syncing(directory: str) -> tuple[str, ...]:
    return ("sync", "--file-system", directory)


def _path(directory: str) -> str:
    return f"{directory}/fileserver"
