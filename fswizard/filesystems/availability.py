"""What of the catalogue can be made on this machine, and how to get what is missing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from fswizard.model.filesystem import Driver, Filesystem
from fswizard.model.layout import MD, Layout
from fswizard.system import commands, host, programs

MDADM = "mdadm"


@dataclass(frozen=True, slots=True)
class Availability:
    """Whether a filesystem can be measured here."""

    usable: bool
    reason: str = ""
    """What is missing, in a sentence; empty when nothing is."""
    hint: str = ""
    """How to get it, in a sentence; empty when there is no way or nothing is missing."""
    version: str = ""
    """Of the mkfs program; empty where it is absent or does not tell."""
    package: str = ""
    """What would bring what is missing; empty where no package does."""
    driver: Driver | None = None
    """What mounts it, where there is a choice; None where nothing can."""


def availability(filesystem: Filesystem) -> Availability:
    """Look for the kernel's support and the programs."""
    version = host.tool_version(filesystem.mkfs_program)
    supported = [driver for driver in _drivers(filesystem) if host.this.kernel_supports(driver.kernel)]
    if not supported:
        return Availability(
            False,
            f"The running kernel cannot mount {filesystem.title}.",
            "Choose another filesystem, or start a kernel that has it as a module.",
            version,
        )
    driver = next((driver for driver in supported if not driver.program or commands.find(driver.program)), None)
    if driver is None:
        return _without_driver(filesystem, supported[0], version)
    if commands.find(filesystem.mkfs_program) is None:
        return _not_installed(filesystem.mkfs_program, filesystem.packages, version)
    return Availability(True, version=version, driver=driver if filesystem.drivers else None)


def layout_availability(layout: Layout) -> Availability:
    """Whether a layout can be made here, beside its filesystem, which is looked at by itself."""
    if layout.maker != MD:
        return Availability(True)
    version = host.tool_version(MDADM)
    if not (host.this.kernel_supports(layout.kernel) or host.this.has_module(layout.kernel)):
        return Availability(
            False,
            f"The running kernel makes no {layout.title} ({layout.kernel}).",
            "Choose another layout, or start a kernel that has it as a module.",
            version,
        )
    if commands.find(MDADM) is None:
        return _not_installed(MDADM, {"": MDADM}, version)
    return Availability(True, version=version)


def _drivers(filesystem: Filesystem) -> tuple[Driver, ...]:
    return filesystem.drivers or (Driver(filesystem.title, filesystem.mount_type),)


def _without_driver(filesystem: Filesystem, driver: Driver, version: str) -> Availability:
    packages = driver.packages or filesystem.packages
    if not driver.optional:
        return _not_installed(driver.program, packages, version)
    names = " nor ".join(driver.name for driver in filesystem.drivers)
    command = programs.install_command([programs.package_of(packages, host.this.distribution())])
    how = f" ({' '.join(command)})" if command else ""
    return Availability(False, f"Neither {names} is installed{how}.", version=version)


def _not_installed(program: str, packages: Mapping[str, str], version: str) -> Availability:
    package = programs.package_of(packages, host.this.distribution())
    hint = programs.install_hint(package)
    return Availability(False, f"{program} is not installed.", hint, version, package)
