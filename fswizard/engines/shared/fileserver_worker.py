"""The file-server mix, run by several processes. A standalone program without dependencies, run on the filesystem.

    fileserver_worker.py prepare|run DIRECTORY WORKERS FILES MEAN_FILE MEAN_APPEND SECONDS SEED
    fileserver_worker.py fill DIRECTORY PERCENT

Each loop of a worker creates a file and writes it whole, appends to another, reads one whole, deletes one and stats
one: eleven operations, as in filebench's `fileserver`. Every worker has a disjoint set of files, in directories that
all workers share. Standard output is one JSON object per line, four per second; the last one is the result. `fill`
writes files into DIRECTORY until PERCENT of the space available to users is taken, as counted by `df`.

Latencies are counted in buckets of a sixteenth of an octave, so percentiles are exact to 4.5 %; the worst is exact.
Content is random and does not compress.
"""

from __future__ import annotations

import ctypes
import errno
import json
import math
import os
import random
import shutil
import sys
import time
from collections import Counter
from multiprocessing import connection, get_context
from typing import Any

NAMES = ("create", "write", "append", "read", "open", "close", "delete", "stat")
IO_BYTES = 1 << 20
DIRECTORY_WIDTH = 20
GAMMA = 1.5
"""Shape of the gamma distribution of file sizes, filebench's default."""
PRECREATED_FIFTHS = 4
"""Number of files out of five that exist before the run."""
EMIT_S = 0.25
FILLING_SEED = 8_000_003
FILLING_BYTES = 8 << 20
BUCKETS_IN_OCTAVE = 16


class Options:
    """Command-line arguments."""

    def __init__(self, directory: str, *numbers: str) -> None:
        self.directory = directory
        self.workers, self.files, self.mean_file, self.mean_append = (int(number) for number in numbers[:4])
        self.seconds, self.seed = float(numbers[4]), int(numbers[5])

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
    dice, content = random.Random(options.seed), noise(options.seed)
    for number in range(options.files):
        path = options.path(number)
        if number % DIRECTORY_WIDTH == 0:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            emit(fraction=number / options.files)
        if options.exists_at_first(number):
            with open(path, "xb", buffering=0) as file:
                write_whole(file.fileno(), options.size(dice), content, dice.randrange(IO_BYTES))


def fill(directory: str, percent: int) -> None:
    """Write files of 8 MiB and a last, smaller one."""
    os.makedirs(directory, exist_ok=True)
    dice, content = random.Random(FILLING_SEED), noise(FILLING_SEED)
    begun = shutil.disk_usage(directory)
    goal, number, full = (begun.used + begun.free) * percent // 100, len(os.listdir(directory)), False
    while (used := shutil.disk_usage(directory).used) < goal:
        path = f"{directory}/file-{number:06d}"
        with open(path, "xb", buffering=0) as file:
            try:
                size = min(FILLING_BYTES, max(4096, goal - used))
                write_whole(file.fileno(), size, content, dice.randrange(IO_BYTES))
                os.fsync(file.fileno())  # before that the filesystem may not count the space
                full = False
            except OSError as error:
                if error.errno != errno.ENOSPC or full:
                    raise
                ctypes.CDLL(None).syncfs(file.fileno())  # Btrfs gives back what was deleted before
                full = True
        if full:
            os.unlink(path)
        else:
            number += 1
            emit(fraction=min(1.0, (used - begun.used) / max(1, goal - begun.used)))


class Worker:
    """One process. `done` is memory read by the parent, with the number of operations of each process."""

    def __init__(self, number: int, options: Options, done: memoryview, content: memoryview) -> None:
        self.number, self.options, self.done, self.content = number, options, done, content
        self.dice = random.Random(f"{options.seed} {number}")
        self.buffer = bytearray(IO_BYTES)
        mine = range(number, options.files, options.workers)
        self.paths = {file: options.path(file) for file in mine}
        self.present = [file for file in mine if options.exists_at_first(file)]
        self.absent = [file for file in mine if not options.exists_at_first(file)]
        self.buckets = Counter[int]()
        self.totals = {name: [0, 0, 0] for name in NAMES}
        """Count, sum and worst of the latencies of each operation, in nanoseconds."""
        self.written = 0

    def work(self, deadline_ns: int, parent: int) -> dict[str, Any]:
        """Loop until the deadline: eleven operations, in filebench's order, stopping between them when the time is
        up."""
        steps = (self.create, self.append, self.read, self.delete, self.stat)
        while time.monotonic_ns() < deadline_ns and os.getppid() == parent:
            for step in steps:
                step()
                if time.monotonic_ns() >= deadline_ns:
                    break
        ended_ns = time.monotonic_ns()
        return {"ended_ns": ended_ns, "written": self.written, "buckets": self.buckets, "totals": self.totals}

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
        """Run one operation and count it."""
        started_ns = time.monotonic_ns()
        answer = call(*arguments)
        passed_ns = time.monotonic_ns() - started_ns
        self.buckets[int(math.log2(passed_ns or 1) * BUCKETS_IN_OCTAVE)] += 1
        totals = self.totals[operation]
        totals[0] += 1
        totals[1] += passed_ns
        totals[2] = max(totals[2], passed_ns)
        self.done[self.number] += 1
        return answer


def run(options: Options) -> None:
    """Start the workers simultaneously, and print their progress and then their figures.

    If one of them fails or is killed, the others are stopped, too.
    """
    fork = get_context("fork")
    done = memoryview(fork.RawArray("q", options.workers)).cast("B").cast("q")
    content, parent, start = noise(options.seed), os.getpid(), fork.Event()

    def work(worker: Worker, pipe: connection.Connection) -> None:
        start.wait()
        pipe.send(worker.work(time.monotonic_ns() + int(options.seconds * 1e9), parent))

    processes = {}
    for worker in [Worker(number, options, done, content) for number in range(options.workers)]:
        pipe, theirs = fork.Pipe()
        processes[pipe] = fork.Process(target=work, args=(worker, theirs), daemon=True)
        processes[pipe].start()
        theirs.close()  # so that its end shows when the worker is gone
    start_ns = time.monotonic_ns()
    start.set()
    results, left, before, at_s = list[dict[str, Any]](), list(processes), 0, 0.0
    while left:
        ended = connection.wait(left, EMIT_S)
        for pipe in [each for each in left if each in ended]:
            try:
                results.append(pipe.recv())
            except (EOFError, ConnectionError):
                processes[pipe].join()
                exit_code = processes[pipe].exitcode or 0
                sys.exit(f"a worker was killed by signal {-exit_code}" if exit_code < 0 else "a worker failed")
            left.remove(pipe)
        now, now_s = sum(done), (time.monotonic_ns() - start_ns) / 1e9
        if not ended:
            emit(fraction=min(1.0, now_s / options.seconds), rate=(now - before) / (now_s - at_s))
        before, at_s = now, now_s
    emit(**merged(results, start_ns))


def merged(results: list[dict[str, Any]], start_ns: int) -> dict[str, object]:
    """The combined figures of all workers."""
    by_operation = {}
    for name in NAMES:
        counts, sums_ns, worst_ns = zip(*(result["totals"][name] for result in results))
        by_operation[name] = (sum(counts), sum(sums_ns) / 1e9 / max(1, sum(counts)), max(worst_ns) / 1e9)
    buckets = sum((result["buckets"] for result in results), Counter[int]())
    worst_s = max(figures[2] for figures in by_operation.values())
    return {
        "elapsed_s": (max(result["ended_ns"] for result in results) - start_ns) / 1e9,
        "operations": buckets.total(),
        "bytes_written": sum(result["written"] for result in results),
        "latencies_s": (*(min(percentile(buckets, share), worst_s) for share in (0.5, 0.99)), worst_s),
        "by_operation": by_operation,
    }


def percentile(buckets: Counter[int], share: float) -> float:
    """Centre of the bucket that contains the percentile, in seconds."""
    wanted, seen = share * buckets.total(), 0
    for bucket, count in sorted(buckets.items()):
        seen += count
        if seen >= wanted:
            return float(2 ** ((bucket + 0.5) / BUCKETS_IN_OCTAVE)) / 1e9
    return 0.0


def main(what: str, *arguments: str) -> None:
    if what == "fill":
        fill(arguments[0], int(arguments[1]))
    elif what == "run":
        run(Options(*arguments))
    else:
        prepare(Options(*arguments))


if __name__ == "__main__":
    main(*sys.argv[1:])
