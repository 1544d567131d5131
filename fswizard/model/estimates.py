"""How long a job takes and how much it writes, before anybody has measured anything.

The figures stand for an ordinary SATA SSD. Where time decides how much is written, the bytes are those
of a fast NVMe disk, so that the wear told beforehand is not exceeded. What an engine alone needs stands with it.
"""

from __future__ import annotations

from collections.abc import Iterable

from fswizard.model.recipe import Job

SEQUENTIAL_BYTES_PER_S = 400e6
FILES_MADE_PER_S = 15_000
FASTEST_BYTES_PER_S = 3.5e9
REMOUNT_S = 0.1
TRIAL_OVERHEAD_S = 0.5
"""Wipe, mkfs, mount, write back, umount and check."""
SLOWER = {"hdd": 3.0, "flash-card": 5.0}
"""So many times as long as an ordinary SATA SSD such a disk takes for what has no time of its own."""
FILLED_BYTES_PER_S = {"hdd": 150e6, "ssd": 400e6, "nvme": 1e9, "flash-card": 40e6}
"""Writing a scratch image once, from end to end."""
FILLED_BYTES_PER_S_ELSE = 400e6
FASTEST_WRITTEN_BYTES_PER_S = {"hdd": 280e6, "ssd": 560e6, "flash-card": 300e6}
"""What the interface or the platters allow at most: bounds what a timed workload can write."""
FASTEST_WRITTEN_BYTES_PER_S_ELSE = 2e9

LEAST_MEMORY_BYTES = 256 << 20
"""With less, programs such as git and borg begin to run out of memory."""


def expected_s(job: Job, *, prepares: bool = True) -> float:
    """Duration in seconds; without `prepares`, what it works on is there already."""
    cost = job.cost
    return (cost.prepare_s if prepares else cost.always_s) + cost.measure_s + REMOUNT_S


def writes_bytes(job: Job, *, prepares: bool = True) -> int:
    """Bytes that the programs write: at most so many where time decides."""
    cost = job.cost
    return (cost.prepare_bytes if prepares else cost.always_bytes) + cost.measure_bytes


def on_disk_s(job: Job, seconds: float, kind: str) -> float:
    """The duration on a kind of disk (see `Drive.kind`) of a job that takes so many seconds on an ordinary SSD."""
    given_s = min(seconds, job.seconds)
    return given_s + (seconds - given_s) * SLOWER.get(kind, 1.0)


def on_disk_bytes(writes_bytes: int, seconds: float, kind: str) -> int:
    """What reaches a kind of disk at most, of bytes that a workload writes which takes so many seconds on it."""
    rate = FASTEST_WRITTEN_BYTES_PER_S.get(kind, FASTEST_WRITTEN_BYTES_PER_S_ELSE)
    return min(writes_bytes, int(seconds * rate))


def trial_overhead_s(kind: str) -> float:
    """What a trial takes on a kind of disk beside its workloads."""
    return TRIAL_OVERHEAD_S * SLOWER.get(kind, 1.0)


def filling_s(image_bytes: int, kind: str) -> float:
    """The duration of writing a whole scratch image on a kind of disk."""
    return image_bytes / FILLED_BYTES_PER_S.get(kind, FILLED_BYTES_PER_S_ELSE)


def memory_limit_bytes(jobs: Iterable[Job], memory_bytes: int) -> int:
    """What buffered jobs are given of a machine's memory, so that their data do not fit into the page cache.

    0, which is no limit, where there are none, or where the data are twice the memory anyway.
    """
    buffered = [job for job in jobs if not job.direct]
    limit_bytes = max(LEAST_MEMORY_BYTES, room(buffered) // 4)
    return limit_bytes if buffered and 2 * limit_bytes < memory_bytes else 0


def room(jobs: Iterable[Job]) -> int:
    """Bytes that the jobs of a recipe take together at the end."""
    return sum({name: size for job in jobs for name, size in job.leaves}.values())
