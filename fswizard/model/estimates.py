"""How long a job takes and how much it writes, before anybody has measured anything.

The figures stand for an ordinary SATA SSD, unless they are asked for on another kind of disk. What an engine alone
needs stands with it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from fswizard.model.recipe import Job, Pace

if TYPE_CHECKING:
    from fswizard.model.filesystem import Filesystem

SEQUENTIAL_BYTES_PER_S = 400e6
FILES_MADE_PER_S = 15_000
LARGE_BYTES = 4 << 40
"""From here on a filesystem is of the type `big` (mke2fs.conf(5))."""
REMOUNT_S = 0.1
TRIAL_OVERHEAD_S = 0.5
"""Wipe, mkfs, mount, write back, umount and check."""
BARE_SHARE = 0.1
"""Of what the candidates of a round take, so much goes to the device without a filesystem."""
SLOWER = {"hdd": 3.0, "flash-card": 5.0, "nvme": 0.7, "virtual": 0.7}
"""How many times as long as an ordinary SATA SSD such a disk takes for work that has no duration of its own. Most of it
is the processor's, so that a much faster disk saves a third: seven recipes took 0.58 to 0.95 on a virtual one."""
SSD = Pace(450e6, 70_000, 60e-6)
PACES = {
    "hdd": Pace(150e6, 180, 100e-6),
    "ssd": SSD,
    "nvme": Pace(2e9, 150_000, 30e-6),
    "flash-card": Pace(30e6, 500, 1e-3),
    "virtual": Pace(1.2e9, 20_000, 100e-6),
}
"""How fast disks of a kind write below a filesystem, somewhat less than their makers state: Samsung 870 EVO 530 MB/s
and 88,000 writes a second, 970 EVO Plus 3,300 MB/s and more writes than one program asks for; cards of the classes V30
and A1 30 MB/s and 500 writes a second (SD Association); a virtual disk as measured on one."""

BUFFERED_DIRECT_SHARE = 0.25
"""Of what a timed job writes directly, so much where the filesystem takes it through memory, synchronously: Btrfs wrote
0.16 to 0.25 of what ext4 did in blocks of 16 KiB and 1 MiB, and less in smaller ones."""

LEAST_MEMORY_BYTES = 256 << 20
"""With less, programs such as git and borg begin to run out of memory."""


def expected_s(job: Job, *, prepares: bool = True) -> float:
    """Duration in seconds; without `prepares`, what it works on is there already."""
    cost = job.cost
    return (cost.prepare_s if prepares else cost.always_s) + cost.measure_s + REMOUNT_S


def writes_bytes(job: Job, *, prepares: bool = True) -> int:
    """Bytes that the programs write."""
    cost = job.cost
    return (cost.prepare_bytes if prepares else cost.always_bytes) + cost.measure_bytes


def on_disk_s(job: Job, seconds: float, slower: float) -> float:
    """How long a job that takes `seconds` on an ordinary SSD takes on a disk that is `slower` times as slow."""
    given_s = min(seconds, job.seconds)
    return given_s + (seconds - given_s) * slower


def timed_bytes(job: Job, kind: str) -> int:
    """What a job writes while it is measured on a kind of disk; 0 where not time ends it but the work."""
    return job.timed_bytes(PACES.get(kind, SSD)) or 0


def made_bytes(filesystem: Filesystem, size_bytes: int) -> int:
    """What making a filesystem writes: a small one has a smaller journal, and a large one half as many inodes."""
    share_bytes = int(filesystem.made_share * size_bytes / (2 if size_bytes >= LARGE_BYTES else 1))
    return min(share_bytes, filesystem.made_share_bytes or share_bytes) + min(filesystem.made_bytes, size_bytes // 32)


def trial_overhead_s(kind: str, made_bytes: float = 0.0) -> float:
    """What a trial takes on a kind of disk beside its workloads, where making a candidate writes so much."""
    return TRIAL_OVERHEAD_S * SLOWER.get(kind, 1.0) + made_bytes / PACES.get(kind, SSD).bytes_per_s


def filling_s(image_bytes: int, kind: str) -> float:
    """The duration of writing a whole scratch image on a kind of disk."""
    return image_bytes / PACES.get(kind, SSD).bytes_per_s


def memory_limit_bytes(jobs: Iterable[Job], memory_bytes: int) -> int:
    """What buffered jobs are given of a machine's memory: a quarter of their data, in whole MiB, and enough to run.

    0, for no limit, where there are none, or where their data are twice the memory anyway.
    """
    buffered = [job for job in jobs if not job.direct]
    limit_bytes = max(LEAST_MEMORY_BYTES, (room(buffered) // 4) >> 20 << 20)
    return limit_bytes if buffered and 2 * limit_bytes < memory_bytes else 0


def brought(jobs: Iterable[Job]) -> int:
    """Bytes that the jobs of a recipe take together in the scratch directory, outside what is measured."""
    return sum({name: size for job in jobs for name, size in job.brings}.values())


def least_image_bytes(jobs: Iterable[Job]) -> float:
    """What a filesystem must have for the jobs of a recipe: a fifth of it stays free."""
    return room(jobs) / 0.8


def room(jobs: Iterable[Job]) -> int:
    """Bytes that the jobs of a recipe take together at the end."""
    return sum({name: size for job in jobs for name, size in job.leaves}.values())
