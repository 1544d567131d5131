"""The process of root's that sets a disk up for good, or takes back what it can where a step fails.

It works on the machine's own mounts, and goes on to its end whoever listens.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import shlex
import signal
import stat
import struct
import subprocess
import time
from collections.abc import Iterator
from string import Template

from fswizard.disks import as_root, claim, rights
from fswizard.disks.claim import ClaimedDevice
from fswizard.disks.loop import LOOP_GET_STATUS64, unlocked
from fswizard.disks.set_up import OLD_FSTAB, Here, Order, Step, Undo, chosen_set_up, look, partition_of, steps
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
PARTITION_LIMIT_S = 10.0
"""Until the kernel has the new partition."""
NOTHING_THERE = 1
"""Exit code of a check that finds nothing to take back."""


def main() -> None:
    """Carry out the order on standard input: each `step` is said as it begins, at last the `uuid` and the `backup`."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGTSTP):
        signal.signal(number, lambda *_: None)  # not ignored: what is started would inherit that
    os.umask(0o022)
    rights.serve(carry_out)


def carry_out(data: object) -> Iterator[dict[str, str]]:
    """Refused or Missing before anything is written; RunFailed says what was taken back."""
    try:
        order = from_json(Order, data)
        candidate = chosen_set_up(parse_candidate(order.candidate), order.choices)
        with closing(os.open(LOCK, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)) as lock:
            _take(lock)
            device = claim.find(order.number)
            here = look(candidate, order.choices, device)
            if device.file:
                _require_its_file(device)
            yield from _Work(candidate, order, here, claim.claim(*order[2:])).carry_out()
    except (OSError, ValueError) as error:
        raise Refused(_sentence(error)) from error


def _take(lock: int) -> None:
    """Refused while another disk is being set up. Nobody but root can open the lock, and so keep it."""
    status = os.fstat(lock)
    if status.st_uid != as_root.ROOT or stat.S_IMODE(status.st_mode) != 0o600:
        raise Refused(_("Other accounts can open {path}.", path=LOCK), _("Remove it, then try again."))
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        raise Refused(_("Another disk is being set up.")) from None


def _require_its_file(device: Device) -> None:
    """Refused where the path that a loop device says its file has, a mere text, leads to another file here."""
    file = os.lstat(device.file)
    with closing(os.open(path_of(device.disk), os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)) as loop:
        said = struct.unpack_from("=2Q", fcntl.ioctl(loop, LOOP_GET_STATUS64, bytes(512)))
    if said != (file.st_dev, file.st_ino):
        raise Refused(_("{name} is on another file than {path}.", name=device.disk, path=safe(device.file)))


class _Work:
    """The steps on a claimed device."""

    def __init__(self, candidate: Candidate, order: Order, here: Here, claimed: ClaimedDevice) -> None:
        self._steps = tuple(steps(candidate, order.choices, here))
        self._making, self._point = candidate.filesystem.mkfs_program, order.choices.mount_point
        self._claimed = claimed
        self._device = claimed.device
        """What the filesystem is made on."""
        self._known = {"disk": claimed.path, "stamp": time.strftime("%Y%m%d-%H%M%S")}
        """Variables of the steps."""
        self._held = contextlib.ExitStack()
        self._held.callback(claimed.detach)
        self._undone: list[str] = []

    def carry_out(self) -> Iterator[dict[str, str]]:
        text = ""
        try:
            with self._held, contextlib.ExitStack() as undo:
                for step in self._steps:
                    if step.text != text:
                        text = step.text
                        yield {"step": text}
                    if step.undo:
                        undo.callback(self._take_back, step.undo)
                    self._do(step)
                undo.pop_all()
        except (FswizardError, OSError) as error:
            back = "; ".join(self._undone)
            hint = _("Taken back: {back}.", back=back) if back else _("Look at the disk first.")
            raise RunFailed(_sentence(error), hint) from error
        yield {"uuid": self._known["uuid"], "backup": self._words(OLD_FSTAB)[0]}

    def _words(self, typed: str) -> Command:
        return tuple(Template(word).substitute(self._known) for word in shlex.split(typed))

    def _do(self, step: Step) -> None:
        program = step.program
        if program in ("udevadm", "mount"):
            self._held.close()  # from here on udev and others may look at it
        waits = program in grammar.LOCKING_PROGRAMS
        with unlocked(self._claimed.lock) if waits else contextlib.nullcontext():
            try:
                said = _succeed(self._words(step.command), self._words(step.given))
            except RunFailed:
                if not step.unless or _run(self._words(step.unless)).returncode:
                    raise
        if program == "partx":
            self._find_partition()
        elif program == self._making:
            self._claimed.require_same(unused=False)
        elif program == "blkid":
            self._known["uuid"] = uuid = said.strip()
            if not re.fullmatch("[0-9A-Fa-f-]{4,36}", uuid, re.ASCII):
                raise RunFailed(_("The new filesystem has no UUID: {uuid}.", uuid=f"{uuid!r:.40}"))
        elif program in ("mount", "setpriv"):
            self._require_mounted()

    def _find_partition(self) -> None:
        name, deadline = partition_of(self._device.name), time.monotonic() + PARTITION_LIMIT_S
        while HERE.device_at(path_of(name)) != name:
            if time.monotonic() > deadline:
                raise RunFailed(_("{name} has no partition after it was given one.", name=self._device.name))
            time.sleep(0.02)
        self._device = look_at(name)
        self._known["part"] = self._device.path

    def _require_mounted(self) -> None:
        """By the devices that the kernel says it lies on: what a mount says of its source may be anybody's words."""
        there = [mount for mount in mounts.current().values() if mount.path == self._point]
        if not there or there[-1] not in Usage().mounts.get(self._device.name, ()):
            raise RunFailed(_("Something else is mounted on {mount_point}.", mount_point=self._point))

    def _take_back(self, undo: Undo) -> None:
        """What could not be taken back is said, too."""
        try:
            if _run(self._words(undo.when)).returncode == NOTHING_THERE:
                return
            for command in undo.commands:
                _succeed(self._words(command))
        except (FswizardError, OSError) as error:
            self._undone.append(f"not so that {undo.text}: {safe(str(error))}")
        else:
            self._undone.append(undo.text)


def _run(command: Command, given: Command = ()) -> subprocess.CompletedProcess[bytes]:
    """A program of root's, with these lines on its standard input."""
    return as_root.run(command, given="".join(f"{line}\n" for line in given).encode())


def _succeed(command: Command, given: Command = ()) -> str:
    """What it says; RunFailed with its reason where it fails."""
    done = _run(command, given)
    if done.returncode:
        lines = (done.stdout + done.stderr).decode(errors="replace").splitlines()
        reason = "; ".join(line.strip() for line in lines if line.strip()) or f"exit code {done.returncode}"
        raise RunFailed(f"{command[0]} failed: {reason:.400}")
    return done.stdout.decode(errors="replace")


def _sentence(error: Exception) -> str:
    return f"{safe(str(error)).rstrip('.')}."
