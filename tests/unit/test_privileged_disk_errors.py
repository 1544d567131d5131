"""The kernel's log and counters: which errors are of a filesystem, and which of the disks below it."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from fswizard.disks import disk_errors
from fswizard.disks.disk_errors import MAXIMUM_LINES, DiskErrors
from fswizard.system.block_device import Tree
from tests.recorded.machines import machine

Log = Callable[..., None]
"""Adds lines to the kernel's log."""
IO_ERROR = "I/O error, dev {}, sector 8 op 0x1:(WRITE) flags 0x800 phys_seg 1 prio class 2"
EXT4_ERROR = "EXT4-fs error (device {}): ext4_find_entry:1643: inode #2: comm fio: reading directory lblock 0"


def loop() -> tuple[str, ...]:
    return ("loop0",)


@pytest.fixture
def log(monkeypatch: pytest.MonkeyPatch) -> Iterator[Log]:
    reader, kernel = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    reader.setblocking(False)
    monkeypatch.setattr(disk_errors, "_open_log", reader.fileno)

    def add(*lines: str, priority: int = 3) -> None:
        for line in lines:
            kernel.send(f"{priority},100,5000,-;{line}\n SUBSYSTEM=block\n".encode())

    with reader, kernel:
        yield add


@pytest.fixture(scope="module")
def nas(tmp_path_factory: pytest.TempPathFactory) -> Tree:
    """A btrfs on the array md0 of sda1 to sdg1, which are partitions; the same for all tests that only read it."""
    return machine("nas", tmp_path_factory.mktemp("nas"))


@pytest.fixture
def counting(tmp_path: Path) -> Tree:
    """The same, with counters that a test changes."""
    return machine("nas", tmp_path)


def write(tree: Tree, path: str, text: str) -> None:
    tree.path(path).parent.mkdir(parents=True, exist_ok=True)
    tree.path(path).write_text(f"{text}\n")


@pytest.mark.parametrize(
    "line",
    [
        IO_ERROR.format("loop0"),
        IO_ERROR.format("sdg"),
        "blk_update_request: critical medium error, dev sda, sector 8 op 0x0:(READ) flags 0x0 phys_seg 1 prio class 0",
        "critical space allocation error, dev loop0, sector 8 op 0x1:(WRITE) flags 0x800 phys_seg 1 prio class 2",
    ],
)
def test_a_request_that_failed_is_the_disks_or_that_of_anything_below_it(log: Log, nas: Tree, line: str) -> None:
    errors = DiskErrors(loop, ["md0"], nas)
    log(line)
    assert errors.of_disks() == [line]


def test_what_is_of_another_device_no_fault_or_written_by_a_program_does_not_count(log: Log, nas: Tree) -> None:
    errors = DiskErrors(loop, ["md0"], nas)
    log("loop0: detected capacity change from 0 to 131072", priority=6)
    log(
        IO_ERROR.format("loop01"),
        IO_ERROR.format("sdh"),
        EXT4_ERROR.format("loop0"),
        "operation not supported error, dev loop0, sector 17008 op 0x9:(WRITE_ZEROES) flags 0x8000800 phys_seg 0",
        "critical target error, dev sda, sector 2048 op 0x3:(DISCARD) flags 0x800 phys_seg 1 prio class 2",
    )
    # The kernel gives lines of programs another facility (Documentation/ABI/testing/dev-kmsg).
    log(IO_ERROR.format("loop0"), priority=8 | 3)
    assert errors.of_disks() == []


@pytest.mark.parametrize("name", ["loop0", "sda"])
@pytest.mark.parametrize(
    "line",
    [
        "Out of memory: Killed process 1 ({}) total-vm:8kB, anon-rss:4kB, file-rss:0kB, shmem-rss:0kB, UID:0",
        "{}[123]: segfault at 0 ip 0000556 sp 00007ff error 4 in {}[556000+1000]",
        "EXT4-fs error (device sdz): ext4_find_entry:1643: inode #2: comm {}: reading directory lblock 0",
        "audit: type=1400 apparmor=DENIED operation=open name=/dev/{} comm={}",
    ],
)
def test_a_process_blames_nothing_however_it_is_named(log: Log, nas: Tree, line: str, name: str) -> None:
    errors = DiskErrors(loop, ["md0"], nas)
    log(line.replace("{}", name), priority=0)
    assert errors.of_disks() == []


def test_a_device_that_is_made_later_counts_and_so_does_what_a_filesystem_says_of_its_disk(log: Log, nas: Tree) -> None:
    names = ["loop0"]
    errors = DiskErrors(lambda: names, tree=nas)
    names.append("md127")
    log(IO_ERROR.format("md127"))
    assert errors.of_disks() == [IO_ERROR.format("md127")]
    errors = DiskErrors(loop, tree=nas)
    errors.note({"write_errs": 3, "read_errs": 0, "corruption_errs": 7})
    assert errors.of_disks() == ["write_errs: 3"]


def test_a_flood_is_cut(log: Log, nas: Tree) -> None:
    errors = DiskErrors(loop, tree=nas)
    for _ in range(3):
        log(*[IO_ERROR.format("loop0")] * (MAXIMUM_LINES // 2))
        errors.of_disks()
    assert len(errors.of_disks()) == MAXIMUM_LINES


@pytest.mark.parametrize(
    ("path", "counts", "told"),
    [
        ("/sys/fs/ext4/md0/errors_count", ("2", "3"), ["md0: errors_count grew by 1"]),
        ("/sys/fs/ext4/md0/warning_count", ("0", "5"), []),
        (
            "/sys/fs/btrfs/33333333-0000-0000-0000-000000000003/devinfo/1/error_stats",
            ("write_errs 0\nread_errs 1", "write_errs 4\nread_errs 1"),
            ["md0: write_errs grew by 4"],
        ),
        ("/sys/devices/virtual/block/md0/md/dev-sdc1/errors", ("0", "8"), ["md0: errors of dev-sdc1 grew by 8"]),
    ],
)
def test_what_the_disks_below_have_counted_since_then_is_told(
    log: Log, counting: Tree, path: str, counts: tuple[str, str], told: list[str]
) -> None:
    write(counting, path, counts[0])
    errors = DiskErrors(loop, ["md0"], counting)
    assert errors.of_disks() == []
    write(counting, path, counts[1])
    assert errors.of_disks() == told


def test_where_nobody_may_read_the_log_counters_are_all_there_is(
    counting: Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(disk_errors, "_open_log", lambda: None)
    write(counting, "/sys/fs/ext4/md0/errors_count", "0")
    errors = DiskErrors(loop, ["md0"], counting)
    write(counting, "/sys/fs/ext4/md0/errors_count", "1")
    assert errors.of_disks() == ["md0: errors_count grew by 1"]
    errors.close()


UUID = "11111111-0000-0000-0000-000000000001"
COUNTED = {
    "ext4/loop0/errors_count": "3",
    "ext4/loop0/warning_count": "7",
    "f2fs/loop1/stat/cp_status": "18",
    f"btrfs/{UUID}/devices/loop2/size": "",
    f"btrfs/{UUID}/devices/loop3/size": "",
    f"btrfs/{UUID}/devinfo/1/error_stats": "write_errs 4\nread_errs 0",
    f"btrfs/{UUID}/devinfo/2/error_stats": "write_errs 1\nread_errs 2",
    "ext4/loop9/errors_count": "a new way",
}


@pytest.mark.parametrize(
    ("device", "found"),
    [
        ("loop0", {"errors_count": 3, "warning_count": 7}),
        ("loop1", {"checkpoint_error": 1, "needs_fsck": 1}),
        ("loop2", {"write_errs": 5, "read_errs": 2}),
        ("loop5", {}),
        ("loop9", {}),
    ],
)
def test_each_filesystem_has_counters_of_its_own(device: str, found: dict[str, int], tmp_path: Path) -> None:
    tree = Tree(tmp_path)
    for path, text in COUNTED.items():
        write(tree, f"/sys/fs/{path}", text)
    assert disk_errors.of_filesystem(device, tree) == found
