"""How long a small save waits while a large file is written: a program of the standard library alone.

    fsync_worker.py DIRECTORY TOTAL_BYTES SECONDS

One thread writes TOTAL_BYTES at an even pace in SECONDS, to one file from its beginning again each LARGEST bytes.
Beside it 4 KiB are appended to another file five times a second, each followed by fsync. The program prints lines of
JSON with `fraction`; the last one has `median_s` and `worst_s` of fsync, and `written` bytes.
"""

from __future__ import annotations

import json
import os
import statistics
import sys
import threading
import time

LARGEST = 512 << 20
WRITE = 1 << 20
SAVE = 4096
PAUSE_S = 0.2
LONGEST = 2
"""How many times SECONDS it goes on at most, where the disk does not keep the pace."""


class Stream(threading.Thread):
    """Writes the large file."""

    def __init__(self, path: str, total: int, seconds: float) -> None:
        super().__init__(daemon=True)
        self.path, self.total, self.seconds = path, total, seconds
        self.written = 0
        self.error = 0

    def run(self) -> None:
        content, began_s = os.urandom(WRITE), time.monotonic()
        try:
            file = os.open(self.path, os.O_CREAT | os.O_WRONLY, 0o666)
            while self.written < self.total and time.monotonic() < began_s + LONGEST * self.seconds:
                length = min(WRITE, self.total - self.written)
                self.written += os.pwrite(file, content[:length], self.written % LARGEST)
                ahead_s = self.written / self.total * self.seconds - (time.monotonic() - began_s)
                if ahead_s > 0:
                    time.sleep(ahead_s)
            os.close(file)
        except OSError as error:
            self.error = error.errno or 0


def main() -> None:
    directory, total, seconds = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
    waits: list[float] = []
    error = 0
    try:
        os.mkdir(directory)
        stream = Stream(f"{directory}/large", total, seconds)
        small = os.open(f"{directory}/small", os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o666)
        stream.start()
        while stream.is_alive():
            time.sleep(PAUSE_S)
            began_s = time.monotonic()
            os.write(small, os.urandom(SAVE))
            os.fsync(small)
            waits.append(time.monotonic() - began_s)
            print(json.dumps({"fraction": min(1.0, stream.written / total), "worst_s": max(waits)}), flush=True)
        stream.join()
        error = stream.error
    except OSError as failed:
        error = failed.errno or 0
    if error:
        print(json.dumps({"error": error}), flush=True)
        sys.exit(1)
    figures = {"fraction": 1.0, "median_s": statistics.median(waits), "worst_s": max(waits), "written": stream.written}
    print(json.dumps(figures), flush=True)


if __name__ == "__main__":
    main()
