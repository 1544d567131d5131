"""A fake machine: a directory with the files that facts are read from, and programs that only talk."""

from __future__ import annotations

import os
import platform
from pathlib import Path

import pytest

DISTRIBUTIONS = {
    "debian": ("debian", ""),
    "mint": ("linuxmint", "ubuntu debian"),
    "rhel": ("rhel", "fedora"),
    "manjaro": ("manjaro", "arch"),
    "opensuse": ("opensuse-tumbleweed", "opensuse suse"),
    "unknown": ("void", ""),
}
"""ID and ID_LIKE in os-release(5)."""


def use_distribution(patch: pytest.MonkeyPatch, name: str) -> None:
    identity, like = DISTRIBUTIONS[name]
    fields = {"ID": identity, "ID_LIKE": like, "PRETTY_NAME": name}
    patch.setattr(platform, "freedesktop_os_release", lambda: fields)


def make_machine(root: Path, **files: str) -> Path:
    """Write a machine's files below `root`, by path with `__` for a slash."""
    for name, text in files.items():
        path = root / name.replace("__", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def make_program(directory: Path, name: str, script: str) -> None:
    """Put a shell script called `name` into `directory`."""
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


def without_root(patch: pytest.MonkeyPatch) -> None:
    """From here on this process passes for one of a user's."""
    for name in ("getuid", "geteuid"):
        patch.setattr(os, name, lambda: 1000)
