"""The process of root's that sets a disk up for good, or takes back what it can where a step fails.

It works on the machine's own mounts, and goes on to its end whoever listens.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import signal
import stat
import struct
import subprocess
import time
from collections.abc import Iterator
from dataclasses import replace
from uuid import UUID

from fswizard.disks import as_root, claim, rights
from fswizard.disks.claim import ClaimedDevice
from fswizard.disks.loop import LOOP_GET_STATUS64, unlocked
from fswizard.disks.set_up import Names, Order, SetUpChoices, Step, Undo, chosen_set_up, look, steps
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
BTRFS_IOC_FS_INFO, FSID = 0x8400941F, slice(16, 32)
"""linux/btrfs.h"""
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
        candidate, choices = chosen_set_up(parse_candidate(order.candidate), order.choices), order.choices
        with _alone():
            device = claim.find(order.number)
            names = look(candidate, choices, device.name, device.disk)
            _require_its_file(device)
            claimed = claim.claim(*order[2:])
            yield from _Work(candidate, choices, claimed, names).carry_out()
    except (OSError, ValueError) as error:
        raise Refused(_sentence(str(error))) from error


@contextlib.contextmanager
def _alone() -> Iterator[None]:
    """Refused while another disk is being set up. Nobody but root can open the lock, and so keep it."""
    with closing(os.open(LOCK, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)) as lock:
        status = os.fstat(lock)
        if status.st_uid != as_root.ROOT or stat.S_IMODE(status.st_mode) != 0o600:
            raise Refused(_("Other accounts can open {path}.", path=LOCK), _("Remove it, then try again."))
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise Refused(_("{finding}.", finding=_("another disk is being set up"))) from None
        yield


def _require_its_file(device: Device) -> None:
    """Refused where the path that a loop device says its file has, a mere text, leads to another file here."""
    if path := HERE.text(f"/sys/block/{device.disk}/loop/backing_file"):
        file = os.lstat(path)
        with closing(os.open(path_of(device.disk), os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)) as loop:
            said = struct.unpack_from("=2Q", fcntl.ioctl(loop, LOOP_GET_STATUS64, bytes(512)))
        if said != (file.st_dev, file.st_ino):
            raise Refused(_("{name} is on another file than {path}.", name=device.disk, path=safe(path)))


class _Work:
    """The steps on a claimed device."""

    def __init__(self, candidate: Candidate, choices: SetUpChoices, claimed: ClaimedDevice, names: Names) -> None:
        self._candidate, self._choices, self._claimed = candidate, choices, claimed
        self._names = replace(names, stamp=time.strftime("%Y%m%d-%H%M%S"))
        self._device = claimed.device
        """What the filesystem is made on."""
        self._held = contextlib.ExitStack()
        self._held.callback(claimed.detach)
        self._undone: list[str] = []

    def carry_out(self) -> Iterator[dict[str, str]]:
        text = ""
        try:
            with self._held, contextlib.ExitStack() as undo:
                for number in range(len(self._steps)):
                    step = self._steps[number]
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
            raise RunFailed(_sentence(str(error)), hint) from error
        yield {"uuid": self._names.uuid, "backup": self._names.backup}

    @property
    def _steps(self) -> tuple[Step, ...]:
        """They change as the names become known."""
        return steps(self._candidate, self._choices, self._names)

    def _do(self, step: Step) -> None:
        if step.name in ("settle", "mount"):
            self._held.close()  # from here on udev and others may look at it
        locks_itself = step.command[0] in grammar.LOCKING_PROGRAMS
        with unlocked(self._claimed.lock) if locks_itself else contextlib.nullcontext():
            try:
                said = _succeed(step.command, step.given)
            except RunFailed:
                if not step.unless or _run(step.unless).returncode:
                    raise
        if step.name == "reread":
            self._find_partition()
        elif step.name == "make":
            self._claimed.require_same(unused=False)
        elif step.name == "uuid":
            if not re.fullmatch("[0-9A-Fa-f-]{4,36}", uuid := said.strip(), re.ASCII):
                raise RunFailed(_("the new filesystem has no UUID: {uuid}", uuid=f"{uuid!r:.40}"))
            self._names = replace(self._names, uuid=uuid)
        elif step.name in ("mount", "test"):
            self._require_mounted()

    def _find_partition(self) -> None:
        disk, deadline = self._claimed.device, time.monotonic() + PARTITION_LIMIT_S
        while not _has_node(there := look_at(disk.name).partitions) and time.monotonic() < deadline:
            time.sleep(0.02)
        if not _has_node(there):
            raise RunFailed(_("{name} has {len} partitions after it was given one", name=disk.name, len=len(there)))
        self._device = look_at(there[0])
        self._names = replace(self._names, partition=self._device.path)

    def _require_mounted(self) -> None:
        """By its place and number: what a mount says of its source may be anybody's words."""
        point = self._choices.mount_point
        there = [mount for mount in mounts.current().values() if mount.path == point]
        if not there or not self._is_ours(there[-1]):
            raise RunFailed(_("something else is mounted on {mount_point}", mount_point=point))

    def _is_ours(self, mount: mounts.Mount) -> bool:
        if mount.kind != "btrfs":
            return mount.device == self._device.number
        with closing(_open_root(mount)) as directory:  # the number of a btrfs is not its device's
            fsid = fcntl.ioctl(directory, BTRFS_IOC_FS_INFO, bytes(1024))[FSID]
        return str(UUID(bytes=fsid)) == self._names.uuid

    def _take_back(self, undo: Undo) -> None:
        """What could not be taken back is said, too."""
        try:
            if _run(undo.when).returncode == NOTHING_THERE:
                return
            for command in undo.commands:
                _succeed(command)
        except (FswizardError, OSError) as error:
            self._undone.append(f"not so that {undo.text}: {safe(str(error))}")
        else:
            self._undone.append(undo.text)


def _has_node(partitions: tuple[str, ...]) -> bool:
    return len(partitions) == 1 and HERE.device_at(path_of(partitions[0])) == partitions[0]


def _run(command: Command, given: tuple[str, ...] = ()) -> subprocess.CompletedProcess[bytes]:
    """A program of root's, to its end; no terminal's signal reaches it."""
    lines = "".join(f"{line}\n" for line in given)
    return subprocess.run(
        command, executable=as_root.find(command[0]), env=as_root.ROOT_ENVIRONMENT, input=lines.encode(),
        capture_output=True, check=False, cwd="/", start_new_session=True,
    )  # fmt: skip


def _succeed(command: Command, given: tuple[str, ...] = ()) -> str:
    """What it says; RunFailed with its reason where it fails."""
    done = _run(command, given)
    if done.returncode:
        lines = (done.stdout + done.stderr).decode(errors="replace").splitlines()
        reason = "; ".join(line.strip() for line in lines if line.strip()) or f"exit code {done.returncode}"
        raise RunFailed(f"{command[0]} failed: {reason:.400}")
    return done.stdout.decode(errors="replace")


def _sentence(text: str) -> str:
    text = safe(text).rstrip(".")
    return f"{text[:1].upper()}{text[1:]}."


def _open_root(mount: mounts.Mount) -> int:
    """Descriptor of the mount's root; OSError where its path leads elsewhere by now."""
    descriptor = os.open(mount.path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    if _mount_id(descriptor) != mount.id:
        os.close(descriptor)
        raise OSError(f"{mount.path} was moved while it was looked at")
    return descriptor


def _mount_id(descriptor: int) -> int:
    """ID of the mount that an open file lies on."""
    with open(f"/proc/self/fdinfo/{descriptor}") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("mnt_id:"))
