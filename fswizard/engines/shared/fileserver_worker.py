"""The file-server mix, run by several processes. A standalone program without dependencies, run on the filesystem.

    fileserver_worker.py prepare|run DIRECTORY WORKERS FILES MEAN_FILE MEAN_APPEND SECONDS SEED
    fileserver_worker.py fill DIRECTORY PERCENT

Each loop of a worker creates a file and writes it whole, appends to another, reads one whole, deletes one and stats
one: eleven operations, as in filebench's `fileserver`. Every worker has a disjoint set of files, in directories that
all workers share. Standard output is one JSON object per line, four per second; the last one is the result. `fill`
writes files into DIRECTORY until PERCENT of the space available to users is taken, as counted by `df`. Content is
random and does not compress.
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
from multiprocessing import connection, get_context
from typing import Any

NAMES = ("create", "write", "append", "read", "open", "close", "delete", "stat")
PLACES = {name: 3 * number for number, name in enumerate(NAMES)}
WRITTEN, ENDED = 3 * len(NAMES), 3 * len(NAMES) + 1
"""Places in the figures of a worker: of each operation the count, then sum and worst of its latencies in nanoseconds;
bytes written, and when it ended."""
IO_BYTES = 1 << 20
DIRECTORY_WIDTH = 20
GAMMA = 1.5
"""Shape of the gamma distribution of file sizes, filebench's default."""
PRECREATED_FIFTHS = 4
"""Number of files out of five that exist before the run."""
EMIT_S = 0.25
FILLING_SEED = 8_000_003
FILLING_BYTES = 8 << 20


class Options:
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
    return memoryview(random.Random(seed).randbytes(2 * IO_BYTES))


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
    """One process. `figures` is memory read by the parent."""

    def __init__(self, number: int, options: Options, figures: memoryview, content: memoryview) -> None:
        self.options, self.figures, self.content = options, figures, content
        self.dice, self.buffer = random.Random(f"{options.seed} {number}"), bytearray(IO_BYTES)
        mine = range(number, options.files, options.workers)
        self.paths = {file: options.path(file) for file in mine}
        self.present = [file for file in mine if options.exists_at_first(file)]
        self.absent = [file for file in mine if not options.exists_at_first(file)]

    def work(self, deadline_ns: int, parent: int) -> None:
        """Loop until the deadline: eleven operations, in filebench's order, stopping between them when the time is
        up."""
        steps = (self.create, self.append, self.read, self.delete, self.stat)
        while time.monotonic_ns() < deadline_ns and os.getppid() == parent:
            for step in steps:
                step()
                if time.monotonic_ns() >= deadline_ns:
                    break
        self.figures[ENDED] = time.monotonic_ns()

    def create(self) -> None:
        number = self.take(self.absent)
        size, offset = self.options.size(self.dice), self.below(IO_BYTES)
        descriptor = self.timed("create", os.open, self.paths[number], os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o644)
        self.timed("write", write_whole, descriptor, size, self.content, offset)
        self.timed("close", os.close, descriptor)
        self.figures[WRITTEN] += size
        self.present.append(number)

    def append(self) -> None:
        path, size = self.any_path(), 1 + self.below(2 * self.options.mean_append - 1)
        offset = self.below(IO_BYTES)
        descriptor = self.timed("open", os.open, path, os.O_WRONLY | os.O_APPEND)
        self.timed("append", write_whole, descriptor, size, self.content, offset)
        self.timed("close", os.close, descriptor)
        self.figures[WRITTEN] += size

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
        figures, at = self.figures, PLACES[operation]
        figures[at] += 1
        figures[at + 1] += passed_ns
        figures[at + 2] = max(figures[at + 2], passed_ns)
        return answer


def run(options: Options) -> None:
    """Start the workers simultaneously, and print their progress and then their combined figures.

    If one of them fails or is killed, the others are stopped, too.
    """
    fork = get_context("fork")
    figures = [memoryview(fork.RawArray("q", ENDED + 1)).cast("B").cast("q") for _ in range(options.workers)]
    content, parent, start = noise(options.seed), os.getpid(), fork.Event()

    def work(worker: Worker) -> None:
        start.wait()
        worker.work(time.monotonic_ns() + int(options.seconds * 1e9), parent)

    workers = [Worker(number, options, each, content) for number, each in enumerate(figures)]
    processes = [fork.Process(target=work, args=(worker,), daemon=True) for worker in workers]
    for process in processes:
        process.start()
    start_ns = time.monotonic_ns()
    start.set()
    left, before, at_s = processes, 0, 0.0
    while left:
        ended = connection.wait([process.sentinel for process in left], EMIT_S)
        left = [process for process in left if process.sentinel not in ended]
        for exit_code in [process.exitcode for process in processes]:
            if exit_code:
                sys.exit(f"a worker was killed by signal {-exit_code}" if exit_code < 0 else "a worker failed")
        now, now_s = sum(each[at] for each in figures for at in PLACES.values()), (time.monotonic_ns() - start_ns) / 1e9
        if not ended:
            emit(fraction=min(1.0, now_s / options.seconds), rate=(now - before) / (now_s - at_s))
        before, at_s = now, now_s
    by_operation = {}
    for name, at in PLACES.items():
        count, sum_ns = (sum(each[place] for each in figures) for place in (at, at + 1))
        by_operation[name] = (count, sum_ns / 1e9 / max(1, count), max(each[at + 2] for each in figures) / 1e9)
    emit(
        elapsed_s=(max(each[ENDED] for each in figures) - start_ns) / 1e9,
        operations=before,
        bytes_written=sum(each[WRITTEN] for each in figures),
        by_operation=by_operation,
    )


if __name__ == "__main__":
    if sys.argv[1] == "fill":
        fill(sys.argv[2], int(sys.argv[3]))
    else:
        {"prepare": prepare, "run": run}[sys.argv[1]](Options(*sys.argv[2:]))
