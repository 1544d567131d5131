"""A disk that can be made to fail or to hang, and an ext4 on it: nbdkit, nbdfuse and a loop device."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

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


@dataclass
class FailingHost(FailingDisk):
    """A mounted filesystem on one."""

    directory: Path


@contextmanager
def failing_disk(directory: Path, *settings: str, size: str = "96M") -> Iterator[FailingDisk]:
    """`settings` are nbdkit's, such as `error-pwrite-rate=100%`; INJECT stands for the file that switches them on."""
    point, inject, socket = (directory / name for name in ("disk", "inject", "socket"))
    point.mkdir()
    given = [setting.replace("INJECT", str(inject)) for setting in settings]
    with ExitStack() as undo:
        command = [*WITH_US, "nbdkit", "--foreground", "--unix", str(socket), *given[:1], "memory", size, *given[1:]]
        server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        undo.callback(_end, server)
        wait_until(socket.exists, 60, "nbdkit listens")
        fuse = subprocess.Popen([*WITH_US, "nbdfuse", str(point), "--unix", str(socket)], stderr=subprocess.DEVNULL)
        undo.callback(_end, fuse)
        undo.callback(subprocess.run, ["fusermount3", "-u", "-z", str(point)], stderr=subprocess.DEVNULL, check=False)
        wait_until((point / "nbd").exists, 60, "nbdfuse has mounted")
        # Direct, so that nothing below is answered from memory.
        loop = _output("losetup", "--find", "--show", "--direct-io=on", str(point / "nbd"))
        undo.callback(subprocess.run, ["losetup", "--detach", loop], check=False)
        disk = FailingDisk(loop, server, inject, point / "nbd")
        undo.callback(disk.recover)
        yield disk


@contextmanager
def failing_host(directory: Path, *settings: str, size: str = "96M") -> Iterator[FailingHost]:
    """As `failing_disk`."""
    host = directory / "host"
    host.mkdir()
    with failing_disk(directory, *settings, size=size) as disk:
        subprocess.run(["mkfs.ext4", "-q", "-F", "-E", "lazy_itable_init=0", disk.path], check=True)
        subprocess.run(["mount", disk.path, str(host)], check=True)
        try:
            yield FailingHost(disk.path, disk.server, disk.inject, disk.file, host)
        finally:
            disk.recover()
            subprocess.run(["umount", str(host)], check=False)


@contextmanager
def small_host(directory: Path, size_bytes: int) -> Iterator[Path]:
    """A filesystem that is quickly full."""
    host, image = directory / "host", directory / "host.image"
    host.mkdir()
    with image.open("wb") as file:
        file.truncate(size_bytes)
    subprocess.run(["mkfs.ext4", "-q", "-F", "-m", "0", str(image)], check=True)
    subprocess.run(["mount", "-o", "loop", str(image), str(host)], check=True)
    try:
        yield host
    finally:
        subprocess.run(["umount", str(host)], check=True)


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


def _output(*argv: str) -> str:
    return subprocess.run(argv, check=True, capture_output=True, text=True, timeout=60).stdout.strip()
