"""Ages a filesystem, as by years of use. A standalone program without dependencies, run on that filesystem.

    ageing_worker.py DIRECTORY SEED WRITE_BYTES FREE_BYTES

Files are created, four at a time, appended to, partly overwritten and deleted, until WRITE_BYTES are written. Once the
filesystem is FULL, older files are deleted for each new one. At the end files are deleted until FREE_BYTES are free. So
the remaining files and the free space are fragmented (Smith and Seltzer, SIGMETRICS 1997).

Sizes are log-normal as in Agrawal and others (FAST 2009, table 2), up to a share of the filesystem. Most files die
young (Vogels, SOSP 1999): half of the deleted files are among the newest tenth, the others are any. Data are synced at
short intervals, as they would be over years. Standard output is one JSON object per line.
"""

from __future__ import annotations

import ctypes
import json
import os
import random
import shutil
import sys
from dataclasses import dataclass

FULL = 0.8
SIZE_LOGARITHM, SIZE_SPREAD = 9.48, 2.46
"""Mean and standard deviation of the natural logarithm of a file's size in bytes."""
LARGEST_SHARE = 1 / 64
SIDE_BY_SIDE = 4
PIECE_BYTES = 64 << 10
SYNC_BYTES = 32 << 20
APPENDED, OVERWRITTEN = 1 / 6, 1 / 6
"""Shares of the written pieces; the others go into new files."""
YOUNG_SHARE, YOUNG_DIE = 0.1, 0.5
DIRECTORY_FILES = 64
POOL_BYTES = 4 << 20


@dataclass
class File:
    path: str
    size: int
    descriptor: int
    """Open while the file grows: closing it would make the filesystem release preallocated space."""
    left: int
    """Bytes still to be written."""


class Ageing:
    def __init__(self, directory: str, seed: int, write_bytes: int, free_bytes: int) -> None:
        os.mkdir(directory)
        self.directory, self.write_bytes, self.free_bytes = directory, write_bytes, free_bytes
        self.root = os.open(directory, os.O_RDONLY)
        self.dice = random.Random(seed)
        self.pool = memoryview(self.dice.randbytes(POOL_BYTES))
        self.files: list[File] = []
        """Complete files, oldest first."""
        self.growing: list[File] = []
        self.written = self.synced = self.made = 0

    def run(self) -> None:
        largest = int(LARGEST_SHARE * self.space()[0])
        while self.written < self.write_bytes:
            kind = self.dice.random()
            try:
                if self.files and kind < APPENDED + OVERWRITTEN:
                    self.change(appended=kind < APPENDED)
                else:
                    self.grow(largest)
            except OSError:
                if not self.files:
                    raise
                self.delete()
            if self.written - self.synced >= SYNC_BYTES:
                self.sync()
                whole, free = self.space()
                missing = int((1 - FULL) * whole) - free
                while self.files and missing > 0:
                    missing -= self.delete()
        for file in self.growing:
            os.close(file.descriptor)
        self.files += self.growing
        self.sync()
        while self.files and self.space()[1] < self.free_bytes:
            for _ in range(max(1, len(self.files) // 100)):
                self.delete()
            self.sync()

    def space(self) -> tuple[int, int]:
        """Total and free bytes available to users, as counted by `df`."""
        usage = shutil.disk_usage(self.directory)
        return usage.used + usage.free, usage.free

    def grow(self, largest: int) -> None:
        if len(self.growing) < SIDE_BY_SIDE:
            size = min(largest, 1 + int(self.dice.lognormvariate(SIZE_LOGARITHM, SIZE_SPREAD)))
            directory = f"{self.directory}/{self.made // DIRECTORY_FILES:04d}"
            os.makedirs(directory, exist_ok=True)
            path = f"{directory}/{self.made:06d}"
            descriptor = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666)
            self.growing.append(File(path, size, descriptor, left=size))
            self.made += 1
        file = self.dice.choice(self.growing)
        file.left -= self.write(file.descriptor, min(PIECE_BYTES, file.left))
        if not file.left:
            os.close(file.descriptor)
            self.growing.remove(file)
            self.files.append(file)

    def change(self, *, appended: bool) -> None:
        file = self.dice.choice(self.files)
        with open(file.path, "ab" if appended else "r+b", buffering=0) as opened:
            if appended:
                file.size += self.write(opened.fileno(), self.dice.randrange(1, PIECE_BYTES))
            else:
                opened.seek(self.dice.randrange(file.size) // PIECE_BYTES * PIECE_BYTES)
                self.write(opened.fileno(), min(PIECE_BYTES, file.size))

    def write(self, descriptor: int, length: int) -> int:
        start = self.dice.randrange(POOL_BYTES - length)
        written = os.write(descriptor, self.pool[start : start + length])
        self.written += written
        return written

    def delete(self) -> int:
        young = max(1, int(YOUNG_SHARE * len(self.files)))
        number = young if self.dice.random() < YOUNG_DIE else len(self.files)
        file = self.files.pop(len(self.files) - 1 - self.dice.randrange(number))
        os.unlink(file.path)
        return file.size

    def sync(self) -> None:
        if ctypes.CDLL(None, use_errno=True).syncfs(self.root):
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
        self.synced = self.written
        print(json.dumps({"fraction": min(1.0, self.written / self.write_bytes)}), flush=True)


if __name__ == "__main__":
    Ageing(sys.argv[1], *(int(number) for number in sys.argv[2:])).run()
