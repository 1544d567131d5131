"""Measures the latency of small saves while a large file is written. A standalone program without dependencies.

    fsync_worker.py DIRECTORY TOTAL_BYTES SECONDS

One thread writes TOTAL_BYTES at a steady pace in SECONDS, to one file, starting over at its beginning after each
LARGEST bytes. Another one appends 4 KiB to a second file five times a second, each followed by fsync. The program
prints lines of JSON with `fraction`; the last one has `median_s` and `worst_s` of fsync, and `written` bytes.
"""

from __future__ import annotations

import json
import os
import statistics
import sys
import time
from concurrent.futures import ThreadPoolExecutor

LARGEST = 512 << 20
WRITE = 1 << 20
SAVE = 4096
PAUSE_S = 0.2
LONGEST = 2
"""Maximum duration as a multiple of SECONDS, if the disk cannot keep the pace."""


def stream(path: str, total: int, seconds: float) -> int:
    """Write the large file; returns the number of bytes written."""
    content, began_s, written = os.urandom(WRITE), time.monotonic(), 0
    file = os.open(path, os.O_CREAT | os.O_WRONLY, 0o666)
    while written < total and time.monotonic() < began_s + LONGEST * seconds:
        written += os.pwrite(file, content[: total - written], written % LARGEST)
        time.sleep(max(0.0, written / total * seconds - (time.monotonic() - began_s)))
    os.close(file)
    return written


def main(directory: str, total: int, seconds: float) -> None:
    os.mkdir(directory)
    small, waits = os.open(f"{directory}/small", os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o666), []
    with ThreadPoolExecutor() as pool:
        streaming, start_s = pool.submit(stream, f"{directory}/large", total, seconds), time.monotonic()
        while not streaming.done():
            time.sleep(PAUSE_S)
            began_s = time.monotonic()
            os.write(small, os.urandom(SAVE))
            os.fsync(small)
            waits.append(time.monotonic() - began_s)
            print(json.dumps({"fraction": min(1.0, (began_s - start_s) / seconds), "worst_s": max(waits)}), flush=True)
    print(json.dumps({"median_s": statistics.median(waits), "worst_s": max(waits), "written": streaming.result()}))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), float(sys.argv[3]))
