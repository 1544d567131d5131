"""The matrix of devices that must not be formatted: each is refused by the plan or by root, and stays as it was."""

from __future__ import annotations

import fcntl
import hashlib
import os
import subprocess
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fswizard.disks import claim, stack
from fswizard.disks.choice import member_of
from fswizard.disks.claim import ClaimedDevice
from fswizard.disks.root import RootDisk
from fswizard.drives.devices import find_device, losses, refusals
from fswizard.errors import FswizardError, Refused
from fswizard.filesystems import parse_candidate
from fswizard.model.plan import Member
from tests.loop import devices
from tests.loop.devices import BTRFS_SIZE, SIZE, Bench, Case, digest, lvm_label, raid_superblock, run, write, zfs_label

pytestmark = [pytest.mark.root, pytest.mark.loop]

Row = tuple[str, Callable[[Bench], Case], str, str]


def mounted_elsewhere(bench: Bench) -> Case:
    case = bench.made("mkfs.ext4", "-q")
    point = bench.directory / "elsewhere"
    point.mkdir()
    mount = f"mount -o ro {case.path} {point}"  # else the kernel writes to it when it pleases
    bench.process("unshare", "--mount", "sh", "-c", f"{mount} && echo ready && cat")
    return case


def mounted(bench: Bench) -> Case:
    """With nothing left to write: the tables of inodes are made at once, and what the mount writes is synced."""
    case = bench.made("mkfs.ext4", "-q", "-E", "lazy_itable_init=0,lazy_journal_init=0")
    run("sync", "--file-system", str(bench.mount(case.path)))
    return case


def bound(bench: Bench) -> Case:
    """Mounted, and then unmounted where people look: a directory of it stays bound elsewhere."""
    case = bench.made("mkfs.ext4", "-q")
    with ExitStack() as undo:
        point = Bench(bench.directory, undo).mount(case.path, "-o", "ro")  # as above
        bench.mount(str(point / "lost+found"), "--bind", name="bind")
    return case


def swap(bench: Bench) -> Case:
    case = bench.made("mkswap")
    run("swapon", case.path)
    bench.undo.callback(run, "swapoff", case.path)
    return case


def second_of_btrfs(bench: Bench, mounted: bool) -> Case:
    first, second = bench.disk(BTRFS_SIZE), bench.attach(bench.file("second", BTRFS_SIZE))
    run("mkfs.btrfs", "-q", "-f", "-d", "single", "-m", "single", first.path, second)
    if mounted:
        bench.mount(first.path, "-o", f"ro,device={second}")  # else the kernel writes to it when it pleases
    return Case(second, bench.directory / "second")


def loop_on_top(bench: Bench) -> Case:
    case = bench.disk()
    bench.attach(Path(case.path))
    return case


def on_a_disk(bench: Bench) -> Case:
    case = bench.disk()
    return Case(bench.attach(Path(case.path)), case.file)


def keep_open(bench: Bench, path: Path | str, flags: int) -> int:
    """By another process, too, until the test is over; nobody waits for it to be closed, as after a look of udev's."""
    bench.undo.enter_context(pytest.MonkeyPatch.context()).setattr("fswizard.drives.devices._ASKING_S", 0.0)
    descriptor = os.open(path, flags)
    bench.undo.callback(os.close, descriptor)
    other = bench.undo.enter_context(subprocess.Popen(["sleep", "600"], pass_fds=(descriptor,)))
    bench.undo.callback(other.kill)
    return descriptor


def opened(bench: Bench, flags: int, part: bool = False) -> Case:
    case = devices.partition(bench) if part else bench.disk()
    path = case.path.removesuffix("p1") if part else case.path  # /dev/loop1 ends so, too
    keep_open(bench, path, flags)
    return case


def opened_through_another_node(bench: Bench) -> Case:
    case = bench.disk()
    node = bench.directory / "node"
    os.mknod(node, 0o60600, os.stat(case.path).st_rdev)
    keep_open(bench, node, os.O_RDWR)
    return case


def locked(bench: Bench) -> Case:
    case = bench.disk()
    fcntl.flock(keep_open(bench, case.path, os.O_RDONLY), fcntl.LOCK_EX)
    return case


def second_loop(bench: Bench) -> Case:
    case = bench.disk()
    bench.attach(case.file)
    return case


def of_a_run(bench: Bench) -> Case:
    inner = bench.directory / "fswizard-0123456789ab"
    inner.mkdir()
    file = Bench(inner, bench.undo).file("image")
    return Case(bench.attach(file), file)


def replaced(bench: Bench) -> Case:
    """Unplugged, and another one of the same size and name plugged in."""
    case = bench.disk()
    before = find_device(case.path).device.diskseq
    bench.attach_instead(case.path, case.file)
    return Case(case.path, case.file, claimed={"diskseq": before})


def lying(bench: Bench, typed: str | None = None, **claimed: Any) -> Case:
    case = bench.disk()
    return Case(case.path, case.file, typed, claimed)


def several_marks(bench: Bench) -> Case:
    other = bench.file("btrfs", BTRFS_SIZE)
    run("mkfs.btrfs", "-q", "-f", str(other))
    with other.open("rb") as file:
        file.seek(64 << 10)
        return write(bench.made("mkfs.ext4", "-q"), 64 << 10, file.read(4096))


def raid_below_ext4(bench: Bench) -> Case:
    return write(bench.made("mkfs.ext4", "-q"), SIZE - 8192 & ~4095, raid_superblock(SIZE - 8192 & ~4095))


def partition_mounted(bench: Bench) -> Case:
    part = devices.partition(bench)
    run("mkfs.ext4", "-q", part.path)
    bench.mount(part.path, "-o", "ro")  # else the kernel writes to it when it pleases
    return Case(part.path.removesuffix("p1"), part.file)


def not_a_device(bench: Bench, path: str = "") -> Case:
    file = bench.file()
    return Case(path or str(file), file, claimed={"number": "7:999999"})


def not_shown(bench: Bench) -> Case:
    """What udev's database says is older than what lies there."""
    case = bench.made("mkfs.ext4", "-q")
    return Case(case.path, case.file, claimed={"content_type": ""})


MATRIX: tuple[Row, ...] = (
    ("a filesystem that was not shown", not_shown, "", "holds ext4, but you were shown nothing"),
    ("mounted", mounted, "mounted", "mounted on"),
    ("mounted in another namespace", mounted_elsewhere, "mounted-elsewhere", "mounted on"),
    ("only a directory of it still bound", bound, "mounted", "mounted on"),
    ("its partition is mounted", partition_mounted, "mounted", "mounted on"),
    ("swap", swap, "swap", "used as swap"),
    ("second device of a mounted btrfs", lambda b: second_of_btrfs(b, True), "mounted", ""),
    ("second device of an unmounted btrfs", lambda b: second_of_btrfs(b, False), "", "2 devices of a btrfs"),
    ("LVM physical volume", lambda b: write(b.disk(), 512, lvm_label()), "lvm-member", "LVM volume group"),
    ("RAID member, metadata 1.2", lambda b: write(b.disk(), 4096, raid_superblock(4096)), "raid-member", "Linux RAID"),
    ("RAID member below a filesystem", raid_below_ext4, "", ""),
    ("ZFS member", lambda b: write(b.disk(), 0, zfs_label()), "zfs-member", "ZFS pool"),
    ("signatures of several filesystems", several_marks, "", ""),
    ("below another loop device", loop_on_top, "loop", "is on"),
    ("a loop device on a disk", on_a_disk, "", "is on"),
    ("two loop devices for one file", second_loop, "", "same file"),
    ("the image of a run of our own", of_a_run, "", "of this program"),
    ("open for reading", lambda b: opened(b, os.O_RDONLY), "open", "open"),
    ("open for one alone", lambda b: opened(b, os.O_RDONLY | os.O_EXCL), "open", "in use"),
    ("open through another node", opened_through_another_node, "", "open"),
    ("its whole disk is open", lambda b: opened(b, os.O_RDWR, part=True), "open", "open"),
    ("locked by another program", locked, "", "locked"),
    ("has a partition", devices.partitioned, "partitioned", "has partitions"),
    ("ESP", lambda b: devices.partition(b, 0xEF), "system-partition", "(ESP)"),
    ("read-only", lambda b: b.disk(SIZE, "--read-only"), "read-only", "read-only"),
    ("too small for anything", lambda b: b.disk(63 << 20), "too-small", "64 MiB are needed"),
    ("no medium in it", lambda b: b.disk(0), "too-small", "64 MiB are needed"),
    ("wrong serial number", lambda b: lying(b, "WD-1234"), "", "is not the file's path of"),
    ("empty serial number", lambda b: lying(b, ""), "", "is not the file's path of"),
    ("replaced by another of the same name", replaced, "", "no longer the disk"),
    ("another size than was shown", lambda b: lying(b, size_bytes=SIZE * 2), "", "changed its size"),
    ("attachment not known to the kernel", lambda b: lying(b, diskseq=0), "", "no longer the disk"),
    ("number of no device", lambda b: lying(b, number="8:9999"), "", "no block device"),
    ("number that leads elsewhere", lambda b: lying(b, number="../../7:0"), "", "no block device"),
    ("a file", not_a_device, "error", "no block device"),
    ("nothing", lambda b: not_a_device(b, "/dev/fswizard-absent"), "error", "no block device"),
)  # fmt: skip


@pytest.mark.parametrize("row", MATRIX, ids=[row[0] for row in MATRIX])
def test_it_is_refused_and_stays_as_it_was(row: Row, bench: Bench) -> None:
    _, make, code, words = row
    case = make(bench)
    ours = 4096 if make is swap else -1  # behind its first page the kernel may swap meanwhile
    before = digest(case.file, ours)
    planned = plan_side(case)
    with pytest.raises(Refused) as refused:
        claimed(case).detach()
    assert digest(case.file, ours) == before, "the device was changed"
    assert words.lower() in refused.value.message.lower()
    assert code in planned or not code, planned


def plan_side(case: Case) -> list[str]:
    try:
        found = find_device(case.path)
    except FswizardError:
        return ["error"]
    return [refusal.code for refusal in refusals(found, 64 << 20)]


def claimed(case: Case) -> ClaimedDevice:
    """The claim with the typed text, or else with the text that confirms the device."""
    member, content_type = Member(case.path, SIZE, diskseq=1, identifier="x"), ""
    if "number" not in case.claimed:
        found = find_device(case.path)
        typed = next(iter(found.identifiers), "x") if case.typed is None else case.typed
        member, content_type = member_of(found, typed), found.facts.probed.type
    fields = dict(case.claimed)
    content_type = fields.pop("content_type", content_type)
    return claim.claim(replace(member, **fields), content_type)


def test_a_free_device_is_claimed_once_and_released(bench: Bench) -> None:
    case = bench.disk()
    before = digest(case.file)
    assert plan_side(case) == []
    assert losses(find_device(case.path))[0].startswith("Nothing was found")
    held = claimed(case)
    assert held.path == case.path
    with pytest.raises(Refused, match="locked by another program"):
        claimed(case)
    held.detach()
    claimed(case).detach()
    assert digest(case.file) == before, "claiming writes nothing"


async def test_a_partition_is_claimed_and_its_neighbours_are_not_touched(bench: Bench) -> None:
    case = devices.partition(bench)
    table_before = case.file.read_bytes()[: 1 << 20]
    disk = RootDisk((claimed(case),), str(bench.directory / "mounted"), None)
    await disk.wipe()
    made = await disk.make(parse_candidate("ext4"), lambda argv: None)
    assert [each.exit_code for each in made] == [0]
    await disk.wipe()
    await disk.detach()
    assert case.file.read_bytes()[: 1 << 20] == table_before


GIVEN_UP: dict[str, Callable[[Bench], Case]] = {
    "crypto_LUKS": lambda bench: write(bench.disk(), 0, b"LUKS\xba\xbe\0\1".ljust(592, b"\0")),
    'ext4 "archive"': lambda bench: bench.made("mkfs.ext4", "-q", "-L", "archive"),
    "swap": lambda bench: bench.made("mkswap"),
    "": lambda bench: write(bench.disk(), 510, b"\x55\xaa"),
}
"""What may be on a disk, the last an empty partition table, and how it is made."""


@pytest.mark.parametrize("shown", GIVEN_UP)
def test_what_may_be_given_up_is_listed_as_lost(shown: str, bench: Bench) -> None:
    case = GIVEN_UP[shown](bench)
    assert shown in " ".join(losses(find_device(case.path)))
    claimed(case).detach()


async def test_a_device_that_is_mounted_by_another_program_meanwhile_is_not_written(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stack, "BUSY_LIMIT_S", 0.1)
    case = bench.made("mkfs.ext4", "-q")
    disk = RootDisk((claimed(case),), str(bench.directory / "own"), None)
    bench.mount(case.path, "-o", "ro")
    before = digest(case.file)
    with pytest.raises(FswizardError, match="in use"):
        await disk.wipe()
    with pytest.raises(FswizardError, match="in use"):
        await disk.make(parse_candidate("ext4"), lambda argv: None)
    assert digest(case.file) == before
    await disk.detach()


async def test_a_device_that_is_pulled_out_and_replaced_meanwhile_is_not_written(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stack, "BUSY_LIMIT_S", 0.1)
    case = bench.disk()
    disk = RootDisk((claimed(case),), str(bench.directory / "own"), None)
    other = bench.file("other")
    run("losetup", "--detach", case.path)  # deferred while it is held, so the name cannot be taken
    with suppress(FswizardError):
        await disk.wipe()
    await disk.detach()
    attached = bench.attach(other)
    assert digest(other) == hashlib.sha256(bytes(SIZE)).hexdigest(), f"{attached} was written"
