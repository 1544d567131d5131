"""What is on a block device: from the udev database, or from blkid where udev does not run, as in containers."""

from __future__ import annotations

from collections.abc import Mapping

from fswizard.errors import FswizardError
from fswizard.system.block_device import HERE, UDEV, Tree, path_of
from fswizard.system.commands import query

FOUND, NOTHING, AMBIVALENT = 0, 2, 8
"""Exit codes of blkid -p."""


def udev_runs(tree: Tree) -> bool:
    return bool(tree.names(UDEV))


def contents(name: str, tree: Tree) -> Mapping[str, str] | None:
    """Contents as udev properties; None if the device could not be read."""
    if udev_runs(tree) or tree != HERE:
        return tree.properties(name) if tree.udev(name, "I") else None
    return probe(path_of(name))


def probe(device: str) -> Mapping[str, str] | None:
    """Output of `blkid` as udev properties, or None if it failed. Needs root."""
    try:
        answer = query(("blkid", "-p", "-o", "udev", device), timeout_s=5)
    except FswizardError:
        return None
    if answer.exit_code not in (FOUND, NOTHING, AMBIVALENT) or answer.stderr:
        return None
    return properties_in(answer.stdout)


def properties_in(output: bytes) -> dict[str, str]:
    """Parse what `blkid -o udev` prints."""
    lines = output.decode("utf-8", "surrogateescape").splitlines()
    return dict(line.split("=", 1) for line in lines if "=" in line)
