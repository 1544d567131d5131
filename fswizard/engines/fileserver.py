"""The file-server mix of filebench: processes that create, append, read, delete and stat files for a given time.

filebench (1.4.9.1 and 1.5-alpha3) moves more bytes in the same eleven operations, so its rates are not comparable with
these; its ratios between filesystems agree within wide intervals (`tests/bench/RESULTS.md`). `writewholefile` rounds
files of more than 1 MiB up to whole MiB: files of 1.25 MiB on average are written as 1.53 to 1.54 MiB and read as 1.42
to 1.50 MiB in six published runs, here as 1.25 and 1.27 MiB. It also takes its files in rotation, here they are random:
by a simulation of 2,000 files a quarter of its reads and deletions meet a file made less than 160 loops before, here a
tenth.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Annotated

from fswizard.engines.shared.engine import GIB, WorkloadContext, WorkloadFailed
from fswizard.engines.shared.fileserver_worker import NAMES as OPERATIONS
from fswizard.engines.shared.fileserver_worker import PRECREATED_FIFTHS
from fswizard.engines.shared.running import put_worker, worker_command
from fswizard.engines.shared.timed import LaidOut, Timed, TimedEngine, cpu_s, syncing
from fswizard.engines.shared.work import Work
from fswizard.engines.shared.workers import FILESERVER
from fswizard.language import N_, _, n_
from fswizard.model.estimates import FILES_MADE_PER_S, SEQUENTIAL_BYTES_PER_S, SSD
from fswizard.model.keys import Keys, number, size, whole
from fswizard.model.metrics import BYTES_WRITTEN, CPU, LATENCIES, OPERATION_RATE, PREALLOCATION_TIME, Metric
from fswizard.model.recipe import Cost, Pace
from fswizard.model.units import duration_text, size_text
from fswizard.progress.workload_events import Measured
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
class FileServerJob(TimedEngine):
    """The file-server mix of filebench: create and write, append, read whole, delete, stat.

    Its files are always made anew, as the mix changes them.
    """

    engine = "fileserver"
    metrics = (
        *(OPERATION_RATE, *LATENCIES, BYTES_WRITTEN, CPU),
        *(metric for operation in OPERATIONS for metric in operation_metrics(operation)),
        PREALLOCATION_TIME,
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
    def built_in(self) -> bool:
        return True

    def with_duration(self, seconds: float) -> FileServerJob:
        return replace(self, seconds=seconds)

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

    def bring(self, context: WorkloadContext, seed: int) -> None:
        put_worker(FILESERVER, context)

    def timed(self, directory: str, scratch: str, seed: str) -> Timed:
        size = size_text(self.mean_file_bytes)
        files = n_("{count} file of about {size}", "{count} files of about {size}", self.files, size=size)
        path = f"{directory}/fileserver"
        sizes = (self.threads, self.files, self.mean_file_bytes, self.mean_append_bytes)
        arguments = (path, *map(str, sizes), f"{self.seconds:g}")
        preparing = worker_command(FILESERVER, "prepare", *arguments, "0", scratch=scratch)
        serving = worker_command(FILESERVER, "run", *arguments, seed, scratch=scratch)
        made = (Work(preparing, _("making {files}", files=files), kind="json"), syncing(directory))
        text = _(
            "serving {files} with {count} workers for {duration}",
            files=files,
            count=self.threads,
            duration=duration_text(self.seconds),
        )
        return Timed((Work(serving, text, kind="json"),), (LaidOut(path, made, anew=True),))

    def figures(self, finished: Sequence[Finished]) -> Iterator[Measured]:
        figures = json.loads(finished[0].stdout)
        if not figures.get("operations"):
            raise WorkloadFailed("program", _("The file-server mix ended without doing anything."))
        # The sync completes the work.
        yield Measured(OPERATION_RATE, figures["operations"] / (figures["elapsed_s"] + finished[1].wall_s))
        yield from map(Measured, LATENCIES, (figures["all"][f"{which}_s"] for which in ("median", "p99", "worst")))
        yield Measured(BYTES_WRITTEN, figures["bytes_written"])
        yield Measured(CPU, cpu_s(finished))
        for operation in OPERATIONS:
            one = figures["by_operation"][operation]
            if one["count"]:
                values = (one["count"], *(one[f"{which}_s"] for which in ("mean", "median", "p99", "worst")))
                yield from map(Measured, operation_metrics(operation), values)
