"""The figures that several engines yield, or that others ask for; what one engine alone yields stands with it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Better = Literal["higher", "lower"]


@dataclass(frozen=True, slots=True)
class Metric:
    """A figure that a workload yields."""

    name: str
    """Stable name, such as `throughput` or `worst_latency`."""
    unit: str
    """SI base: `B/s`, `1/s`, `s`, `B`, `1` for ratios."""
    better: Better


THROUGHPUT = Metric("throughput", "B/s", "higher")
IOPS = Metric("iops", "1/s", "higher")
DURATION = Metric("duration", "s", "lower")
"""Of programs and the sync after them: until it is on the disk, which counts where a disk is unplugged or put away."""
RETURNED = Metric("returned", "s", "lower")
"""Of the programs alone: until they return, which is what somebody at a desktop waits for."""
FILE_RATE = Metric("file_rate", "1/s", "higher")
OPERATION_RATE = Metric("operation_rate", "1/s", "higher")
MEDIAN_LATENCY = Metric("median_latency", "s", "lower")
P99_LATENCY = Metric("p99_latency", "s", "lower")
WORST_LATENCY = Metric("worst_latency", "s", "lower")
SYNC_MEDIAN = Metric("sync_median", "s", "lower")
"""Of fsync or fdatasync alone, without the write before it, as are the next two."""
SYNC_P99 = Metric("sync_p99", "s", "lower")
SYNC_P999 = Metric("sync_p999", "s", "lower")
FSYNC_MEDIAN = Metric("fsync_median", "s", "lower")
"""Of a small save with fsync while a large file is written."""
FSYNC_WORST = Metric("fsync_worst", "s", "lower")
BYTES_WRITTEN = Metric("bytes_written", "B", "lower")
"""What the program wrote, to be set against what the device wrote."""
WORST_STALL = Metric("worst_stall", "s", "lower")
"""Longest time in which the program, or the disk at the end, got nowhere, seen four times a second."""
DEVICE_WRITTEN = Metric("device_written", "B", "lower")
"""What the kernel counted on the block device, as are the next two."""
DEVICE_READ = Metric("device_read", "B", "lower")
TRIAL_WRITTEN = Metric("trial_written", "B", "lower")
"""The same of a whole trial: mkfs, what workloads prepare, and unmounting included."""
BARE_WRITTEN = Metric("bare_written", "B", "lower")
"""The same of a round's sample of the device without a filesystem."""
USED = Metric("used", "B", "lower")
"""Room taken on the filesystem once the workload is done, its own structures included."""
MKFS_TIME = Metric("mkfs_time", "s", "lower")
PREALLOCATION_TIME = Metric("preallocation_time", "s", "lower")
"""Of the file-server mix: making the files that exist before it begins, until they are on the disk."""
CPU = Metric("cpu", "s", "lower")
"""User and system time of the measured program and its children."""
LATE_RATE = Metric("late_rate", "1", "higher")
"""Rate of writing in the last third of a job, as a share of that in its first third."""
DIRECT_CACHED = Metric("direct_cached", "1", "lower")
"""Share of a direct write (O_DIRECT) that was in memory meanwhile; of a candidate, once in a run."""
MOST_CACHED = 0.1
"""Of a direct write that is direct; edges of blocks may go through the page cache."""
UNPLUG_TIME = Metric("unplug_time", "s", "lower")
"""Of a cell: what writing back took after each workload, and the unmount. In directories the last write back alone."""
SHARE_DONE = Metric("share_done", "1", "higher")
"""Of the work, where it was ended because the candidate took several times as long as the baseline."""
FIRST_LOOK_RATE = Metric("first_look_rate", "B/s", "higher")
"""What a candidate reached in the first look before the rounds, until it was on the disk. It counts for nothing."""
RATE_IN_MEMORY = Metric("rate_in_memory", "1/s", "higher")
"""What a workload that this program carries out itself reaches where no disk holds it back."""
BUILT_IN_RATES = (OPERATION_RATE, FILE_RATE)
"""What that is compared with."""

LATENCIES = (MEDIAN_LATENCY, P99_LATENCY, WORST_LATENCY)
SYNCS = (SYNC_MEDIAN, SYNC_P99, SYNC_P999)


def is_stall(metric: str) -> bool:
    """Whether it is the longest wait of a program, of a disk, or of one kind of operation."""
    return metric.endswith((WORST_LATENCY.name, WORST_STALL.name))
