"""Which filesystems and layouts this machine can make, and how to install missing parts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from fswizard.language import _
from fswizard.model.filesystem import Driver, Filesystem
from fswizard.model.layout import DMSETUP, Layout
from fswizard.system import commands, host, programs

PACKAGES = {DMSETUP: {"": "device-mapper", "debian": "dmsetup"}}
"""Packages of programs for layouts, by distribution, if named differently from the program."""


@dataclass(frozen=True, slots=True)
class Availability:
    """Whether a filesystem or layout can be measured on this machine."""

    usable: bool
    reason: str = ""
    """Sentence about the missing part; empty if there is none."""
    hint: str = ""
    """Sentence about how to get it; empty if that is impossible or unnecessary."""
    version: str = ""
    """Version of the mkfs program, or empty if unknown."""
    package: str = ""
    """Package that contains the missing part; empty if there is none."""
    driver: Driver | None = None
    """Driver that mounts it, if it is not part of the kernel; otherwise None."""


def availability(filesystem: Filesystem) -> Availability:
    """Check for kernel support and programs of a filesystem."""
    version, driver = host.tool_version(filesystem.mkfs_program), filesystem.driver
    if not host.this.kernel_supports(driver.kernel if driver else filesystem.mount_type):
        return Availability(
            False,
            _("The running kernel cannot mount {filesystem}.", filesystem=filesystem.title),
            _(driver.hint)
            if driver and driver.hint
            else _("Choose another filesystem, or start a kernel that has it as a module."),
            version,
        )
    if commands.find(filesystem.mkfs_program) is None:
        return _not_installed(filesystem.mkfs_program, filesystem.packages, version)
    if driver and commands.find(driver.program) is None:
        return _not_installed(driver.program, driver.packages or filesystem.packages, version)
    return Availability(True, version=version, driver=driver)


def layout_availability(layout: Layout) -> Availability:
    """Check for kernel support and programs of a layout, without those of its filesystem."""
    if not layout.program:
        return Availability(True)
    version = host.tool_version(layout.program)
    if not (host.this.kernel_supports(layout.kernel) or host.this.has_module(layout.kernel)):
        return Availability(
            False,
            _("The running kernel can't make {layout} ({module}).", layout=_(layout.title), module=layout.kernel),
            _("Choose another layout, or start a kernel that has it as a module."),
            version,
        )
    for program in (layout.program, *((DMSETUP,) if layout.alone else ())):
        if commands.find(program) is None:
            return _not_installed(program, PACKAGES.get(program, {"": program}), version)
    return Availability(True, version=version)


def _not_installed(program: str, packages: Mapping[str, str], version: str) -> Availability:
    package = programs.package_of(packages)
    hint = programs.install_hint(package)
    return Availability(False, _("{program} is not installed.", program=program), hint, version, package)
