"""Facts about the machine that the program runs on, read without changes."""

from __future__ import annotations

import os
import platform
import re
import shutil
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import fswizard
from fswizard.errors import FswizardError
from fswizard.model.plan import Plan
from fswizard.model.result import Environment
from fswizard.model.text import safe
from fswizard.system import clock, commands
from fswizard.system.block_device import Tree

DYNAMIC_DRIVERS = frozenset({"intel_pstate", "amd-pstate-epp"})
"""Drivers that raise the clock under load even with the governor `powersave` (kernel admin guide, cpufreq)."""
_CPUFREQ = "sys/devices/system/cpu/cpu0/cpufreq"


@dataclass(frozen=True, slots=True)
class Distribution:
    """A Linux distribution, from /etc/os-release."""

    title: str
    """Readable name, such as `Debian GNU/Linux 12 (bookworm)`."""
    names: tuple[str, ...]
    """Short names of it and of those it is derived from, nearest first: `linuxmint`, `ubuntu`, `debian`."""


@dataclass(frozen=True, slots=True)
class Load:
    """Resources that a process has used since its start."""

    name: str
    """Name in the kernel, sanitised; up to 15 characters."""
    parent: int
    """PID of the parent; 0 or 2 for kernel threads."""
    cpu_s: float = 0.0
    read_bytes: int = 0
    """Bytes read from disks; like `written_bytes` 0 if unknown, as for processes of other users."""
    written_bytes: int = 0

    def since(self, earlier: Load | None) -> Load:
        """Difference to an earlier load; all of it if the process did not exist then."""
        if earlier is None:
            return self
        return replace(
            self,
            cpu_s=self.cpu_s - earlier.cpu_s,
            read_bytes=self.read_bytes - earlier.read_bytes,
            written_bytes=self.written_bytes - earlier.written_bytes,
        )


@dataclass(frozen=True)
class Host(Tree):
    """A machine: files of the kernel below `root`, and queries that need the live machine."""

    def space_bytes(self, directory: str | Path) -> int:
        """Free space of users on the filesystem of `directory`. Raises OSError if it is not accessible."""
        return shutil.disk_usage(directory).free

    def name(self) -> str:
        """Host name."""
        return safe(platform.node())

    def memory_bytes(self) -> int:
        """Size of the main memory."""
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")

    def unwritten_bytes(self) -> int:
        """Size of dirty data in memory, including data that is being written."""
        sizes = re.findall(r"^(?:Dirty|Writeback):\s*(\d+) kB$", self.text("proc/meminfo"), re.MULTILINE)
        return sum(map(int, sizes)) << 10

    def on_battery(self) -> bool:
        """Whether the machine is running on battery."""
        import psutil

        try:
            battery = psutil.sensors_battery()
        except FileNotFoundError:  # a kernel without the class `power_supply`, as in some containers and VMs
            return False
        return battery is not None and battery.power_plugged is False

    def processor(self) -> str:
        """Model of the processor, or its architecture if the kernel reports none."""
        cpuinfo = self.text("proc/cpuinfo")
        match = re.search(r"^(?:model name|Model|Hardware)\s*:\s*(.+)$", cpuinfo, re.MULTILINE)
        return safe(match[1].strip()) if match else platform.machine()

    def is_slowed(self) -> bool:
        """Whether the processor stays at its lowest clock under load."""
        driver = self.text(f"{_CPUFREQ}/scaling_driver")
        return self.text(f"{_CPUFREQ}/scaling_governor") == "powersave" and driver not in DYNAMIC_DRIVERS

    def pressure_total_s(self, resource: Literal["cpu", "io", "memory"]) -> float:
        """Seconds since boot in which a task waited for `resource` (PSI `some`); 0 if not counted."""
        match = re.search(r"^some .*\btotal=(\d+)", self.text(f"proc/pressure/{resource}"), re.MULTILINE)
        return int(match[1]) / 1e6 if match else 0.0

    def disk_busy_s(self, name: str) -> float:
        """Seconds since boot in which a disk was busy (kernel: block/stat.rst); 0 if not counted."""
        fields = self.text(f"sys/class/block/{name}/stat").split()
        return int(fields[9]) / 1e3 if len(fields) > 9 else 0.0

    def loads(self) -> dict[int, Load]:
        """Loads of all processes by PID."""
        import psutil

        loads, asked = {}, ["name", "ppid", "cpu_times"]
        if hasattr(psutil.Process, "io_counters"):  # some kernels don't count what a process reads and writes
            asked.append("io_counters")
        for process in psutil.process_iter(asked):
            known = process.info
            load = Load(safe(known["name"] or ""), known["ppid"] or 0)
            if times := known["cpu_times"]:
                load = replace(load, cpu_s=times.user + times.system)
            if moved := known.get("io_counters"):
                load = replace(load, read_bytes=moved.read_bytes, written_bytes=moved.write_bytes)
            loads[process.pid] = load
        return loads

    def distribution(self) -> Distribution:
        """The distribution, from os-release(5)."""
        try:
            fields = platform.freedesktop_os_release()
        except (OSError, ValueError):  # there is none, or not as UTF-8
            return Distribution("Linux", ())
        names = [fields["ID"], *fields.get("ID_LIKE", "").split()]
        return Distribution(safe(fields["PRETTY_NAME"]), tuple(safe(name.lower()) for name in names))

    def has_module(self, name: str) -> bool:
        """Whether a module is loaded or built in; the latter is visible only with parameters or as an md level."""
        return self.path(f"/sys/module/{name}").exists() or f"[{name}]" in self.text("proc/mdstat")

    def kernel_supports(self, kind: str) -> bool:
        """Whether the kernel can mount a filesystem type: built in, loaded, or with a module that modprobe finds.

        mount(2) loads modules by their alias `fs-TYPE`, which some outside the kernel lack.
        """
        if kind in self.text("proc/filesystems").split():
            return True
        try:
            names = (f"fs-{kind}", kind)
            return any(not commands.query(["modprobe", "-n", "-q", name], timeout_s=5).exit_code for name in names)
        except FswizardError:  # a container without modprobe
            return False


this = Host()
"""This machine; replaced in tests."""


def environment(plan: Plan, *, root_path: str | None = None, workload_path: str | None = None) -> Environment:
    """Environment of a run of `plan` that starts now.

    `root_path` is the search path for mkfs programs, `workload_path` that for workloads. Workloads in directories use
    the PATH of the user.
    """
    made = () if plan.target.kind == "directory" else plan.candidates
    makers = {candidate.filesystem.mkfs_program for candidate in made}
    makers |= {candidate.below.layout.program for candidate in made if candidate.below}
    # Their speed affects the measurement, so their versions are part of the result.
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


def tool_version(program: str, path: str | None = None) -> str:
    """Version that a program prints; empty if it is not installed or prints none."""
    executable = shutil.which(program, path=path) if path else commands.find(program)
    if executable is None:
        return ""
    try:
        option = "-V" if program.startswith("mk") else "--version"  # some mkfs programs have no other option
        output = commands.query([executable, option], timeout_s=5).output
    except FswizardError:
        return ""
    match = re.search(r"\d+(?:\.\d+)+[\w.-]*", output)
    return match[0].rstrip(".") if match else ""
