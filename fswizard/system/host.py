"""Facts about the machine that the program runs on. Nothing here changes anything."""

from __future__ import annotations

import os
import platform
import re
import shutil
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import fswizard
from fswizard.errors import FswizardError, Missing
from fswizard.language import _
from fswizard.model.plan import Plan
from fswizard.model.result import Environment
from fswizard.model.text import safe
from fswizard.system import clock, commands

_MODULES = ("lib/modules", "usr/lib/modules", "run/booted-system/kernel-modules/lib/modules")
"""Where distributions keep the kernel's modules; the last is NixOS's place."""

DYNAMIC_DRIVERS = frozenset({"intel_pstate", "amd-pstate-epp"})
"""With these, the governor `powersave` still raises the clock under load (kernel admin guide, cpufreq)."""
_CPUFREQ = "sys/devices/system/cpu/cpu0/cpufreq"


@dataclass(frozen=True, slots=True)
class Distribution:
    """What /etc/os-release says."""

    title: str
    """For people, such as `Debian GNU/Linux 12 (bookworm)`."""
    names: tuple[str, ...]
    """Its own short name and those it descends from, nearest first: `linuxmint`, `ubuntu`, `debian`."""


@dataclass(frozen=True, slots=True)
class Space:
    """How full a filesystem is."""

    total_bytes: int
    free_bytes: int
    """For users other than root."""


@dataclass(frozen=True, slots=True)
class Load:
    """What a program has used since it started."""

    name: str
    """As the kernel has it: up to 15 characters, harmless."""
    parent: int
    """Process number of who started it; 0 or 2 for threads of the kernel."""
    cpu_s: float = 0.0
    read_bytes: int = 0
    """From disks, as is what it wrote; 0 where that is unknown, as for the programs of other users."""
    written_bytes: int = 0

    def since(self, then: Load | None) -> Load:
        """What was used between two looks; all of it where the program did not run before."""
        if then is None:
            return self
        return replace(
            self,
            cpu_s=self.cpu_s - then.cpu_s,
            read_bytes=self.read_bytes - then.read_bytes,
            written_bytes=self.written_bytes - then.written_bytes,
        )


@dataclass(frozen=True)
class Host:
    """A machine: what the kernel tells below `root`, and what only a live machine can be asked."""

    root: Path = Path("/")

    def space(self, directory: str | Path) -> Space:
        """Of the filesystem that `directory` lies on. OSError where it cannot be asked."""
        usage = shutil.disk_usage(directory)
        return Space(usage.total, usage.free)

    def name(self) -> str:
        """What the machine is called in its network."""
        return safe(platform.node())

    def memory_bytes(self) -> int:
        """Size of the main memory."""
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")

    def available_memory_bytes(self) -> int:
        """What programs could take without swapping; 0 where the kernel does not say."""
        match = re.search(r"^MemAvailable:\s*(\d+) kB$", self._text("proc/meminfo"), re.MULTILINE)
        return int(match[1]) << 10 if match else 0

    def unwritten_bytes(self) -> int:
        """What all files and devices have in memory that is not on a disk yet, or is being written."""
        sizes = re.findall(r"^(?:Dirty|Writeback):\s*(\d+) kB$", self._text("proc/meminfo"), re.MULTILINE)
        return sum(map(int, sizes)) << 10

    def on_battery(self) -> bool:
        """Whether the machine runs on its battery now."""
        import psutil

        try:
            battery = psutil.sensors_battery()
        except FileNotFoundError:  # a kernel without the class `power_supply`, as in some containers and machines
            return False
        return battery is not None and battery.power_plugged is False

    def processor(self) -> str:
        """The processor's model as the kernel names it; its architecture where it names none."""
        cpuinfo = self._text("proc/cpuinfo")
        match = re.search(r"^(?:model name|Model|Hardware)\s*:\s*(.+)$", cpuinfo, re.MULTILINE)
        return safe(match[1].strip()) if match else platform.machine()

    def is_slowed(self) -> bool:
        """Whether the processor is held at its lowest clock, whatever the load."""
        driver = self._text(f"{_CPUFREQ}/scaling_driver").strip()
        return self._text(f"{_CPUFREQ}/scaling_governor").strip() == "powersave" and driver not in DYNAMIC_DRIVERS

    def pressure_total_s(self, resource: Literal["cpu", "io", "memory"]) -> float:
        """Seconds since boot in which something waited for `resource` (PSI `some`); 0 where nobody counts."""
        match = re.search(r"^some .*\btotal=(\d+)", self._text(f"proc/pressure/{resource}"), re.MULTILINE)
        return int(match[1]) / 1e6 if match else 0.0

    def disk_busy_s(self, name: str) -> float:
        """Seconds since boot in which a disk had something to do (kernel: block/stat.rst); 0 where nobody counts."""
        fields = self._text(f"sys/class/block/{name}/stat").split()
        return int(fields[9]) / 1e3 if len(fields) > 9 else 0.0

    def loads(self) -> dict[int, Load]:
        """What every program on the machine has used so far, by process number."""
        numbers = (path.name for path in (self.root / "proc").iterdir() if path.name.isdecimal())
        loads = {int(number): self._load(number) for number in numbers}
        return {number: load for number, load in loads.items() if load is not None}

    def _load(self, number: str) -> Load | None:
        """None where it has ended."""
        head, _, tail = self._text(f"proc/{number}/stat").rpartition(")")
        fields = tail.split()
        if len(fields) < 13:
            return None
        moved = dict(re.findall(r"^(read_bytes|write_bytes): (\d+)$", self._text(f"proc/{number}/io"), re.MULTILINE))
        return Load(
            safe(head.partition("(")[2]),
            int(fields[1]),
            (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK"),
            int(moved.get("read_bytes", 0)),
            int(moved.get("write_bytes", 0)),
        )

    def distribution(self) -> Distribution:
        """The distribution, as os-release(5) describes it."""
        for path in (self.root / "etc/os-release", self.root / "usr/lib/os-release"):
            if path.is_file():
                return _read_os_release(path.read_text("utf-8", "replace"))
        return Distribution("Linux", ())

    def has_loop_devices(self) -> bool:
        return (self.root / "dev/loop-control").exists()

    def has_module(self, name: str) -> bool:
        """Whether a module is loaded, or built in: with parameters, or as a level of md."""
        return (self.root / "sys/module" / name).exists() or f"[{name}]" in self._text("proc/mdstat")

    def kernel_supports(self, kind: str) -> bool:
        """Whether the kernel can mount filesystems of a type: built in, loaded, or as a module that it can load.

        modules.dep and modules.builtin list files by path, modules.alias `fs-TYPE` for what mount(2) loads by itself.
        """
        if kind in self._text("proc/filesystems").split():
            return True
        name = re.escape(kind.replace("-", "_"))
        file = re.compile(rf"^(\S*/)?{name}\.ko(\.\w+)?(:|$)", re.MULTILINE)
        alias = re.compile(f"^alias fs_{name} ", re.MULTILINE)
        return any(
            file.search(self._text(f"{modules}/modules.builtin").replace("-", "_"))
            or file.search(self._text(f"{modules}/modules.dep").replace("-", "_"))
            or alias.search(self._text(f"{modules}/modules.alias").replace("-", "_"))
            for modules in (f"{place}/{platform.release()}" for place in _MODULES)
        )

    def _text(self, path: str) -> str:
        try:
            return (self.root / path).read_text("utf-8", "replace")
        except OSError:
            return ""


this = Host()
"""The machine that everything is asked of; tests put another one in its place."""


def _read_os_release(text: str) -> Distribution:
    lines = (line.partition("=") for line in text.splitlines() if "=" in line and not line.startswith("#"))
    fields = {key.strip(): value.strip().strip("\"'") for key, _, value in lines}
    names = [fields.get("ID", "linux"), *fields.get("ID_LIKE", "").split()]
    return Distribution(safe(fields.get("PRETTY_NAME", "Linux")), tuple(safe(name.lower()) for name in names))


def environment(plan: Plan, *, root_path: str | None = None, workload_path: str | None = None) -> Environment:
    """What a run of `plan` happens on; time is now.

    The paths are where programs that make filesystems are found, and workloads that run on them; workloads in
    directories are found where the user finds programs.
    """
    made = () if plan.target.kind == "directory" else plan.candidates
    makers = {candidate.filesystem.mkfs_program for candidate in made}
    makers |= {candidate.below.layout.program for candidate in made if candidate.below}
    # Their own speed counts in what is measured, so their version belongs to the result.
    needed = {program.name for workload in plan.recipe.workloads for program in workload.job.programs}
    workers = needed & {command.argv[0] for command in plan.commands}
    path = None if plan.target.kind == "directory" else workload_path
    versions = {program: tool_version(program, root_path) for program in makers}
    versions |= {program: tool_version(program, path) for program in workers}
    return Environment(
        version=fswizard.__version__,
        started=clock.utc().strftime("%Y-%m-%dT%H:%M:%SZ"),
        kernel=platform.release(),
        distribution=this.distribution().title,
        host=this.name(),
        processor=this.processor(),
        memory_bytes=this.memory_bytes(),
        tools={program: version for program, version in sorted(versions.items()) if version},
    )


def why_not_started(path: str) -> str:
    """Why an installed program is of no use, in a sentence; empty where it starts."""
    if (many := os.path.basename(os.path.realpath(path))) in ("busybox", "toybox"):
        return _("That of {collection} lacks options that are needed.", collection=many)
    try:
        done = commands.query([path, "--version"], timeout_s=5)
    except Missing as error:
        return error.message
    except FswizardError:
        return ""  # slow, but it started
    return _("It cannot start: {output}", output=safe(done.output)[:200]) if done.exit_code in (126, 127) else ""


def tool_version(program: str, path: str | None = None) -> str:
    """The version that a program prints; empty where it is absent or prints none."""
    found = shutil.which(program, path=path) if path else commands.find(program)
    if found is None:
        return ""
    try:
        option = "-V" if program.startswith("mk") else "--version"  # some that make filesystems know no other
        output = commands.query([found, option], timeout_s=5).output
    except FswizardError:
        return ""
    match = re.search(r"\d+(?:\.\d+)+[\w.-]*", output)
    return match[0].rstrip(".") if match else ""
