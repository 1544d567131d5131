"""Takes down, as root, what a killed run left in the kernel: pools, arrays and volumes, by their names."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence

from fswizard.disks import rights
from fswizard.disks.stack import reclaim
from fswizard.errors import RunFailed
from fswizard.language import _


def ask(names: Sequence[str]) -> None:
    """Run it as root. Refused if something may belong to somebody else, Missing if root's rights are not available."""
    unfinished = RunFailed(_("What a killed run left in the kernel could not be taken away."), _("Try it again."))
    list(rights.ask(__name__, list(names), unfinished))


def main() -> None:
    rights.serve(_carry_out)


def _carry_out(names: Sequence[str]) -> Iterator[str]:
    for name in names:
        asyncio.run(reclaim(name))
        yield name
