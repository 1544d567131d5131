"""Volumes that the device mapper makes on one device, encrypted by LUKS.

A volume has the random name of its run: by that it is known, as no device can bring such a name along. The kernel keeps
it when its helper is gone, and the next one closes it. The key is made here at random, is known to its programs and the
kernel alone, and is kept nowhere.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from fswizard.privileged import commands, names, programs
from fswizard.privileged.jobs import Work
from fswizard.privileged.protocol import Refusal

BLOCKS = Path("/sys/block")
KEY_BYTES = 64


def encrypt(orders: commands.Commands) -> Work:
    """Make an encrypted volume by these commands, each of which reads the key; Refusal where a program is missing."""
    programs.find(commands.DMSETUP)  # it closes the volume
    programs.find(orders[0][0])

    def body() -> int:
        key = os.urandom(KEY_BYTES)
        for order in orders:
            done = subprocess.run(programs.located(order), env=programs.ROOT_ENVIRONMENT, input=key, check=False)
            if done.returncode:
                return done.returncode
        return 0

    return Work(orders, body)


def find(name: str, blocks: Path = BLOCKS) -> str:
    """Kernel name of the volume; empty where there is none."""
    if not name:
        return ""
    for block in blocks.glob("dm-*"):
        if _text(block / "dm/name") == name:
            return block.name
    return ""


def close(name: str, blocks: Path = BLOCKS) -> int:
    """Close the volume, if there is one; the exit code."""
    return programs.call(commands.close_volume(name)) if find(name, blocks) else 0


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
