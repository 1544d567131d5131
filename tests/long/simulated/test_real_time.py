"""Disks in real time: what is written is read again, and they are as fast as such a disk, never faster."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.long.simulated.real_time import Model, disk
from tests.loop.devices import Bench, run

pytestmark = [pytest.mark.root, pytest.mark.loop, pytest.mark.nbd, pytest.mark.nbdkit_plugin]

GIB = 1 << 30
MB = 1e6


@pytest.fixture(scope="module")
def hdd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with disk("hdd", 8 * GIB, tmp_path_factory.mktemp("hdd")) as device:
        yield device


@pytest.fixture(scope="module")
def ssd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with disk("ssd", 2 * GIB, tmp_path_factory.mktemp("ssd")) as device:
        yield device


def fio(path: Path | str, *options: str) -> Any:
    """What fio found, in one job past all caches: `read` and `write`, with `iops`, `bw_bytes` and `runtime` in ms."""
    common = ("--name=job", "--direct=1", "--ioengine=psync", "--output-format=json", f"--filename={path}")
    done = subprocess.run(["fio", *common, *options], capture_output=True, text=True, check=True)
    return json.loads(done.stdout[done.stdout.index("{") :])["jobs"][0]


def for_s(seconds: int) -> tuple[str, ...]:
    return ("--time_based", f"--runtime={seconds}")


@pytest.mark.parametrize("model", ["hdd", "fast"])
def test_what_is_written_is_read_again_and_nothing_else_is_there(model: Model, tmp_path: Path) -> None:
    """Takes a second, to compile the plugin."""
    pieces = {offset: os.urandom(length) for offset, length in ((0, 512), (9728, 512), (5 << 20, 3 << 20))}
    with disk(model, 64 << 20, tmp_path) as device:
        queue = Path("/sys/block", Path(device).name, "queue")
        assert (queue / "rotational").read_text() == f"{model == 'hdd':d}\n"
        with open(device, "r+b", buffering=0) as opened:
            for offset, piece in pieces.items():
                os.pwrite(opened.fileno(), piece, offset)
            os.fsync(opened.fileno())
            os.posix_fadvise(opened.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
            content = os.pread(opened.fileno(), 16 << 20, 0)
    expected = bytearray(16 << 20)
    for offset, piece in pieces.items():
        expected[offset : offset + len(piece)] = piece
    assert content == expected


def test_what_an_ssd_is_said_to_discard_reads_as_zeros(tmp_path: Path) -> None:
    with disk("ssd", 64 << 20, tmp_path) as device:
        Path(device).write_bytes(b"x" * (1 << 20))
        run("blkdiscard", "--offset", "512", "--length", str(512 << 10), device)
        with open(device, "rb") as opened:
            content = opened.read(1 << 20)
    assert content == b"x" * 512 + bytes(512 << 10) + b"x" * ((512 << 10) - 512)


@pytest.mark.slow
@pytest.mark.fio
def test_a_hard_disk_reads_at_random_as_often_as_its_arm_gets_there(hdd: str) -> None:
    many = fio(hdd, "--rw=randread", "--bs=4k", "--ioengine=libaio", "--iodepth=32", *for_s(4))["read"]["iops"]
    one = fio(hdd, "--rw=randread", "--bs=4k", *for_s(4))["read"]["iops"]
    assert 110 < many < 190
    assert 40 < one < many * 1.1


@pytest.mark.slow
@pytest.mark.fio
@pytest.mark.parametrize("kind", ["read", "write"])
def test_a_hard_disk_goes_on_at_120_mb_a_second(hdd: str, kind: str) -> None:
    found = fio(hdd, f"--rw={kind}", "--bs=1M", "--size=512M", "--end_fsync=1")[kind]
    assert (
        80 * MB < found["bw_bytes"] < (125 if kind == "read" else 140) * MB
    )  # the cache takes a share of what is written


@pytest.mark.slow
@pytest.mark.fio
def test_the_cache_of_a_hard_disk_takes_writes_at_once_and_a_flush_waits_for_all(hdd: str) -> None:
    job = ("--rw=randwrite", "--bs=4k", "--io_size=2M", "--size=8G", "--randseed=1")
    cached, at_end, each = (fio(hdd, *job, *flush)["job_runtime"] for flush in ((), ("--end_fsync=1",), ("--fsync=1",)))
    assert cached < at_end / 2
    assert at_end < each / 1.1


@pytest.mark.slow
@pytest.mark.fio
def test_each_append_with_a_flush_costs_a_hard_disk_a_turn(hdd: str) -> None:
    appends = fio(hdd, "--rw=write", "--bs=4k", "--fsync=1", *for_s(3))["write"]["iops"]
    assert 50 < appends < 121


@pytest.mark.slow
@pytest.mark.fio
def test_a_journal_on_a_hard_disk_costs_seeks_too(hdd: str, tmp_path: Path) -> None:
    run("mkfs.ext4", "-q", "-F", "-E", "lazy_itable_init=0,lazy_journal_init=0", hdd)
    with ExitStack() as undo:
        file = Bench(tmp_path, undo).mount(hdd) / "file"
        saves = fio(file, "--rw=write", "--bs=4k", "--size=64M", "--fsync=1", "--direct=0", *for_s(4))
    assert 15 < saves["write"]["iops"] < 80


@pytest.mark.slow
@pytest.mark.fio
def test_an_ssd_is_as_fast_as_its_bus_and_its_flush(ssd: str) -> None:
    read = fio(ssd, "--rw=read", "--bs=1M", "--ioengine=libaio", "--iodepth=8", *for_s(3))["read"]["bw_bytes"]
    flushed = fio(ssd, "--rw=write", "--bs=4k", "--fsync=1", *for_s(3))["write"]["iops"]
    assert 200 * MB < read < 455 * MB
    assert 150 < flushed < 1250
