"""NILFS2's cleaner, which mount.nilfs2 would start; here the helper does, to be sure that it ends with the mount."""

from __future__ import annotations

import subprocess

from fswizard.privileged import processes, programs

NILFS2, NAME = "nilfs2", "nilfs_cleanerd"
END_LIMIT_S = 10.0
WITHOUT, PROTECTED = "nogc", "pp="
"""Options that mean the cleaner and not the kernel (mount.nilfs2(8))."""


def kernel_options(options: str) -> str:
    parts = options.split(",")
    return ",".join(part for part in parts if part != WITHOUT and not part.startswith(PROTECTED))


def start(options: str, device: str, directory: str) -> int:
    """Start the cleaner on a mounted NILFS2, unless the options forbid it; the exit code."""
    parts = options.split(",")
    if WITHOUT in parts or "ro" in parts:
        return 0
    period = [part.removeprefix(PROTECTED) for part in parts if part.startswith(PROTECTED)]
    argv = [programs.find(NAME), *(["-p", period[-1]] if period else []), device, directory]
    return subprocess.call(argv, env=programs.ROOT_ENVIRONMENT, stdout=subprocess.DEVNULL)


def end() -> None:
    processes.end(NAME, END_LIMIT_S)
