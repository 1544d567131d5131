"""Arrays of md, LUKS volumes and ZFS pools of a run: how they are known, and how they are taken down.

Each has a random name and, an array, a UUID that follows from it: by these it is known, as no device of somebody else's
can bring them along. The kernel keeps them when their run is gone; `reclaim` takes them down then, as root.
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
from fswizard.system import clock
from fswizard.system.block_device import look_at, path_of
from fswizard.system.process import Finished

BLOCKS = Path("/sys/block")
ZFS_MODULE = Path("/sys/module/zfs")
"""There while the kernel's module is loaded."""
BUSY_LIMIT_S = 10.0
"""A device that has just failed, an array that udev looks at, or a pool that OpenZFS's own event daemon asks after, is
let go a moment later."""
PAUSE_S = 0.05
BUSY = ("busy", "exclusive access", "not zeroing")
"""What mdadm and zpool say until then."""
POOL_COUNTERS = ("read_errors", "write_errors", "checksum_errors")


def uuid_of(name: str) -> str:
    """The UUID that the array of that name is given, as mdadm writes it."""
    digits = hashlib.sha256(name.encode()).hexdigest()[:32]
    return ":".join(digits[start : start + 8] for start in range(0, 32, 8))


def find_array(devices: Sequence[str]) -> str:
    """Kernel name of the array of md that has the `devices`; empty where none has. Refused where it has others, too."""
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
    """Kernel name of the volume of the device mapper that is called so; empty where there is none."""
    for block in BLOCKS.glob("dm-*"):
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


def reclaim_as_root(names: Sequence[str]) -> None:
    """`reclaim` each, in a process of root's. Missing if root's rights are not available."""
    unfinished = RunFailed(_("What a killed run left in the kernel could not be taken away."), _("Try it again."))
    list(rights.ask(__name__, list(names), unfinished))


def main() -> None:
    """In that process."""

    def carry_out(names: Sequence[str]) -> Iterator[str]:
        for name in names:
            asyncio.run(reclaim(name))
            yield name

    rights.serve(carry_out)


async def reclaim(name: str) -> None:
    """Destroy the pool, stop the array and close the volume that a killed run left; Refused where one is another's."""
    if not commands.RUN_NAME.fullmatch(name):
        raise Refused(_("{name} is not the name of a run.", name=repr(name[:40])))
    if await _is_imported(name):
        mark = await as_root.finish(("zfs", "get", "-H", "-o", "value", commands.POOL_MARK, name))
        if mark.stdout.decode().strip() != name:
            raise Refused(_("{name} was not made by a run.", name=name))
    await destroy_pool(name)
    await close_volume(name)
    for block in sorted(BLOCKS.glob("md*")):
        if members := sorted(_members(block)):
            detail = ("mdadm", "--detail", commands.WITHOUT_CONFIGURATION, "--export", f"/dev/{block.name}")
            lines = (await as_root.finish(detail)).stdout.decode("utf-8", "backslashreplace").splitlines()
            details = dict(line.split("=", 1) for line in lines if "=" in line)
            if details.get("MD_NAME", "").rpartition(":")[2] == name:
                if details.get("MD_UUID") != uuid_of(name):
                    raise Refused(_("{name} was not made by a run.", name=block.name))
                await stop_array(block.name, members)


async def stop_array(array: str, members: Sequence[str]) -> None:
    """Stop an array of a run's, and have its members, by their kernel names, forget it.

    Their disks are locked meanwhile as udev respects it, which else would assemble it again at once.
    """
    with contextlib.ExitStack() as undo:
        for member in members:
            with contextlib.suppress(OSError), root():  # it is locked already, above all by this run
                lock = os.open(path_of(look_at(member).disk), os.O_RDONLY | os.O_CLOEXEC)
                undo.callback(os.close, lock)
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        stop, *forget = commands.stop_array(path_of(array), [path_of(member) for member in members])
        succeeded(await until_free(stop), RunFailed)
        for command in forget:
            await until_free(command)  # one that is missing has none


async def close_volume(name: str) -> None:
    if find_volume(name):
        succeeded(await as_root.finish(commands.close_volume(name)), RunFailed)


async def destroy_pool(name: str) -> None:
    """Whatever became of it, the pool is imported nowhere from here on, and its nodes are gone."""
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
