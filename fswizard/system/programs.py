"""Which program is needed for what, and how each distribution installs it."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from fswizard.language import N_, _, n_
from fswizard.model.recipe import Program
from fswizard.system import host
from fswizard.system.commands import find, query
from fswizard.system.host import Distribution

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

_FAMILIES = {"rhel": "fedora", "centos": "fedora", "suse": "opensuse", "sles": "opensuse", "opensuse-leap": "opensuse"}
"""Names in os-release that stand for a distribution named in the package tables."""


def package_of(packages: Mapping[str, str], system: Distribution) -> str:
    """The package for a distribution: its own name first, then those it descends from; empty where none is known."""
    for name in (_FAMILIES.get(name, name) for name in system.names):
        if name in packages:
            return packages[name]
    return packages.get("", "")


@dataclass(frozen=True, slots=True)
class PackageManager:
    """How a distribution installs packages."""

    program: str
    install: tuple[str, ...]
    unattended: tuple[str, ...]
    """What keeps it from asking."""
    refresh: tuple[str, ...] = ()
    """Arguments that fetch the list of packages; empty where installing does that."""


PACKAGE_MANAGERS = (
    PackageManager("apt-get", ("install",), ("--yes",), refresh=("update",)),
    PackageManager("dnf", ("install",), ("--assumeyes",)),
    PackageManager("pacman", ("-S", "--needed"), ("--noconfirm",)),
    PackageManager("zypper", ("install",), ("--no-confirm",)),
)

_MANAGER_OF = {"debian": "apt-get", "ubuntu": "apt-get", "fedora": "dnf", "arch": "pacman", "opensuse": "zypper"}


def package_manager(system: Distribution | None = None) -> PackageManager | None:
    """The package manager of a distribution, by default this one's; None if unknown."""
    names = [_FAMILIES.get(name, name) for name in (system or host.this.distribution()).names]
    program = next((_MANAGER_OF[name] for name in names if name in _MANAGER_OF), None)
    return next((manager for manager in PACKAGE_MANAGERS if manager.program == program), None)


def install_command(packages: Iterable[str], system: Distribution | None = None) -> tuple[str, ...]:
    """What a user types to install packages; empty where the package manager or the packages are unknown."""
    manager, names = package_manager(system), sorted({package for package in packages if package})
    if manager is None or not names:
        return ()
    return as_root((manager.program, *manager.install, *names))


def unattended_commands(packages: Iterable[str], system: Distribution | None = None) -> tuple[tuple[str, ...], ...]:
    """The same in full for a program that has asked already: refresh the lists, then install without asking."""
    manager, names = package_manager(system), sorted({package for package in packages if package})
    if manager is None or not names:
        return ()
    refresh = [(manager.program, *manager.refresh)] if manager.refresh else []
    steps = [*refresh, (manager.program, *manager.install, *manager.unattended, *names)]
    if way_to_root() == "su":  # which asks for the password each time
        return (_by_su(*steps),)
    return tuple(as_root(step) for step in steps)


def install_hint(*packages: str) -> str:
    """A sentence that says how to get packages here."""
    names = sorted({*filter(None, packages)})
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


_OWNERS = (("dpkg-query", "--search"), ("rpm", "--query", "--file"), ("pacman", "--query", "--owns", "--quiet"))


def owner_of(path: Path) -> str:
    """The package that brought a file; empty where none did."""
    for asking in _OWNERS:
        if find(asking[0]):
            answer = query((*asking, str(path)), timeout_s=60)
            if answer.exit_code == 0:
                return answer.stdout.decode(errors="replace").partition(":")[0].strip()
    return ""
