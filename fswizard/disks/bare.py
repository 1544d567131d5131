"""The command that measures a device without a filesystem."""

from __future__ import annotations

from fswizard.engines import BareSample

READS = ("read", "randread")
DISTINCT_BYTES = 128 << 10
"""From this size on, fio's few buffers differ enough from one another."""


def fio_command(path: str, sample: BareSample) -> tuple[str, ...]:
    """The fio command for a sample; one that writes overwrites the device or image at `path`."""
    writes = sample.rw not in READS
    repeats = writes and not (sample.direct and sample.block_bytes >= DISTINCT_BYTES)
    escaped = path.replace("\\", "\\\\").replace(":", "\\:")
    return (
        "fio", f"--name={sample.rw}", f"--filename={escaped}", f"--rw={sample.rw}", f"--bs={sample.block_bytes}",
        f"--size={sample.size_bytes}", f"--io_size={max(sample.io_bytes // sample.jobs, 512)}",
        f"--runtime={sample.milliseconds}ms", f"--ioengine={sample.io_engine}", f"--iodepth={sample.depth}",
        f"--numjobs={sample.jobs}", f"--direct={int(sample.direct)}", "--randrepeat=0", f"--randseed={sample.seed}",
        "--invalidate=0", "--thread", "--group_reporting", "--clat_percentiles=0", "--lat_percentiles=1",
        "--output-format=json", "--status-interval=250ms", *(["--end_fsync=1"] if writes else []),
        *(["--refill_buffers"] if repeats else []),
    )  # fmt: skip
