"""A machine with the free space, memory and power that a test sets."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from fswizard.session import process
from fswizard.system import host
from fswizard.system.host import Host, Load

_ROOMY = """
from fswizard.system import host
class Roomy(host.Host):
    def space_bytes(self, directory): return 1 << 40
    def pressure_total_s(self, resource): return 0.0
    def disk_busy_s(self, name): return 0.0
    def unwritten_bytes(self): return 0
host.this = Roomy()
"""
ROOMY = f"""{_ROOMY}
from fswizard.session import process
process.PROGRAM = {_ROOMY!r} + process.PROGRAM
"""
"""What a program of its own (`python -c`) runs first, to be on a roomy and idle machine; also where no tests are.

So is the process of a run that it starts.
"""


@dataclass(frozen=True)
class ModelHost(Host):
    """Roomy, on mains and idle by default; the kernel and the distribution are those below `root`."""

    free_bytes: int = 1 << 40
    memory: int = 16 << 30
    battery: bool = False
    slowed: bool = False
    """The processor is held at its lowest clock."""

    def space_bytes(self, directory: str | Path) -> int:
        return self.free_bytes

    def memory_bytes(self) -> int:
        return self.memory

    def unwritten_bytes(self) -> int:
        return 0

    def on_battery(self) -> bool:
        return self.battery

    def processor(self) -> str:
        return "Model processor"

    def is_slowed(self) -> bool:
        return self.slowed

    def pressure_total_s(self, resource: Literal["cpu", "io", "memory"]) -> float:
        return 0.0

    def disk_busy_s(self, name: str) -> float:
        return 0.0

    def loads(self) -> dict[int, Load]:
        return {}


@contextmanager
def idle_runs() -> Iterator[None]:
    """Runs in processes of their own are on a roomy and idle machine, too."""
    before, process.PROGRAM = process.PROGRAM, _ROOMY + process.PROGRAM
    try:
        yield
    finally:
        process.PROGRAM = before


@contextmanager
def use(machine: Host) -> Iterator[None]:
    """Ask `machine` instead of this one."""
    before, host.this = host.this, machine
    try:
        yield
    finally:
        host.this = before
