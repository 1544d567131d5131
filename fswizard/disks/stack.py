"""Identify and remove the md arrays, LUKS volumes and ZFS pools of runs.

Each has a random name, and an array also a UUID derived from it; no device of anybody else has these. They survive in
the kernel if their run is killed; then `reclaim` removes them as root.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import hashlib
import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from fswizard.disks import as_root, rights
from fswizard.disks.as_root import root
from fswizard.disks.disk import succeeded
from fswizard.errors import Missing, Refused, RunFailed
from fswizard.filesystems import commands
from fswizard.filesystems.commands import Command
from fswizard.language import _
from fswizard.model.layout import DMSETUP
from fswizard.system import clock
from fswizard.system.block_device import look_at, path_of
from fswizard.system.process import Finished

BLOCKS = Path("/sys/block")
ZFS_MODULE = Path("/sys/module/zfs")
"""Exists while the kernel module is loaded."""
BUSY_LIMIT_S = 10.0
"""Time limit for busy devices: udev or the event daemon of OpenZFS may use them briefly, as may a failed program."""
PAUSE_S = 0.05
BUSY = ("busy", "exclusive access", "not zeroing")
"""Error messages of mdadm and zpool for a busy device."""
POOL_COUNTERS = ("read_errors", "write_errors", "checksum_errors")


def uuid_of(name: str) -> str:
    """UUID of the array with this name, in the format of mdadm."""
    digits = hashlib.sha256(name.encode()).hexdigest()[:32]
    return ":".join(digits[start : start + 8] for start in range(0, 32, 8))


def find_array(devices: Sequence[str]) -> str:
    """Kernel name of the md array on `devices`; empty if there is none. Raises Refused if it has other members, too."""
    for block in sorted(BLOCKS.glob("md*")):
        members = _members(block)
        if not members.isdisjoint(devices):
            if members.issubset(devices):
                return block.name
            raise Refused(_("{array} has members that are not this run's.", array=block.name))
    return ""


def _members(block: Path) -> set[str]:
    return {member.name for member in (block / "slaves").glob("*")}


def find_volume(name: str) -> str:
    """Kernel name of the device mapper volume with this name; empty if there is none."""
    for block in BLOCKS.glob("dm-*"):
        with contextlib.suppress(OSError):  # it has just been removed
            if (block / "dm/name").read_text("utf-8", "replace").strip() == name:
                return block.name
    return ""


def parse_pool_errors(status: str) -> dict[str, int]:
    """Error counts in the output of `zpool status -p`: the maximum of each column, and the number of damaged files."""
    rows = re.findall(r"^\t\s*\S+\s+[A-Z]+\s+(\d+)\s+(\d+)\s+(\d+)", status, re.MULTILINE)
    counters = {name: max((int(row[column]) for row in rows), default=0) for column, name in enumerate(POOL_COUNTERS)}
    damaged = re.search(r"^errors: (\d+) data errors", status, re.MULTILINE)
    return {**counters, "data_errors": int(damaged[1]) if damaged else 0}


async def until_free(argv: Command) -> Finished:
    """Run a command as root, and retry it while it reports that something is busy."""
    deadline = clock.monotonic() + BUSY_LIMIT_S
    while True:
        finished = await as_root.finish(argv)
        busy = finished.exit_code and any(word in finished.output.lower() for word in BUSY)
        if not busy or clock.monotonic() > deadline:
            return finished
        await clock.pause(PAUSE_S)


def reclaim_as_root(names: Sequence[str]) -> None:
    """Call `reclaim` for each name in a process as root. Raises Missing without root privileges."""
    unfinished = RunFailed(_("What a killed run left in the kernel could not be taken away."), _("Try it again."))
    list(rights.ask(__name__, list(names), unfinished))


def main() -> None:
    """Entry point of the process that `reclaim_as_root` starts."""

    def carry_out(names: Sequence[str]) -> Iterator[str]:
        for name in names:
            asyncio.run(reclaim(name))
            yield name

    rights.serve(carry_out)


async def reclaim(name: str) -> None:
    """Remove the pool, array and volume of a killed run. Raises Refused if one was not made by a run."""
    stranger = Refused(_("{name} was not made by a run.", name=repr(name[:40])))
    if not commands.RUN_NAME.fullmatch(name):
        raise stranger
    if await _is_imported(name):
        mark = await as_root.finish(("zfs", "get", "-H", "-o", "value", commands.POOL_MARK, name))
        if mark.stdout.decode().strip() != name:
            raise stranger
    await destroy_pool(name)
    await close_volume(name)
    for block in sorted(BLOCKS.glob("md*")):
        if members := sorted(_members(block)):
            detail = ("mdadm", "--detail", commands.WITHOUT_CONFIGURATION, "--export", f"/dev/{block.name}")
            lines = (await as_root.finish(detail)).stdout.decode("utf-8", "backslashreplace").splitlines()
            if f"MD_UUID={uuid_of(name)}" in lines:
                await stop_array(block.name, members)


async def stop_array(array: str, members: Sequence[str]) -> None:
    """Stop the array of a run, and erase its metadata on `members` (kernel names).

    The disks are locked for that, as udev would otherwise assemble the array again at once.
    """
    with contextlib.ExitStack() as undo:
        for member in members:
            with contextlib.suppress(OSError), root():  # usually because this run has the lock
                lock = os.open(path_of(look_at(member).disk), os.O_RDONLY | os.O_CLOEXEC)
                undo.callback(os.close, lock)
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        stop = ("mdadm", "--stop", commands.WITHOUT_CONFIGURATION, path_of(array))
        succeeded(await until_free(stop), RunFailed)
        for member in members:
            forget = ("mdadm", "--zero-superblock", commands.WITHOUT_CONFIGURATION, path_of(member))
            await until_free(forget)  # fails for a missing member


async def close_volume(name: str) -> None:
    if find_volume(name):
        succeeded(await as_root.finish((DMSETUP, "remove", "--retry", name)), RunFailed)


async def destroy_pool(name: str) -> None:
    """Destroy a pool if it is imported, and remove its device nodes."""
    if await _is_imported(name):
        succeeded(await as_root.finish(("zpool", "destroy", "-f", name)), RunFailed)
    directory = commands.pool_directory(name)
    with root(), contextlib.suppress(OSError):
        for node in os.listdir(directory):
            os.unlink(f"{directory}/{node}")
        os.rmdir(directory)


async def _is_imported(name: str) -> bool:
    if not ZFS_MODULE.exists():
        return False
    with contextlib.suppress(Missing):
        listed = succeeded(await as_root.finish(("zpool", "list", "-H", "-o", "name")), RunFailed)
        return name in listed.stdout.decode("utf-8", "replace").split()
    return False
