"""Where everything is mounted: below a directory that the helper's namespace alone has, and root alone can change."""

from __future__ import annotations

import os

from fswizard.privileged import commands, mounts, system_calls

DIRECTORY = commands.STAGE


def prepare(directory: str) -> None:
    """Have an empty directory on the stage: a program that was killed may have left something mounted there."""
    mounted = [mount.path for mount in mounts.mounts().values()]
    if DIRECTORY not in mounted:
        os.makedirs(DIRECTORY, 0o755, exist_ok=True)
        system_calls.mount("fswizard", DIRECTORY, "tmpfs", 0, "mode=0755")
    for _ in range(mounted.count(directory)):
        system_calls.detach_mount(directory)
    os.makedirs(directory, 0o700, exist_ok=True)


def restrict(directory: str) -> None:
    """Take the programs' and devices' rights from what a FUSE program has mounted there."""
    system_calls.mount(
        "none", directory, "none",
        system_calls.MS_REMOUNT | system_calls.MS_BIND | system_calls.MS_NOSUID | system_calls.MS_NODEV,
    )  # fmt: skip
