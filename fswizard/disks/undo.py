"""A child that outlives its run: takes away the loop devices of a run that was killed.

It reads the names of the run's images from a pipe. The end of the pipe is the end of the run, however it came.
"""

from __future__ import annotations

import contextlib
import signal
import sys
from collections.abc import Collection
from types import TracebackType
from typing import TYPE_CHECKING

import psutil

from fswizard.disks.bus import Bus, BusError, Loop, loops
from fswizard.system import clock, commands

if TYPE_CHECKING:
    from typing_extensions import Self

LIMIT_S = 30.0
"""For programs of the run to be gone, and what they wrote to reach the disk."""
PAUSE_S = 0.1
PROGRAM = "from fswizard.disks.undo import main; main()"
IMAGE = "FSWIZARD_IMAGE"
"""In the environment of every program that a run starts on its image: the image's name."""


class Undoer:
    """The child, seen from the run."""

    def __enter__(self) -> Self:
        code = f"import sys; sys.path[:] = {sys.path!r}; {PROGRAM}"
        self._child = commands.watcher([sys.executable, "-c", code])
        return self

    def note(self, image: str) -> None:
        """An image, before it becomes a device."""
        assert self._child.stdin is not None
        self._child.stdin.write(f"{image}\0".encode(errors="surrogateescape"))
        self._child.stdin.flush()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._child.stdin is not None
        with contextlib.suppress(OSError):
            self._child.stdin.close()
        self._child.wait()


def left(images: Collection[str]) -> tuple[Loop, ...]:
    """Loop devices on these files of a run's."""
    return tuple(loop for loop in loops() if loop.file in images)


def release(images: Collection[str]) -> tuple[Loop, ...]:
    """End what uses the loop devices on these files, unmount them, and detach them; those that could not be."""
    deadline = clock.monotonic() + LIMIT_S
    while found := left(images):
        with contextlib.suppress(BusError), contextlib.closing(Bus()) as bus:
            for loop in found:
                _release(bus, loop)
        if clock.monotonic() > deadline:
            break
        clock.sleep(PAUSE_S)
    return found


def _release(bus: Bus, loop: Loop) -> None:
    if not bus.is_own(loop.name):
        return
    _kill_workloads(loop.file)
    if bus.mount_points(loop.name):
        bus.unmount(loop.name, LIMIT_S)
    bus.delete(loop.name)


def _kill_workloads(image: str) -> None:
    """Kill the programs that a run has started on its image."""
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error, OSError):  # another user's, or it has ended
            if process.environ().get(IMAGE) == image:
                process.kill()


def main() -> None:
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    images = sys.stdin.buffer.read().decode(errors="surrogateescape").split("\0")
    release({image for image in images if image})
