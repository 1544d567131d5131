"""What is made of devices below a filesystem, or by it: arrays of md, LUKS volumes, btrfs and ZFS over several.

Each has a random name and, an array, a UUID that follows from it: by these it is known, as no device of somebody else's
can bring them along. The kernel keeps arrays, volumes and pools when their run is gone; `reclaim` takes them down then.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import re
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Protocol

from fswizard.disks import as_root
from fswizard.disks.as_root import root
from fswizard.disks.loop import require_unused, unlocked
from fswizard.errors import FswizardError, Missing, Refused, RunFailed
from fswizard.filesystems import commands
from fswizard.filesystems import mounting as grammar
from fswizard.filesystems.commands import Command, DeviceNames
from fswizard.language import _
from fswizard.model.filesystem import Candidate
from fswizard.system import clock
from fswizard.system.block_device import path_of
from fswizard.system.process import Finished

NAME = re.compile(r"fswizard-[0-9a-f]{16}")
BLOCKS = Path("/sys/block")
ZFS_MODULE = Path("/sys/module/zfs")
"""There while the kernel's module is loaded."""
OPENZFS = "mount.zfs"
"""Comes with OpenZFS alone; the abandoned zfs-fuse brings a zpool, too."""
BTRFS_FORGET_DEV = 0x50009405
"""linux/btrfs.h; its argument is a descriptor, which is not used, and the path."""
PATH_BYTES = 4088
BUSY_LIMIT_S = 10.0
"""A device that has just failed, an array that udev looks at, or a pool that OpenZFS's own event daemon asks after, is
let go a moment later."""
PAUSE_S = 0.05
BUSY = ("busy", "exclusive access")
"""What mdadm and zpool say until then."""
KEY_BYTES = 64
POOL_COUNTERS = ("read_errors", "write_errors", "checksum_errors")


class Part(Protocol):
    """A device that the run holds: a scratch image's loop device, or a disk that the user gave up."""

    @property
    def name(self) -> str: ...
    @property
    def path(self) -> str: ...
    @property
    def descriptor(self) -> int: ...
    @property
    def lock(self) -> int:
        """Descriptor by which its disk is locked."""
        ...

    @property
    def direct_io(self) -> bool: ...
    def require_same(self, *, unused: bool) -> None:
        """RunFailed or Refused where it is not what it was, or, with `unused`, where anything uses it."""
        ...

    def detach(self) -> None: ...


class Stack:
    """One device or several, and what was made of them for the candidate that is on them now."""

    def __init__(self, parts: Sequence[Part], directory: str) -> None:
        self.parts = tuple(parts)
        self.name = f"fswizard-{os.urandom(8).hex()}"
        """Of the array, volume, pool or btrfs that is made."""
        self._directory = directory
        self.is_pool = False
        self._spread = self._missing = self._cleaned = False
        self._key = b""
        """Of the volume that is being made: it is known to its programs and the kernel alone, and is kept nowhere."""
        self._pool_errors: dict[str, int] = {}
        """Of mounts before: a pool forgets them at every export."""

    @property
    def names(self) -> DeviceNames:
        paths = tuple(part.path for part in self.parts)
        return DeviceNames(paths, self.path, self.name, uuid_of(self.name), self._directory)

    @property
    def array(self) -> str:
        """Kernel name of the array or volume that there is of the devices; empty where there is none."""
        return find_array([part.name for part in self.parts]) or find_volume(self.name)

    @property
    def path(self) -> str:
        """Of what a filesystem is made on: the array or volume, or the first device."""
        if find_volume(self.name):
            return commands.volume_path(self.name)
        array = self.array
        return f"/dev/{array}" if array else self.parts[0].path

    @property
    def mount_options(self) -> tuple[str, ...]:
        """Where a btrfs finds its further devices: no other one is looked at."""
        return commands.btrfs_options(self.names.devices, missing=self._missing) if self._spread else ()

    async def make(self, candidate: Candidate, begun: Callable[[Command], None]) -> list[Finished]:
        """Make a candidate of bare devices; the last exit code says whether that failed."""
        made: list[Finished] = []
        program = candidate.filesystem.mkfs_program
        for order in candidate.orders(scratch=True):
            self.is_pool = candidate.filesystem.pool
            self._spread = order.verb == "build" and not self.is_pool
            self._missing = bool(order.fields.get("missing"))
            if self.is_pool:
                as_root.find(OPENZFS)
                self._make_nodes()
                self._pool_errors.clear()
            for argv in commands.make(order.verb, self.names, program, **order.fields):
                begun(argv)
                made.append(await self._run(argv))
                if made[-1].exit_code:
                    return made
        if self._spread and self._missing:
            self._forget_btrfs(self.parts[-1:])
        return made

    async def _run(self, argv: Command) -> Finished:
        """One command of those that make a candidate."""
        if argv[0] == "cryptsetup":
            if argv[1] == "luksFormat":
                as_root.find(commands.DMSETUP)  # it closes the volume
                self._key = os.urandom(KEY_BYTES)
            finished = await as_root.finish(argv, given=self._key)
            if argv[1] == "open":
                self._key = b""
            return finished
        if argv[:2] == ("zpool", "export"):
            return await until_free(argv)
        if argv[0] not in grammar.LOCKING_PROGRAMS:
            return await as_root.finish(argv)
        with contextlib.ExitStack() as undo:
            for part in self.parts:
                undo.enter_context(unlocked(part.lock))
            return await as_root.finish(argv)

    async def mounting(self, candidate: Candidate, uid: int, gid: int) -> list[Finished]:
        """Mount it; the last exit code says whether that failed. A pool that cannot be mounted is exported again."""
        filesystem, options = candidate.filesystem, candidate.scratch_mount_options
        self._cleaned = filesystem.mount_type == commands.NILFS2
        done: list[Finished] = []
        if self.is_pool:
            self._make_nodes()
        for argv in commands.mount(self.names, filesystem.mount_type, options, uid, gid, further=self.mount_options):
            done.append(await as_root.finish(argv))
            if done[-1].exit_code:
                if self.is_pool:
                    await until_free(commands.export_pool(self.name))
                break
        return done

    async def unmounting(self) -> None:
        """What comes before the filesystem is unmounted: NILFS2's cleaner is ended, and a pool's errors are read."""
        if self.is_pool:
            await self.keep_pool_errors()
        if self._cleaned:
            await as_root.end(commands.CLEANER)

    async def unmounted(self) -> Finished | None:
        """What is left to do when the filesystem was unmounted: to export a pool, which forgets all that is cached."""
        return await until_free(commands.export_pool(self.name)) if self.is_pool else None

    async def take_apart(self) -> None:
        """Undo what was made of the devices; RunFailed where that cannot be."""
        self._forget_btrfs(self.parts)
        self._spread = self._missing = False
        if self.is_pool:
            await _destroy_pool(self.name)
            self.is_pool = False
        if find_volume(self.name):
            _require(await as_root.finish(commands.close_volume(self.name)))
        elif array := self.array:
            await _stop_array(array, [part.path for part in self.parts])

    async def pool_errors(self) -> dict[str, int]:
        """Errors since the pool was made, as `zpool status` has them."""
        finished = _require(await as_root.finish(("zpool", "status", "-p", self.name)))
        now, before = parse_pool_errors(finished.stdout.decode("utf-8", "replace")), self._pool_errors
        return {name: before.get(name, 0) + now.get(name, 0) for name in (*POOL_COUNTERS, "data_errors")}

    async def keep_pool_errors(self) -> None:
        """Remember what the pool has counted, before it is exported."""
        with contextlib.suppress(FswizardError):  # it is asked again when the candidate is checked
            self._pool_errors |= await self.pool_errors()

    def _make_nodes(self) -> None:
        """A directory with the pool's devices and nothing else, so that import looks at no other one."""
        nodes = commands.pool_nodes(self.name, len(self.parts))
        with root():
            os.makedirs(commands.pool_directory(self.name), 0o700, exist_ok=True)
            for node, part in zip(nodes, self.parts):
                if not os.path.exists(node):
                    os.mknod(node, stat.S_IFBLK | 0o600, os.fstat(part.descriptor).st_rdev)

    @staticmethod
    def _forget_btrfs(parts: Sequence[Part]) -> None:
        """Have the kernel forget what it has seen on them: it would look for the devices of a btrfs that is gone."""
        with root(), contextlib.suppress(OSError), open("/dev/btrfs-control", "rb", buffering=0) as control:
            for part in parts:
                path = os.fsencode(part.path)
                with contextlib.suppress(OSError):
                    fcntl.ioctl(control, BTRFS_FORGET_DEV, bytearray(8) + path + bytes(PATH_BYTES - len(path)))


def uuid_of(name: str) -> str:
    """The UUID that the array of that name is given, as mdadm writes it."""
    digits = hashlib.sha256(name.encode()).hexdigest()[:32]
    return ":".join(digits[start : start + 8] for start in range(0, 32, 8))


def find_array(devices: Sequence[str], blocks: Path = BLOCKS) -> str:
    """Kernel name of the array of md that has the `devices`; empty where none has. Refused where it has others, too."""
    for block in sorted(blocks.glob("md*")):
        members = _members(block)
        if not members.isdisjoint(devices):
            if members.issubset(devices):
                return block.name
            raise Refused(_("{array} has members that are not this run's.", array=block.name))
    return ""


def find_volume(name: str, blocks: Path = BLOCKS) -> str:
    """Kernel name of the volume of the device mapper that is called so; empty where there is none."""
    for block in blocks.glob("dm-*"):
        with contextlib.suppress(OSError):  # it is gone
            if (block / "dm/name").read_text("utf-8", "replace").strip() == name:
                return block.name
    return ""


def parse_pool_errors(status: str) -> dict[str, int]:
    """The figures in the output of `zpool status -p`: of each column its highest, and how many files are damaged."""
    rows = re.findall(r"^\t\s*\S+\s+[A-Z]+\s+(\d+)\s+(\d+)\s+(\d+)", status, re.MULTILINE)
    counters = {name: max((int(row[column]) for row in rows), default=0) for column, name in enumerate(POOL_COUNTERS)}
    damaged = re.search(r"^errors: (\d+) data errors", status, re.MULTILINE)
    return {**counters, "data_errors": int(damaged[1]) if damaged else 0}


async def until_free(argv: Command) -> Finished:
    """Run a command as root, again while it says that something is in use."""
    deadline = clock.monotonic() + BUSY_LIMIT_S
    while True:
        finished = await as_root.finish(argv)
        busy = finished.exit_code and any(word in finished.output.lower() for word in BUSY)
        if not busy or clock.monotonic() > deadline:
            return finished
        await clock.pause(PAUSE_S)


async def until_unused(require: Callable[[], None]) -> None:
    """Have `require` raise nothing; what it raises after `BUSY_LIMIT_S`.

    The kernel lets go what a program that has ended held, or an array that was stopped, a moment later.
    """
    deadline = clock.monotonic() + BUSY_LIMIT_S
    while True:
        try:
            return require()
        except FswizardError:
            if clock.monotonic() > deadline:
                raise
        await clock.pause(PAUSE_S)


async def reclaim(name: str) -> None:
    """Destroy the pool, stop the array and close the volume that a killed run left; Refused where one is another's."""
    if not NAME.fullmatch(name):
        raise Refused(_("{name} is not the name of a run.", name=repr(name[:40])))
    if ZFS_MODULE.exists() and await _is_imported(name):
        mark = await as_root.finish(("zfs", "get", "-H", "-o", "value", commands.POOL_MARK, name))
        if mark.stdout.decode().strip() != name:
            raise Refused(_("{name} was not made by a run.", name=name))
    await _destroy_pool(name)
    if find_volume(name):
        _require(await as_root.finish(commands.close_volume(name)))
    for block in sorted(BLOCKS.glob("md*")):
        members = [path_of(member) for member in sorted(_members(block))]
        details = await _details(block.name) if members else {}
        if details.get("MD_NAME", "").rpartition(":")[2] == name:
            if details.get("MD_UUID") != uuid_of(name):
                raise Refused(_("{name} was not made by a run.", name=block.name))
            await _stop_array(block.name, members)


async def _stop_array(array: str, members: Sequence[str]) -> None:
    """Stop an array of a run's, and have its members forget it.

    They are locked meanwhile as udev respects it, which else would assemble it again at once.
    """
    with contextlib.ExitStack() as undo:
        for path in members:
            _lock_disk(path, undo)
        stop, *forget = commands.stop_array(f"/dev/{array}", members)
        _require(await until_free(stop))
        for path, command in zip(members, forget):
            with contextlib.suppress(FswizardError):
                await until_unused(partial(require_unused, path))
            await as_root.finish(command)  # one that is missing has none


def _lock_disk(path: str, undo: contextlib.ExitStack) -> None:
    """Lock the whole disk, unless it is locked already, above all by this run."""
    directory = Path("/sys/class/block", path.removeprefix("/dev/").replace("/", "!")).resolve()
    disk = directory.parent.name if (directory / "partition").exists() else directory.name
    with contextlib.suppress(OSError), root():
        lock = os.open(path_of(disk), os.O_RDONLY | os.O_CLOEXEC)
        undo.callback(os.close, lock)
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)


async def _destroy_pool(name: str) -> None:
    """Whatever became of it, the pool is imported nowhere from here on, and its nodes are gone."""
    if ZFS_MODULE.exists() and await _is_imported(name):
        _require(await as_root.finish(("zpool", "destroy", "-f", name)))
    directory = commands.pool_directory(name)
    with root(), contextlib.suppress(OSError):
        for node in os.listdir(directory):
            os.unlink(f"{directory}/{node}")
        os.rmdir(directory)


async def _is_imported(name: str) -> bool:
    with contextlib.suppress(Missing):
        listed = _require(await as_root.finish(("zpool", "list", "-H", "-o", "name")))
        return name in listed.stdout.decode("utf-8", "replace").split()
    return False


async def _details(array: str) -> Mapping[str, str]:
    """What mdadm says of an array, by its own words for it."""
    argv = ("mdadm", "--detail", commands.WITHOUT_CONFIGURATION, "--export", f"/dev/{array}")
    finished = await as_root.finish(argv)
    return dict(_pairs(finished.stdout.decode("utf-8", "backslashreplace")))


def _pairs(text: str) -> Iterator[tuple[str, str]]:
    for line in text.splitlines():
        name, equals, value = line.partition("=")
        if equals:
            yield name, value


def _members(block: Path) -> set[str]:
    return {member.name for member in (block / "slaves").glob("*")}


def _require(finished: Finished) -> Finished:
    """RunFailed where the program failed."""
    if finished.exit_code:
        raise RunFailed(
            _("{program} failed.", program=finished.argv[0]), _("The disk may be failing."), finished.output
        )
    return finished
