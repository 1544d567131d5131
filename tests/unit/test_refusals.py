"""States of a machine in which a disk must not be formatted: seen by the plan, and by the checks that root repeats."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fswizard.drives.machine import Machine
from fswizard.drives.refusals import refusals
from fswizard.drives.tables import tables_naming
from fswizard.drives.targets import DeviceTarget, find_device, losses
from fswizard.privileged import disk_checks
from fswizard.privileged.protocol import Refusal

SERIAL = "Z8400000"
BY_ID = f"/dev/disk/by-id/ata-ST8000_{SERIAL}"
PART = {
    "ID_FS_TYPE": "ext4",
    "ID_FS_UUID": "0a1b-uuid",
    "ID_FS_LABEL_ENC": r"my\x20archive",
    "ID_PART_ENTRY_UUID": "77-partuuid",
    "ID_PART_ENTRY_NAME": "store",
}
Udev = Mapping[str, Mapping[str, str]]


def stage(root: Path, files: Mapping[str, str], udev: Udev) -> Machine:
    """A machine with an 8 TB disk `sdb` of one partition, of which nothing is in use, and `files` besides."""
    block = "sys/devices/pci0/ata1/host0/block/sdb"
    usual = {
        f"{block}/dev": "8:16",
        f"{block}/size": "15628053168",
        f"{block}/ro": "0",
        f"{block}/diskseq": "7",
        f"{block}/queue/zoned": "none",
        f"{block}/queue/rotational": "1",
        f"{block}/device/model": "ST8000AS0002",
        f"{block}/device/serial": SERIAL,
        f"{block}/sdb1/dev": "8:17",
        f"{block}/sdb1/size": "15628050000",
        f"{block}/sdb1/partition": "1",
        f"{block}/sdb1/start": "2048",
        "proc/swaps": "Filename Type Size Used Priority",
        "proc/1/mountinfo": "20 1 8:1 / / rw - ext4 /dev/sda1 rw",
        "proc/self/mountinfo": "20 1 8:1 / / rw - ext4 /dev/sda1 rw",
        "dev/sdb": "",
        "dev/sdb1": "",
    }
    links = {
        "sys/block/sdb": block,
        "sys/class/block/sdb": block,
        "sys/class/block/sdb1": f"{block}/sdb1",
        "sys/dev/block/8:16": block,
        "sys/dev/block/8:17": f"{block}/sdb1",
        BY_ID.lstrip("/"): "dev/sdb",
        f"{BY_ID}-part1".lstrip("/"): "dev/sdb1",
    }
    for path, text in {**usual, **{name.replace("BLOCK", block): text for name, text in files.items()}}.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text + "\n")
    for path, target in links.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).symlink_to(root / target)
    return Machine(root, lambda name: udev.get(name, {}))


def by_plan(machine: Machine, path: str, typed: str = SERIAL) -> list[str]:
    return [
        refusal.code for refusal in refusals(find_device(path, machine), typed, minimum_bytes=1 << 30, machine=machine)
    ]


def by_root(machine: Machine, target: DeviceTarget, typed: str = SERIAL) -> str:
    """What the helper's checks say that need no real device; empty where they let it pass."""
    udev = machine.properties(target.name)
    found = {
        "TYPE": udev.get("ID_FS_TYPE", ""),
        "UUID": udev.get("ID_FS_UUID", ""),
        "LABEL": udev.get("ID_FS_LABEL_ENC", "").replace(r"\x20", " "),
        "USAGE": udev.get("ID_FS_USAGE", ""),
        **{key.removeprefix("ID_"): text for key, text in udev.items() if key.startswith("ID_PART_ENTRY")},
    }
    try:
        device = disk_checks.find(target.number, machine.root)
        disk_checks.check(device, diskseq=7, size_bytes=target.size_bytes)
        disk_checks.check_serial(device, typed, found)
        disk_checks.check_contents(device, found, frozenset(filter(None, [found["TYPE"]])), 0)
        disk_checks.check_tables(device, found)
    except Refusal as refusal:
        return refusal.text
    return ""


Row = tuple[str, dict[str, str], dict[str, str], str, str]
NAMED, TYPE = "sdb1 is named", "ID_PART_ENTRY_TYPE"
RESUME = "etc/initramfs-tools/conf.d/resume"
MATRIX: tuple[Row, ...] = (
    ("fstab by UUID", {"etc/fstab": "UUID=0A1B-UUID /data ext4 noauto 0 0"}, {}, "named", NAMED),
    ("fstab by a quoted UUID", {"etc/fstab": 'UUID="0a1b-uuid" /data ext4 noauto 0 0'}, {}, "named", NAMED),
    ("fstab by label", {"etc/fstab": "# disks\n\nLABEL=my\\040archive /data ext4"}, {}, "named", NAMED),
    ("fstab by PARTUUID", {"etc/fstab": "PARTUUID=77-partuuid /data ext4"}, {}, "named", NAMED),
    ("fstab by PARTLABEL", {"etc/fstab": "PARTLABEL=store /data ext4"}, {}, "named", NAMED),
    ("fstab by a link to the UUID", {"etc/fstab": "/dev/disk/by-uuid/0a1b-uuid /data ext4"}, {}, "named", NAMED),
    ("fstab by a link to the serial", {"etc/fstab": f"{BY_ID}-part1 /data ext4"}, {}, "named", NAMED),
    ("fstab by the kernel's name", {"etc/fstab": "\t/dev/sdb1 /data ext4"}, {}, "named", NAMED),
    ("crypttab", {"etc/crypttab": "vault UUID=0a1b-uuid none luks"}, {}, "named", NAMED),
    ("mdadm.conf, a pattern", {"etc/mdadm/mdadm.conf": "DEVICE /dev/sd[bc]1"}, {}, "named", NAMED),
    ("mdadm.conf, listed", {"etc/mdadm.conf": "ARRAY /dev/md0\n  devices=/dev/sda1,/dev/sdb1"}, {}, "named", NAMED),
    ("resume= of the kernel", {"proc/cmdline": "quiet resume=PARTUUID=77-partuuid"}, {}, "named", NAMED),
    ("root= of the kernel", {"proc/cmdline": "root=/dev/sdb1 ro"}, {}, "named", NAMED),
    ("hibernates to it", {"sys/power/resume": "8:17"}, {}, "named", "hibernates"),
    ("resume of the initial RAM disk", {RESUME: "RESUME=UUID=0a1b-uuid"}, {}, "named", NAMED),
    ("a volume on top", {"BLOCK/sdb1/holders/dm-0": ""}, {}, "holder", "in use by dm-0"),
    ("an array on top", {"BLOCK/holders/md0": "", "sys/block/md0/md/level": "raid1"}, {}, "raid-member", "md0"),
    ("made of others", {"BLOCK/sdb1/slaves/sdc": ""}, {}, "stacked", "made of sdc"),
    ("array that stands still", {"proc/mdstat": "md1 : inactive sdb1[0](S)"}, {}, "raid-member", "array md1"),
    ("root", {"proc/1/mountinfo": "20 1 8:17 / / rw - ext4 /dev/root rw"}, {}, "mounted-elsewhere", "mounted on '/'"),
    ("its disk is mounted", {"proc/9/mountinfo": "2 1 8:16 / /m rw - xfs sdb rw"}, {}, "mounted-elsewhere", "/m"),
    (
        "bcachefs over several", {"proc/9/mountinfo": "2 1 0:9 / /m rw - bcachefs /dev/sdc:/dev/sdb1 rw"}, {},
        "mounted-elsewhere", "/m",
    ),
    ("btrfs that the kernel knows", {"sys/fs/btrfs/1-2/devices/sdb1": ""}, {}, "btrfs-member", "btrfs in use"),
    ("swap", {"proc/swaps": "Filename\n/dev/sdb1 partition 4 0 -2"}, {}, "swap", "used as swap"),
    ("below a loop device", {"sys/block/loop0/loop/backing_file": "/dev/sdb1"}, {}, "loop", "loop0 stands on"),
    ("read-only", {"BLOCK/ro": "1"}, {}, "read-only", "read-only"),
    ("read-only partition", {"BLOCK/sdb1/ro": "1"}, {}, "read-only", "read-only"),
    ("zones to be written in order", {"BLOCK/queue/zoned": "host-managed"}, {}, "zoned", "zones"),
    ("zones of a kind not known", {"BLOCK/queue/zoned": "something"}, {}, "zoned", "zones"),
    ("too small", {"BLOCK/sdb1/size": "2048"}, {}, "too-small", "smaller"),
    ("another serial number", {"BLOCK/device/serial": "Z8400001"}, {}, "wrong-serial", "not the serial"),
    ("ESP", {}, {TYPE: "c12a7328-f81f-11d2-ba4b-00a0c93ec93b"}, "system-partition", "boot,"),
    ("MSR", {}, {TYPE: "E3C9E316-0B5C-4DB8-817D-F92DF00215AE"}, "system-partition", "boot,"),
    ("recovery", {}, {TYPE: "de94bba4-06d1-4d40-a16a-bfd50179d6ac"}, "system-partition", "boot,"),
    ("BIOS boot", {}, {TYPE: "21686148-6449-6e6f-744e-656564454649"}, "system-partition", "boot,"),
    ("bcache", {}, {"ID_FS_TYPE": "bcache"}, "bcache-member", "larger whole"),
    ("multipath", {}, {"ID_FS_TYPE": "mpath_member"}, "multipath-member", "larger whole"),
    ("firmware RAID", {}, {"ID_FS_TYPE": "isw_raid_member", "ID_FS_USAGE": "raid"}, "raid-member", "larger whole"),
    ("RAID of another maker", {}, {"ID_FS_TYPE": "ddf_x", "ID_FS_USAGE": "raid"}, "raid-member", "larger whole"),
    ("Ceph", {}, {"ID_FS_TYPE": "ceph_bluestore"}, "raid-member", "larger whole"),
    ("DRBD", {}, {"ID_FS_TYPE": "drbd"}, "raid-member", "larger whole"),
)  # fmt: skip


@pytest.mark.parametrize("row", MATRIX, ids=[row[0] for row in MATRIX])
def test_both_the_plan_and_root_refuse(row: Row, tmp_path: Path) -> None:
    _, files, udev, code, words = row
    machine = stage(tmp_path, files, {"sdb1": {**PART, **udev}})
    assert code in by_plan(machine, f"{BY_ID}-part1")
    assert words in by_root(machine, find_device("/dev/sdb1", machine))


def test_a_partition_that_nothing_uses_passes_both(tmp_path: Path) -> None:
    others = "UUID=ffff / ext4\nLABEL=archive /x ext4\n/dev/sdb10 /y\n# UUID=0a1b-uuid /old\n//nas/store /nas cifs"
    machine = stage(tmp_path, {"etc/fstab": others, "proc/mdstat": "md0 : active raid1 sdb10[1]"}, {"sdb1": PART})
    assert by_plan(machine, f"{BY_ID}-part1") == []
    assert by_root(machine, find_device("/dev/sdb1", machine)) == ""


def test_a_disk_with_partitions_is_refused_as_a_whole(tmp_path: Path) -> None:
    machine = stage(tmp_path, {}, {"sdb1": PART})
    assert by_plan(machine, BY_ID) == ["partitioned"]
    assert "has partitions: sdb1" in by_root(machine, find_device("/dev/sdb", machine))


@pytest.mark.parametrize(("zones", "passes"), [("host-managed", True), ("of a new kind", False)])
def test_a_whole_disk_with_zones_passes_where_it_is_known_how_to_write_them(
    zones: str, passes: bool, tmp_path: Path
) -> None:
    machine = stage(tmp_path, {"BLOCK/queue/zoned": zones}, {})
    for path in ("sys/class/block/sdb1", "sys/dev/block/8:17"):
        (machine.root / path).unlink()
    shutil.rmtree(machine.root / "sys/devices/pci0/ata1/host0/block/sdb/sdb1")
    assert by_plan(machine, BY_ID) == ([] if passes else ["zoned"])
    assert ("zones" in by_root(machine, find_device("/dev/sdb", machine))) is not passes


@pytest.mark.parametrize("path", ["/dev/sdb1", f"{BY_ID}-part1"])
def test_whatever_name_is_used_the_lasting_one_is_shown(path: str, tmp_path: Path) -> None:
    found = find_device(path, stage(tmp_path, {}, {"sdb1": PART}))
    assert found.path == f"{BY_ID}-part1"
    assert (found.name, found.disk, found.number, found.diskseq) == ("sdb1", "sdb", "8:17", 7)
    assert found.identifiers == (SERIAL,)


def test_everything_that_would_be_lost_is_listed(tmp_path: Path) -> None:
    machine = stage(tmp_path, {}, {"sdb": {"ID_PART_TABLE_TYPE": "gpt"}, "sdb1": PART})
    assert losses(find_device(BY_ID, machine)) == ("sdb: its partition table (gpt)", 'sdb1: ext4 "my archive", 8.00 TB')


def test_a_new_disk_says_that_nothing_was_found_on_it(tmp_path: Path) -> None:
    found = find_device(f"{BY_ID}-part1", stage(tmp_path, {}, {}))
    assert losses(found) == ("Nothing was found on sdb1 (8.00 TB): no partition table and no filesystem.",)


def test_a_disk_without_a_serial_number_is_confirmed_by_its_wwn_else_refused(tmp_path: Path) -> None:
    files = {"BLOCK/device/serial": "", "BLOCK/device/wwid": "naa.5000c500a1b2c3d0"}
    machine = stage(tmp_path / "wwn", files, {})
    target = find_device(f"{BY_ID}-part1", machine)
    assert by_plan(machine, target.path, "naa.5000c500a1b2c3d0") == []
    assert by_root(machine, target, "naa.5000c500a1b2c3d0") == ""
    bare = stage(tmp_path / "bare", {"BLOCK/device/serial": ""}, {})
    assert by_plan(bare, f"{BY_ID}-part1", "") == ["no-serial"]
    assert "not the serial" in by_root(bare, find_device("/dev/sdb1", bare), "")


def test_a_partition_without_any_other_identity_is_confirmed_by_its_partuuid(tmp_path: Path) -> None:
    machine = stage(tmp_path, {"BLOCK/device/serial": ""}, {"sdb1": PART})
    target = find_device("/dev/sdb1", machine)
    assert by_plan(machine, target.path, "77-partuuid") == []
    assert by_root(machine, target, "77-partuuid") == ""


def test_a_filesystem_of_several_devices_is_refused_although_none_is_mounted(tmp_path: Path) -> None:
    other = {"sys/class/block/sdc/dev": "8:32"}
    btrfs = {"ID_FS_TYPE": "btrfs", "ID_FS_UUID": "one"}
    machine = stage(tmp_path, other, {"sdb1": btrfs, "sdc": btrfs})
    assert by_plan(machine, f"{BY_ID}-part1") == ["btrfs-member"]


def test_a_machine_without_diskseq_or_zones_is_refused_by_root(tmp_path: Path) -> None:
    for number, (path, words) in enumerate((("diskseq", "cannot tell"), ("queue/zoned", "zones"))):
        machine = stage(tmp_path / str(number), {}, {})
        target = find_device("/dev/sdb1", machine)
        (machine.root / "sys/block/sdb" / path).unlink()
        assert words in by_root(machine, target)


@pytest.mark.parametrize(
    "make", [lambda text: text, lambda text: f"UUID={text} /x\n{text}", lambda text: f"DEVICE {text}"]
)
@given(text=st.text(max_size=60))
def test_no_table_however_written_ends_in_a_traceback(
    make: Callable[[str], str], text: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    root = tmp_path_factory.mktemp("noise")
    (root / "etc").mkdir()
    for table in ("fstab", "crypttab", "mdadm.conf"):
        (root / "etc" / table).write_bytes(make(text).encode("utf-8", "surrogatepass"))
    machine = Machine(root, lambda name: {})
    assert set(tables_naming("sdb1", "8:17", PART, machine)) <= {"/etc/fstab", "/etc/crypttab", "/etc/mdadm.conf"}
    device = disk_checks.Device("sdb1", "sdb", "8:17", root)
    try:
        disk_checks.check_tables(device, {"UUID": "0a1b-uuid"})
    except Refusal as refusal:
        assert refusal.code == "refused"
