"""The probe all the way down: helper or scratch file, direct I/O, kernel, and a disk that notes what reaches it."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from fswizard.drives.devices import find_device
from fswizard.drives.probe import BLOCK_BYTES, ProbePlan, ProbeResult, probe
from fswizard.drives.probe_target import find_target
from fswizard.targets.device_probe import FileWriter, run_probe
from tests.loop.devices import Bench
from tests.loop.machine_state import names_in
from tests.simulated.disks import Disk, PlainDisk, as_published
from tests.simulated.nbd import attached

pytestmark = [pytest.mark.root, pytest.mark.loop]

WRITES = 48


class NotingDisk(PlainDisk):
    """Answers at once, and keeps count of the pieces in which it gets a block."""

    def __init__(self) -> None:
        super().__init__(size_bytes=1 << 30)
        self.pieces: Counter[tuple[int, int]] = Counter()

    def write_s(self, offset: int, length: int) -> float:
        self.pieces[offset % BLOCK_BYTES, length] += 1
        return 0.0


def written_to(device: str) -> int:
    """Bytes, as the kernel counts them."""
    return int(Path(f"/sys/block/{Path(device).name}/stat").read_text().split()[6]) * 512


@pytest.mark.nbd
def test_every_write_through_the_helper_reaches_the_disk_in_as_many_pieces_and_none_beyond_what_was_stated(
    tmp_path: Path,
) -> None:
    """A disk stalls after a fixed count of its own writes. About two seconds, to attach the disk."""
    disk = NotingDisk()
    with attached(disk, tmp_path, timed=False) as device:
        target = find_target(device, serial=find_device(device).identifiers[0])
        target = replace(target, plan=replace(target.plan, maximum_bytes=WRITES * BLOCK_BYTES))
        before = written_to(device)
        *_, result = run_probe(target)
        assert written_to(device) - before == WRITES * BLOCK_BYTES
    assert isinstance(result, ProbeResult)
    assert result.written_bytes == WRITES * BLOCK_BYTES
    assert set(disk.pieces.values()) == {WRITES}, disk.pieces


def test_the_command_probes_a_scratch_file_and_leaves_nothing(tmp_path: Path) -> None:
    """Two seconds of probing are the shortest that fill the least scratch file."""
    with contextlib.ExitStack() as undo:
        bench = Bench(tmp_path, undo)
        disk = bench.made("mkfs.ext4", "-q", "-E", "lazy_itable_init=1,lazy_journal_init=1", size_bytes=320 << 20)
        point = bench.mount(disk.path, "-o", "noinit_itable")
        command = [sys.executable, "-m", "fswizard", "smr", "--probe", str(point), "--time", "2s"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=240, check=False)
        left = names_in(point)
    assert done.returncode == 0, done.stderr
    assert "Writes up to" in done.stderr
    assert "drive-managed" in done.stdout or "inconclusive" in done.stdout, "whatever this machine makes of its disk"
    assert left == ["lost+found"]


@contextlib.contextmanager
def writer(device: str) -> Iterator[FileWriter]:
    opened = os.open(device, os.O_RDWR | os.O_EXCL | os.O_DIRECT | os.O_DSYNC)
    try:
        yield FileWriter(opened)
    finally:
        os.close(opened)


@pytest.mark.slow
@pytest.mark.nbd
@pytest.mark.parametrize("attempt", range(10))
def test_ten_times_out_of_ten(tmp_path: Path, attempt: int) -> None:
    """In real time; test_probe.py asks the same of the models alone."""

    def probed(name: str, model: Disk, time_limit_s: float) -> ProbeResult:
        (tmp_path / name).mkdir()
        with attached(model, tmp_path / name) as device:
            plan = ProbePlan(device, 256 << 20, 10.0, False, model.size_bytes, time_limit_s, 8 << 30)
            *_, result = probe(plan, writer(device))
        assert isinstance(result, ProbeResult)
        return result

    found = probed("shingled", as_published(), 180.0)
    assert found.outcome == "drive-managed", found
    left_open = probed("plain", PlainDisk(seed=attempt), 20.0)
    assert left_open.outcome == "inconclusive", left_open
