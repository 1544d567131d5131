"""What may be done to a device when. What it held before it came here is never mounted.

A device is bare when it is attached or claimed, holds a filesystem once the helper made one, and is bare again when it
was wiped. In between it may be mounted as often as needed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

State = Literal["bare", "array", "made", "mounted"]

ALLOWED: Mapping[str, frozenset[State]] = {
    "join": frozenset({"bare"}),
    "write": frozenset({"bare"}),
    "array": frozenset({"bare"}),
    "build": frozenset({"bare"}),
    "mkfs": frozenset({"bare", "array"}),
    "mount": frozenset({"made"}),
    "sync": frozenset({"mounted"}),
    "health": frozenset({"bare", "array", "made", "mounted"}),
    "umount": frozenset({"mounted"}),
    "inspect": frozenset({"bare", "array", "made", "mounted"}),
    "wipe": frozenset({"bare", "array", "made"}),
    "detach": frozenset({"bare", "made"}),
}
"""By verb, in which states it is carried out."""

WORDS: Mapping[State, str] = {
    "bare": "holds no filesystem that was made in this run",
    "array": "is an array without a filesystem",
    "made": "holds a filesystem that is not mounted",
    "mounted": "is mounted",
}
