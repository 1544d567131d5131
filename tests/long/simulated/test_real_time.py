"""Disks in real time: what is written is read again, and they are as fast as such a disk, never faster."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from tests.long.simulated.real_time import Model, disk

pytestmark = [pytest.mark.root, pytest.mark.loop, pytest.mark.nbd, pytest.mark.nbdkit_plugin]

Range = tuple[float, float]


def test_what_is_written_is_read_again_and_nothing_else_is_there(tmp_path: Path) -> None:
    """Takes a second, to compile the plugin."""
    expected = bytearray(16 << 20)
    with disk("hdd", 64 << 20, tmp_path) as device:
        assert Path("/sys/block", Path(device).name, "queue/rotational").read_text() == "1\n"
        with open(device, "r+b", buffering=0) as opened:
            for offset, length in ((0, 512), (9728, 512), (5 << 20, 3 << 20)):
                expected[offset : offset + length] = piece = os.urandom(length)
                os.pwrite(opened.fileno(), piece, offset)
            os.fsync(opened.fileno())
            os.posix_fadvise(opened.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
            assert os.pread(opened.fileno(), len(expected), 0) == expected


@pytest.mark.slow
@pytest.mark.fio
@pytest.mark.parametrize(
    ("model", "megabytes", "random", "flushed"),
    [("hdd", (80, 125), (40, 190), (50, 121)), ("ssd", (200, 455), (500, 16_700), (150, 1250))],
)
def test_it_is_as_fast_as_such_a_disk(
    model: Model, megabytes: Range, random: Range, flushed: Range, tmp_path: Path
) -> None:
    """By its arm and its turns, or by its bus; and by its flush."""
    depth = 8 if model == "ssd" else 1  # a disk that is asked for several pieces moves its arm
    jobs = {
        ("--rw=read", "--bs=1M", "--ioengine=libaio", f"--iodepth={depth}"): ("read", "bw_bytes", megabytes, 1e6),
        ("--rw=randread", "--bs=4k"): ("read", "iops", random, 1.0),
        ("--rw=write", "--bs=4k", "--fsync=1"): ("write", "iops", flushed, 1.0),
    }
    common = ("fio", "--name=job", "--direct=1", "--output-format=json", "--time_based", "--runtime=3")
    with disk(model, 2 << 30, tmp_path) as device:
        for options, (direction, figure, (least, most), unit) in jobs.items():
            argv = (*common, *options, f"--filename={device}")
            output = subprocess.run(argv, capture_output=True, text=True, check=True).stdout
            measured = json.loads(output[output.index("{") :])["jobs"][0][direction][figure]
            assert least * unit < measured < most * unit, options
