"""Disks in real time: what is written is read again, and they are as fast as such a disk, never faster."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.long.simulated.real_time import disk

pytestmark = [pytest.mark.root, pytest.mark.loop, pytest.mark.nbd, pytest.mark.nbdkit_plugin]

MB = 1e6
FOR_3_S = ("--time_based", "--runtime=3")


def fio(path: str, *options: str) -> Any:
    """What fio found, in one job past all caches: `read` and `write`, with `iops` and `bw_bytes`."""
    common = ("--name=job", "--direct=1", "--ioengine=psync", "--output-format=json", f"--filename={path}")
    done = subprocess.run(["fio", *common, *options], capture_output=True, text=True, check=True)
    return json.loads(done.stdout[done.stdout.index("{") :])["jobs"][0]


def test_what_is_written_is_read_again_and_nothing_else_is_there(tmp_path: Path) -> None:
    """Takes a second, to compile the plugin."""
    pieces = {offset: os.urandom(length) for offset, length in ((0, 512), (9728, 512), (5 << 20, 3 << 20))}
    with disk("hdd", 64 << 20, tmp_path) as device:
        assert Path("/sys/block", Path(device).name, "queue/rotational").read_text() == "1\n"
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


@pytest.mark.slow
@pytest.mark.fio
def test_a_hard_disk_is_as_fast_as_its_arm_and_its_turns(tmp_path: Path) -> None:
    with disk("hdd", 8 << 30, tmp_path) as device:
        read = fio(device, "--rw=read", "--bs=1M", "--size=512M")["read"]["bw_bytes"]
        random = fio(device, "--rw=randread", "--bs=4k", *FOR_3_S)["read"]["iops"]
        flushed = fio(device, "--rw=write", "--bs=4k", "--fsync=1", *FOR_3_S)["write"]["iops"]
    assert 80 * MB < read < 125 * MB
    assert 40 < random < 190
    assert 50 < flushed < 121


@pytest.mark.slow
@pytest.mark.fio
def test_an_ssd_is_as_fast_as_its_bus_and_its_flush(tmp_path: Path) -> None:
    with disk("ssd", 2 << 30, tmp_path) as device:
        read = fio(device, "--rw=read", "--bs=1M", "--ioengine=libaio", "--iodepth=8", *FOR_3_S)["read"]["bw_bytes"]
        flushed = fio(device, "--rw=write", "--bs=4k", "--fsync=1", *FOR_3_S)["write"]["iops"]
    assert 200 * MB < read < 455 * MB
    assert 150 < flushed < 1250
