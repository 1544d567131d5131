"""Volumes that the device mapper makes on one device: encrypted by LUKS.

A volume has the random name of its run, by which it is known: no device can bring a volume of that name along. The
kernel keeps it when its helper is gone, and the next one closes it. Its key is made here at random, is known to its
programs and the kernel alone, and is kept nowhere.
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
BUSY_LIMIT_S = 10.0
"""Whoever looks at all block devices holds one for a moment."""
HELD = (b"in use", b"busy")
"""What cryptsetup says until then."""


def encrypt(orders: commands.Commands) -> Work:
    """Make an encrypted volume by these commands, each of which reads the key."""
    programs.find(orders[0][0])

    def body() -> int:
        key = os.urandom(KEY_BYTES)
        done = (
            subprocess.run(programs.located(order), env=programs.ROOT_ENVIRONMENT, input=key, check=False)
            for order in orders
        )
        return next((one.returncode for one in done if one.returncode), 0)

    return Work(orders, body)


def find(name: str, blocks: Path = BLOCKS) -> str:
    """Kernel name of the volume; empty where there is none."""
    for block in blocks.glob("dm-*"):
        if _text(block / "dm/name") == name:
            return block.name
    return ""


def close(name: str) -> int:
    """Close the volume, if there is one; the exit code."""
    return programs.run_until_free(commands.close_volume(name), HELD, BUSY_LIMIT_S) if find(name) else 0


def reclaim(name: str, blocks: Path = BLOCKS) -> None:
    """Close the volume of a killed run; Refusal where it may be another's."""
    names.require(name)
    found = find(name, blocks)
    kind = _text(blocks / found / "dm/uuid") if found else ""
    if found and not (kind.startswith("CRYPT-") and kind.endswith(f"-{name}")):
        raise Refusal("refused", f"{found} was not made by a run")
    if found and close(name):
        raise Refusal("failed", f"{found} cannot be closed")


def _text(path: Path) -> str:
    try:
        return path.read_text("utf-8", "replace").strip()
    except OSError:  # it is gone
        return ""
