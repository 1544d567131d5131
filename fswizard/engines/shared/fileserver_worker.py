"""The file-server mix, worked by several processes: a program of the standard library alone, run where it is measured.

    fileserver_worker.py prepare|run DIRECTORY WORKERS FILES MEAN_FILE MEAN_APPEND SECONDS SEED
    fileserver_worker.py fill DIRECTORY PERCENT

Each loop of a worker creates a file and writes it whole, appends to another, reads one whole, deletes one and asks
for the status of one: eleven operations, as in filebench's `fileserver`. Every worker has its own files, spread over
directories that all share. Standard output is one JSON object a line, four in a second, the last one the result.
`fill` writes files into DIRECTORY until PERCENT of what its filesystem offers to users is taken, as `df` counts.

Latencies are counted in buckets of a sixteenth of an octave, so percentiles are exact to 4.5 %; the worst is exact.
Content is random and does not compress.
"""

from __future__ import annotations

import ctypes
import errno
import gc
import json
import math
import mmap
import multiprocessing
import os
import random
import sys
import time
from collections import Counter
from collections.abc import Iterable
from multiprocessing import connection
from typing import Any

NAMES = ("create", "write", "append", "read", "open", "close", "delete", "stat")
IO_BYTES = 1 << 20
DIRECTORY_WIDTH = 20
GAMMA = 1.5
"""Shape of the gamma distribution of file sizes, filebench's default."""
PRECREATED_FIFTHS = 4
"""Number of files out of five that exist before the run."""
EMIT_S = 0.25
START_S = 0.005
"""Time for each worker to get ready, until all begin at once."""
FILLING_SEED = 8_000_003
FILLING_BYTES = 8 << 20
BUCKETS_IN_OCTAVE = 16


class Options:
    """Arguments of the command line."""

    def __init__(self, arguments: list[str]) -> None:
        self.directory = arguments[0]
        self.workers, self.files, self.mean_file, self.mean_append = (int(word) for word in arguments[1:5])
        self.seconds = float(arguments[5])
        self.seed = int(arguments[6])

    def path(self, number: int) -> str:
        """Path of a file, in a tree in which every directory has about twenty entries."""
        parts, rest = [f"file-{number:08d}"], number // DIRECTORY_WIDTH
        for _ in range(max(0, math.ceil(math.log(max(2, self.files), DIRECTORY_WIDTH)) - 1)):
            rest, digit = divmod(rest, DIRECTORY_WIDTH)
            parts.append(f"{digit:02d}")
        return os.path.join(self.directory, *reversed(parts))

    def size(self, dice: random.Random) -> int:
        return int(dice.gammavariate(GAMMA, self.mean_file / GAMMA)) or 1

    def exists_at_first(self, number: int) -> bool:
        return number // self.workers % 5 < PRECREATED_FIFTHS


def emit(**what: object) -> None:
    print(json.dumps(what), flush=True)


def noise(seed: int) -> memoryview:
    dice = random.Random(seed)
    return memoryview(dice.getrandbits(8 * 2 * IO_BYTES).to_bytes(2 * IO_BYTES, "little"))


def write_whole(descriptor: int, size: int, content: memoryview, offset: int) -> None:
    while size > 0:
        size -= os.write(descriptor, content[offset : offset + min(size, IO_BYTES)])


def read_whole(descriptor: int, buffer: bytearray) -> None:
    while os.readv(descriptor, [buffer]):
        pass


def prepare(options: Options) -> None:
    """Create the directories and four fifths of the files."""
    dice, content, emitted = random.Random(options.seed), noise(options.seed), 0.0
    for number in range(options.files):
        path = options.path(number)
        if number % DIRECTORY_WIDTH == 0:
            os.makedirs(os.path.dirname(path), exist_ok=True)
        if options.exists_at_first(number):
            descriptor = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o644)
            write_whole(descriptor, options.size(dice), content, dice.randrange(IO_BYTES))
            os.close(descriptor)
        if time.monotonic() - emitted > EMIT_S:
            emitted = time.monotonic()
            emit(fraction=number / options.files)


def taken(directory: str) -> tuple[int, int]:
    """Bytes in use on the filesystem, and all that users could have."""
    room = os.statvfs(directory)
    used = (room.f_blocks - room.f_bfree) * room.f_frsize
    return used, used + room.f_bavail * room.f_frsize


def fill(directory: str, percent: int) -> None:
    """Write files of 8 MiB and a last, smaller one."""
    os.makedirs(directory, exist_ok=True)
    dice, content = random.Random(FILLING_SEED), noise(FILLING_SEED)
    begun, whole = taken(directory)
    goal, number, full = whole * percent // 100, len(os.listdir(directory)), False
    while (used := taken(directory)[0]) < goal:
        path = f"{directory}/file-{number:06d}"
        try:
            with open(path, "xb", buffering=0) as file:
                size = min(FILLING_BYTES, max(4096, goal - used))
                write_whole(file.fileno(), size, content, dice.randrange(IO_BYTES))
                os.fsync(file.fileno())  # before that the filesystem may not count the space
            full = False
            number += 1
            emit(fraction=min(1.0, (used - begun) / max(1, goal - begun)))
        except OSError as error:
            if error.errno != errno.ENOSPC or full:
                raise
            with open(path, "rb") as file:
                ctypes.CDLL(None).syncfs(file.fileno())  # Btrfs gives back what was deleted before
            os.unlink(path)
            full = True


class Tally:
    """Latencies of operations in nanoseconds."""

    def __init__(self) -> None:
        self.buckets = Counter[int]()
        self.sum = self.worst = 0

    @classmethod
    def together(cls, tallies: Iterable[Tally]) -> Tally:
        whole = cls()
        for tally in tallies:
            whole.buckets.update(tally.buckets)
            whole.sum += tally.sum
            whole.worst = max(whole.worst, tally.worst)
        return whole

    def summary(self) -> dict[str, float]:
        """Count, and latencies in seconds."""
        count = self.buckets.total()
        return {
            "count": count,
            "mean_s": self.sum / max(1, count) / 1e9,
            "median_s": min(self.percentile(0.5), self.worst) / 1e9,
            "p99_s": min(self.percentile(0.99), self.worst) / 1e9,
            "worst_s": self.worst / 1e9,
        }

    def percentile(self, share: float) -> float:
        """Middle of the bucket in which it lies."""
        wanted, seen = share * self.buckets.total(), 0
        for bucket, count in sorted(self.buckets.items()):
            seen += count
            if seen >= wanted:
                return float(2 ** ((bucket + 0.5) / BUCKETS_IN_OCTAVE))
        return 0.0


class Worker:
    """One process; `shared` is memory that the parent reads: the number of operations done, and the worst latency."""

    def __init__(self, number: int, options: Options, shared: memoryview, content: memoryview) -> None:
        self.options, self.shared, self.content = options, shared, content
        self.dice = random.Random(f"{options.seed} {number}")
        self.buffer = bytearray(IO_BYTES)
        mine = range(number, options.files, options.workers)
        self.paths = {file: options.path(file) for file in mine}
        self.present = [file for file in mine if options.exists_at_first(file)]
        self.absent = [file for file in mine if not options.exists_at_first(file)]
        self.tallies = {name: Tally() for name in NAMES}
        self.written = 0

    def work(self, start_ns: int, answer: connection.Connection) -> None:
        """Loop until the time is up; eleven operations, in filebench's order, cut short at the end."""
        parent, deadline_ns = os.getppid(), start_ns + int(self.options.seconds * 1e9)
        steps = (self.create, self.append, self.read, self.delete, self.stat)
        time.sleep(max(0.0, (start_ns - time.monotonic_ns()) / 1e9))
        try:
            while time.monotonic_ns() < deadline_ns and os.getppid() == parent:
                for step in steps:
                    step()
                    if time.monotonic_ns() >= deadline_ns:
                        break
        except OSError as error:
            answer.send(error)
        else:
            answer.send((time.monotonic_ns(), self.written, self.tallies))

    def create(self) -> None:
        number = self.take(self.absent)
        size, offset = self.options.size(self.dice), self.below(IO_BYTES)
        descriptor = self.timed("create", os.open, self.paths[number], os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o644)
        self.timed("write", write_whole, descriptor, size, self.content, offset)
        self.timed("close", os.close, descriptor)
        self.written += size
        self.present.append(number)

    def append(self) -> None:
        path, size = self.any_path(), 1 + self.below(2 * self.options.mean_append - 1)
        offset = self.below(IO_BYTES)
        descriptor = self.timed("open", os.open, path, os.O_WRONLY | os.O_APPEND)
        self.timed("append", write_whole, descriptor, size, self.content, offset)
        self.timed("close", os.close, descriptor)
        self.written += size

    def read(self) -> None:
        descriptor = self.timed("open", os.open, self.any_path(), os.O_RDONLY)
        self.timed("read", read_whole, descriptor, self.buffer)
        self.timed("close", os.close, descriptor)

    def delete(self) -> None:
        number = self.take(self.present)
        self.timed("delete", os.unlink, self.paths[number])
        self.absent.append(number)

    def stat(self) -> None:
        self.timed("stat", os.stat, self.any_path())

    def take(self, files: list[int]) -> int:
        at = self.below(len(files))
        files[at], files[-1] = files[-1], files[at]
        return files.pop()

    def any_path(self) -> str:
        return self.paths[self.present[self.below(len(self.present))]]

    def below(self, bound: int) -> int:
        """A random number from 0 to below `bound`; `randrange` would take five times as long."""
        return int(self.dice.random() * bound)

    def timed(self, operation: str, call: Any, *arguments: Any) -> Any:
        """Do one operation and count it."""
        started_ns = time.monotonic_ns()
        answer = call(*arguments)
        passed_ns = time.monotonic_ns() - started_ns
        tally = self.tallies[operation]
        tally.buckets[int(math.log2(passed_ns or 1) * BUCKETS_IN_OCTAVE)] += 1
        tally.sum += passed_ns
        if passed_ns > tally.worst:
            tally.worst = passed_ns
            self.shared[1] = max(self.shared[1], passed_ns)
        self.shared[0] += 1
        return answer


def run(options: Options) -> None:
    """Start the workers together, and print their progress and then their figures."""
    shared = memoryview(mmap.mmap(-1, 16 * options.workers)).cast("q")
    content, fork = noise(options.seed), multiprocessing.get_context("fork")
    workers = [
        Worker(number, options, shared[2 * number : 2 * number + 2], content) for number in range(options.workers)
    ]
    gc.freeze()  # or each process would copy what the others work on as soon as it collects garbage
    start_ns = time.monotonic_ns() + int(options.workers * START_S * 1e9)
    processes: dict[Any, Any] = {}
    for worker in workers:
        answer, mine = fork.Pipe(duplex=False)
        process = fork.Process(target=worker.work, args=(start_ns, mine), daemon=True)
        process.start()
        mine.close()
        processes[answer] = process
    results: list[Any] = []
    while processes:
        passed_s = max(0.0, (time.monotonic_ns() - start_ns) / 1e9)
        emit(
            fraction=min(1.0, passed_s / options.seconds), seconds=passed_s,
            operations=sum(shared[0::2]), worst_s=max(shared[1::2]) / 1e9,
        )  # fmt: skip
        ended: list[Any] = connection.wait(list(processes), EMIT_S)
        for ready in ended:
            process = processes.pop(ready)
            try:
                results.append(ready.recv())
            except EOFError:
                process.join()
                sys.exit(f"a worker was killed by signal {-process.exitcode}")  # and the others with this program
            if isinstance(results[-1], OSError):
                raise results[-1]
    ends, written, tallies = zip(*results)
    by_operation = {name: Tally.together(each[name] for each in tallies) for name in NAMES}
    everything = Tally.together(by_operation.values())
    emit(
        elapsed_s=(max(ends) - start_ns) / 1e9,
        operations=everything.buckets.total(),
        bytes_written=sum(written),
        all=everything.summary(),
        by_operation={name: tally.summary() for name, tally in by_operation.items()},
    )


def main() -> None:
    try:
        if sys.argv[1] == "fill":
            fill(sys.argv[2], int(sys.argv[3]))
        elif sys.argv[1] == "run":
            run(Options(sys.argv[2:]))
        else:
            prepare(Options(sys.argv[2:]))
    except OSError as error:
        emit(error=error.errno)
        sys.exit(1)


if __name__ == "__main__":
    main()
