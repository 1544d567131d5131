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
from collections.abc import Callable, Collection, Iterator
from typing import Any

import psutil
from jeepney import DBusAddress, DBusErrorResponse, Message, Properties, new_method_call
from jeepney.io.blocking import open_dbus_connection
from jeepney.wrappers import unwrap_msg

from fswizard.errors import FswizardError
from fswizard.system import clock, commands
from fswizard.system.block_device import HERE

UDISKS = "org.freedesktop.UDisks2"
OBJECTS = "/org/freedesktop/UDisks2"
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

    def activate(self) -> None:
        """Start the service unless it runs. Raises BusError if it is not installed."""
        self._call(Properties(DBusAddress(f"{OBJECTS}/Manager", UDISKS, f"{UDISKS}.Manager")).get("Version"), LIMIT_S)

    def set_up(self, file: int) -> str:
        """Attach a loop device to an open file, with direct I/O if that has O_DIRECT; returns the kernel name."""
        options = {"no-part-scan": ("b", True)}
        return str(self._order("Manager", "Manager", "LoopSetup", file, **options)).rpartition("/")[2]

    def mount(self, name: str, options: str) -> str:
        """Mount with comma-separated options and those that udisks2 always adds; returns the mount point."""
        return str(self._order(f"block_devices/{name}", "Filesystem", "Mount", options=("s", options)))

    def rescan(self, name: str) -> None:
        """Have udev probe the contents of the device again."""
        self._order(f"block_devices/{name}", "Block", "Rescan")

    def unmount(self, name: str) -> None:
        self._order(f"block_devices/{name}", "Filesystem", "Unmount")

    def delete(self, name: str) -> None:
        """Detach a loop device that this user attached; udisks2 refuses those of others."""
        self._order(f"block_devices/{name}", "Loop", "Delete")

    def _order(self, path: str, interface: str, method: str, *values: Any, **options: tuple[str, Any]) -> Any:
        """Call a method of udisks2, which take a dictionary of options as the last argument; returns its result."""
        address = DBusAddress(f"{OBJECTS}/{path}", UDISKS, f"{UDISKS}.{interface}")
        arguments = {"auth.no_user_interaction": ("b", True), **options}
        signature = "ha{sv}" if values else "a{sv}"
        body = self._call(new_method_call(address, method, signature, (*values, arguments)), WORK_S)
        return body[0] if body else None

    def _call(self, message: Message, limit_s: float) -> tuple[Any, ...]:
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


def is_allowed() -> bool:
    """Whether polkit allows this process all `ACTIONS` without a password. Raises Missing without polkit."""
    for action in ACTIONS:
        check = ("pkcheck", "--action-id", f"org.freedesktop.udisks2.{action}", "--process", str(os.getpid()))
        if commands.query(check, timeout_s=LIMIT_S).exit_code:
            return False
    return True


def loops() -> dict[str, str]:
    """Loop devices of this machine by kernel name, with the backing file as the kernel shows it.

    The path of an unlinked file ends in ` (deleted)`.
    """
    attached = {}
    for name in HERE.names("/sys/block"):
        if file := HERE.bytes(f"/sys/block/{name}/loop/backing_file"):  # path and newline; a path may contain newlines
            attached[name] = os.fsdecode(file.removesuffix(b"\n"))
    return attached


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


def release(images: Collection[str]) -> list[str]:
    """Kill the workloads on the loop devices of `images`, unmount and detach them; returns those that remain."""
    deadline = clock.monotonic() + RELEASE_S
    while attached := [name for name, file in loops().items() if file in images]:
        for process in psutil.process_iter():
            with contextlib.suppress(psutil.Error, OSError):  # another user's, or it has ended
                if process.environ().get(IMAGE) in images:
                    process.kill()
        with contextlib.suppress(BusError), contextlib.closing(Bus()) as bus:
            for name in attached:
                with contextlib.suppress(BusError):  # usually NotMounted
                    bus.unmount(name)
                with contextlib.suppress(BusError):  # somebody else's, or busy; the others are detached all the same
                    bus.delete(name)
        if clock.monotonic() > deadline:
            break
        clock.sleep(PAUSE_S)
    return attached
