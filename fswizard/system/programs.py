"""Which program is needed for what, and how each distribution installs it."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

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
"""Beside those of the engines."""

FAMILIES = {
    "debian": "debian", "ubuntu": "ubuntu",
    "fedora": "fedora", "rhel": "fedora", "centos": "fedora",
    "arch": "arch",
    "opensuse": "opensuse", "opensuse-leap": "opensuse", "suse": "opensuse", "sles": "opensuse",
}  # fmt: skip
"""Name in os-release to that of the distribution in the tables of packages."""


class PackageManager(NamedTuple):
    """Commands by which a distribution installs packages, whose names follow."""

    install: tuple[str, ...]
    unattended: str
    """Option that keeps it from asking."""
    refresh: tuple[str, ...] = ()
    """Fetches the list of packages; empty where installing does that."""


APT = PackageManager(("apt-get", "install"), "--yes", ("apt-get", "update"))
MANAGERS = {
    "debian": APT,
    "ubuntu": APT,
    "fedora": PackageManager(("dnf", "install"), "--assumeyes"),
    "arch": PackageManager(("pacman", "-S", "--needed"), "--noconfirm"),
    "opensuse": PackageManager(("zypper", "install"), "--no-confirm"),
}


def _families() -> Iterator[str]:
    """Names of this distribution and those it descends from, as tables of packages have them."""
    for name in host.this.distribution().names:
        if name in FAMILIES:
            yield FAMILIES[name]


def package_of(packages: Mapping[str, str]) -> str:
    """The package for this distribution; empty where none is known."""
    return next((packages[name] for name in _families() if name in packages), packages.get("", ""))


def package_manager() -> PackageManager | None:
    """That of this distribution; None if unknown."""
    return next((MANAGERS[name] for name in _families()), None)


def _names(packages: Iterable[str]) -> list[str]:
    return sorted({*filter(None, packages)})


def install_command(packages: Iterable[str]) -> tuple[str, ...]:
    """What a user types to install packages; empty where the package manager or the packages are unknown."""
    manager, names = package_manager(), _names(packages)
    return as_root((*manager.install, *names)) if manager and names else ()


def unattended_commands(packages: Iterable[str]) -> tuple[tuple[str, ...], ...]:
    """The same in full for a program that has asked already: refresh the lists, then install without asking."""
    manager, names = package_manager(), _names(packages)
    if manager is None or not names:
        return ()
    steps = [(*manager.install, manager.unattended, *names)]
    if manager.refresh:
        steps.insert(0, manager.refresh)
    if way_to_root() == "su":  # which asks for the password each time
        return (_by_su(*steps),)
    return tuple(as_root(step) for step in steps)


def install_hint(*packages: str) -> str:
    """A sentence that says how to get packages here."""
    names = _names(packages)
    several = len(names) > 1
    if command := install_command(names):
        text = shlex.join(command)
        if way_to_root() or os.geteuid() == 0:
            message = N_("Install what is missing: {command}") if several else N_("Install it: {command}")
        else:
            missing = N_("Install what is missing as root: {command}")
            message = missing if several else N_("Install it as root: {command}")
        return _(message, command=text)
    return n_(
        "Install the package {names} with your distribution's package manager.",
        "Install the packages {names} with your distribution's package manager.",
        len(names),
        names=", ".join(names),
    )


def way_to_root() -> str:
    """`sudo`, or `su` where that is not installed; empty for root, and where there is neither."""
    return next(filter(find, ("sudo", "su")), "") if os.geteuid() else ""


def as_root(command: Sequence[str]) -> tuple[str, ...]:
    """What a user types to have root run `command`."""
    way = way_to_root()
    return _by_su(command) if way == "su" else (*filter(None, [way]), *command)


def _by_su(*commands: Sequence[str]) -> tuple[str, ...]:
    return ("su", "-", "-c", " && ".join(map(shlex.join, commands)))
