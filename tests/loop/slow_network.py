"""`python3 slow_network.py HOST PORT`: standard input and output, to that port and back, late by DELAY_S each way.

It needs nothing but Python: kernels without netem, too, have slow networks so (ssh's ProxyCommand).
"""

from __future__ import annotations

import os
import queue
import socket
import sys
import threading
import time

DELAY_S = 0.05
CHUNK_BYTES = 1 << 16


def main(host: str, port: str) -> None:
    far = socket.create_connection((host, int(port)))
    there = threading.Thread(target=carry, args=(0, far.fileno()), daemon=True)
    there.start()
    carry(far.fileno(), 1)


def carry(source: int, target: int) -> None:
    """Everything from one descriptor to another, until its end."""
    waiting: queue.Queue[tuple[float, bytes]] = queue.Queue()
    threading.Thread(target=_read, args=(source, waiting), daemon=True).start()
    while True:
        due, data = waiting.get()
        time.sleep(max(0.0, due - time.monotonic()))
        if not data:
            return
        while data:
            data = data[os.write(target, data) :]


def _read(source: int, waiting: queue.Queue[tuple[float, bytes]]) -> None:
    data = b"-"
    while data:
        try:
            data = os.read(source, CHUNK_BYTES)
        except OSError:
            data = b""
        waiting.put((time.monotonic() + DELAY_S, data))


if __name__ == "__main__":
    main(*sys.argv[1:])
