"""Block devices and mounts as reported by the kernel and udev, below a root directory that may be a recording."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from fswizard.errors import FswizardError
from fswizard.model.text import safe
from fswizard.system.block_device import UDEV, Tree, path_of
from fswizard.system.commands import query
from fswizard.system.mounts import Mount

Properties = Mapping[str, str]

_READ_BY_BLKID = (0, 2, 8)
"""Exit codes of blkid -p: contents, nothing, several contents at once."""


@dataclass(frozen=True, slots=True)
class Machine(Tree):
    """A `Tree` with the udev database and sanitised texts."""

    @property
    def live(self) -> bool:
        """Whether this is the machine that the program runs on."""
        return self.root == Path("/")

    @property
    def udev_runs(self) -> bool:
        return bool(self.names(UDEV))

    def text(self, path: str) -> str:
        """One attribute, sanitised and stripped."""
        return safe(Tree.text(self, path)).strip()

    def contents(self, name: str) -> Properties | None:
        """Properties of the contents, from blkid if udev does not run; None if the device could not be read."""
        if self.udev_runs or not self.live:
            return self.properties(name) if self.udev(name, "I") else None
        return probe(path_of(name))


HERE = Machine()


def probe(device: str) -> Properties | None:
    """Output of `blkid` as udev properties, or None if it failed. Needs root."""
    try:
        answer = query(("blkid", "-p", "-o", "udev", device), timeout_s=5)
    except FswizardError:
        return None
    if answer.exit_code not in _READ_BY_BLKID or answer.stderr:
        return None
    lines = answer.stdout.decode("utf-8", "replace").splitlines()
    return dict(line.split("=", 1) for line in lines if line.startswith("ID_") and "=" in line)


def mount_of(path: str, table: Iterable[Mount]) -> Mount | None:
    """Mount of `path`, an absolute path without links; the latest one if mounts cover each other."""
    covering = [mount for mount in table if f"{path}/".startswith(mount.path.rstrip("/") + "/")]
    return max(reversed(covering), key=lambda mount: len(mount.path), default=None)
