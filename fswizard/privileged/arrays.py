"""md: arrays of devices that the helper holds, made with mdadm and stopped when the run is over.

An array has a name and a UUID that nobody else's has. It is found by its members in sysfs, and stopped only where all
of them are the helper's, or, of a killed run, where name and UUID are the run's. mdadm reads no configuration and
assembles nothing.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import hashlib
import operator
import os
import subprocess
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from fswizard.privileged import block_device, commands, names, programs
from fswizard.privileged.jobs import Work
from fswizard.privileged.protocol import Refusal

CHUNKED = ("5", "6", "10")
MINIMUM_MEMBERS = {"1": 2, "5": 3, "6": 4, "10": 4}
"""By level, all that are made."""
CHUNKS_KIB = frozenset(4 << power for power in range(10))
"""4 KiB to 2 MiB; 0 where a level has none."""
BITMAPS = ("internal", "none")
BLOCKS = Path("/sys/block")
ANSWER_LIMIT_S = 10
BUSY_LIMIT_S = 10.0
"""A device that has just failed, or an array that udev looks at, is let go a moment later."""
HELD = (b"busy", b"exclusive access")
"""What mdadm says until then."""


def uuid_of(name: str) -> str:
    """The UUID that the array of that name is given, as mdadm writes it."""
    digits = hashlib.sha256(name.encode()).hexdigest()[:32]
    return ":".join(digits[start : start + 8] for start in range(0, 32, 8))


def create_command(
    name: str, level: str, chunk_kib: int, bitmap: str, paths: Sequence[str], *, degraded: bool
) -> commands.Command:
    """mdadm's command; Refusal where anything is not on the list. `degraded` leaves the last device out."""
    if level not in MINIMUM_MEMBERS or len(paths) < MINIMUM_MEMBERS[level]:
        raise Refusal("refused", f"{len(paths)} devices make no array of level {level!r:.20}")
    if (chunk_kib not in CHUNKS_KIB) if level in CHUNKED else chunk_kib:
        raise Refusal("refused", f"a chunk of {chunk_kib} KiB is not allowed")
    if bitmap not in BITMAPS:
        raise Refusal("refused", f"the bitmap {bitmap!r:.40} is not allowed")
    names.require(name)
    return commands.create_array(
        name, uuid_of(name), level, paths, chunk_kib=chunk_kib, bitmap=bitmap, degraded=degraded
    )


def create(command: commands.Command, directory: int) -> Work:
    """Make the array, in the empty `directory`: mdadm takes some words for files."""
    argv = programs.located(command)

    def body() -> int:
        os.fchdir(directory)
        os.execve(argv[0], argv, programs.ROOT_ENVIRONMENT)

    return Work((command,), body)


def find_by_members(names: Sequence[str], blocks: Path = BLOCKS) -> str:
    """Kernel name of the array that the devices `names` are members of; empty where they are of none.

    Refusal where it has a member that is none of them.
    """
    for block in sorted(blocks.glob("md*")):
        members = set(_members(block))
        if members.isdisjoint(names):
            continue
        if not members.issubset(names):
            raise Refusal("refused", f"{block.name} has members that are not this run's")
        return block.name
    return ""


def stop(array: str, members: Sequence[str]) -> int:
    """Stop an array that is proven to be a run's, and have its members, by their paths, forget it; the exit code.

    They are locked meanwhile as udev respects it, which else would assemble it again at once.
    """
    with contextlib.ExitStack() as undo:
        for path in members:
            _lock(path, undo)
        stopping, *forgetting = commands.stop_array(f"/dev/{array}", members)
        code = programs.run_until_free(stopping, HELD, BUSY_LIMIT_S)
        if code == 0:
            for path, command in zip(members, forgetting):
                programs.poll(partial(_is_held, path), operator.not_, BUSY_LIMIT_S)
                programs.run(command)  # one that is missing has none
        return code


def _is_held(path: str) -> bool:
    """The kernel lets the members of a stopped array go a moment later."""
    try:
        os.close(os.open(path, os.O_RDONLY | os.O_EXCL | os.O_CLOEXEC))
    except OSError as error:
        return error.errno == errno.EBUSY
    return False


def reclaim(name: str, blocks: Path = BLOCKS) -> None:
    """Stop the array of a killed run; Refusal where it may be another's."""
    names.require(name)
    for block in sorted(blocks.glob("md*")):
        members = _members(block)
        told = _detail(block.name) if members else {}
        if told.get("MD_NAME", "").rpartition(":")[2] != name:
            continue
        if told.get("MD_UUID") != uuid_of(name):
            raise Refusal("refused", f"{block.name} does not bear the mark of a run")
        if stop(block.name, [block_device.path_of(member) for member in members]):
            raise Refusal("failed", f"{block.name} cannot be stopped")


def _members(block: Path) -> list[str]:
    return sorted(slave.name for slave in (block / "slaves").glob("*"))


def _lock(path: str, undo: contextlib.ExitStack) -> None:
    """Of the whole disk; whoever holds the lock already, the helper itself above all, keeps it."""
    directory = Path("/sys/class/block", path.removeprefix("/dev/").replace("/", "!")).resolve()
    disk = directory.parent.name if (directory / "partition").exists() else directory.name
    with contextlib.suppress(OSError):
        lock = os.open(block_device.path_of(disk), os.O_RDONLY | os.O_CLOEXEC)
        undo.callback(os.close, lock)
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _detail(array: str) -> dict[str, str]:
    command = ("mdadm", "--detail", commands.WITHOUT_CONFIGURATION, "--export", f"/dev/{array}")
    try:
        done = programs.run(command, ANSWER_LIMIT_S)
    except subprocess.TimeoutExpired:
        return {}
    lines = done.stdout.decode("utf-8", "backslashreplace").splitlines() if done.returncode == 0 else []
    return dict(line.split("=", 1) for line in lines if "=" in line)
