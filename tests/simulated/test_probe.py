"""The probe against simulated disks: a shingled one gives itself away, a plain one never does."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from fswizard.bench.probing import FileWriter, run_probe
from fswizard.drives.probe import BLOCK_BYTES, ProbePlan, ProbeProgress, ProbeResult, probe
from fswizard.drives.probe_target import find_target
from fswizard.drives.targets import find_device
from tests.simulated.disks import PlainDisk, ShingledDisk
from tests.simulated.nbd import Model, attached

pytestmark = [pytest.mark.nbd, pytest.mark.loop]

MAXIMUM_BYTES = 8 << 30
LONG_STALL_S = 0.5
"""Many times a write, even where the machine is busy and takes longer over one than the disk that is simulated."""


@contextlib.contextmanager
def writer(device: str) -> Iterator[FileWriter]:
    opened = os.open(device, os.O_RDWR | os.O_EXCL | os.O_DIRECT | os.O_DSYNC)
    try:
        yield FileWriter(opened)
    finally:
        os.close(opened)


def plan_for(model: Model, device: str, listen_s: float, time_limit_s: float) -> ProbePlan:
    return ProbePlan(device, 256 << 20, listen_s, False, model.size_bytes, time_limit_s, MAXIMUM_BYTES)


def probed(model: Model, directory: Path, listen_s: float, time_limit_s: float) -> list[ProbeProgress | ProbeResult]:
    with attached(model, directory) as device:
        return list(probe(plan_for(model, device, listen_s, time_limit_s), writer(device)))


def result_of(told: list[ProbeProgress | ProbeResult]) -> ProbeResult:
    assert isinstance(told[-1], ProbeResult)
    return told[-1]


def test_a_shingled_disk_is_found(tmp_path: Path) -> None:
    result = result_of(probed(ShingledDisk(), tmp_path, listen_s=3.0, time_limit_s=120.0))
    assert result.outcome == "drive-managed", result
    assert result.evidence.says == "drive-managed"


def test_a_plain_disk_is_inconclusive_and_never_called_conventional(tmp_path: Path) -> None:
    result = result_of(probed(PlainDisk(), tmp_path, listen_s=6.0, time_limit_s=24.0))
    assert result.outcome == "inconclusive", result
    assert result.evidence.says == "unknown"


@pytest.mark.slow
@pytest.mark.parametrize("attempt", range(10))
def test_ten_times_out_of_ten(tmp_path: Path, attempt: int) -> None:
    for name in ("shingled", "plain"):
        (tmp_path / name).mkdir()
    as_published = ShingledDisk(write_mib_s=0.021, stall_s=0.300, clean_band_s=0.6)
    found = result_of(probed(as_published, tmp_path / "shingled", listen_s=10.0, time_limit_s=180.0))
    assert found.outcome == "drive-managed", found
    left_open = result_of(probed(PlainDisk(seed=attempt), tmp_path / "plain", listen_s=10.0, time_limit_s=20.0))
    assert left_open.outcome == "inconclusive", left_open


def test_through_the_helper_a_shingled_device_is_found_too(tmp_path: Path) -> None:
    with attached(ShingledDisk(), tmp_path) as device:
        serial = find_device(device).identifiers[0]
        target = find_target(device, serial=serial, time_limit_s=60.0)
        *_, result = run_probe(target)
    assert isinstance(result, ProbeResult)
    assert result.outcome == "drive-managed", result


def test_the_stall_alone_gives_a_disk_away(tmp_path: Path) -> None:
    stalling = ShingledDisk(cache_bytes=1 << 40, stall_s=LONG_STALL_S)
    result = result_of(probed(stalling, tmp_path, listen_s=120.0, time_limit_s=120.0))
    assert result.evidence.code == "periodic-stall", result
    assert "times in a row it stalls after" in result.evidence.text


def test_the_cliff_alone_gives_a_disk_away(tmp_path: Path) -> None:
    result = result_of(probed(ShingledDisk(stall_s=0.0), tmp_path, listen_s=1.0, time_limit_s=120.0))
    assert result.evidence.code == "write-cliff", result


def written_to(device: str) -> int:
    """Bytes, as the kernel counts them."""
    return int(Path(f"/sys/block/{Path(device).name}/stat").read_text().split()[6]) * 512


def test_no_more_is_written_than_was_stated(tmp_path: Path) -> None:
    with attached(PlainDisk(), tmp_path) as device:
        plan = ProbePlan(device, 64 << 20, 1.0, True, 256 << 20, 60.0, 100 * BLOCK_BYTES)
        before = written_to(device)
        told = list(probe(plan, writer(device)))
        written = written_to(device) - before
    assert result_of(told).written_bytes == written == plan.maximum_bytes


def test_every_write_reaches_the_disk_in_as_many_pieces(tmp_path: Path) -> None:
    """A disk stalls after a fixed count of its own writes."""
    pieces: Counter[int] = Counter()

    class Noting(PlainDisk):
        def write_s(self, offset: int, length: int) -> float:
            pieces[offset // BLOCK_BYTES] += 1
            return 0.0

    orders = 20
    with attached(Noting(), tmp_path) as device, writer(device) as file:
        for _ in range(orders):
            assert len(list(file.write(range(8), 0.0))) == 8
    assert set(pieces) == set(range(8))
    assert len(set(pieces.values())) == 1, pieces
    assert pieces[0] % orders == 0, pieces


def test_a_disturbed_probe_proves_nothing(tmp_path: Path) -> None:
    with attached(ShingledDisk(), tmp_path) as device:
        plan = plan_for(ShingledDisk(), device, 1.0, 120.0)
        told = list(probe(plan, writer(device), disturbed=lambda written: "somebody else wrote too."))
    assert result_of(told).outcome == "inconclusive"
    assert "somebody else wrote too." in result_of(told).evidence.text


def test_the_command_probes_a_scratch_file_and_leaves_nothing(tmp_path: Path) -> None:
    point = tmp_path / "mounted"
    point.mkdir()
    quick = ShingledDisk(size_bytes=1 << 30, cache_bytes=1 << 40, write_mib_s=0.002, stall_s=LONG_STALL_S)
    with attached(quick, tmp_path) as device:
        options = "lazy_itable_init=1,lazy_journal_init=1"
        subprocess.run(["mkfs.ext4", "-q", "-E", options, device], check=True, timeout=120)
        quiet = "noinit_itable,commit=300"  # what a filesystem writes of its own accord has a test without a disk
        subprocess.run(["mount", "-o", quiet, device, str(point)], check=True, timeout=60)
        try:
            command = [sys.executable, "-m", "fswizard", "smr", "--probe", str(point), "--time", "120s"]
            done = subprocess.run(command, capture_output=True, text=True, timeout=240, check=False)
            left = sorted(path.name for path in point.iterdir())
        finally:
            subprocess.run(["umount", str(point)], check=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert "shingled, drive-managed" in done.stdout
    assert "Writes up to" in done.stderr
    assert left == ["lost+found"]
