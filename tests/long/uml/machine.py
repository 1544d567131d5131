"""A machine with simulated disks and a processor that takes no time: it runs one script to its end."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from fswizard.system import clock
from tests.long.uml.kernel import build

INIT = Path(__file__).parent / "init.sh"
LIMIT_S = 3600.0
MEMORY = "/dev/shm"
"""Where its memory and what its disks hold are: files elsewhere would be written to the host's disk all the time."""


@dataclass(frozen=True, slots=True)
class SimulatedDisk:
    """`/dev/NAME`; its serial number is its name."""

    name: str
    kind: str
    """conventional, shingled, card, ssd, or memory, which costs nothing."""
    figures: str
    """Separated by commas, as `driver/models.c` explains them: `size_bytes=8G,cache_bytes=100M`."""


def run(
    script: str, disks: Sequence[SimulatedDisk], *, memory: str = "512M", into: Path, limit_s: float = LIMIT_S
) -> subprocess.CompletedProcess[str]:
    """Runs a shell script as root; it finds the directory `into` as the one it runs in, and may change nothing else.

    Programs are the host's. Raises TimeoutError after `limit_s` of real time, RuntimeError where it does not come up.
    """
    (into / "script").write_text(script)
    store = Path(tempfile.mkdtemp(prefix="uml-", dir=MEMORY))
    described = ";".join(f"{disk.kind},name={disk.name},file={store}/{disk.name},{disk.figures}" for disk in disks)
    argv = (
        *(str(build()), f"mem={memory}", "time-travel=inf-cpu", f"time-travel-start={int(clock.wall())}000000000"),
        *("root=none", "rootfstype=hostfs", "rootflags=/", "ro", f"init={INIT}", f"OUT={into.resolve()}"),
        *("con=null", "con0=null,fd:1", "quiet", f"uml_dir={store}", "umid=machine", f"simdisk.disks={described}"),
    )
    try:
        with (into / "console").open("wb") as console:
            machine = subprocess.Popen(
                argv,
                stdin=subprocess.DEVNULL,
                stdout=console,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                env={**os.environ, "TMPDIR": str(store)},
            )
            try:
                machine.wait(limit_s)
            except subprocess.TimeoutExpired:
                raise TimeoutError(f"the simulated machine still ran after {limit_s:g} s: {_said(into)}") from None
            finally:
                _end(machine)
    finally:
        shutil.rmtree(store)
    if not (into / "ended").exists():
        raise RuntimeError(f"the simulated machine did not come up:\n{(into / 'console').read_text(errors='replace')}")
    return subprocess.CompletedProcess(script, int((into / "ended").read_text()), _said(into))


def _said(into: Path) -> str:
    said = into / "said"
    return said.read_text(errors="replace") if said.exists() else ""


def _end(machine: subprocess.Popen[bytes]) -> None:
    """Its programs are processes of the host in its session, stopped or running."""
    listed = subprocess.run(
        ["ps", "-o", "pid=", "--sid", str(machine.pid)], capture_output=True, text=True, check=False
    )
    for pid in listed.stdout.split():
        try:
            os.kill(int(pid), signal.SIGKILL)
        except ProcessLookupError:
            continue
    machine.wait()
