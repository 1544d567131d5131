"""A block device whose every write costs what a model of a disk says: an NBD server, nbdfuse and a loop device.

The server speaks the fixed newstyle handshake and the transmission phase of the NBD protocol
(https://github.com/NetworkBlockDevice/nbd/blob/master/doc/proto.md), as far as libnbd asks for it.
"""

from __future__ import annotations

import contextlib
import os
import socket
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from tests.long.simulated.disks import Disk
from tests.loop.failing_host import nbd_device

_MAGIC, _OPTION_MAGIC, _REPLY_MAGIC = 0x4E42444D41474943, 0x49484156454F5054, 0x3E889045565A9
_SIMPLE_REPLY_MAGIC = 0x67446698
_EXPORT_NAME, _ABORT, _GO = 1, 2, 7
_ACK, _INFO, _UNSUPPORTED = 1, 3, 0x80000001
_HAS_FLAGS_AND_FLUSH = 0b101
_READ, _WRITE, _DISCONNECT, _FLUSH = 0, 1, 2, 3
PRIORITY = -15
"""A disk does not wait for a processor."""
_SPIN = """import os
parent = os.getppid()
os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
while os.getppid() == parent:
    pass
"""
SLACK_S = 0.01
"""Between two requests the host may take so long, and the disk works on as if it had the second one in its queue."""


class _Clock:
    """Lets the disk take as long as its model says, however long the host takes to hand it the next request.

    So the speed of a simulated disk is known exactly as long as the machine is not slower than the disk.
    """

    def __init__(self) -> None:
        self._free_at = time.monotonic()

    def spend(self, seconds: float) -> None:
        now = time.monotonic()
        began = self._free_at if now - self._free_at < SLACK_S else now
        self._free_at = began + seconds
        time.sleep(max(0.0, self._free_at - now))


@contextlib.contextmanager
def attached(model: Disk, directory: Path, *, direct: bool = True, timed: bool = True) -> Iterator[str]:
    """A loop device that behaves like the model; gone afterwards.

    Without `direct` the kernel hands on what it writes in order and in larger pieces than a page. Unless `timed`,
    nobody asks how long anything takes.
    """
    path = directory / "nbd.sock"
    with contextlib.ExitStack() as undo:
        if timed:
            undo.enter_context(_awake())
        undo.enter_context(served(model, path))
        before = ("nice", "-n", str(PRIORITY))
        device, _ = undo.enter_context(nbd_device(directory / "disk", path, before, direct=direct))
        yield device


@contextlib.contextmanager
def served(model: Disk, path: Path) -> Iterator[None]:
    """The model as an NBD server on a socket; what is written to it is kept from one connection to the next."""
    content: dict[int, bytes] = {}
    with contextlib.ExitStack() as undo:
        listener = undo.enter_context(socket.socket(socket.AF_UNIX))
        listener.bind(str(path))
        listener.listen()
        undo.callback(listener.shutdown, socket.SHUT_RDWR)  # else whoever waits for a connection goes on waiting
        threading.Thread(target=_serve, args=(listener, model, content), daemon=True).start()
        yield


@contextlib.contextmanager
def _awake() -> Iterator[None]:
    """Keeps the processors from sleeping, with work that steps back for any other.

    A write goes through four processes; where processors are virtual and wake up late, that took ten times as long.
    """
    spinning = [subprocess.Popen([sys.executable, "-c", _SPIN]) for _ in os.sched_getaffinity(0)]
    try:
        yield
    finally:
        for process in spinning:
            process.kill()
            process.wait()


def _serve(listener: socket.socket, model: Disk, content: dict[int, bytes]) -> None:
    with contextlib.suppress(OSError):
        while True:
            connection, _ = listener.accept()
            threading.Thread(target=_talk, args=(connection, model, content), daemon=True).start()


def _talk(connection: socket.socket, model: Disk, content: dict[int, bytes]) -> None:
    os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), PRIORITY)
    with connection, contextlib.suppress(ConnectionError, OSError):
        if _handshake(connection, model.size_bytes):
            _transmit(connection, model, content)


def _handshake(connection: socket.socket, size_bytes: int) -> bool:
    connection.sendall(struct.pack(">QQH", _MAGIC, _OPTION_MAGIC, 0b11))
    _receive(connection, 4)
    while True:
        _, option, length = struct.unpack(">QII", _receive(connection, 16))
        _receive(connection, length)
        if option == _EXPORT_NAME:
            connection.sendall(struct.pack(">QH", size_bytes, _HAS_FLAGS_AND_FLUSH))
            return True
        if option == _GO:
            info = struct.pack(">HQH", 0, size_bytes, _HAS_FLAGS_AND_FLUSH)
            connection.sendall(struct.pack(">QIII", _REPLY_MAGIC, option, _INFO, len(info)) + info)
            connection.sendall(struct.pack(">QIII", _REPLY_MAGIC, option, _ACK, 0))
            return True
        reply = _ACK if option == _ABORT else _UNSUPPORTED
        connection.sendall(struct.pack(">QIII", _REPLY_MAGIC, option, reply, 0))
        if option == _ABORT:
            return False


def _transmit(connection: socket.socket, model: Disk, content: dict[int, bytes]) -> None:
    same: dict[bytes, bytes] = {}
    clock = _Clock()
    while True:
        _, _, kind, handle, offset, length = struct.unpack(">IHHQQI", _receive(connection, 28))
        if kind == _DISCONNECT:
            return
        answer = b""
        if kind == _WRITE:
            _store(content, same, offset, _receive(connection, length))
            clock.spend(model.write_s(offset, length))
        elif kind == _READ:
            answer = _load(content, offset, length)
            clock.spend(model.read_s(offset, length))
        elif kind == _FLUSH:
            clock.spend(model.flush_s())
        connection.sendall(struct.pack(">IIQ", _SIMPLE_REPLY_MAGIC, 0, handle) + answer)


_PAGE = 4096
_DIFFERENT = 1 << 14
"""Most pages that are known by content: what is overwritten with other content again and again would fill memory."""


def _store(content: dict[int, bytes], same: dict[bytes, bytes], offset: int, data: bytes) -> None:
    """Keeps pages, equal ones once."""
    rest = memoryview(data)
    while rest:
        number, begin = divmod(offset, _PAGE)
        part, rest = bytes(rest[: _PAGE - begin]), rest[_PAGE - begin :]
        if len(part) < _PAGE:
            old = content.get(number, bytes(_PAGE))
            part = old[:begin] + part + old[begin + len(part) :]
        if len(same) >= _DIFFERENT:
            same.clear()
        content[number] = same.setdefault(part, part)
        offset += _PAGE - begin


def _load(content: dict[int, bytes], offset: int, length: int) -> bytes:
    first, last = offset // _PAGE, (offset + length - 1) // _PAGE
    empty = bytes(_PAGE)
    pages = b"".join(content.get(number, empty) for number in range(first, last + 1))
    return pages[offset - first * _PAGE :][:length]


def _receive(connection: socket.socket, length: int) -> bytes:
    data = bytearray()
    while len(data) < length:
        if not (part := connection.recv(min(1 << 20, length - len(data)))):
            raise ConnectionError("the client went away")
        data += part
    return bytes(data)
