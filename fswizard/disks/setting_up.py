"""The process that sets up a disk as root, and undoes its steps if one fails.

It works in the machine's mount namespace, and runs to its end even if its client is gone.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import shlex
import signal
import struct
import subprocess
import time
from collections.abc import Iterator
from string import Template

from fswizard.disks import as_root, claim, rights
from fswizard.disks.claim import ClaimedDevice
from fswizard.disks.loop import LOOP_GET_STATUS64, unlocked
from fswizard.disks.set_up import OLD_FSTAB, Here, Order, Step, Undo, check_machine, chosen_set_up, partition_of, steps
from fswizard.drives.disk_facts import Usage
from fswizard.errors import FswizardError, Refused, RunFailed
from fswizard.filesystems import mounting as grammar
from fswizard.filesystems import parse_candidate
from fswizard.filesystems.commands import Command
from fswizard.language import _
from fswizard.model.codec import from_json
from fswizard.model.filesystem import Candidate
from fswizard.model.text import safe
from fswizard.system import mounts
from fswizard.system.block_device import HERE, Device, look_at, path_of
from fswizard.system.system_calls import closing

LOCK = "/run/fswizard-set-up.lock"
NOTHING_THERE = 1
"""Exit code of `Undo.when` if there is nothing to undo."""


def main() -> None:
    """Carry out the order on standard input; writes each step as it begins, finally the `uuid` and the `backup`."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGTSTP):
        signal.signal(number, lambda *_: None)  # child processes would inherit SIG_IGN
    os.umask(0o022)
    rights.serve(carry_out)


def carry_out(data: object) -> Iterator[str | dict[str, str]]:
    """Carry out an `Order`. Raises Refused or Missing before anything is written, and RunFailed after that."""
    try:
        order = from_json(Order, data)
        candidate = chosen_set_up(parse_candidate(order.candidate), order.mount_point)
        # In a directory where root alone can make files, and readable for root alone, so that nobody else can lock it.
        with closing(os.open(LOCK, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)) as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise Refused(_("Another disk is being set up.")) from None
            device = claim.find(order.member.number)
            here = check_machine(candidate, order.mount_point, device)
            if device.file:
                _require_backing_file(device)
            yield from _Work(candidate, order, here, claim.claim(order.member, order.content_type)).carry_out()
    except (OSError, ValueError) as error:
        raise Refused(_sentence(error)) from error


def _require_backing_file(device: Device) -> None:
    """Raise Refused if the path shown for a loop device does not lead to its backing file here."""
    file = os.lstat(device.file)
    with closing(os.open(path_of(device.disk), os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)) as loop:
        identity = struct.unpack_from("=2Q", fcntl.ioctl(loop, LOOP_GET_STATUS64, bytes(512)))
    if identity != (file.st_dev, file.st_ino):
        raise Refused(_("{name} is on another file than {path}.", name=device.disk, path=safe(device.file)))


class _Work:
    """The steps on a claimed device."""

    def __init__(self, candidate: Candidate, order: Order, here: Here, claimed: ClaimedDevice) -> None:
        self._steps = tuple(steps(candidate, order.mount_point, here))
        self._making, self._point = candidate.filesystem.mkfs_program, order.mount_point
        self._claimed = claimed
        self._device = claimed.device
        """The device that the filesystem is made on: the claimed one or its new partition."""
        self._variables = {"disk": claimed.path, "stamp": time.strftime("%Y%m%d-%H%M%S")}
        """Values of the variables in the steps."""
        self._undone: list[str] = []

    def carry_out(self) -> Iterator[str | dict[str, str]]:
        try:
            with contextlib.ExitStack() as held, contextlib.ExitStack() as undo:
                held.callback(self._claimed.detach)
                for step in self._steps:
                    if step.text:
                        yield step.text
                    if step.undo:
                        undo.callback(self._undo, step.undo)
                    if step.program in ("udevadm", "mount"):
                        held.close()  # release the lock, so that udev and others can probe it
                    self._do(step)
                undo.pop_all()
        except (FswizardError, OSError) as error:
            back = "; ".join(self._undone)
            hint = _("Taken back: {back}.", back=back) if back else _("Look at the disk first.")
            raise RunFailed(_sentence(error), hint) from error
        yield {"uuid": self._variables["uuid"], "backup": self._split(OLD_FSTAB)[0]}

    def _split(self, text: str) -> Command:
        """Split a shell command into arguments, with the variables substituted."""
        return tuple(Template(word).substitute(self._variables) for word in shlex.split(text))

    def _do(self, step: Step) -> None:
        program = step.program
        waits = program in grammar.LOCKING_PROGRAMS
        with unlocked(self._claimed.lock) if waits else contextlib.nullcontext():
            try:
                output = _succeed(self._split(step.command), self._split(step.stdin))
            except RunFailed:
                if program != "mount" or not self._is_mounted():  # systemd may have mounted it already
                    raise
        if program == "partx":
            self._device = look_at(partition_of(self._device.name))
            # In a container, whose /dev does not follow the kernel, the path may lead to another disk.
            if HERE.device_at(self._device.path) != self._device.name:
                raise RunFailed(_("{name} has no partition after it was given one.", name=self._claimed.name))
            self._variables["part"] = self._device.path
        elif program == self._making:
            self._claimed.require_same(unused=False)
        elif program == "blkid":
            self._variables["uuid"] = uuid = output.strip()
            if not re.fullmatch("[0-9A-Fa-f-]{4,36}", uuid):
                raise RunFailed(_("The new filesystem has no UUID: {uuid}.", uuid=f"{uuid!r:.40}"))
        elif program == "mount" and not self._is_mounted():
            raise RunFailed(_("Something else is mounted on {mount_point}.", mount_point=self._point))

    def _is_mounted(self) -> bool:
        """Whether the device is mounted, by device number, as a mount's source can be any text."""
        mounted = [mount for mount in mounts.current() if mount.path == self._point]
        return bool(mounted) and mounted[-1] in Usage().mounts.get(self._device.name, ())

    def _undo(self, undo: Undo) -> None:
        """Undo a step, and record success or failure for the error message."""
        try:
            if _run(self._split(undo.when)).returncode == NOTHING_THERE:
                return
            for command in undo.commands:
                _succeed(self._split(command))
        except (FswizardError, OSError) as error:
            self._undone.append(f"not so that {undo.text}: {safe(str(error))}")
        else:
            self._undone.append(undo.text)


def _run(command: Command, lines: Command = ()) -> subprocess.CompletedProcess[bytes]:
    """Run a program as root with `lines` as its standard input."""
    return as_root.run(command, stdin="".join(f"{line}\n" for line in lines).encode())


def _succeed(command: Command, stdin: Command = ()) -> str:
    """Run a program as root, and return its output. Raises RunFailed with its messages if it fails."""
    done = _run(command, stdin)
    if done.returncode:
        lines = (done.stdout + done.stderr).decode(errors="replace").split("\n")
        reason = "; ".join(line.strip() for line in lines if line.strip()) or f"exit code {done.returncode}"
        raise RunFailed(f"{command[0]} failed: {reason:.400}")
    return done.stdout.decode(errors="replace")


def _sentence(error: Exception) -> str:
    return f"{safe(str(error)).rstrip('.')}."
