"""Fills a filesystem: a program of the standard library alone, run where it is measured.

    fill_worker.py DIRECTORY PERCENT

Writes files that do not compress into DIRECTORY until PERCENT of what its filesystem offers to users is taken, as
`df` counts. What is there already counts, too. Standard output is one JSON object a line with the `fraction` done.
"""

from __future__ import annotations

import errno
import json
import os
import random
import sys

FILE_BYTES = 8 << 20
PIECE_BYTES = 1 << 20
SEED = 8_000_003


def taken(directory: str) -> tuple[int, int]:
    """Bytes in use, and all that users could have."""
    room = os.statvfs(directory)
    used = (room.f_blocks - room.f_bfree) * room.f_frsize
    return used, used + room.f_bavail * room.f_frsize


def fill(directory: str, percent: int) -> None:
    os.makedirs(directory, exist_ok=True)
    dice = random.Random(SEED)
    content = memoryview(dice.randbytes(2 * PIECE_BYTES))
    begun, whole = taken(directory)
    goal = whole * percent // 100
    number = len(os.listdir(directory))
    while (used := taken(directory)[0]) < goal:
        size = min(FILE_BYTES, max(4096, goal - used))
        with open(os.path.join(directory, f"file-{number:06d}"), "xb", buffering=0) as file:
            while size > 0:
                start = dice.randrange(PIECE_BYTES)
                size -= file.write(content[start : start + min(size, PIECE_BYTES)])
            os.fsync(file.fileno())  # room is counted for good only when it is given out
        number += 1
        print(json.dumps({"fraction": min(1.0, (used - begun) / max(1, goal - begun))}), flush=True)


def main() -> None:
    try:
        fill(sys.argv[1], int(sys.argv[2]))
    except OSError as error:
        print(json.dumps({"error": error.errno or errno.EIO}), flush=True)
        sys.exit(f"fill_worker: {error}")


if __name__ == "__main__":
    main()
