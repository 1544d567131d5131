"""How long a job takes and how much it writes, before anybody has measured anything.

The figures stand for an ordinary SATA SSD. Where time decides how much is written, the bytes are those
of a fast NVMe disk, so that the wear told beforehand is not exceeded.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from fswizard.model.recipe import (
    BackupJob,
    FileServerJob,
    FioJob,
    Job,
    OverflowJob,
    RsyncJob,
    SqliteJob,
    TreeJob,
)

SEQUENTIAL_BYTES_PER_S = 400e6
RANDOM_OPERATIONS_PER_S = 20_000
FILES_MADE_PER_S = 15_000
FILES_COPIED_PER_S = 6_000
FILES_DELETED_PER_S = 14_000
FILES_LOOKED_AT_PER_S = 14_000
FILES_READ_PER_S = 6_000
FILES_UNPACKED_PER_S = 25_000
FILES_SYNCED_PER_S = 1_000
DELETED_BYTES_PER_S = 8e9
FILES_COMMITTED_PER_S = 8_000
COMMITTED_BYTES_PER_S = 60e6
"""Of git, which compresses."""
BACKED_UP_BYTES_PER_S = 350e6
"""Of borg, which cuts into pieces, hashes and compresses."""
BORG_START_S = 0.7
FILES_BACKED_UP_PER_S = 6_000
LEFT_BY_COMPRESSION = 0.52
"""Of generated files."""
CHANGED_SHARE = 0.05
"""Of the second copy that is backed up."""
TRANSACTIONS_PER_S = {"wal": 1_200, "delete": 500}
TRANSACTION_BYTES = {"wal": 26_000, "delete": 80_000}
"""With SQLite's journal and the filesystem's."""
BYTES_BESIDE_A_FILE = 6_144
"""Half a block that stays empty, and what the filesystem notes about it, in its journal too."""
BYTES_OF_AN_FSYNC = 32_768
INODE_BYTES = 256
"""What an access time rewrites, at least."""
FASTEST_BYTES_PER_S = 3.5e9
FASTEST_OPERATIONS_PER_S = 100_000
FIO_START_S = 0.3
"""fio needs so long to start and stop."""
REMOUNT_S = 0.1
TRIAL_OVERHEAD_S = 0.5
"""Wipe, mkfs, mount, write back, umount and check."""
PRECREATED_SHARE = 0.8
"""Share of the file server's files that exist before it starts."""
SLOWER = {"hdd": 3.0, "flash-card": 5.0}
"""So many times as long as an ordinary SATA SSD such a disk takes for what has no time of its own."""
FILLED_BYTES_PER_S = {"hdd": 150e6, "ssd": 400e6, "nvme": 1e9, "flash-card": 40e6}
"""Writing a scratch image once, from end to end."""
FILLED_BYTES_PER_S_ELSE = 400e6
FASTEST_WRITTEN_BYTES_PER_S = {"hdd": 280e6, "ssd": 560e6, "flash-card": 300e6}
"""What the interface or the platters allow at most: bounds what a timed workload can write."""
FASTEST_WRITTEN_BYTES_PER_S_ELSE = 2e9


@dataclass(frozen=True, slots=True)
class _Cost:
    """Of a job: the seconds it takes and the bytes it writes, before and while it is measured."""

    prepare_s: float
    measure_s: float
    prepare_bytes: int
    measure_bytes: int
    always_s: float = 0.0
    """Of the preparation, what no earlier job does for it."""
    always_bytes: int = 0


def expected_s(job: Job, *, prepares: bool = True) -> float:
    """Duration in seconds; without `prepares`, what it works on is there already."""
    cost = _cost(job)
    return (cost.prepare_s if prepares else cost.always_s) + cost.measure_s + REMOUNT_S


def writes_bytes(job: Job, *, prepares: bool = True) -> int:
    """Bytes that the programs write: at most so many where time decides."""
    cost = _cost(job)
    return (cost.prepare_bytes if prepares else cost.always_bytes) + cost.measure_bytes


def on_disk_s(job: Job, seconds: float, kind: str) -> float:
    """The duration on a kind of disk (see `Drive.kind`) of a job that takes so many seconds on an ordinary SSD."""
    given_s = min(seconds, 0.0 if isinstance(job, (TreeJob, BackupJob, RsyncJob, SqliteJob)) else job.seconds)
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


def preparation_s(job: Job) -> float:
    """Duration of laying out what the job works on, in seconds."""
    return _cost(job).prepare_s


def measured_s(job: Job) -> float:
    """Duration of the measured part, in seconds."""
    return _cost(job).measure_s


def room(jobs: Iterable[Job]) -> int:
    """Bytes that the jobs of a recipe take together at the end."""
    return sum({name: size for job in jobs for name, size in _leaves(job)}.values())


def _cost(job: Job) -> _Cost:
    if isinstance(job, OverflowJob):
        job = job.fio
    if isinstance(job, FioJob):
        return _fio(job)
    if isinstance(job, TreeJob):
        return _tree(job)
    if isinstance(job, FileServerJob):
        return _file_server(job)
    if isinstance(job, BackupJob):
        return _backup(job)
    if isinstance(job, RsyncJob):
        return _rsync(job)
    each_bytes = TRANSACTION_BYTES[job.journal]
    return _Cost(0.0, job.transactions / TRANSACTIONS_PER_S[job.journal], 0, job.transactions * each_bytes)


def _fio(job: FioJob) -> _Cost:
    rate = SEQUENTIAL_BYTES_PER_S if not job.random else RANDOM_OPERATIONS_PER_S * job.block_bytes
    measure_s = job.seconds or job.size_bytes * job.jobs / min(rate, SEQUENTIAL_BYTES_PER_S)
    fastest = min(FASTEST_BYTES_PER_S, FASTEST_OPERATIONS_PER_S * job.block_bytes)
    most_bytes = int(job.seconds * fastest * (0.5 if job.rw == "randrw" else 1)) or job.size_bytes * job.jobs
    prepare_s, prepare_bytes = job.size_bytes / SEQUENTIAL_BYTES_PER_S + FIO_START_S, job.size_bytes
    if job.makes_its_file:
        prepare_s, prepare_bytes = 0.0, 0
    return _Cost(prepare_s, measure_s + FIO_START_S, prepare_bytes, most_bytes if job.writes else 0)


def _tree(job: TreeJob) -> _Cost:
    made_s, copied_s = _files_s(job, FILES_MADE_PER_S), _copied_s(job)
    packed_s = _files_s(job, FILES_READ_PER_S)
    committed_s = job.files / FILES_COMMITTED_PER_S + job.total_bytes / COMMITTED_BYTES_PER_S
    looked_at_s = job.files / FILES_LOOKED_AT_PER_S
    deleted_s = job.files / FILES_DELETED_PER_S + job.total_bytes / DELETED_BYTES_PER_S
    prepare_s, measure_s = {
        "copy": (made_s, copied_s),
        "delete": (made_s + copied_s, deleted_s),
        "tar": (made_s, packed_s),
        "untar": (made_s + packed_s, _files_s(job, FILES_UNPACKED_PER_S)),
        "git-status": (made_s + committed_s, looked_at_s),
        "install": (0.0, _files_s(job, FILES_SYNCED_PER_S)),
        "read": (made_s, packed_s),
    }.get(job.operation, (made_s, looked_at_s))
    tree_bytes = _tree_bytes(job)
    prepare_bytes = {
        "install": 0,
        "delete": 2 * tree_bytes,
        "untar": tree_bytes + job.total_bytes,
        "git-status": int((1 + LEFT_BY_COMPRESSION) * tree_bytes + job.files * BYTES_BESIDE_A_FILE / 2),
    }.get(job.operation, tree_bytes)
    measure_bytes = {
        "copy": tree_bytes,
        "untar": tree_bytes,
        "tar": job.total_bytes,
        "install": tree_bytes + job.files * BYTES_OF_AN_FSYNC,
    }.get(job.operation, 0)
    return _Cost(prepare_s, measure_s, prepare_bytes, measure_bytes)


def _file_server(job: FileServerJob) -> _Cost:
    prepare_bytes = int(job.files * PRECREATED_SHARE * job.mean_file_bytes)
    prepare_s = prepare_bytes / SEQUENTIAL_BYTES_PER_S + job.files * PRECREATED_SHARE / FILES_MADE_PER_S
    # What was written in the given time goes to the disk afterwards.
    return _Cost(prepare_s, job.seconds * 1.5, prepare_bytes, int(job.seconds * FASTEST_BYTES_PER_S / 2))


def _backup(job: BackupJob) -> _Cost:
    made_s, tree_bytes = _files_s(job, FILES_MADE_PER_S), _tree_bytes(job)
    archived_s = BORG_START_S + job.files / FILES_BACKED_UP_PER_S + job.total_bytes / BACKED_UP_BYTES_PER_S
    archive_bytes = int(job.total_bytes * LEFT_BY_COMPRESSION)
    first = _Cost(made_s + BORG_START_S, archived_s, tree_bytes, archive_bytes, BORG_START_S)
    if job.archive == "first":
        return first
    before_s, before_bytes = first.prepare_s + first.measure_s + made_s, 2 * tree_bytes + archive_bytes
    return _Cost(before_s, archived_s, before_bytes, int(archive_bytes * CHANGED_SHARE), made_s, tree_bytes)


def _rsync(job: RsyncJob) -> _Cost:
    made_s, tree_bytes = _files_s(job, FILES_MADE_PER_S), _tree_bytes(job)
    if job.direction == "from":
        return _Cost(made_s, _copied_s(job), tree_bytes, job.files * INODE_BYTES, made_s, tree_bytes)
    return _Cost(made_s, _files_s(job, FILES_COPIED_PER_S), 0, tree_bytes)  # the source is made once in a run


def _copied_s(job: TreeJob | RsyncJob) -> float:
    """What is copied is read as well."""
    return _files_s(job, FILES_COPIED_PER_S) + job.total_bytes / SEQUENTIAL_BYTES_PER_S


def _tree_bytes(job: TreeJob | RsyncJob | BackupJob) -> int:
    return job.total_bytes + job.files * BYTES_BESIDE_A_FILE


def _files_s(job: TreeJob | RsyncJob | BackupJob, files_per_s: float) -> float:
    return job.total_bytes / SEQUENTIAL_BYTES_PER_S + job.files / files_per_s


def _leaves(job: Job) -> Iterator[tuple[object, int]]:
    """Names and sizes of what a job leaves behind; jobs that share it give the same name."""
    if isinstance(job, OverflowJob):
        job = job.fio
    if isinstance(job, FioJob):
        yield job.size_bytes, job.size_bytes
    elif isinstance(job, FileServerJob):
        yield job, int(job.files * (job.mean_file_bytes + job.mean_append_bytes))
    elif isinstance(job, SqliteJob):
        yield job, job.transactions * TRANSACTION_BYTES[job.journal]
    else:
        for part in _parts(job):
            yield (part, type(job), job.files, job.total_bytes), _tree_bytes(job)


def _parts(job: TreeJob | RsyncJob | BackupJob) -> tuple[str, ...]:
    """What there is of a tree when the job is done, each as large as the tree."""
    if isinstance(job, RsyncJob):
        return (f"{job.shape} {job.direction}",)
    if isinstance(job, BackupJob):
        return ("source", "repository") if job.archive == "first" else ("source", "second copy", "repository")
    more = {"delete": ("copy",), "untar": ("tar", "untar"), "find": (), "du": (), "read": ()}
    alone = {"git-status": ("work tree", "objects"), "install": ("installed",)}
    parts = alone.get(job.operation, ("tree", *more.get(job.operation, (job.operation,))))
    return tuple(f"{job.shape} {part}" for part in parts)
