"""Where FUSE programs mount first: in a directory that this namespace alone has, and root alone can reach.

They take a path, which in a person's directory may lead elsewhere by the time they use it.
"""

from __future__ import annotations

import os

from fswizard.privileged import mounts, system_calls

DIRECTORY = "/run/fswizard"
MOUNT = f"{DIRECTORY}/mount"
OURS = "fswizard"
"""What the mounts that hide a directory of the host name as their source."""


def prepare() -> None:
    """Have the stage ready and empty: a program that was killed may have left something on it."""
    hide(DIRECTORY)
    for mount in mounts.mounts().values():
        if mount.path == MOUNT:
            system_calls.detach_mount(MOUNT)
    os.makedirs(MOUNT, 0o700, exist_ok=True)


def hide(directory: str) -> None:
    """Have an empty directory of our own over `directory`, in this namespace."""
    os.makedirs(directory, 0o755, exist_ok=True)
    path = os.path.realpath(directory)
    if all(mount.path != path for mount in mounts.mounts().values() if mount.source == OURS):
        system_calls.mount(OURS, path, "tmpfs", 0, "mode=0700")


def move(directory: int) -> None:
    """Move what is mounted on the stage over the open `directory`, without its programs' and devices' rights."""
    system_calls.mount(
        "none", MOUNT, "none",
        system_calls.MS_REMOUNT | system_calls.MS_BIND | system_calls.MS_NOSUID | system_calls.MS_NODEV,
    )  # fmt: skip
    os.fchdir(directory)
    system_calls.mount(MOUNT, ".", "none", system_calls.MS_MOVE)
