"""A disk that can be made to fail or to hang, and an ext4 on it: nbdkit, nbdfuse and a loop device."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.loop.devices import Bench, run
from tests.loop.machine_state import wait_until

WITH_US = ("setpriv", "--pdeathsig", "KILL", "--")
"""A disk that hangs for good would keep every sync(2) of the machine waiting, should the tests be killed."""


@dataclass
class FailingDisk:
    """A block device and the means to break what is below it."""

    path: str
    server: subprocess.Popen[bytes]
    inject: Path
    file: Path
    """Which is the disk."""
    directory: Path = Path()
    """Where it is mounted, if it is."""

    def fail(self) -> None:
        """From here on every request of the kind chosen fails with EIO, and nothing is known by heart."""
        self.inject.touch()
        descriptor = os.open(self.file, os.O_RDONLY)
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
        os.close(descriptor)

    def recover(self) -> None:
        self.inject.unlink(missing_ok=True)
        self.server.send_signal(signal.SIGCONT)

    def hang(self) -> None:
        """From here on no request is answered."""
        self.server.send_signal(signal.SIGSTOP)


@contextmanager
def failing_disk(directory: Path, requests: str = "pwrite", size: str = "96M") -> Iterator[FailingDisk]:
    """`requests` that can be made to fail: pread or pwrite."""
    inject, socket = directory / "inject", directory / "socket"
    settings = (f"error-{requests}-rate=100%", f"error-{requests}-file={inject}")
    with ExitStack() as undo:
        server = undo.enter_context(nbdkit(socket, WITH_US, "--filter=error", "memory", size, *settings))
        path, file = undo.enter_context(nbd_device(directory / "disk", socket, WITH_US))
        disk = FailingDisk(path, server, inject, file)
        undo.callback(disk.recover)
        yield disk


@contextmanager
def nbdkit(socket: Path, before: Sequence[str], *arguments: str) -> Iterator[subprocess.Popen[bytes]]:
    """A server that listens at a socket; `before` starts it."""
    command = [*before, "nbdkit", "--foreground", "--unix", str(socket), *arguments]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_until(socket.exists, 60, "nbdkit listens")
        yield server
    finally:
        _end(server)


@contextmanager
def nbd_device(point: Path, socket: Path, before: Sequence[str]) -> Iterator[tuple[str, Path]]:
    """A loop device on what a server of NBD offers at a socket, and the file below it; `before` starts nbdfuse."""
    point.mkdir()
    with ExitStack() as undo:
        command = [*before, "nbdfuse", str(point), "--unix", str(socket)]
        undo.callback(_end, subprocess.Popen(command, stderr=subprocess.DEVNULL))
        undo.callback(subprocess.run, ["fusermount3", "-u", "-z", str(point)], stderr=subprocess.DEVNULL, check=False)
        wait_until((point / "nbd").exists, 60, "nbdfuse has mounted")
        # Direct, so that nothing below is answered from memory.
        yield Bench(point.parent, undo).attach(point / "nbd", "--direct-io=on"), point / "nbd"


@contextmanager
def failing_host(directory: Path, requests: str = "pwrite", size: str = "96M") -> Iterator[FailingDisk]:
    """As `failing_disk`, with an ext4 on it."""
    host = directory / "host"
    host.mkdir()
    with failing_disk(directory, requests, size) as disk:
        run("mkfs.ext4", "-q", "-F", "-E", "lazy_itable_init=0", disk.path)
        run("mount", disk.path, str(host))
        disk.directory = host
        try:
            yield disk
        finally:
            disk.recover()
            wait_until(lambda: _umounted(host), 60, "whoever waited for the disk uses it no more")


@contextmanager
def small_host(directory: Path, size_bytes: int) -> Iterator[Path]:
    """A filesystem that is quickly full."""
    with ExitStack() as undo:
        bench = Bench(directory, undo)
        disk = bench.attach(bench.file("host.image", size_bytes))
        run("mkfs.ext4", "-q", "-F", "-m", "0", disk)
        yield bench.mount(disk, name="host")


def fill(directory: Path) -> None:
    """Take the last block of a filesystem."""
    with (directory / "ballast").open("wb", buffering=0) as file:
        for size in (1 << 20, 4096, 1):
            try:
                while True:
                    file.write(b"x" * size)
            except OSError:
                continue


def _end(process: subprocess.Popen[bytes]) -> None:
    os.kill(process.pid, signal.SIGCONT)
    process.terminate()
    process.wait(60)


def _umounted(point: Path) -> bool:
    return subprocess.run(["umount", str(point)], check=False, capture_output=True).returncode == 0
