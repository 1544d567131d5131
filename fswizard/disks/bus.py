"""udisks2 over D-Bus: operations on loop devices that polkit allows the active user of a desktop.

No call waits for a password: each sets `auth.no_user_interaction`, so polkit answers at once.

A child process outlives the run and detaches the loop devices of a run that was killed. It reads the names of the run's
images from a pipe, which is closed when the run ends for whatever reason.
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
"""Timeout of a query; the usual default of D-Bus clients."""
WORK_S = 600.0
"""Timeout of calls that may wait for a busy disk or for a driver to load."""
RELEASE_S = 30.0
"""Time for the programs of a killed run to end and for their data to reach the disk."""
PAUSE_S = 0.1
ACTIONS = ("loop-setup", "filesystem-mount", "modify-device")
"""The polkit actions of udisks2 that a run on an image needs."""
IMAGE = "FSWIZARD_IMAGE"
"""Environment variable with the name of the image, set for every program that a run starts on it."""


class BusError(FswizardError):
    """A D-Bus call failed."""

    def __init__(self, name: str, text: str) -> None:
        super().__init__(text or name)
        self.name = name
        """Last part of the D-Bus error name, such as `AlreadyMounted`, `DeviceBusy` or `OptionNotPermitted`."""


class Loop(NamedTuple):
    """A loop device that is attached to a file."""

    name: str
    """Kernel name, such as `loop0`."""
    file: str
    """Path of the backing file as the kernel shows it; ends in ` (deleted)` for an unlinked file."""


class Bus:
    """A connection to the system bus. Calls block; threads may share it."""

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
        """Version of udisks2, such as (2, 9, 4). Starts the service; raises BusError if it is not installed."""
        text = self._property("Manager", "Manager", "Version")
        return tuple(int(part) for part in text.split(".") if part.isdecimal())

    def is_allowed(self) -> bool:
        """Whether polkit allows this process all `ACTIONS` without a password."""
        pid = os.getpid()
        started = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19])
        subject = ("unix-process", {"pid": ("u", pid), "start-time": ("t", started)})
        for action in ACTIONS:
            query: tuple[Any, ...] = (subject, f"org.freedesktop.udisks2.{action}", {}, 0, "")
            if not self._call(new_method_call(POLKIT, "CheckAuthorization", "(sa{sv})sa{ss}us", query))[0][0]:
                return False
        return True

    def set_up(self, file: int) -> str:
        """Attach a loop device to an open file, with direct I/O if that has O_DIRECT; returns the kernel name."""
        options = {"no-part-scan": ("b", True)}
        return str(self._order("Manager", "Manager", "LoopSetup", "h", file, options=options)[0]).rpartition("/")[2]

    def format(self, name: str, kind: str) -> None:
        """Make a filesystem with its default options and a root directory that belongs to the user."""
        options = {"take-ownership": ("b", True), "no-discard": ("b", True)}
        self._order(f"block_devices/{name}", "Block", "Format", "s", kind, options=options)

    def mount(self, name: str, options: str) -> str:
        """Mount with comma-separated options and those that udisks2 always adds; returns the mount point."""
        arguments = {"options": ("s", options)}
        return str(self._order(f"block_devices/{name}", "Filesystem", "Mount", options=arguments)[0])

    def rescan(self, name: str) -> None:
        """Have udev probe the contents of the device again."""
        self._order(f"block_devices/{name}", "Block", "Rescan")

    def unmount(self, name: str, limit_s: float = WORK_S) -> None:
        self._order(f"block_devices/{name}", "Filesystem", "Unmount", limit_s=limit_s)

    def delete(self, name: str) -> None:
        """Detach a loop device that this user attached."""
        self._order(f"block_devices/{name}", "Loop", "Delete")

    def is_own(self, name: str) -> bool:
        """Whether this user attached the loop device, according to udisks2."""
        return bool(self._property(f"block_devices/{name}", "Loop", "SetupByUID") == os.getuid())

    def _order(
        self, path: str, interface: str, method: str, signature: str = "", *values: Any,
        options: Mapping[str, tuple[str, Any]] | None = None, limit_s: float = WORK_S,
    ) -> tuple[Any, ...]:  # fmt: skip
        """Call a method of udisks2. All its methods take a dictionary of options as the last argument."""
        address = DBusAddress(f"{OBJECTS}/{path}", UDISKS, f"{UDISKS}.{interface}")
        arguments = {"auth.no_user_interaction": ("b", True), **(options or {})}
        return self._call(new_method_call(address, method, f"{signature}a{{sv}}", (*values, arguments)), limit_s)

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
    """All loop devices of this machine that are attached to a file."""
    attached = []
    for name in HERE.names("/sys/block"):
        if file := HERE.bytes(f"/sys/block/{name}/loop/backing_file"):  # path and newline; a path may contain newlines
            attached.append(Loop(name, os.fsdecode(file.removesuffix(b"\n"))))
    return tuple(attached)


@contextlib.contextmanager
def undoer() -> Iterator[Callable[[str], None]]:
    """Run the child process, and yield a function that registers an image with it before the image is attached."""
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
    """Kill the workloads on the loop devices of `images`, unmount and detach them; returns those that remain."""
    deadline = clock.monotonic() + RELEASE_S
    while attached := tuple(loop for loop in loops() if loop.file in images):
        with contextlib.suppress(BusError), contextlib.closing(Bus()) as bus:
            for loop in attached:
                if not bus.is_own(loop.name):
                    continue
                _kill_workloads(loop.file)
                with contextlib.suppress(BusError):  # usually NotMounted
                    bus.unmount(loop.name, RELEASE_S)
                bus.delete(loop.name)
        if clock.monotonic() > deadline:
            break
        clock.sleep(PAUSE_S)
    return attached


def _kill_workloads(image: str) -> None:
    """Kill the programs that a run started on this image."""
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error, OSError):  # another user's, or it has ended
            if process.environ().get(IMAGE) == image:
                process.kill()
