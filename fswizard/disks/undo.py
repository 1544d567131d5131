"""A child that outlives its run: takes away the loop devices of a run that was killed.

It reads the names of the run's images from a pipe. The end of the pipe is the end of the run, however it came.
"""

from __future__ import annotations

import contextlib
import signal
import sys
from collections.abc import Callable, Collection, Iterator

import psutil

from fswizard.disks.bus import Bus, BusError, Loop, loops
from fswizard.system import clock, commands

LIMIT_S = 30.0
"""For programs of the run to be gone, and what they wrote to reach the disk."""
PAUSE_S = 0.1
IMAGE = "FSWIZARD_IMAGE"
"""In the environment of every program that a run starts on its image: the image's name."""


@contextlib.contextmanager
def undoer() -> Iterator[Callable[[str], None]]:
    """The child, seen from the run: what tells it of an image, before that becomes a device."""
    code = f"import sys; sys.path[:] = {sys.path!r}; from {__name__} import main; main()"
    child = commands.watcher([sys.executable, "-c", code])
    pipe = child.stdin
    assert pipe is not None

    def note(image: str) -> None:
        pipe.write(f"{image}\0".encode(errors="surrogateescape"))
        pipe.flush()

    try:
        yield note
    finally:
        with contextlib.suppress(OSError):
            pipe.close()
        child.wait()


def main() -> None:
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    images = sys.stdin.buffer.read().decode(errors="surrogateescape").split("\0")
    release({image for image in images if image})


def release(images: Collection[str]) -> tuple[Loop, ...]:
    """End what uses the loop devices on these files, unmount them, and detach them; those that could not be."""
    deadline = clock.monotonic() + LIMIT_S
    while found := tuple(loop for loop in loops() if loop.file in images):
        with contextlib.suppress(BusError), contextlib.closing(Bus()) as bus:
            for loop in found:
                if not bus.is_own(loop.name):
                    continue
                _kill_workloads(loop.file)
                if bus.mount_points(loop.name):
                    bus.unmount(loop.name, LIMIT_S)
                bus.delete(loop.name)
        if clock.monotonic() > deadline:
            break
        clock.sleep(PAUSE_S)
    return found


def _kill_workloads(image: str) -> None:
    """Kill the programs that a run has started on its image."""
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error, OSError):  # another user's, or it has ended
            if process.environ().get(IMAGE) == image:
                process.kill()
