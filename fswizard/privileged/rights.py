"""What the helper can be started for: each right is a command line of its own, which can be allowed without the others.

`__main__.py images`, say: sudoers and polkit distinguish command lines, and neither sees what is asked later.
"""

from __future__ import annotations

from collections.abc import Mapping

from fswizard.privileged import protocol
from fswizard.privileged.protocol import Refusal

IMAGES = "images"
ERASE = "erase"
ERASE_UNATTENDED = "erase-unattended"
"""Without the user's yes on a terminal, for scripts."""
SET_UP = "set-up"
"""For good, unlike the others: it erases a disk, too, and changes /etc/fstab."""
CONFIRM = "confirm"
"""No right: it asks for that yes, and `ERASE` and `SET_UP` take it."""
INSTALL, REMOVE = "install", "remove"
"""No rights either: root's own copy of the helper comes and goes."""

ALL = frozenset(protocol.VERBS) - {"set_up"}
"""All that a helper carries out which stays for more than one request."""
_ON_DISKS = ALL - {"attach", "copy", "reclaim"}
VERBS: Mapping[str, frozenset[str]] = {
    IMAGES: ALL - {"claim"},
    ERASE: _ON_DISKS,
    ERASE_UNATTENDED: _ON_DISKS,
    SET_UP: frozenset({"set_up"}),
}
"""The verbs that each right allows."""


def require(right: str, verb: str) -> None:
    """Refusal where the helper was started for something else."""
    if verb not in VERBS[right]:
        raise Refusal("refused", f"{verb} is not allowed: the helper was started for {right!r}")
