"""Sets a disk or partition up for good, in the machine's own namespaces, and takes back what it can where a step fails.

It is one request, read from standard input, and no loop: whatever becomes of the client, it is carried out to the end
or taken back. Everything that can be looked at is looked at before the disk is touched. /etc/fstab is never
half-written: its new contents replace the old ones by a rename, and only if nobody changed them meanwhile.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import pwd
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from fswizard.disks import as_root, rights
from fswizard.disks.as_root import ROOT
from fswizard.errors import FswizardError, Refused, RunFailed
from fswizard.privileged import (
    block_device,
    claim,
    disk_facts,
    grammar,
    mounts,
    set_up_plan,
)
from fswizard.privileged.block_device import HERE, Device
from fswizard.privileged.claim import ClaimedDevice
from fswizard.privileged.commands import Command
from fswizard.privileged.refusal import Refusal
from fswizard.privileged.set_up_plan import FSTAB, OTHER_MOUNT_POINT, Names, SetUp, Step
from fswizard.privileged.system_calls import closing

OTHERS = stat.S_IWGRP | stat.S_IWOTH
MAXIMUM_FSTAB_BYTES = 1 << 20
PARTITION_LIMIT_S = 10.0
"""Until the kernel has the new partition."""
ENTERED_BY_ALL = stat.S_IROTH | stat.S_IXOTH
WRITE_NEW = 'set -C; cat > "$0"; sync "$0"'
NEW_FSTAB = "/etc/.fstab.fswizard"
CLAIM = ("number", "diskseq", "size_bytes", "serial", "shown")
"""Fields of the request that say which disk; the others are those of `SetUp`."""
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC

Say = Callable[[dict[str, Any]], None]


def main() -> None:
    """Carry out the order on standard input; what it says is `{"step": NAME}` for each step as it begins, and `done`."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGTSTP):
        signal.signal(number, lambda *_: None)  # not ignored: what is started would inherit that
    os.umask(0o022)
    order, undone = json.load(sys.stdin.buffer), list[str]()
    try:
        rights.say("", {"done": carry_out(order, lambda step: rights.say("", step), undone)})
    except Refusal as refusal:
        if refusal.code == "failed":
            rights.say_error(RunFailed(refusal.text, "; ".join(undone)))
        else:
            rights.say_error(Refused(refusal.text, refusal.hint))
    except FswizardError as error:
        rights.say_error(error)
    except OSError as error:
        text = ": ".join(str(part) for part in (error.filename, error.strerror or error) if part)
        rights.say_error(RunFailed(text, "; ".join(undone)))


def carry_out(order: Mapping[str, Any], say: Say, undone: list[str]) -> dict[str, str]:
    """The UUID and the copy of fstab, once all is done; Refusal or OSError, with what was taken back in `undone`."""
    chosen = {field.name: order[field.name] for field in fields(SetUp)}
    what = SetUp(**{**chosen, "arguments": tuple(chosen["arguments"]), "options": tuple(chosen["options"])})
    set_up_plan.require(what)
    with closing(os.open(os.path.dirname(FSTAB), _DIRECTORY)) as etc:
        try:
            fcntl.flock(etc, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise Refusal("busy", "another disk is being set up") from None
        device = claim.find(order["number"])
        require_free(what, device.name)
        table, owner = read_fstab(), owner_of(what.owner)
        _require_fit(what, device)
        claimed = claim.claim(*(order[name] for name in CLAIM))
        with contextlib.ExitStack() as undo:
            work = _Work(what, claimed, owner, table, undo, undone)
            undo.callback(work.release)
            work.carry_out(say)
            work.release()
            undo.pop_all()
        return {"uuid": work.names.uuid, "backup": work.names.backup}


def owner_of(name: str) -> pwd.struct_passwd:
    """Refusal where there is no such account."""
    try:
        return pwd.getpwnam(name)
    except KeyError:
        raise Refusal("refused", f"there is no account {name!r:.40}") from None


def require_free(what: SetUp, name: str) -> None:
    """Refusal where the mount point or the label is somebody's already; `name` is the device's by the kernel."""
    point = what.mount_point
    for mount in mounts.current().values():
        if (mount.path + "/").startswith(point + "/"):
            raise Refusal("refused", f"{mount.path} is mounted already", hint=OTHER_MOUNT_POINT)
    for line in read_fstab()[0].decode("utf-8", "surrogateescape").split("\n"):
        columns = line.split()
        if len(columns) > 1 and not columns[0].startswith("#"):
            path = os.path.normpath(mounts.unescape(columns[1]))
            if (path + "/").startswith(point + "/"):
                raise Refusal("refused", f"{FSTAB} has {path} already", hint=OTHER_MOUNT_POINT)
    _require_empty(point)
    table, link = disk_facts.expecting_label(what.label), f"/dev/disk/by-label/{what.label}"
    if table or (os.path.lexists(link) and HERE.device_at(link) != name):
        whose = f"{table} names it" if table else "another disk has it"
        raise Refusal("refused", f"the label {what.label} is taken ({whose})", hint="Choose another.")


def _require_empty(point: str) -> None:
    """Everything on the way to it that is there is root's alone, and what is there of it is empty."""
    place = os.open("/", _DIRECTORY)
    path = ""
    try:
        for name in point[1:].split("/"):
            path += f"/{name}"
            try:
                below = _open_below(place, path)
            except FileNotFoundError:
                return
            os.close(place)
            place = below
        if os.listdir(place):
            raise Refusal("refused", f"{point} is not empty", hint=OTHER_MOUNT_POINT)
    finally:
        os.close(place)


def _open_below(place: int, path: str) -> int:
    """Descriptor of the directory `path` below `place`; Refusal unless root alone can change it, and all enter it."""
    try:
        below = os.open(os.path.basename(path), _DIRECTORY, dir_fd=place)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise Refusal("refused", f"{path} is not a directory of its own: {error.strerror}") from None
    status = os.fstat(below)
    if status.st_uid != ROOT or status.st_mode & OTHERS:
        os.close(below)
        raise Refusal("refused", f"other accounts can change {path}", hint=OTHER_MOUNT_POINT)
    if status.st_mode & ENTERED_BY_ALL != ENTERED_BY_ALL:  # the caller must not learn what is in it
        os.close(below)
        raise Refusal("refused", f"other accounts can't look into {path}", hint=OTHER_MOUNT_POINT)
    return below


def read_fstab() -> tuple[bytes, os.stat_result]:
    """Its contents, and whose it is; Refusal where it is not a plain file of root's."""
    try:
        file = os.open(FSTAB, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        raise Refusal("refused", f"there is no {FSTAB} here") from None
    except OSError as error:
        link = os.path.islink(FSTAB)
        reason = "is a link: another program writes it" if link else f"can't be read: {error.strerror}"
        raise Refusal("refused", f"{FSTAB} {reason}") from None
    with closing(file):
        status = os.fstat(file)
        if not stat.S_ISREG(status.st_mode) or status.st_uid != ROOT or status.st_mode & OTHERS:
            raise Refusal("refused", f"{FSTAB} is not a plain file of root's alone")
        data = os.read(file, MAXIMUM_FSTAB_BYTES + 1)
        if len(data) > MAXIMUM_FSTAB_BYTES:
            raise Refusal("refused", f"{FSTAB} is too large")
        return data, status


def _require_fit(what: SetUp, device: Device) -> None:
    """Refusal where the device is not for that, or a program is missing."""
    if what.partition and device.name != device.disk:
        raise Refusal("refused", f"{device.name} is a partition: only a whole disk gets a partition table")
    if device.file and not what.may_be_absent:
        raise Refusal("refused", f"{device.name} is gone when this machine starts again: let it be absent")
    if what.filesystem in grammar.NTFS and not what.partition and device.name == device.disk:
        raise Refusal("refused", "NTFS needs a partition: mkfs.ntfs takes no whole disk")
    inside = ("directory", "backup", "fstab", "own", "test")
    for step in set_up_plan.steps(what, Names(device.path, device.path, 0, 0)):
        if step.name not in inside and not (step.only_with and not os.path.exists(step.only_with)):
            as_root.find(step.command[0])
    if what.mount_type in grammar.FUSE:
        as_root.find(f"mount.{what.mount_type}")


@dataclass
class _Work:
    """The steps, one method each where it is not a program that is run; `undo` takes them back."""

    what: SetUp
    claimed: ClaimedDevice
    owner: pwd.struct_passwd
    table: tuple[bytes, os.stat_result]
    """What fstab was."""
    undo: contextlib.ExitStack
    undone: list[str]
    held: bool = True

    def __post_init__(self) -> None:
        path, stamp = self.claimed.path, time.strftime("%Y%m%d-%H%M%S")
        self.names = Names(path, path, self.owner.pw_uid, self.owner.pw_gid, stamp=stamp)
        self.device = self.claimed.device
        """What the filesystem is made on."""

    def carry_out(self, say: Say) -> None:
        for name in [step.name for step in set_up_plan.steps(self.what, self.names)]:
            step = next(step for step in set_up_plan.steps(self.what, self.names) if step.name == name)
            say({"step": name})
            work: Callable[[Step], None] = getattr(self, f"_{name}", self._run)
            work(step)

    def release(self) -> None:
        """Give up the disk, once."""
        if self.held:
            self.claimed.detach()
        self.held = False

    def _run(self, step: Step) -> None:
        if not step.only_with or os.path.exists(step.only_with):
            _call(step.command, step.given)

    def _reread(self, step: Step) -> None:
        self._run(step)
        disk = self.claimed.device
        deadline = time.monotonic() + PARTITION_LIMIT_S
        while not self._has_node(there := block_device.look_at(disk.name).partitions) and time.monotonic() < deadline:
            time.sleep(0.02)
        if not self._has_node(there):
            raise Refusal("failed", f"{disk.name} has {len(there)} partitions after it was given one")
        self.device = block_device.look_at(there[0])
        self.names = replace(self.names, partition=self.device.path)
        _call(("wipefs", "--all", self.device.path), "")

    def _has_node(self, partitions: tuple[str, ...]) -> bool:
        return len(partitions) == 1 and HERE.device_at(block_device.path_of(partitions[0])) == partitions[0]

    def _make(self, step: Step) -> None:
        locks_itself = step.command[0] in grammar.LOCKING_PROGRAMS
        with _unlocked(self.claimed.lock) if locks_itself else contextlib.nullcontext():
            self._run(step)
        self.claimed.require_same(unused=False)

    def _uuid(self, step: Step) -> None:
        uuid = _call(step.command, "").strip()
        if not 4 <= len(uuid) <= 36 or set(uuid) - set("0123456789abcdefABCDEF-"):
            raise Refusal("failed", f"the new filesystem has no UUID: {uuid!r:.40}")
        self.names = replace(self.names, uuid=uuid)

    def _directory(self, step: Step) -> None:
        place, path = os.open("/", _DIRECTORY), ""
        for name in self.what.mount_point[1:].split("/"):
            path += f"/{name}"
            with closing(place):
                try:
                    os.mkdir(name, 0o755, dir_fd=place)
                    os.chmod(name, 0o755, dir_fd=place)
                except FileExistsError:
                    pass
                else:
                    self._undo(f"{path} is removed", os.rmdir, path)
                place = _open_below(place, path)
        with closing(place):
            if os.listdir(place):
                raise Refusal("refused", f"{path} is not empty any more")

    def _backup(self, step: Step) -> None:
        data, status = self.table
        _write(self.names.backup, data, status)
        self.undo.callback(os.unlink, self.names.backup)

    def _fstab(self, step: Step) -> None:
        data, status = self.table
        new = data + b"\n" * (bool(data) and not data.endswith(b"\n")) + f"{step.command[-1]}\n".encode()
        _replace_fstab(data, new, status)
        self._undo(f"{FSTAB} is as it was", self._restore, new)

    def _restore(self, new: bytes) -> None:
        data, status = self.table
        _replace_fstab(new, data, status)
        for step in set_up_plan.steps(self.what, self.names):
            if step.name == "reload":
                self._run(step)

    def _settle(self, step: Step) -> None:
        """From here on udev and others may look at it."""
        self.release()
        self._run(step)

    def _mount(self, step: Step) -> None:
        try:
            self._run(step)
        except Refusal:
            if self._mounted() is None:  # systemd may have been faster
                raise
        self.undo.callback(self._unmount)
        mounted = self._mounted()
        if mounted is None or self.device.name not in disk_facts.Usage().devices(mounted):
            raise Refusal("failed", f"something else is mounted on {self.what.mount_point}")

    def _mounted(self) -> mounts.Mount | None:
        there = [mount for mount in mounts.current().values() if mount.path == self.what.mount_point]
        return there[-1] if there else None

    def _unmount(self) -> None:
        if self._mounted() is not None and mounts.unmount(self.what.mount_point):
            self.undone.append(f"{self.what.mount_point} is still mounted")

    def _own(self, step: Step) -> None:
        mounted = self._mounted()
        if mounted is None:
            raise Refusal("failed", f"{self.what.mount_point} is not mounted any more")
        with closing(mounts.open_root(mounted)) as root:
            os.fchown(root, self.owner.pw_uid, self.owner.pw_gid)

    def _test(self, step: Step) -> None:
        """As the owner."""
        drop = (f"--reuid={self.owner.pw_uid}", f"--regid={self.owner.pw_gid}", "--init-groups")
        write = ("setpriv", *drop, *as_root.WITHOUT_RIGHTS, "sh", "-c", WRITE_NEW, step.command[-1])
        try:
            _call(write, step.given)
        except Refusal as refusal:
            text = f"{self.what.owner} can't write to {self.what.mount_point}: {refusal.text}"
            raise Refusal("failed", text) from refusal

    def _undo(self, words: str, function: Callable[[Any], None], argument: object) -> None:
        """Have it taken back in case of need; what could not be is said, too."""

        def take_back() -> None:
            try:
                function(argument)
            except (OSError, Refusal) as error:
                self.undone.append(f"not so that {words}: {error}")
            else:
                self.undone.append(words)

        self.undo.callback(take_back)


@contextlib.contextmanager
def _unlocked(lock: int) -> Iterator[None]:
    """For a program that locks the disk itself."""
    fcntl.flock(lock, fcntl.LOCK_UN)
    try:
        yield
    finally:
        fcntl.flock(lock, fcntl.LOCK_EX)


def _call(command: Command, given: str) -> str:
    """What a program of root's says; Refusal with its reason where it fails."""
    done = subprocess.run(
        command, executable=as_root.find(command[0]), env=as_root.ROOT_ENVIRONMENT, input=given.encode() + b"\n", capture_output=True,
        check=False,
    )  # fmt: skip
    if done.returncode:
        lines = [line.strip() for line in (done.stdout + done.stderr).decode(errors="replace").splitlines()]
        reason = "; ".join(line for line in lines if line) or f"exit code {done.returncode}"
        raise Refusal("failed", f"{command[0]} failed: {reason:.400}")
    return done.stdout.decode(errors="replace")


def _replace_fstab(old: bytes, new: bytes, status: os.stat_result) -> None:
    """At once and whole; Refusal where it holds anything but `old`."""
    with contextlib.suppress(FileNotFoundError):
        os.unlink(NEW_FSTAB)
    _write(NEW_FSTAB, new, status)
    try:
        if read_fstab()[0] != old:
            raise Refusal("refused", f"{FSTAB} was changed meanwhile")
        os.rename(NEW_FSTAB, FSTAB)
    except BaseException:
        os.unlink(NEW_FSTAB)
        raise
    with closing(os.open(os.path.dirname(FSTAB), _DIRECTORY)) as etc:
        os.fsync(etc)


def _write(path: str, data: bytes, like: os.stat_result) -> None:
    """A new file, for good before this returns, that belongs to whom `like` says."""
    with open(os.open(path, _NEW, 0o600), "wb") as file:
        file.write(data)
        os.fchown(file.fileno(), like.st_uid, like.st_gid)
        os.fchmod(file.fileno(), stat.S_IMODE(like.st_mode))
        file.flush()
        os.fsync(file.fileno())
