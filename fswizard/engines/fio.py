"""Block workloads, carried out by fio on one file, also until a shingled disk's persistent cache overflows."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from statistics import fmean, median
from typing import Annotated, Any, Literal, NamedTuple

from fswizard.engines.shared.context import MIB, TIB, BareDevice, WorkloadFailed
from fswizard.engines.shared.engine import Engine, Files, Timed
from fswizard.engines.shared.programs import Done, Work, follow
from fswizard.language import N_, _
from fswizard.model.estimates import SEQUENTIAL_BYTES_PER_S, SSD
from fswizard.model.filesystem import Strain
from fswizard.model.frozen import frozen
from fswizard.model.keys import must_be, within
from fswizard.model.metrics import BYTES_WRITTEN, CPU, IOPS, LATE_RATE, LATENCIES, SYNCS, THROUGHPUT, Metric
from fswizard.model.recipe import Pace, Program
from fswizard.model.units import binary_size_text, size_text
from fswizard.progress.workload_events import Doing, Emit, Measured, Progress

START_S = 0.3
"""Time that fio needs to start and stop."""
FASTEST_DEVICE_BYTES_PER_S = 50e9
"""Upper bound for any disk, so that a job that bypasses the page cache ends by time rather than bytes."""
PERCENTILES = ("50.000000", "99.000000", "99.900000")
FIGURES = (THROUGHPUT, IOPS, *LATENCIES, BYTES_WRITTEN)
CLIFF = (
    Metric("rate_before_cliff", "B/s", "higher"),
    Metric("sustained_rate", "B/s", "higher"),  # after the cliff, or of the whole run if there is none
    Metric("bytes_before_cliff", "B", "higher"),
    Metric("slowest_second", "B/s", "higher"),
)

_DOING = {
    "read": N_("reading blocks of {size} in sequence"),
    "write": N_("writing blocks of {size} in sequence"),
    "randread": N_("reading blocks of {size} at random"),
    "randwrite": N_("writing blocks of {size} at random"),
}


class Figures(NamedTuple):
    """What all jobs have done since fio started."""

    at_s: float
    """Time by fio's clock."""
    io_bytes: int
    operations: int
    bytes_per_s: float
    iops: float
    latencies_s: Sequence[float]
    """Median, 99th percentile, and the worst, from submission to completion."""
    syncs_s: Sequence[float]
    """PERCENTILES of fsync and fdatasync; zeros without any."""


def _latencies(side: Mapping[str, Any]) -> list[float]:
    latency = side["lat_ns"]
    percentiles = latency.get("percentile", {})
    # They are bins some percent wide, whose middle may lie beyond the worst value.
    return [min(percentiles.get(name, 0), latency["max"]) / 1e9 for name in PERCENTILES]


def rates_by_second(history: Sequence[Figures]) -> list[float]:
    """Bytes read and written in each second of a run, by fio's clock, without the final fsync."""
    seconds: defaultdict[int, list[float]] = defaultdict(list)
    for one, other in pairwise(history[:-1]):  # the last figures count the final fsync
        if other.at_s > one.at_s:
            rate = (other.io_bytes - one.io_bytes) / (other.at_s - one.at_s)
            seconds[int(other.at_s - history[0].at_s)].append(rate)
    return [fmean(seconds[second]) for second in sorted(seconds)]


@frozen
class FioJob(Engine):
    """A block workload on one file, run by fio."""

    engine = "fio"
    programs = (Program("fio", N_("block workloads")),)
    metrics = (*FIGURES, *SYNCS, *CLIFF, CPU)
    rw: Literal["read", "write", "randread", "randwrite"]
    block_bytes: Annotated[int, within(512, 64 * MIB)]
    size_bytes: Annotated[int, within(MIB, 16 * TIB)]
    """Size of the file, which is shared by workloads of a recipe with the same size."""
    seconds: Annotated[float, within(0, 604_800)] = 0.0
    """Duration, or 0 to read or write the whole file once."""
    jobs: Annotated[int, within(1, 256)] = 1
    depth: Annotated[int, within(1, 1024)] = 1
    io_engine: Literal["psync", "libaio", "io_uring"] = "libaio"
    direct: bool = True
    fdatasync: Annotated[int, within(0, 1_000_000)] = 0
    """fdatasync after this many writes, as databases sync their logs; 0 means one fsync, at the end."""
    allocated: bool = False
    """The file is only allocated beforehand (fallocate), as for a virtual machine."""
    cliff: bool = False
    """Measure the rate before and after a shingled disk's persistent cache overflows."""

    def __post_init__(self) -> None:
        if self.allocated and not (self.writes and self.seconds):
            raise must_be("allocated", _("true only for writes that take a number of seconds, or false"))

    @property
    def yielded(self) -> tuple[Metric, ...]:
        return (*FIGURES, *(SYNCS if self.fdatasync else ()), *(CLIFF if self.cliff else ()), CPU)

    @property
    def writes(self) -> bool:
        return self.rw.endswith("write")

    @property
    def random(self) -> bool:
        return self.rw.startswith("rand")

    @property
    def syncs_each_write(self) -> bool:
        return self.writes and self.fdatasync == 1

    @property
    def strain(self) -> Strain:
        if not self.writes:
            return "read"
        if self.fdatasync:
            return "sync"
        return "overwrite" if self.random else "stream"

    @property
    def runs_bare(self) -> bool:
        return not (self.fdatasync or self.cliff)

    @property
    def counts(self) -> str:
        return N_("writes") if self.writes else N_("reads")

    def timed_bytes(self, pace: Pace) -> int | None:
        if not self.seconds:
            return None
        if not self.writes:
            return 0
        # Without seeks one program writes 46,000 small blocks a second on ext4, 37,000 on XFS.
        most_per_s = pace.operations_per_s if self.random else max(pace.operations_per_s, 50_000)
        operations_per_s = min(most_per_s, self.depth * self.jobs / pace.latency_s)
        return int(self.seconds * min(pace.bytes_per_s, operations_per_s * self.block_bytes))

    def timed(self, directory: str, scratch: str, seed: str) -> Timed:
        path = f"{directory}/fio-{binary_size_text(self.size_bytes)}{'-allocated' if self.allocated else ''}"
        work = self._work(path, seed)
        if self.writes and not self.seconds and self.jobs == 1:  # it makes a new file itself
            return Timed((work,), makes=Files(path, self.size_bytes))
        # Its content does not compress.
        layout = FioJob("write", MIB, self.size_bytes, depth=4, direct=self.direct)._work(path, seed)
        layout = replace(layout, text=_("preparing a file of {size}", size=size_text(self.size_bytes)))
        if self.allocated:
            layout = replace(layout, argv=("fallocate", f"--length={self.size_bytes}", path), reader=None)
        return Timed((work,), (Files(path, self.size_bytes, (layout,)),))

    def _work(self, path: str, seed: str) -> Work:
        rate = SEQUENTIAL_BYTES_PER_S
        if self.random:
            rate = min(rate, 20_000 * self.block_bytes)
        whole_bytes = self.size_bytes * self.jobs
        written_bytes = self.timed_bytes(SSD)
        if written_bytes is None:
            written_bytes = whole_bytes if self.writes else 0
        return Work(
            self._command(path, seed), _(_DOING[self.rw], size=binary_size_text(self.block_bytes)),
            START_S + (self.seconds or whole_bytes / rate), written_bytes, reader=self._read,
        )  # fmt: skip

    def _command(self, path: str, seed: str, limit_bytes: int = 0) -> tuple[str, ...]:
        """With `limit_bytes`, for a bare device: it ends after that amount, even before its time is up."""
        escaped = path.replace("\\", "\\\\").replace(":", "\\:")
        argv = ["fio", f"--name={self.rw}", f"--filename={escaped}"]
        # With randrepeat fio would ignore the seed.
        argv += (
            f"--rw={self.rw} --bs={self.block_bytes} --size={self.size_bytes} --ioengine={self.io_engine} "
            f"--iodepth={self.depth} --numjobs={self.jobs} --direct={self.direct:d} --randrepeat=0 --randseed={seed} "
            "--fallocate=none --thread --group_reporting --clat_percentiles=0 --lat_percentiles=1 "
            "--output-format=json --status-interval=250ms"
        ).split()
        if self.seconds:
            argv.append(f"--runtime={round(self.seconds * 1000)}ms")
        if limit_bytes:
            argv += [f"--io_size={limit_bytes // self.jobs}", "--invalidate=0"]
        elif self.seconds:
            argv.append("--time_based")
        if self.writes:
            argv.append("--end_fsync=1")
        if not self.direct:
            argv.append("--fadvise_hint=0")  # programs seldom advise the kernel how they read
        if self.fdatasync:
            argv.append(f"--fdatasync={self.fdatasync}")
        # Blocks below 128 KiB would repeat within the extents that a filesystem compresses.
        if self.writes and not (self.direct and self.block_bytes >= 128 << 10):
            argv.append("--refill_buffers")
        return tuple(argv)

    def _read(self, history: list[Figures], dump: Mapping[str, Any], emit: Emit) -> int:
        """The reader of fio's output, four objects per second."""
        job = dump["jobs"][0]
        side, at_s = job["write" if self.writes else "read"], dump["timestamp_ms"] / 1e3
        latencies_s = (*_latencies(side)[:2], side["lat_ns"]["max"] / 1e9)
        values = (side["io_bytes"], side["total_ios"], side["bw_bytes"], side["iops"])
        now = Figures(at_s, *values, latencies_s, _latencies(job["sync"]))
        if not self.seconds:
            fraction = now.io_bytes / (self.size_bytes * self.jobs)
        else:
            fraction = now.io_bytes / now.bytes_per_s / self.seconds if now.bytes_per_s else 0.0
        rate = None
        if history and now.at_s - history[-1].at_s > 0.1:
            last = history[-1]
            moved = now.operations - last.operations if self.random else now.io_bytes - last.io_bytes
            rate = moved / (now.at_s - last.at_s)
        median_s, _, worst_s = now.latencies_s
        emit(Progress(min(1.0, fraction), rate, "1/s" if self.random else "B/s", median_s or None, worst_s or None))
        history.append(now)
        return next((each["error"] for each in dump["jobs"] if each["error"]), 0)

    def figures(self, done: Sequence[Done]) -> Iterator[Measured]:
        history: Sequence[Figures] = done[0].answers
        if not history or not history[-1].operations:
            raise WorkloadFailed("program", _("fio ended without having measured anything."), done[0].finished.output)
        last = history[-1]
        written_bytes = last.io_bytes if self.writes else 0
        yield from map(Measured, FIGURES, (last.bytes_per_s, last.iops, *last.latencies_s, written_bytes))
        if self.fdatasync and any(last.syncs_s):
            yield from map(Measured, SYNCS, last.syncs_s)
        rates = rates_by_second(history)
        third = len(rates) // 3
        if self.cliff and len(rates) >= 2:
            at = cliff(rates)
            values = (median(rates[:at]), median(rates[at:]), sum(rates[:at]), min(rates))
            yield from map(Measured, CLIFF, values)
        elif third and any(rates[:third]) and self.writes and self.direct:
            yield Measured(LATE_RATE, sum(rates[-third:]) / sum(rates[:third]))

    async def run_bare(
        self, device: BareDevice, emit: Emit, *, seed: int, seconds: float, bytes_per_s: float
    ) -> None:  # fmt: skip
        # A buffered sample writes as fast as the candidates, as all data go to the disk in the end.
        rate = FASTEST_DEVICE_BYTES_PER_S if self.direct or not self.writes else bytes_per_s
        job = replace(self, seconds=min(60.0, max(0.2, seconds - START_S)))
        limit_bytes = max(self.block_bytes * self.jobs, int(rate * job.seconds))
        command = partial(job._command, seed=str(seed % (1 << 31)), limit_bytes=limit_bytes)
        work = job._work("", "")
        emit(Doing(work.text, measured=True))
        process = await device(command, limit_bytes if self.writes else 0)
        done = await follow(process, work, emit, limit_s=180.0 + 20 * job.seconds)
        for measured in self.figures([done]):
            if measured.metric in self.metrics:
                emit(measured)


def cliff(rates: Sequence[float]) -> int | None:
    """The second in which the rate drops permanently to less than half; None if it does not.

    It splits the run into the two parts that differ most, each at least a tenth of it, as a stall is not a cliff.
    """
    logs = [math.log(max(rate, 1.0)) for rate in rates]

    def explained(at: int) -> float:
        """Share of the variance explained by a step at this second, unnormalised."""
        return at * (len(logs) - at) * (fmean(logs[:at]) - fmean(logs[at:])) ** 2

    least = max(1, len(logs) // 10)
    at = max(range(least, len(logs) - least + 1), key=explained)
    return at if median(rates[at:]) < 0.5 * median(rates[:at]) else None
