"""The file-server mix of filebench: processes that create, append, read, delete and stat files for a given time.

Rates are not comparable with those of filebench, which moves more bytes in the same eleven operations, as it rounds
files up to whole MiB; ratios between filesystems agree within wide intervals (`tests/long/bench/filebench.md`).
filebench also uses its files in rotation, while here they are chosen at random.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import field
from typing import Annotated

from fswizard.engines.shared.context import GIB, WorkloadFailed
from fswizard.engines.shared.engine import Engine, Files, Timed
from fswizard.engines.shared.fileserver_worker import NAMES as OPERATIONS
from fswizard.engines.shared.fileserver_worker import PRECREATED_FIFTHS
from fswizard.engines.shared.programs import Done, Work, last_line, syncing, worker
from fswizard.language import N_, _, n_
from fswizard.model.estimates import FILES_MADE_PER_S, SEQUENTIAL_BYTES_PER_S, SSD
from fswizard.model.frozen import frozen
from fswizard.model.keys import from_to, must_be, within
from fswizard.model.metrics import BYTES_WRITTEN, CPU, OPERATION_RATE, PREALLOCATION_TIME, WORST_LATENCY, Metric
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
        *(OPERATION_RATE, WORST_LATENCY, BYTES_WRITTEN),
        *(metric for operation in OPERATIONS for metric in operation_metrics(operation)),
        *(CPU, PREALLOCATION_TIME),
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
            prepared_bytes / SEQUENTIAL_BYTES_PER_S + prepared / FILES_MADE_PER_S, prepared_bytes, reader=last_line,
        )  # fmt: skip
        serving = Work(
            worker("fileserver", scratch, "run", *arguments, seed), _("serving {files}", files=files),
            # What is in memory at the end, which is limited, goes to the disk afterwards.
            1.1 * self.seconds, self.timed_bytes(SSD), reader=last_line,
        )  # fmt: skip
        needs = Files(path, self.files * sum(sizes), (preparing, syncing(directory)), recreate=True)
        return Timed((serving,), (needs,))

    def figures(self, done: Sequence[Done]) -> Iterator[Measured]:
        figures = done[0].answers[-1]
        if not figures.get("operations"):
            raise WorkloadFailed("program", _("The file-server mix ended without doing anything."))
        # The sync completes the work.
        yield Measured(OPERATION_RATE, figures["operations"] / (figures["elapsed_s"] + done[1].finished.wall_s))
        yield Measured(WORST_LATENCY, max(worst_s for _, _, worst_s in figures["by_operation"].values()))
        yield Measured(BYTES_WRITTEN, figures["bytes_written"])
        for operation, values in figures["by_operation"].items():
            if values[0]:
                yield from map(Measured, operation_metrics(operation), values)
