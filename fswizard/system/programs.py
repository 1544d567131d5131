"""Required programs, their purpose, and how each distribution installs them."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence

from fswizard.language import N_, _, n_
from fswizard.model.recipe import Program
from fswizard.system import host
from fswizard.system.commands import find

_UTIL_LINUX = {"": "util-linux"}
_LIBRSVG = {"": "rsvg-convert", "debian": "librsvg2-bin", "fedora": "librsvg2-tools", "arch": "librsvg"}
PROGRAMS = (
    Program("losetup", N_("scratch images"), True, {**_UTIL_LINUX, "debian": "mount"}),
    Program("mount", N_("mounting candidates"), True, {**_UTIL_LINUX, "debian": "mount"}),
    Program("blkid", N_("seeing what is on a disk"), True, _UTIL_LINUX),
    Program("wipefs", N_("wiping between candidates"), True, _UTIL_LINUX),
    Program("smartctl", N_("health, and whether a disk is shingled"), packages={"": "smartmontools"}),
    Program("udisksctl", N_("scratch images without a password"), packages={"": "udisks2"}),
    Program("sudo", N_("formatting and mounting what udisks2 does not")),
    Program("mdadm", N_("RAID arrays of several disks")),
    Program("sfdisk", N_("setting up a disk"), packages={**_UTIL_LINUX, "debian": "fdisk"}),
    Program("cryptsetup", N_("encrypted volumes")),
    Program("rsvg-convert", N_("a result as PNG"), packages=_LIBRSVG),
)
"""Programs needed in addition to those of the engines."""

FAMILIES = {
    "debian": "debian", "ubuntu": "ubuntu",
    "fedora": "fedora", "rhel": "fedora", "centos": "fedora",
    "arch": "arch",
    "opensuse": "opensuse", "opensuse-leap": "opensuse", "suse": "opensuse", "sles": "opensuse",
}  # fmt: skip
"""Name in package tables by name in os-release."""


UNATTENDED = {
    "apt-get": (("apt-get", "update"), ("apt-get", "install", "--yes")),
    "dnf": (("dnf", "install", "--assumeyes"),),
    "pacman": (("pacman", "-S", "--needed", "--noconfirm"),),
    "zypper": (("zypper", "install", "--no-confirm"),),
}
"""Commands that install packages without a prompt, with the package lists brought up to date."""
MANAGERS = {
    "debian": ("apt-get", "install"),
    "ubuntu": ("apt-get", "install"),
    "fedora": ("dnf", "install"),
    "arch": ("pacman", "-S", "--needed"),
    "opensuse": ("zypper", "install"),
}
"""Command by distribution that installs the packages named after it."""


def _families() -> Iterator[str]:
    """Yield the package table names of this distribution and of those it is derived from."""
    for name in host.this.distribution().names:
        if name in FAMILIES:
            yield FAMILIES[name]


def package_of(packages: Mapping[str, str]) -> str:
    """Package for this distribution; empty if unknown."""
    return next((packages[name] for name in _families() if name in packages), packages.get("", ""))


def package_manager() -> tuple[str, ...]:
    """Command of this distribution that installs packages; empty if unknown."""
    return next((MANAGERS[name] for name in _families()), ())


def _names(packages: Iterable[str]) -> list[str]:
    return sorted({*filter(None, packages)})


def install_command(packages: Iterable[str]) -> tuple[str, ...]:
    """Command that installs packages; empty if the package manager or the packages are unknown."""
    manager, names = package_manager(), _names(packages)
    return as_root((*manager, *names)) if manager and names else ()


def unattended_commands(packages: Iterable[str]) -> list[tuple[str, ...]]:
    """Commands that update the package lists and install packages without prompts."""
    manager, names = package_manager(), _names(packages)
    if not manager or not names:
        return []
    *before, install = UNATTENDED[manager[0]]
    return [as_root(step) for step in (*before, (*install, *names))]


def install_hint(*packages: str) -> str:
    """Sentence that says how to install packages here."""
    names = _names(packages)
    if command := install_command(names):
        text = N_("Install what is missing as root: {command}")
        if command[0] == "sudo" or not os.geteuid():
            text = N_("Install what is missing: {command}")
        return _(text, command=shlex.join(command))
    return n_(
        "Install the package {names} with your distribution's package manager.",
        "Install the packages {names} with your distribution's package manager.",
        len(names),
        names=", ".join(names),
    )


def as_root(command: Sequence[str]) -> tuple[str, ...]:
    """`command` by sudo, unless this is root already, or sudo is not installed."""
    return ("sudo", *command) if os.geteuid() and find("sudo") else tuple(command)
