"""Detect blank devices. One without known contents may hold encrypted data without a header, which looks random."""

from __future__ import annotations

from functools import lru_cache

from fswizard.system import clock
from fswizard.system.block_device import Device, Tree

_BLOCK_BYTES = 4096
_BLOCKS = 1000
_LIMIT_S = 30.0
"""Time limit for sampling; a hard disk takes about 8 s."""
_BLANK = (bytes(_BLOCK_BYTES), b"\xff" * _BLOCK_BYTES)


def is_blank(device: Device, tree: Tree) -> bool:
    """Whether 1000 blocks spread over the device contain only 0x00 or 0xFF; False if they cannot be read in time.

    Takes some seconds on a hard disk. The result is cached until something is written to the device.
    """
    written = tree.text(f"/sys/class/block/{device.name}/stat").split()[6:7]
    return _sampled(str(tree.path(device.path)), device, *written)


@lru_cache(maxsize=64)
def _sampled(path: str, device: Device, written: str = "") -> bool:
    last, deadline = device.size_bytes // _BLOCK_BYTES - 1, clock.monotonic() + _LIMIT_S
    try:
        with open(path, "rb", buffering=0) as disk:
            for step in range(_BLOCKS):
                disk.seek(last * step // (_BLOCKS - 1) * _BLOCK_BYTES)
                if disk.read(_BLOCK_BYTES) not in _BLANK or clock.monotonic() > deadline:
                    return False
    except OSError:
        return False
    return last >= _BLOCKS
