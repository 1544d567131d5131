"""Where a probe may write: never where something is, or might be."""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from fswizard.drives.devices import find_device
from fswizard.drives.probe import BLOCK_BYTES, ProbePlan, ProbeProgress, ProbeResult
from fswizard.drives.probe_target import ProbeTarget, find_target
from fswizard.errors import Refused, RunFailed, UsageError
from fswizard.privileged import rights
from fswizard.system.host import Host
from fswizard.targets.device_probe import run_probe
from tests.builders import make_drive
from tests.fakes.host import use
from tests.loop.channel import Channel, about, attached, refused
from tests.loop.devices import Bench, digest, run
from tests.loop.failing_host import failing_disk, small_host
from tests.loop.machine_state import LIMIT_S, names_in, wait_until

BLOCKS = 128
TABLE = "printf '\\125\\252' | dd of=$0 bs=1 seek=510 conv=notrunc,fsync"
"""The mark of a partition table, and no partition in it."""

pytestmark = [pytest.mark.root, pytest.mark.loop]


@pytest.fixture
def device(bench: Bench) -> str:
    return bench.disk(BLOCKS * BLOCK_BYTES).path


def test_a_device_is_refused_without_its_serial_number_with_a_filesystem_and_mounted(device: str, bench: Bench) -> None:
    with pytest.raises(Refused, match="would be overwritten"):
        find_target(device, serial="")
    run("mkfs.ext4", "-q", device)
    with pytest.raises(Refused, match="not empty"):
        find_target(device, serial="whatever")
    bench.mount(device)
    with pytest.raises(Refused, match="mounted on"):
        find_target(device, serial="whatever")


def test_a_directory_gives_a_plan_within_what_is_free(bench: Bench) -> None:
    device = bench.made("mkfs.ext4", "-q", size_bytes=600 << 20).path
    point = bench.mount(device)
    with use(Host()):
        target = find_target(str(point), time_limit_s=10.0)
    with target.scratch_file():
        assert names_in(point) == ["lost+found"], "the scratch file has no name"
    assert target.drive.name == Path(device).name
    assert 0 < target.plan.listen_bytes <= target.plan.press_bytes <= 150 << 20
    assert target.plan.maximum_bytes <= 10 * 200_000_000
    with pytest.raises(UsageError, match="isn't on a disk"):  # but in memory
        find_target("/dev/shm")


def confirmed(device: str, time_limit_s: float = 3.0, maximum_bytes: int | None = None) -> ProbeTarget:
    serial = find_device(device).identifiers[0]
    return find_target(device, serial=serial, time_limit_s=time_limit_s, maximum_bytes=maximum_bytes)


def written_blocks(path: str) -> list[int]:
    """Numbers of those that are not all zeros."""
    with Path(path).open("rb") as file:
        blocks = iter(lambda: file.read(BLOCK_BYTES), b"")
        return [number for number, block in enumerate(blocks) if block.count(0) < len(block)]


def openers(device: str) -> set[int]:
    """Processes that have the device open."""
    found = set()
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if any(os.readlink(link) == device for link in (process / "fd").iterdir()):
                found.add(int(process.name))
        except OSError:
            continue
    return found


def test_a_device_is_written_by_the_helper_alone_and_locked_meanwhile(device: str) -> None:
    target = confirmed(device, maximum_bytes=400 * BLOCK_BYTES)
    told: list[ProbeProgress | ProbeResult] = []
    for one in run_probe(target):
        told.append(one)
        if isinstance(one, ProbeProgress):
            assert openers(device), "the helper has it"
            assert os.getpid() not in openers(device)
            with Path(device).open("rb") as second, pytest.raises(BlockingIOError):
                fcntl.flock(second, fcntl.LOCK_EX | fcntl.LOCK_NB)
    assert isinstance(told[0], ProbeProgress)
    result = told[-1]
    assert isinstance(result, ProbeResult)
    assert 0 < result.written_bytes <= target.plan.maximum_bytes
    assert written_blocks(device)
    with Path(device).open("rb") as free:
        fcntl.flock(free, fcntl.LOCK_EX | fcntl.LOCK_NB)
    assert openers(device) == set()


def test_a_filesystem_made_after_the_confirmation_is_not_written_over(device: str) -> None:
    target = confirmed(device)
    run("mkfs.ext4", "-q", device)
    before = digest(device)
    with pytest.raises(Refused, match="holds ext4"):
        list(run_probe(target))
    assert digest(device) == before


def test_a_directory_without_room_is_not_called_a_disk_that_fails(tmp_path: Path) -> None:
    plan = ProbePlan(str(tmp_path / "host"), BLOCK_BYTES, 1.0, True, 1 << 30, 3.0, BLOCK_BYTES)
    with small_host(tmp_path, 16 << 20), pytest.raises(RunFailed, match="has no space left for the probe"):
        list(run_probe(ProbeTarget(plan, make_drive(), None, "")))


@pytest.mark.nbd
def test_a_device_that_fails_under_the_probe_is_called_so(tmp_path: Path) -> None:
    with failing_disk(tmp_path, "--filter=error", "error-pwrite-rate=100%", "error-pwrite-file=INJECT") as disk:
        target = confirmed(disk.path)
        disk.fail()
        with pytest.raises(RunFailed, match="failed while it was being written to: Input/output error") as failed:
            list(run_probe(target))
        assert "smartctl -a" in failed.value.hint


def test_a_probe_of_a_device_is_stopped_from_another_thread(device: str) -> None:
    stop, told = threading.Event(), list[ProbeProgress | ProbeResult]()
    target = confirmed(device, time_limit_s=600.0)

    def probing() -> None:
        for one in run_probe(target, stopped=stop.is_set):
            told.append(one)
            stop.set()

    thread = threading.Thread(target=probing)
    thread.start()
    thread.join(300)
    assert not thread.is_alive()
    assert isinstance(told[-1], ProbeResult)


def test_leaving_a_probe_of_a_device_frees_it(device: str) -> None:
    told = run_probe(confirmed(device, time_limit_s=600.0))
    next(told)
    told.close()  # type: ignore[attr-defined]
    wait_until(lambda: not openers(device), LIMIT_S, "nobody has the device open")


def test_a_killed_probe_leaves_nobody_at_the_device(device: str) -> None:
    serial = find_device(device).identifiers[0]
    command = [sys.executable, "-m", "fswizard", "smr", "--probe", device, "--erase", serial, "--time", "10m"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wait_until(lambda: openers(device), LIMIT_S, "the helper has the device open")
    process.send_signal(signal.SIGKILL)
    process.wait()
    wait_until(lambda: not openers(device), LIMIT_S, "nobody has the device open")


@pytest.mark.parametrize(
    ("make", "shown"),
    [(["mkfs.ext4", "-q"], "ext4"), (["mkswap"], "swap"), (["sh", "-c", TABLE], "")],
    ids=["a filesystem", "swap", "a partition table without partitions"],
)
def test_root_writes_over_nothing_that_it_finds(device: str, make: list[str], shown: str) -> None:
    run(*make, device)
    before = digest(device)
    with Channel(rights.PROBE) as channel:
        refused(channel.ask("claim", **{**about(device), "shown": shown}), "is not empty")
    assert digest(device) == before


def test_root_writes_within_the_device_and_within_bounds(device: str) -> None:
    with Channel(rights.PROBE) as channel:
        handle = channel.ask("claim", **about(device))["ok"]["handle"]
        for blocks, pause_us, words in (
            ([0, BLOCKS], 0, "ends before that"), ([0] * 1025, 0, "at a time"), ([0], 60_000_001, "at a time"),
        ):  # fmt: skip
            refused(channel.ask("write", handle=handle, blocks=blocks, pause_us=pause_us), words)
        assert written_blocks(device) == []
        assert channel.ask("write", handle=handle, blocks=[BLOCKS - 1, 3], pause_us=0)["ended"]["exit_code"] == 0
    assert written_blocks(device) == [3, BLOCKS - 1]


def test_noise_is_not_written_by_who_was_started_for_images(tmp_path: Path) -> None:
    with attached(tmp_path) as (channel, handle):
        refused(channel.ask("write", handle=handle, blocks=[0], pause_us=0), "started for 'images'")
