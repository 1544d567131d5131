"""`fswizard doctor`: what is missing for what, and the distribution's own command to get it."""

from __future__ import annotations

import json
import os
import platform
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace

from plumbum import cli

from fswizard import engines, filesystems
from fswizard.cli.command import Command
from fswizard.cli.output import wrapped
from fswizard.disks import rights, way
from fswizard.disks.memory_limit import ways as memory_limit_ways
from fswizard.errors import ExitCode
from fswizard.language import N_, _, in_english, shown
from fswizard.model.text import cells
from fswizard.system import commands, host, programs
from fswizard.system.install import obstacle, offer


@dataclass(frozen=True, slots=True)
class Checked:
    """Something that was looked for; in English."""

    name: str
    purpose: str
    required: bool
    """The default run needs it."""
    found: bool
    version: str = ""
    package: str = ""
    """What would bring it; empty where no package does."""
    reason: str = ""
    """Why it is not to be had although nothing is missing that a package could bring."""


@in_english()
def examine() -> tuple[Checked, ...]:
    """Everything that measuring needs or profits from."""
    root = rights.state()
    present, ways = host.this.has_loop_devices(), memory_limit_ways()
    reason = "" if present else N_("The kernel has none: run `modprobe loop` as root, or leave the container.")
    loop_devices = Checked(N_("loop devices"), N_("scratch images"), True, present, reason=reason)
    reason = "" if ways else N_("The kernel has no memory cgroup that root can use.")
    purpose = N_("measuring beyond what memory can cache")
    limit = Checked(N_("memory limit"), purpose, False, bool(ways), ", ".join(ways), reason=reason)
    return (*_filesystems(), *_programs(root), loop_devices, _images(root), _root(root), limit)


def _filesystems() -> Iterator[Checked]:
    for name, filesystem in filesystems.catalogue().items():
        state = filesystems.availability(filesystem)
        required = name in filesystems.ORDINARY
        version = state.version or (_("through {driver}", driver=state.driver.name) if state.driver else "")
        yield Checked(name, filesystem.summary, required, state.usable, version, state.package, state.reason)


def _programs(root: rights.State) -> Iterator[Checked]:
    system = host.this.distribution()
    for program in (*programs.PROGRAMS, *engines.programs()):
        path = commands.find(program.name)
        reason = host.why_not_started(path) if path else ""
        present = path is not None and not reason
        required = program.required or (program.name == "sudo" and root == "none")
        package = "" if present else programs.package_of({"": program.name, **program.packages}, system)
        version = host.tool_version(program.name) if present else ""
        yield Checked(program.name, program.purpose, required, present, version, package, reason)


def _images(root: rights.State) -> Checked:
    """Scratch images, which the default run needs: by udisks2, or else as root."""
    version, reason = way.udisks()
    name, purpose = N_("scratch images"), N_("making and mounting filesystems in scratch images")
    if reason or not os.geteuid():
        return replace(_root(root), name=name, purpose=purpose, required=True)
    text = _("udisks2 {version}, without a password", version=".".join(map(str, version)))
    return Checked(name, purpose, True, True, text)


def _root(root: rights.State) -> Checked:
    """How root's rights are had, for what udisks2 does not do."""
    name, purpose = N_("root's rights"), N_("disks of their own, arrays, and mount options that udisks2 refuses")
    how = rights.REASONS[root]
    if root == "none":
        return Checked(name, purpose, False, False, reason=f"{how}.")
    return Checked(name, purpose, False, True, how)


def report(checked: Sequence[Checked]) -> str:
    """What was found, for people, within 80 columns."""
    lines = [f"{host.this.distribution().title}, Linux {platform.release()}"]
    groups = ((_("Needed for the default run"), True), (_("For more filesystems, workloads and formats"), False))
    for title, required in groups:
        if items := [item for item in checked if item.required is required]:
            lines += ["", title, *map(_line, items)]
    return "\n".join(lines)


def _line(item: Checked) -> str:
    name = shown(item.name)
    name += " " * (13 - cells(name))
    if item.found:
        return f"  ✓ {name} {shown(item.version)}".rstrip()
    reason = shown(item.reason) or _("not installed; for {purpose}", purpose=shown(item.purpose))
    return "\n".join(wrapped(reason, f"  ✗ {name} ", " " * 18, 80))


class Doctor(Command):
    """List what is missing, what needs it, and the command that installs it."""

    PROGNAME = "fswizard doctor"

    as_json = cli.Flag("--json", help=_("print JSON"))
    install = cli.Flag("--install", help=_("install what is missing, after asking"))
    needed = cli.Flag("--needed", help=_("check only what the default run needs"))

    def main(self) -> int:
        checked = self._look()
        missing = sorted({item.package for item in checked if item.package})
        prevented = obstacle() if self.install and missing else ""
        if self.install and missing and not prevented and offer(missing):
            checked = self._look()
            missing = sorted({item.package for item in checked if item.package})
        self._emit(checked, missing, prevented)
        return ExitCode.OK if all(item.found for item in checked if item.required) else ExitCode.MISSING

    def _look(self) -> tuple[Checked, ...]:
        return tuple(item for item in examine() if item.required or not self.needed)

    def _emit(self, checked: Sequence[Checked], missing: Sequence[str], prevented: str) -> None:
        command = shlex.join(programs.install_command(missing))
        if self.as_json:
            print(json.dumps({"checked": [asdict(item) for item in checked], "command": command}, indent=2))
            return
        print(report(checked))
        install = _("To install what is missing:")
        if command and self.install:
            print(f"\n{prevented or install}\n  {command}")
        elif command:
            print(f"\n{install}\n  {command}\n{_('or: {command}', command='fswizard doctor --install')}")
        elif missing:
            packages = ", ".join(missing)
            text = _("Install these packages with your distribution's package manager: {packages}.", packages=packages)
            print(f"\n{text}")
