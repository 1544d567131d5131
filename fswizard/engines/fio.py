"""Block workloads, carried out by fio on one file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Annotated, Literal

from fswizard.engines.shared.context import MIB, TIB, BareDevice, WorkloadDisturbed, WorkloadFailed
from fswizard.engines.shared.engine import Engine, Files, Timed
from fswizard.engines.shared.fio_output import DumpReader, Figures, figures, rates_by_second
from fswizard.engines.shared.programs import Done, Reader, Work, failure, watch
from fswizard.language import N_, _
from fswizard.model.estimates import SEQUENTIAL_BYTES_PER_S, SSD
from fswizard.model.filesystem import Strain
from fswizard.model.frozen import frozen
from fswizard.model.keys import must_be, within
from fswizard.model.metrics import BYTES_WRITTEN, CPU, IOPS, LATE_RATE, LATENCIES, SYNCS, THROUGHPUT, Metric
from fswizard.model.recipe import Pace, Program
from fswizard.model.units import binary_size_text, size_text
from fswizard.progress.workload_events import Doing, Emit, Measured, Progress, Ran
from fswizard.system.process import Finished

START_S = 0.3
"""Time that fio needs to start and stop."""
INTERRUPTED = 128
"""fio's exit code after SIGINT."""
FASTEST_DEVICE_BYTES_PER_S = 50e9
"""Upper bound for any disk, so that a job that bypasses the page cache ends by time rather than bytes."""
FIGURES = (THROUGHPUT, IOPS, *LATENCIES, BYTES_WRITTEN, CPU)
"""Metrics of every job; a job that syncs also has `SYNCS`."""

_DOING = {
    "read": N_("reading blocks of {size} in sequence"),
    "write": N_("writing blocks of {size} in sequence"),
    "randread": N_("reading blocks of {size} at random"),
    "randwrite": N_("writing blocks of {size} at random"),
    "randrw": N_("reading and writing blocks of {size} at random"),
}


@frozen
class FioJob(Engine):
    """A block workload on one file, run by fio."""

    engine = "fio"
    programs = (Program("fio", N_("block workloads")),)
    metrics = (*FIGURES, *SYNCS)
    rw: Literal["read", "write", "randread", "randwrite", "randrw"]
    block_bytes: Annotated[int, within(512, 64 * MIB)]
    size_bytes: Annotated[int, within(MIB, 16 * TIB)]
    """Size of the file, which is shared by workloads of a recipe with the same size."""
    seconds: Annotated[float, within(0, 86_400)] = 0.0
    """Duration, or 0 to read or write the whole file once."""
    jobs: Annotated[int, within(1, 256)] = 1
    depth: Annotated[int, within(1, 1024)] = 1
    io_engine: Literal["psync", "libaio", "io_uring"] = "libaio"
    direct: bool = True
    fdatasync: Annotated[int, within(0, 1_000_000)] = 0
    """fdatasync after this many writes, as databases sync their logs; 0 means one fsync, at the end."""
    allocated: bool = False
    """The file is only allocated beforehand (fallocate), as for a virtual machine."""

    def __post_init__(self) -> None:
        if self.block_bytes > self.size_bytes:
            raise must_be("block", _("at most the size of the file"))
        if self.allocated and not (self.writes and self.seconds):
            raise must_be("allocated", _("true only for writes that take a number of seconds, or false"))

    @property
    def yielded(self) -> tuple[Metric, ...]:
        return self.metrics if self.fdatasync else FIGURES

    @property
    def writes(self) -> bool:
        return self.rw not in ("read", "randread")

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
        return not self.fdatasync

    @property
    def counts(self) -> str:
        return {"read": N_("reads"), "randread": N_("reads"), "randrw": N_("accesses")}.get(self.rw, N_("writes"))

    def timed_bytes(self, pace: Pace) -> int | None:
        if not self.seconds:
            return None
        # Without seeks one program writes 46,000 small blocks a second on ext4, 37,000 on XFS.
        most_per_s = pace.operations_per_s if self.random else max(pace.operations_per_s, 50_000)
        operations_per_s = min(most_per_s, self.depth * self.jobs / pace.latency_s)
        bytes_per_s = min(pace.bytes_per_s, operations_per_s * self.block_bytes)
        write_share = 0.5 if self.rw == "randrw" else float(self.writes)
        return int(self.seconds * bytes_per_s * write_share)

    def timed(self, directory: str, scratch: str, seed: str) -> Timed:
        path = f"{directory}/fio-{binary_size_text(self.size_bytes)}{'-allocated' if self.allocated else ''}"
        work = self._work(path, scratch, seed, self._text)
        if self.rw in ("write", "randwrite") and not self.seconds and self.jobs == 1:  # it makes a new file itself
            return Timed((work,), makes=Files(path, self.size_bytes), syncs=False)
        text = _("preparing a file of {size}", size=size_text(self.size_bytes))
        # Its content does not compress.
        layout = FioJob("write", MIB, self.size_bytes, depth=4, direct=self.direct)._work(path, scratch, seed, text)
        if self.allocated:
            argv = ("fallocate", f"--length={self.size_bytes}", path)
            layout = replace(layout, argv=argv, reader=None)
        return Timed((work,), (Files(path, self.size_bytes, (layout,)),), syncs=False)

    @property
    def _text(self) -> str:
        return _(_DOING[self.rw], size=binary_size_text(self.block_bytes))

    def _work(self, path: str, scratch: str, seed: str, text: str) -> Work:
        rate = SEQUENTIAL_BYTES_PER_S
        if self.random:
            rate = min(rate, 20_000 * self.block_bytes)
        whole_bytes = self.size_bytes * self.jobs
        written_bytes = self.timed_bytes(SSD)
        if written_bytes is None:
            written_bytes = whole_bytes if self.writes else 0
        return Work(
            self._command(path, seed), text, START_S + (self.seconds or whole_bytes / rate), written_bytes,
            # fio looks for TMPDIR/fio-dump-status, with which anybody could ask for a report.
            env={"TMPDIR": scratch}, reader=partial(FioOutput, self),
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

    def figures(self, done: Sequence[Done]) -> Iterator[Measured]:
        history: list[Figures] = done[0].answer
        last = history[-1]
        latencies = (last.median_s, last.p99_s, last.worst_s)
        values = (last.bytes_per_s, last.iops, *latencies, last.written_bytes, done[0].finished.cpu_s)
        yield from map(Measured, FIGURES, values)
        if self.fdatasync and any(last.syncs_s):
            yield from map(Measured, SYNCS, last.syncs_s)
        rates = rates_by_second(history[:-1])  # the last figures count the final fsync
        third = len(rates) // 3
        if third and any(rates[:third]) and self.writes and self.direct:
            yield Measured(LATE_RATE, sum(rates[-third:]) / sum(rates[:third]))

    async def run_bare(
        self, device: BareDevice, emit: Emit, *, seed: int, seconds: float, bytes_per_s: float
    ) -> None:  # fmt: skip
        rate = FASTEST_DEVICE_BYTES_PER_S if self.direct or not self.writes else bytes_per_s
        job = replace(self, seconds=min(60.0, max(0.2, seconds - START_S)))
        limit_bytes = max(self.block_bytes * self.jobs, int(rate * job.seconds))
        command = partial(job._command, seed=str(seed % (1 << 31)), limit_bytes=limit_bytes)
        emit(Doing(self._text, measured=True))
        output = FioOutput(job, emit)
        process = await device.sample(command, limit_bytes if self.writes else 0)
        finished = await watch(process, ("fio",), limit_s=180.0 + 20 * job.seconds, output=output.feed)
        emit(Ran(finished))
        output.check(finished)
        for measured in self.figures([Done(finished, answer=output.answer)]):
            if measured.metric in self.metrics:
                emit(measured)


class FioOutput(Reader):
    """Parses the output of a job's fio; the answer is a list of figures, four per second."""

    def __init__(self, job: FioJob, emit: Emit) -> None:
        super().__init__(emit)
        self.answer: list[Figures] = []
        self._job, self._dumps = job, DumpReader()

    def feed(self, chunk: bytes) -> None:
        for dump in self._dumps.feed(chunk):
            now = figures(dump)
            self.emit(self._progress(now))
            self.answer.append(now)

    def _progress(self, now: Figures) -> Progress:
        job = self._job
        if not job.seconds:
            fraction = now.io_bytes / (job.size_bytes * job.jobs)
        else:
            fraction = now.io_bytes / now.bytes_per_s / job.seconds if now.bytes_per_s else 0.0
        rate = None
        if self.answer and now.at_s - self.answer[-1].at_s > 0.1:
            last = self.answer[-1]
            moved = now.operations - last.operations if job.random else now.io_bytes - last.io_bytes
            rate = moved / (now.at_s - last.at_s)
        unit: Literal["1/s", "B/s"] = "1/s" if job.random else "B/s"
        return Progress(min(1.0, fraction), rate, unit, now.median_s or None, now.worst_s or None)

    def check(self, finished: Finished) -> None:
        if finished.exit_code == INTERRUPTED:
            raise WorkloadDisturbed("fio", "SIGINT or SIGTERM")
        error = self.answer[-1].error if self.answer else 0
        if finished.exit_code != 0 or error:
            raise failure(finished, error)
        if not self.answer or not self.answer[-1].operations:
            raise WorkloadFailed("program", _("fio ended without having measured anything."), finished.output)
