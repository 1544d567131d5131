"""Metrics of several engines, or used outside engines. Metrics of a single engine are defined with it."""

from __future__ import annotations

from typing import Literal

from fswizard.model.frozen import frozen

Better = Literal["higher", "lower"]


@frozen
class Metric:
    """A figure that workloads yield."""

    name: str
    """Stable name, such as `throughput` or `worst_latency`."""
    unit: str
    """SI base: `B/s`, `1/s`, `s`, `B`, `1` for ratios."""
    better: Better


THROUGHPUT = Metric("throughput", "B/s", "higher")
IOPS = Metric("iops", "1/s", "higher")
DURATION = Metric("duration", "s", "lower")
"""Duration of programs and the following sync, until all is on the disk, which matters if the disk is unplugged or put
away."""
RETURNED = Metric("returned", "s", "lower")
"""Duration of the programs alone, until they return: the wait of a desktop user."""
OPERATION_RATE = Metric("operation_rate", "1/s", "higher")
MEDIAN_LATENCY = Metric("median_latency", "s", "lower")
P99_LATENCY = Metric("p99_latency", "s", "lower")
WORST_LATENCY = Metric("worst_latency", "s", "lower")
SYNC_MEDIAN = Metric("sync_median", "s", "lower")
"""Of fsync or fdatasync alone, without the preceding write; so are the next two."""
SYNC_P99 = Metric("sync_p99", "s", "lower")
SYNC_P999 = Metric("sync_p999", "s", "lower")
FSYNC_MEDIAN = Metric("fsync_median", "s", "lower")
"""Of a small save with fsync while a large file is being written."""
FSYNC_WORST = Metric("fsync_worst", "s", "lower")
BYTES_WRITTEN = Metric("bytes_written", "B", "lower")
"""Bytes written by the program, to compare with those written by the device."""
WORST_STALL = Metric("worst_stall", "s", "lower")
"""Longest time without progress of the program, or of the disk at the end, sampled four times a second."""
DEVICE_WRITTEN = Metric("device_written", "B", "lower")
"""Counted by the kernel on the block device; so are the next two."""
TRIAL_WRITTEN = Metric("trial_written", "B", "lower")
"""Bytes written by the device in a whole trial: mkfs, preparation of workloads, and unmounting included."""
BARE_WRITTEN = Metric("bare_written", "B", "lower")
"""Bytes written by the device for a round's sample of the bare device."""
USED = Metric("used", "B", "lower")
"""Space used on the filesystem after the workload, its own structures included."""
MKFS_TIME = Metric("mkfs_time", "s", "lower")
PREALLOCATION_TIME = Metric("preallocation_time", "s", "lower")
"""File-server mix: time to create the initial files, until they are on the disk."""
CPU = Metric("cpu", "s", "lower")
"""User and system time of the measured program and its children."""
LATE_RATE = Metric("late_rate", "1", "higher")
"""Write rate in the last third of a job, as a share of that in its first third."""
DIRECT_CACHED = Metric("direct_cached", "1", "lower")
"""Share of a direct write (O_DIRECT) that was cached in memory while it was written; measured once per candidate and
run."""
MOST_CACHED = 0.1
"""Upper limit for a write that is direct; edges of blocks may go through the page cache."""
UNPLUG_TIME = Metric("unplug_time", "s", "lower")
"""Of a cell: writing back after each workload, plus the unmount. In directories only the last write-back."""
SHARE_DONE = Metric("share_done", "1", "higher")
"""Completed share of the work, if it was stopped because the candidate took several times as long as the baseline."""
FIRST_LOOK_RATE = Metric("first_look_rate", "B/s", "higher")
"""Rate of a candidate in the first look before the rounds, until the data were on the disk. Never part of the result.
"""

LATENCIES = (MEDIAN_LATENCY, P99_LATENCY, WORST_LATENCY)
SYNCS = (SYNC_MEDIAN, SYNC_P99, SYNC_P999)
STALLS = (WORST_LATENCY.name, WORST_STALL.name)
"""Ends of the names of the longest waits, some of which are of one kind of operation."""
