"""The file-server mix of filebench: processes that create, append, read, delete and stat files for a given time.

filebench (1.4.9.1 and 1.5-alpha3) moves more bytes in the same eleven operations, so its rates are not comparable with
these; its ratios between filesystems agree within wide intervals (`tests/long/bench/filebench.md`). `writewholefile`
rounds files of more than 1 MiB up to whole MiB: files of 1.25 MiB on average are written as 1.53 to 1.54 MiB and read
as 1.42 to 1.50 MiB in six published runs, here as 1.25 and 1.27 MiB. It also uses its files in rotation, while here
they are chosen at random: in a simulation of 2,000 files, a quarter of filebench's reads and deletions hit a file
created less than 160 loops before, here a tenth.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import field
from typing import Annotated

from fswizard.engines.shared.context import GIB, WorkloadFailed
from fswizard.engines.shared.engine import Engine, Files, Timed, cpu_s
from fswizard.engines.shared.fileserver_worker import NAMES as OPERATIONS
from fswizard.engines.shared.fileserver_worker import PRECREATED_FIFTHS
from fswizard.engines.shared.programs import Done, JsonLines, Work, syncing, worker
from fswizard.language import N_, _, n_
from fswizard.model.estimates import FILES_MADE_PER_S, SEQUENTIAL_BYTES_PER_S, SSD
from fswizard.model.frozen import frozen
from fswizard.model.keys import from_to, must_be, within
from fswizard.model.metrics import BYTES_WRITTEN, CPU, LATENCIES, OPERATION_RATE, PREALLOCATION_TIME, Metric
from fswizard.model.recipe import Pace
from fswizard.progress.workload_events import Measured


def operation_metrics(operation: str) -> tuple[Metric, ...]:
    """Count, mean and worst latency of one kind of operation."""
    return (
        Metric(f"{operation}_count", "1", "higher"),
        Metric(f"{operation}_latency", "s", "lower"),
        Metric(f"{operation}_worst_latency", "s", "lower"),
    )


@frozen
class FileServerJob(Engine):
    """The file-server mix of filebench: create and write, append, read whole, delete, stat.

    Its files are recreated for each measurement, as the mix changes them.
    """

    engine = "fileserver"
    metrics = (
        *(OPERATION_RATE, *LATENCIES, BYTES_WRITTEN, CPU),
        *(metric for operation in OPERATIONS for metric in operation_metrics(operation)),
        PREALLOCATION_TIME,
    )
    counts = N_("operations")
    threads: Annotated[int, within(1, 256)]
    files: Annotated[int, within(5, 10_000_000)]
    mean_file_bytes: Annotated[int, within(1, GIB)]
    mean_append_bytes: Annotated[int, within(1, GIB)]
    seconds: Annotated[float, within(0.1, 604_800)] = field()  # required, although jobs have a default

    def __post_init__(self) -> None:
        if self.files < 5 * self.threads:  # each has four that exist, and one that does not
            raise must_be("files", from_to(5 * self.threads, 10_000_000))

    def timed_bytes(self, pace: Pace) -> int:
        """Bytes written, which are half of the traffic."""
        return int(self.seconds * pace.bytes_per_s / 2)

    def timed(self, directory: str, scratch: str, seed: str) -> Timed:
        path = f"{directory}/fileserver"
        files = n_("{count} file", "{count} files", self.files)
        sizes = (self.mean_file_bytes, self.mean_append_bytes)
        arguments = (path, self.threads, self.files, *sizes, f"{self.seconds:g}")
        prepared = self.files * PRECREATED_FIFTHS / 5
        prepared_bytes = int(prepared * self.mean_file_bytes)
        preparing = Work(
            worker("fileserver", scratch, "prepare", *arguments, 0), _("making {files}", files=files),
            prepared_bytes / SEQUENTIAL_BYTES_PER_S + prepared / FILES_MADE_PER_S, prepared_bytes, reader=JsonLines,
        )  # fmt: skip
        serving = Work(
            worker("fileserver", scratch, "run", *arguments, seed), _("serving {files}", files=files),
            # What is in memory at the end, which is limited, goes to the disk afterwards.
            1.1 * self.seconds, self.timed_bytes(SSD), reader=JsonLines,
        )  # fmt: skip
        needs = Files(path, self.files * sum(sizes), (preparing, syncing(directory)), recreate=True)
        return Timed((serving,), (needs,))

    def figures(self, done: Sequence[Done]) -> Iterator[Measured]:
        figures = done[0].answer
        if not figures.get("operations"):
            raise WorkloadFailed("program", _("The file-server mix ended without doing anything."))
        # The sync completes the work.
        yield Measured(OPERATION_RATE, figures["operations"] / (figures["elapsed_s"] + done[1].finished.wall_s))
        yield from map(Measured, LATENCIES, figures["latencies_s"])
        yield Measured(BYTES_WRITTEN, figures["bytes_written"])
        yield Measured(CPU, cpu_s(done))
        for operation, values in figures["by_operation"].items():
            if values[0]:
                yield from map(Measured, operation_metrics(operation), values)
