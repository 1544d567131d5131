"""udisks2 over D-Bus: what the active user of a desktop may do to a loop device on a file of theirs.

Nothing here waits for a password: every call says `auth.no_user_interaction`, so polkit answers yes or no at once.

A child outlives its run, and takes away the loop devices of a run that was killed. It reads the names of the run's
images from a pipe. The end of the pipe is the end of the run, however it came.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import psutil
from jeepney import DBusAddress, DBusErrorResponse, Message, Properties, new_method_call
from jeepney.io.blocking import open_dbus_connection
from jeepney.wrappers import unwrap_msg

from fswizard.errors import FswizardError
from fswizard.system import clock, commands
from fswizard.system.block_device import HERE

UDISKS = "org.freedesktop.UDisks2"
OBJECTS = "/org/freedesktop/UDisks2"
POLKIT = DBusAddress(
    "/org/freedesktop/PolicyKit1/Authority", "org.freedesktop.PolicyKit1", "org.freedesktop.PolicyKit1.Authority"
)
LIMIT_S = 25.0
"""For one question, as D-Bus programs usually have it."""
WORK_S = 600.0
"""For what may wait for a busy disk, or for a driver to be loaded."""
RELEASE_S = 30.0
"""For programs of a run that was killed to be gone, and what they wrote to reach the disk."""
PAUSE_S = 0.1
ACTIONS = ("loop-setup", "filesystem-mount", "modify-device")
"""Of polkit's actions of udisks2: what a run on an image asks for."""
IMAGE = "FSWIZARD_IMAGE"
"""In the environment of every program that a run starts on its image: the image's name."""


class BusError(FswizardError):
    """A call that was not carried out."""

    def __init__(self, name: str, text: str) -> None:
        super().__init__(text or name)
        self.name = name
        """The last part of D-Bus' name for it, such as `AlreadyMounted`, `DeviceBusy`, `OptionNotPermitted`."""


class Loop(NamedTuple):
    """A loop device that is attached to a file."""

    name: str
    """Kernel name, such as `loop0`."""
    file: str
    """The file as the kernel names it; behind that of a file without a name stands ` (deleted)`."""


class Bus:
    """A connection to the system's bus. Its calls block; it may be used by several threads in turn."""

    def __init__(self) -> None:
        """Raises BusError where there is no bus."""
        self._lock = threading.Lock()
        try:
            self._connection = open_dbus_connection(bus="SYSTEM", enable_fds=True)
        except (OSError, ValueError) as error:
            raise BusError("NoBus", str(error)) from error

    def close(self) -> None:
        self._connection.close()

    def version(self) -> tuple[int, ...]:
        """Version of udisks2, such as (2, 9, 4); starts it where it is installed. BusError where it is not."""
        text = self._property("Manager", "Manager", "Version")
        return tuple(int(part) for part in text.split(".") if part.isdecimal())

    def is_allowed(self) -> bool:
        """Whether polkit allows all `ACTIONS` to this process without a password."""
        pid = os.getpid()
        started = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19])
        subject = ("unix-process", {"pid": ("u", pid), "start-time": ("t", started)})
        for action in ACTIONS:
            words: tuple[Any, ...] = (subject, f"org.freedesktop.udisks2.{action}", {}, 0, "")
            if not self._call(new_method_call(POLKIT, "CheckAuthorization", "(sa{sv})sa{ss}us", words))[0][0]:
                return False
        return True

    def set_up(self, file: int) -> str:
        """Attach a loop device to an open file; its kernel name. Direct I/O where the file is open with O_DIRECT."""
        options = {"no-part-scan": ("b", True)}
        return str(self._order("Manager", "Manager", "LoopSetup", "h", file, options=options)[0]).rpartition("/")[2]

    def format(self, name: str, kind: str) -> None:
        """Make a filesystem with its default options, whose root directory is the user's."""
        options = {"take-ownership": ("b", True), "no-discard": ("b", True)}
        self._order(f"block_devices/{name}", "Block", "Format", "s", kind, options=options)

    def mount(self, name: str, options: str) -> str:
        """Mount it with these options, separated by commas, besides those that udisks2 always adds; the directory."""
        words = {"options": ("s", options)}
        return str(self._order(f"block_devices/{name}", "Filesystem", "Mount", options=words)[0])

    def rescan(self, name: str) -> None:
        """Have udev look at what is on the device."""
        self._order(f"block_devices/{name}", "Block", "Rescan")

    def unmount(self, name: str, limit_s: float = WORK_S) -> None:
        self._order(f"block_devices/{name}", "Filesystem", "Unmount", limit_s=limit_s)

    def delete(self, name: str) -> None:
        """Detach a loop device that this user has attached."""
        self._order(f"block_devices/{name}", "Loop", "Delete")

    def is_own(self, name: str) -> bool:
        """Whether this user has attached the loop device, as udisks2 knows."""
        return bool(self._property(f"block_devices/{name}", "Loop", "SetupByUID") == os.getuid())

    def _order(
        self, path: str, interface: str, method: str, signature: str = "", *values: Any,
        options: Mapping[str, tuple[str, Any]] | None = None, limit_s: float = WORK_S,
    ) -> tuple[Any, ...]:  # fmt: skip
        """A method of udisks2, all of which take options last."""
        address = DBusAddress(f"{OBJECTS}/{path}", UDISKS, f"{UDISKS}.{interface}")
        words = {"auth.no_user_interaction": ("b", True), **(options or {})}
        return self._call(new_method_call(address, method, f"{signature}a{{sv}}", (*values, words)), limit_s)

    def _property(self, path: str, interface: str, name: str) -> Any:
        address = DBusAddress(f"{OBJECTS}/{path}", UDISKS, f"{UDISKS}.{interface}")
        return self._call(Properties(address).get(name))[0][1]

    def _call(self, message: Message, limit_s: float = LIMIT_S) -> tuple[Any, ...]:
        try:
            with self._lock:
                body: tuple[Any, ...] = unwrap_msg(self._connection.send_and_get_reply(message, timeout=limit_s))
        except TimeoutError as error:
            raise BusError("NoReply", f"no answer within {limit_s:g} s") from error
        except (OSError, EOFError) as error:
            raise BusError("Disconnected", str(error)) from error
        except DBusErrorResponse as error:
            raise BusError(error.name.rpartition(".")[2], str(error.data[0]) if error.data else "") from error
        return body


def loops() -> tuple[Loop, ...]:
    """The loop devices of this machine that are attached to a file."""
    found = []
    for name in HERE.names("/sys/block"):
        if file := HERE.bytes(f"/sys/block/{name}/loop/backing_file"):  # a line, of a path that may have several
            found.append(Loop(name, os.fsdecode(file.removesuffix(b"\n"))))
    return tuple(found)


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
    deadline = clock.monotonic() + RELEASE_S
    while found := tuple(loop for loop in loops() if loop.file in images):
        with contextlib.suppress(BusError), contextlib.closing(Bus()) as bus:
            for loop in found:
                if not bus.is_own(loop.name):
                    continue
                _kill_workloads(loop.file)
                with contextlib.suppress(BusError):  # NotMounted, above all
                    bus.unmount(loop.name, RELEASE_S)
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
