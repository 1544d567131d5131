"""The file-server mix, worked by several processes: a program of the standard library alone, run where it is measured.

    fileserver_worker.py prepare|run DIRECTORY WORKERS FILES MEAN_FILE MEAN_APPEND SECONDS SEED
    fileserver_worker.py fill DIRECTORY PERCENT

Each loop of a worker creates a file and writes it whole, appends to another, reads one whole, deletes one and asks
for the status of one: eleven operations, as in filebench's `fileserver`. Every worker has files of its own, spread
over directories that all share. Standard output is one JSON object a line, four in a second, the last one the result.
`fill` writes files into DIRECTORY until PERCENT of what its filesystem offers to users is taken, as `df` counts.

Latencies are counted in buckets of a sixteenth of an octave, so percentiles are exact to 4.5 %; the worst is exact.
Content is random and does not compress.
"""

from __future__ import annotations

import ctypes
import errno
import json
import math
import mmap
import os
import random
import signal
import sys
import time

CREATE, WRITE, APPEND, READ, OPEN, CLOSE, DELETE, STAT = range(8)
NAMES = ("create", "write", "append", "read", "open", "close", "delete", "stat")
IO_BYTES = 1 << 20
DIRECTORY_WIDTH = 20
GAMMA = 1.5
"""Shape of the gamma distribution of file sizes, filebench's default."""
PRECREATED_FIFTHS = 4
"""Number of files out of five that exist before the run."""
EMIT_S = 0.25
FILLING_SEED = 8_000_003

BUCKETS_IN_OCTAVE = 16
BUCKETS = 40 * BUCKETS_IN_OCTAVE
DONE, WRITTEN, WORST, ERROR, FAILED, ENDED = range(6)
HEADER = 6
PER_OPERATION = 2 + BUCKETS
SLOTS = HEADER + len(NAMES) * PER_OPERATION


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


def prepare(options: Options) -> None:
    """Create the directories and four fifths of the files."""
    dice, content, emitted = random.Random(options.seed), noise(options.seed), 0.0
    made: set[str] = set()
    for number in range(options.files):
        path = options.path(number)
        parent = os.path.dirname(path)
        if parent not in made:
            os.makedirs(parent, exist_ok=True)
            made.add(parent)
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
    goal = whole * percent // 100
    number = len(os.listdir(directory))
    full = False
    while (used := taken(directory)[0]) < goal:
        size = min(8 << 20, max(4096, goal - used))
        path = f"{directory}/file-{number:06d}"
        try:
            with open(path, "xb", buffering=0) as file:
                write_whole(file.fileno(), size, content, dice.randrange(IO_BYTES))
                os.fsync(file.fileno())  # before that the filesystem may not count the space
        except OSError as error:
            if error.errno != errno.ENOSPC or full:
                raise
            with open(path, "rb") as file:
                ctypes.CDLL(None).syncfs(file.fileno())  # Btrfs gives back what was deleted before
            os.unlink(path)
            full = True
            continue
        full = False
        number += 1
        emit(fraction=min(1.0, (used - begun) / max(1, goal - begun)))


class Worker:
    """One process; `slots` is memory that the parent reads."""

    def __init__(self, number: int, options: Options, slots: memoryview, content: memoryview) -> None:
        self.options = options
        self.slots = slots
        self.content = content
        self.dice = random.Random(f"{options.seed} {number}")
        self.buffer = bytearray(IO_BYTES)
        own = range(number, options.files, options.workers)
        self.paths = {file: options.path(file) for file in own}
        self.present = [file for file in own if options.exists_at_first(file)]
        self.absent = [file for file in own if not options.exists_at_first(file)]
        self.buckets = [[0] * BUCKETS for _ in NAMES]
        self.sums = [0] * len(NAMES)
        self.worst = [0] * len(NAMES)
        self.done = 0
        self.operation = CREATE

    def work(self, deadline_ns: int, parent: int) -> None:
        """Loop until the deadline; an error is left in `slots` for the parent."""
        try:
            while time.monotonic_ns() < deadline_ns and os.getppid() == parent:
                self.loop(deadline_ns)
        except OSError as error:
            self.slots[ERROR] = error.errno or errno.EIO
            self.slots[FAILED] = self.operation
        self.slots[ENDED] = time.monotonic_ns()
        for operation in range(len(NAMES)):
            at = HEADER + operation * PER_OPERATION
            self.slots[at] = self.sums[operation]
            self.slots[at + 1] = self.worst[operation]
            for bucket, count in enumerate(self.buckets[operation], at + 2):
                if count:
                    self.slots[bucket] = count

    def loop(self, deadline_ns: int) -> None:
        """Eleven operations, in filebench's order; cut short when the time is up."""
        for step in (self.create, self.append, self.read, self.delete, self.stat):
            step()
            self.slots[DONE] = self.done
            if time.monotonic_ns() >= deadline_ns:
                break

    def create(self) -> None:
        number = self.take(self.absent)
        path, size = self.paths[number], self.options.size(self.dice)
        offset = self.below(IO_BYTES)
        started = self.begin(CREATE)
        descriptor = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o644)
        started = self.end(started, WRITE)
        write_whole(descriptor, size, self.content, offset)
        started = self.end(started, CLOSE)
        os.close(descriptor)
        self.end(started)
        self.slots[WRITTEN] += size
        self.present.append(number)

    def append(self) -> None:
        path, size = self.any_path(), 1 + self.below(2 * self.options.mean_append - 1)
        offset = self.below(IO_BYTES)
        started = self.begin(OPEN)
        descriptor = os.open(path, os.O_WRONLY | os.O_APPEND)
        started = self.end(started, APPEND)
        write_whole(descriptor, size, self.content, offset)
        started = self.end(started, CLOSE)
        os.close(descriptor)
        self.end(started)
        self.slots[WRITTEN] += size

    def read(self) -> None:
        path, buffers = self.any_path(), [self.buffer]
        started = self.begin(OPEN)
        descriptor = os.open(path, os.O_RDONLY)
        started = self.end(started, READ)
        while os.readv(descriptor, buffers):
            pass
        started = self.end(started, CLOSE)
        os.close(descriptor)
        self.end(started)

    def delete(self) -> None:
        number = self.take(self.present)
        path = self.paths[number]
        started = self.begin(DELETE)
        os.unlink(path)
        self.end(started)
        self.absent.append(number)

    def stat(self) -> None:
        path = self.any_path()
        started = self.begin(STAT)
        os.stat(path)
        self.end(started)

    def take(self, files: list[int]) -> int:
        at = self.below(len(files))
        files[at], files[-1] = files[-1], files[at]
        return files.pop()

    def any_path(self) -> str:
        return self.paths[self.present[self.below(len(self.present))]]

    def below(self, bound: int) -> int:
        """A random number from 0 to below `bound`; `randrange` would take five times as long."""
        return int(self.dice.random() * bound)

    def begin(self, operation: int) -> int:
        self.operation = operation
        return time.monotonic_ns()

    def end(self, started: int, following: int = CREATE) -> int:
        """Count the operation that began at `started`; the time at which the following one begins."""
        now = time.monotonic_ns()
        passed, operation = now - started, self.operation
        self.buckets[operation][min(BUCKETS - 1, int(math.log2(passed or 1) * BUCKETS_IN_OCTAVE))] += 1
        self.sums[operation] += passed
        if passed > self.worst[operation]:
            self.worst[operation] = passed
            self.slots[WORST] = max(self.slots[WORST], passed)
        self.done += 1
        self.operation = following
        return now


def run(options: Options) -> int:
    """Start the workers together, and print their progress and then their figures."""
    shared = memoryview(mmap.mmap(-1, 8 * SLOTS * options.workers)).cast("q")
    areas = [shared[SLOTS * number : SLOTS * (number + 1)] for number in range(options.workers)]
    content, parent = noise(options.seed), os.getpid()
    gate, opener = os.pipe()
    ready, reporting = os.pipe()
    left = set()
    for number, area in enumerate(areas):
        pid = os.fork()
        if pid == 0:
            os.close(opener)
            worker = Worker(number, options, area, content)
            os.write(reporting, b"x")
            os.read(gate, 1)  # until the parent closes its end, for all workers at once
            worker.work(time.monotonic_ns() + int(options.seconds * 1e9), parent)
            os._exit(1 if area[ERROR] else 0)
        left.add(pid)
    os.close(gate)
    os.close(reporting)
    missing = options.workers
    while missing and (reports := os.read(ready, missing)):
        missing -= len(reports)
    start_ns = time.monotonic_ns()
    os.close(opener)
    killed = watch(left, areas, start_ns, options.seconds)
    failed = next((area for area in areas if area[ERROR]), None)
    if failed is not None:
        emit(error=failed[ERROR], operation=NAMES[failed[FAILED]])
        return 1
    if not all(area[ENDED] for area in areas):
        sys.exit(f"a worker was killed by signal {killed}")
    emit(**result(areas, (max(area[ENDED] for area in areas) - start_ns) / 1e9))
    return 0


def watch(left: set[int], areas: list[memoryview], start_ns: int, seconds: float) -> int:
    """Print the workers' progress until all have ended; if one fails or is killed, kill the others.

    Returns the signal that killed one, or 0.
    """
    emitted, killed = 0.0, 0
    while left:
        pid, status = os.waitpid(-1, os.WNOHANG)
        if pid:
            left.discard(pid)
            killed = killed or os.WTERMSIG(status)
            continue
        if killed or any(area[ERROR] for area in areas):
            for pid in left:
                os.kill(pid, signal.SIGKILL)
        if time.monotonic() - emitted > EMIT_S:
            emitted = time.monotonic()
            passed = (time.monotonic_ns() - start_ns) / 1e9
            emit(
                fraction=min(1.0, passed / seconds),
                seconds=passed,
                operations=sum(area[DONE] for area in areas),
                worst_s=max(area[WORST] for area in areas) / 1e9,
            )
        time.sleep(0.01)
    return killed


def result(areas: list[memoryview], elapsed_s: float) -> dict[str, object]:
    merged = []
    for operation in range(len(NAMES)):
        at = HEADER + operation * PER_OPERATION
        rows = [area[at : at + PER_OPERATION].tolist() for area in areas]
        sums, worsts = [row[0] for row in rows], [row[1] for row in rows]
        merged.append((sum(sums), max(worsts), [sum(column) for column in zip(*(row[2:] for row in rows))]))
    everything = [sum(column) for column in zip(*(buckets for _, _, buckets in merged))]
    total = (sum(sums for sums, _, _ in merged), max(worst for _, worst, _ in merged), everything)
    return {
        "elapsed_s": elapsed_s,
        "operations": sum(area[DONE] for area in areas),
        "bytes_written": sum(area[WRITTEN] for area in areas),
        "all": summary(*total),
        "by_operation": {name: summary(*figures) for name, figures in zip(NAMES, merged)},
    }


def summary(sum_ns: int, worst_ns: int, buckets: list[int]) -> dict[str, float]:
    """Count, and latencies in seconds."""
    count = sum(buckets)
    return {
        "count": count,
        "mean_s": sum_ns / count / 1e9 if count else 0.0,
        "median_s": min(percentile(buckets, 0.5), worst_ns) / 1e9,
        "p99_s": min(percentile(buckets, 0.99), worst_ns) / 1e9,
        "worst_s": worst_ns / 1e9,
    }


def percentile(buckets: list[int], share: float) -> float:
    """Middle of the bucket in which the percentile lies, in nanoseconds."""
    wanted, seen = share * sum(buckets), 0
    for bucket, count in enumerate(buckets):
        seen += count
        if count and seen >= wanted:
            return float(2 ** ((bucket + 0.5) / BUCKETS_IN_OCTAVE))
    return 0.0


def main() -> int:
    try:
        if sys.argv[1] == "fill":
            fill(sys.argv[2], int(sys.argv[3]))
            return 0
        options = Options(sys.argv[2:])
        if sys.argv[1] == "run":
            return run(options)
        prepare(options)
    except OSError as error:
        emit(error=error.errno, operation=sys.argv[1])
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
