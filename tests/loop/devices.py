"""Loop devices in states in which they must not be formatted: real uses, and marks written as their formats say."""

from __future__ import annotations

import hashlib
import os
import struct
import subprocess
import zlib
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.loop.machine_state import wait_until

SIZE = 72 << 20
BTRFS_SIZE = 160 << 20
START, SECTORS = 2048, 135168
"""Of the partition in a table: 66 MiB from 1 MiB on, in sectors of 512 bytes."""


@dataclass
class Case:
    """A device, the file that must stay unchanged, and false claims about the device."""

    path: str
    file: Path
    typed: str | None = None
    """Instead of the device's own identifier."""
    claimed: dict[str, Any] = field(default_factory=dict)
    """Fields of the claim that differ from the device's own."""


@dataclass
class Bench:
    """A directory, and what has to be undone after the test, last things first."""

    directory: Path
    undo: ExitStack

    def file(self, name: str = "disk", size_bytes: int = SIZE) -> Path:
        path = self.directory / name
        with path.open("wb") as file:
            file.truncate(size_bytes)
        return path

    def attach(self, file: Path, *options: str) -> str:
        """Under a name that no other process takes, even while it is detached: they look for the lowest number."""
        first = 2000 + os.getpid() % 1000 * 50
        for device in (f"/dev/loop{number}" for number in range(first, first + 50)):
            with suppress(FileNotFoundError):
                if Path("/sys/block", Path(device).name, "loop/backing_file").read_text():
                    continue
            run("losetup", *options, device, str(file))
            self.undo.callback(_detach, device, file.resolve())
            return device
        raise AssertionError("fifty devices are attached")

    def attach_instead(self, device: str, file: Path) -> None:
        """Under the name of a device that is detached."""
        run("losetup", "--detach", device)
        run("losetup", device, str(file))
        self.undo.callback(_detach, device, file.resolve())

    def disk(self, size_bytes: int = SIZE, *options: str) -> Case:
        file = self.file(size_bytes=size_bytes)
        return Case(self.attach(file, *options), file)

    def made(self, *mkfs: str, size_bytes: int = SIZE) -> Case:
        case = self.disk(size_bytes)
        run(*mkfs, case.path)
        return case

    def mount(self, device: str, *options: str, name: str = "mnt") -> Path:
        point = self.directory / name
        point.mkdir(exist_ok=True)
        run("mount", *options, device, str(point))
        self.undo.callback(run, "umount", str(point))
        return point

    def process(self, *argv: str, **options: Any) -> subprocess.Popen[bytes]:
        """One that runs until the test is over, and has said a line."""
        process = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, **options)
        assert process.stdin and process.stdout
        self.undo.callback(process.communicate)
        assert process.stdout.readline(), f"{argv} did not start"
        return process


def _detach(device: str, file: Path) -> None:
    """Unless it backs another file by now: anyone may take a free loop device."""
    with suppress(OSError):
        backing = Path("/sys/block", Path(device).name, "loop/backing_file").read_text().strip()
        if backing.removesuffix(" (deleted)") == str(file):
            subprocess.run(["losetup", "--detach", device], check=False, capture_output=True)


def _remove_partition(device: str) -> None:
    """A program that scans all disks may have it open for a moment, or have made the kernel read the table again."""

    def gone() -> bool:
        subprocess.run(["delpart", device, "1"], check=False, capture_output=True)
        return not Path("/sys/class/block", f"{Path(device).name}p1").exists()

    wait_until(gone, 60, f"the partition of {device} can be removed")


def run(*argv: str) -> str:
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{argv}: {done.stdout}{done.stderr}"
    return done.stdout


def make_image(directory: Path, size_bytes: int = 64 << 20) -> Path:
    """With all its blocks allocated and none written."""
    image = directory / "image"
    with image.open("wb") as file:
        os.posix_fallocate(file.fileno(), 0, size_bytes)
    return image


def digest(file: Path | str, length: int = -1) -> str:
    with open(file, "rb") as opened:
        return hashlib.sha256(opened.read(length)).hexdigest()


def signatures(*cases: Case) -> str:
    return "".join(run("wipefs", "--no-act", path) for case in cases for path in (case.path, str(case.file)))


def write(case: Case, offset: int, data: bytes) -> Case:
    with open(case.path, "r+b", buffering=0) as device:
        os.pwrite(device.fileno(), data, offset)
        os.fsync(device.fileno())
    return case


def lvm_label() -> bytes:
    """A physical volume's label (LVM2, lib/format_text): its checksum covers all that follows it."""
    rest = struct.pack("<I8s", 32, b"LVM2 001") + b"abcdefghijklmnopqrstuvwxyz012345" + struct.pack("<Q", SIZE)
    rest = rest.ljust(512 - 20, b"\0")
    checksum = zlib.crc32(rest, 0xF597A6CF ^ 0xFFFFFFFF) ^ 0xFFFFFFFF
    return struct.pack("<8sQI", b"LABELONE", 1, checksum) + rest


def raid_superblock(offset: int) -> bytes:
    """A member of a Linux RAID array with metadata 1.x at `offset` (linux/raid/md_p.h)."""
    block = bytearray(256)
    struct.pack_into("<IIII16s32s", block, 0, 0xA92B4EFC, 1, 0, 0, b"0123456789abcdef", b"box:0")
    struct.pack_into("<QQ", block, 128, 0, SIZE >> 9)
    struct.pack_into("<Q", block, 144, offset >> 9)
    total = sum(struct.unpack("<64I", block))
    struct.pack_into("<I", block, 216, ((total & 0xFFFFFFFF) + (total >> 32)) & 0xFFFFFFFF)
    return bytes(block)


def zfs_label() -> bytes:
    """The uberblocks of a pool's label (vdev_impl.h): an array of 1 KiB each, 128 KiB into the label."""
    uberblock = struct.pack("<QQQQQ", 0x00BAB10C, 5000, 7, 0, 0).ljust(1024, b"\0")
    return bytes(128 << 10) + uberblock * 128


def partition_table(kind: int) -> bytes:
    """An MBR with one partition of type `kind`, of 66 MiB."""
    entry = struct.pack("<B3sB3sII", 0, b"\0\0\0", kind, b"\0\0\0", START, SECTORS)
    return bytes(440) + b"\1\2\3\4\0\0" + entry.ljust(64, b"\0") + b"\x55\xaa"


def partitioned(bench: Bench, kind: int = 0x83) -> Case:
    file = bench.file()
    with file.open("r+b") as opened:
        opened.write(partition_table(kind))
    case = Case(bench.attach(file, "--partscan"), file)
    if not os.path.exists(f"{case.path}p1"):  # a kernel that does not know this table itself
        run("addpart", case.path, "1", str(START), str(SECTORS))
        bench.undo.callback(_remove_partition, case.path)
    return case


def partition(bench: Bench, kind: int = 0x83) -> Case:
    case = partitioned(bench, kind)
    return Case(f"{case.path}p1", case.file)
