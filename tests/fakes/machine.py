"""A machine that is not this one: a directory with the files that facts are read from, and programs that only talk."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

OS_RELEASE = {
    "debian": 'PRETTY_NAME="Debian GNU/Linux 12 (bookworm)"\nNAME="Debian GNU/Linux"\nID=debian\n',
    "ubuntu": 'PRETTY_NAME="Ubuntu 24.04.1 LTS"\nNAME="Ubuntu"\nID=ubuntu\nID_LIKE=debian\n',
    "mint": 'NAME="Linux Mint"\nID=linuxmint\nID_LIKE="ubuntu debian"\nPRETTY_NAME="Linux Mint 22"\n',
    "fedora": 'NAME="Fedora Linux"\nID=fedora\nPRETTY_NAME="Fedora Linux 41 (Workstation Edition)"\n',
    "rhel": 'ID="rhel"\nID_LIKE="fedora"\nPRETTY_NAME="Red Hat Enterprise Linux 9.4"\n',
    "arch": 'NAME="Arch Linux"\nPRETTY_NAME="Arch Linux"\nID=arch\nBUILD_ID=rolling\n',
    "manjaro": 'NAME="Manjaro Linux"\nPRETTY_NAME="Manjaro Linux"\nID=manjaro\nID_LIKE=arch\n',
    "opensuse": 'NAME="openSUSE Tumbleweed"\nID="opensuse-tumbleweed"\nID_LIKE="opensuse suse"\n',
    "unknown": 'NAME="Void"\nID="void"\nPRETTY_NAME="Void Linux"\n',
}


def make_machine(root: Path, distribution: str = "debian", **files: str) -> Path:
    """Write a machine's files below `root`; further files by path with `__` for a slash."""
    texts = {"etc/os-release": OS_RELEASE[distribution], **{name.replace("__", "/"): t for name, t in files.items()}}
    for name, text in texts.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
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
