"""`fswizard doctor`: missing programs, their purpose, and the distribution's command to install them."""

from __future__ import annotations

import platform
from collections.abc import Iterator
from dataclasses import dataclass

from plumbum import cli

from fswizard import engines, filesystems
from fswizard.cli.command import Command
from fswizard.cli.output import wrapped
from fswizard.disks import rights, way
from fswizard.errors import ExitCode
from fswizard.language import _
from fswizard.report.text import pad
from fswizard.system import commands, host, programs
from fswizard.system.install import offer


@dataclass(frozen=True, slots=True)
class Checked:
    """A requirement or an optional feature of measuring."""

    name: str
    required: bool
    """The default run needs it."""
    reason: str = ""
    """Why it cannot be used; empty if it can."""
    version: str = ""
    package: str = ""
    """Package that would install it; empty if it is installed, or if there is none."""


def examine() -> Iterator[Checked]:
    for name, filesystem in filesystems.catalogue().items():
        state = filesystems.availability(filesystem)
        driver = _("through {driver}", driver=state.driver.name) if state.driver else ""
        yield Checked(name, name in filesystems.ORDINARY, state.reason, state.version or driver, state.package)
    root = rights.state()
    for program in (*programs.PROGRAMS, *engines.programs()):
        required = program.required or (program.name == "sudo" and root == "none")
        if commands.find(program.name):
            yield Checked(program.name, required, version=host.tool_version(program.name))
        else:
            reason = _("not installed; for {purpose}", purpose=_(program.purpose))
            package = programs.package_of({"": program.name, **program.packages})
            yield Checked(program.name, required, reason, package=package)
    none = _("The kernel has none: run `modprobe loop` as root, or leave the container.")
    yield Checked(_("loop devices"), True, "" if host.this.path("/dev/loop-control").exists() else none)
    root_source = _(rights.REASONS[root])
    as_root = {"reason": f"{root_source}."} if root == "none" else {"version": root_source}
    if way.image_rights() == "udisks":
        yield Checked(_("scratch images"), True, version=_("udisks2, without a password"))
    else:
        yield Checked(_("scratch images"), True, **as_root)
    yield Checked(_("root's rights"), False, **as_root)


class Doctor(Command):
    """List what is missing, what needs it, and the command that installs it."""

    PROGNAME = "fswizard doctor"

    install = cli.Flag("--install", help=_("install what is missing, after asking"))
    needed = cli.Flag("--needed", help=_("check only what the default run needs"))

    def main(self) -> int:
        checked = self._examine()
        missing = sorted({item.package for item in checked if item.package})
        if self.install and missing and offer(missing):
            checked = self._examine()
            missing = sorted({item.package for item in checked if item.package})
        print(f"{host.this.distribution().title}, Linux {platform.release()}")
        groups = {True: _("Needed for the default run"), False: _("For more filesystems, workloads and formats")}
        for required, title in groups.items():
            items = [item for item in checked if item.required is required]
            if items:
                print("", title, *map(_line, items), sep="\n")
        if missing:
            print(f"\n{programs.install_hint(*missing)}")
            if programs.package_manager() and not self.install:
                print(_("or: {command}", command="fswizard doctor --install"))
        return ExitCode.MISSING if any(item.required and item.reason for item in checked) else ExitCode.OK

    def _examine(self) -> list[Checked]:
        return [item for item in examine() if item.required or not self.needed]


def _line(item: Checked) -> str:
    name = pad(item.name, 13)
    if item.reason:
        return "\n".join(wrapped(item.reason, f"  ✗ {name} ", " " * 18, 80))
    return f"  ✓ {name} {item.version}".rstrip()
