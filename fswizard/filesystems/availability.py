"""What of the catalogue can be made on this machine, and how to get what is missing."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from fswizard.model.filesystem import Filesystem
from fswizard.system import commands, host, programs


@dataclass(frozen=True, slots=True)
class Availability:
    """Whether a filesystem can be measured here."""

    usable: bool
    reason: str = ""
    """What is missing, in a sentence; empty when nothing is."""
    hint: str = ""
    """How to get it, in a sentence; empty when there is no way or nothing is missing."""
    version: str = ""
    """Of the mkfs program; empty where it is absent."""
    package: str = ""
    """What would bring the mkfs program; empty where that would not help."""


def availability(filesystem: Filesystem, root: Path = Path("/")) -> Availability:
    """Look for the kernel's support and the mkfs program; `root` is where /proc, /lib and /etc are read."""
    version = host.tool_version(filesystem.mkfs_program)
    if filesystem.unmeasurable:
        return Availability(False, filesystem.unmeasurable, version=version)
    if not host.kernel_supports(filesystem.mount_type, root):
        return Availability(
            False,
            f"The running kernel cannot mount {filesystem.title}.",
            "Choose another filesystem, or start a kernel that has it as a module.",
            version,
        )
    if commands.find(filesystem.mkfs_program) is None:
        package = programs.package_of(filesystem.packages, host.distribution(root))
        hint = programs.install_hint(package, root)
        return Availability(False, f"{filesystem.mkfs_program} is not installed.", hint, package=package)
    return Availability(True, version=version)
