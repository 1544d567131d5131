"""Volumes that the device mapper makes on one device: encrypted by LUKS, or thin, from a pool as LVM makes it.

A volume has the random name of its run, and what it is made of has names that begin so: by these it is known, as no
device can bring such a name along. The kernel keeps it when its helper is gone, and the next one closes it. The key of
an encrypted one is made here at random, is known to its programs and the kernel alone, and is kept nowhere. For a thin
one nothing of LVM's is written, so that LVM sees and starts nothing.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from fswizard.privileged import commands, names, programs, system_calls
from fswizard.privileged.jobs import Work
from fswizard.privileged.protocol import Refusal

BLOCKS = Path("/sys/block")
KEY_BYTES = 64
SECTOR_BYTES, METADATA_START_BYTES = 512, 4096
LEAST_METADATA_BYTES, BYTES_PER_CHUNK = 4 << 20, 64
"""Of a thin pool, as LVM reckons them (lvmthin(7))."""


def encrypt(orders: commands.Commands) -> Work:
    """Make an encrypted volume by these commands, each of which reads the key."""
    _require(orders)

    def body() -> int:
        return _run(orders, os.urandom(KEY_BYTES))

    return Work(orders, body)


def thin(orders: commands.Commands, device: int) -> Work:
    """Make a thin volume by these commands; the pool is new where its metadata begin with zeros."""
    _require(orders)

    def body() -> int:
        os.pwrite(device, bytes(METADATA_START_BYTES), 0)
        os.fsync(device)
        system_calls.drop_buffers(device)
        return _run(orders, b"")

    return Work(orders, body)


def _require(orders: commands.Commands) -> None:
    """Refusal where a program is missing, also the one that closes the volume."""
    for program in (commands.DMSETUP, orders[0][0]):
        programs.find(program)


def _run(orders: commands.Commands, given: bytes) -> int:
    done = (
        subprocess.run(programs.located(order), env=programs.ROOT_ENVIRONMENT, input=given, check=False)
        for order in orders
    )
    return next((one.returncode for one in done if one.returncode), 0)


def thin_sectors(size_bytes: int, chunk_kib: int) -> tuple[str, str]:
    """How many sectors of a device a pool's metadata and its data take."""
    chunk_bytes = chunk_kib * 1024
    metadata_bytes = max(LEAST_METADATA_BYTES, BYTES_PER_CHUNK * (size_bytes // chunk_bytes)) // 4096 * 4096
    data_bytes = (size_bytes - metadata_bytes) // chunk_bytes * chunk_bytes
    return str(metadata_bytes // SECTOR_BYTES), str(data_bytes // SECTOR_BYTES)


def parts(name: str, blocks: Path = BLOCKS) -> dict[str, str]:
    """Names of the volume and of what it is made of, the volume first, and what the kernel calls them."""
    opened = {_text(block / "dm/name"): block.name for block in blocks.glob("dm-*")} if name else {}
    return {part: opened[part] for part in commands.volume_parts(name) if part in opened}


def find(name: str) -> str:
    """Kernel name of the volume, or of what there is of it; empty where there is nothing."""
    return next(iter(parts(name).values()), "")


def close(name: str, blocks: Path = BLOCKS) -> int:
    """Close the volume, if there is one; the exit code."""
    there = tuple(parts(name, blocks))
    return programs.call(commands.close_volume(there)) if there else 0


def reclaim(name: str, blocks: Path = BLOCKS) -> None:
    """Close the volume of a killed run."""
    names.require(name)
    if close(name, blocks):
        raise Refusal("failed", f"the volume {name} cannot be closed")


def _text(path: Path) -> str:
    try:
        return path.read_text("utf-8", "replace").strip()
    except OSError:  # it is gone
        return ""
