"""What must not be erased: states of a machine as they are read, and the rules over what was read."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fswizard.drives import disk_facts, inventory, may_erase
from fswizard.drives.blank import is_blank
from fswizard.drives.devices import find_device, losses, refusals
from fswizard.drives.may_erase import Facts, Probed, findings
from fswizard.drives.topology import devices_at
from fswizard.system.block_device import Device, Tree, look_at
from tests.recorded import machines

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
BLOCK = "sys/devices/pci0/ata1/host0/block/sdb"
USUAL = {
    "BLOCK/dev": "8:16", "BLOCK/size": "15628053168", "BLOCK/ro": "0", "BLOCK/diskseq": "7",
    "BLOCK/queue/zoned": "none", "BLOCK/queue/rotational": "1",
    "BLOCK/device/model": "ST8000AS0002", "BLOCK/device/serial": SERIAL,
    "BLOCK/sdb1/dev": "8:17", "BLOCK/sdb1/size": "15628050000", "BLOCK/sdb1/partition": "1", "BLOCK/sdb1/start": "2048",
    "proc/swaps": "Filename Type Size Used Priority", "dev/sdb": "", "dev/sdb1": "",
    **dict.fromkeys(("proc/1/mountinfo", "proc/self/mountinfo"), "20 1 8:1 / / rw - ext4 /dev/sda1 rw"),
}  # fmt: skip
LINKS = {
    "sys/block/sdb": "BLOCK", "sys/class/block/sdb": "BLOCK", "sys/class/block/sdb1": "BLOCK/sdb1",
    "sys/dev/block/8:16": "BLOCK", "sys/dev/block/8:17": "BLOCK/sdb1",
    BY_ID.lstrip("/"): "dev/sdb", f"{BY_ID}-part1".lstrip("/"): "dev/sdb1",
}  # fmt: skip


def stage(root: Path, files: Mapping[str, str], udev: Udev) -> Tree:
    """A machine with an idle 8 TB disk `sdb` of one partition, and `files` in addition."""
    for path, text in {**USUAL, **files}.items():
        file = root / path.replace("BLOCK", BLOCK)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"{text}\n")
    for path, target in LINKS.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).symlink_to(root / target.replace("BLOCK", BLOCK))
    for name in {"sdb", "sdb1", *udev}:
        machines.record(root, name, udev.get(name, {}))
    return Tree(root)


def found(machine: Tree, path: str = f"{BY_ID}-part1") -> dict[str, str]:
    """What the plan shows, the text of each by its code."""
    against = refusals(find_device(path, machine), 1 << 30)
    return {finding.code: finding.text for finding in reversed(against)}


def by_root(machine: Tree, name: str, **marks: Any) -> list[str]:
    """Root's findings, if its programs find what udev's database has, and `marks`."""
    tree = machine
    probed = replace(Probed(machine.properties(name)), **marks)
    return [finding.text for finding in findings(disk_facts.read(look_at(name, tree), {name: probed}, tree))]


Row = tuple[str, dict[str, str], dict[str, str], str, str]
HERE, SWAPS = "proc/self/mountinfo", "Filename\n"
TYPE, LABEL, USAGE = "ID_FS_TYPE", "ID_FS_LABEL_ENC", "ID_FS_USAGE"
PART_TYPE = "ID_PART_ENTRY_TYPE"
NAMED = "sdb1 is named in /etc/"
LEFT = "fswizard-0123456789abcdef"
INITRAMFS = "etc/initramfs-tools"
OURS = "fswizard-0123456789abcdef"
MATRIX: tuple[Row, ...] = (
    *(
        (f"fstab {how}", {"etc/fstab": line}, {}, "named", NAMED)
        for how, line in {
            "by UUID": "UUID=0A1B-UUID /data ext4 noauto 0 0",
            "by a quoted UUID": 'UUID="0a1b-uuid" /data ext4 noauto 0 0',
            "by label": "# disks\n\nLABEL=my\\040archive /data ext4",
            "by PARTUUID": "PARTUUID=77-partuuid /data ext4",
            "by PARTLABEL": "PARTLABEL=store /data ext4",
            "by a link to the UUID": "/dev/disk/by-uuid/0a1b-uuid /data ext4",
            "by a link to the label": r"/dev/disk/by-label/my\x20archive /x",
            "by a link to the serial": f"{BY_ID}-part1 /data ext4",
            "by the kernel's name": "\t/dev/sdb1 /data ext4",
            "one of several devices": "/dev/sdx /x btrfs device=/dev/sdb1",
        }.items()
    ),
    ("fstab, the whole disk", {"etc/fstab": "/dev/sdb /data ext4"}, {}, "named", "sdb is named in /etc/fstab"),
    ("crypttab", {"etc/crypttab": "vault UUID=0a1b-uuid none luks"}, {}, "named", NAMED),
    ("crypttab, the key", {"etc/crypttab": "vault UUID=ffff /dev/sdb1 luks"}, {}, "named", NAMED),
    ("mdadm.conf, a pattern", {"etc/mdadm/mdadm.conf": "DEVICE /dev/sd[bc]1"}, {}, "named", NAMED),
    ("mdadm.conf, listed", {"etc/mdadm.conf": "ARRAY /dev/md0\n  devices=/dev/sda1,/dev/sdb1"}, {}, "named", NAMED),
    ("resume= of the kernel", {"proc/cmdline": "quiet resume=PARTUUID=77-partuuid"}, {}, "named", "resume="),
    ("resume= by number", {"proc/cmdline": "quiet resume=8:17"}, {}, "named", "the kernel's resume="),
    ("root= of the kernel", {"proc/cmdline": "root=/dev/sdb1 ro"}, {}, "named", "the kernel's root="),
    ("hibernates to it", {"sys/power/resume": "8:17"}, {}, "named", "named in /sys/power/resume"),
    ("initial RAM disk", {f"{INITRAMFS}/conf.d/resume": "RESUME=UUID=0a1b-uuid"}, {}, "named", NAMED),
    ("initramfs.conf", {f"{INITRAMFS}/initramfs.conf": "MODULES=most\nRESUME=/dev/sdb1"}, {}, "named", NAMED),
    ("a table that cannot be read", {"etc/crypttab/x": ""}, {}, "unknown", "/etc/crypttab cannot be read"),
    ("a kernel table that cannot be read", {"proc/mdstat/x": ""}, {}, "unknown", "/proc/mdstat cannot be read"),
    ("a volume on top", {"BLOCK/sdb1/holders/dm-0": ""}, {}, "holder", "sdb1 holds the volume dm-0"),
    ("an array on top", {"BLOCK/holders/md0": ""}, {}, "raid-member", "holds the RAID array md0"),
    ("left by a killed run", {"BLOCK/sdb1/holders/dm-0": "", "sys/block/dm-0/dm/name": f"{LEFT}-meta"}, {}, "holder",
     f"sdb1 holds the volume {LEFT}-meta"),
    ("made of others", {"BLOCK/sdb1/slaves/sdc": ""}, {}, "stacked", "made of sdc"),
    ("array that stands still", {"proc/mdstat": "md1 : inactive sdb1[0](S)"}, {}, "raid-member", "array md1"),
    ("mounted", {HERE: "2 1 8:17 / /srv/a\\040b rw - ext4 /dev/root rw"}, {}, "mounted", "mounted on /srv/a b."),
    ("mounted under a strange name", {HERE: "2 1 8:17 / /m\u2028\f- rw - xfs x rw"}, {}, "mounted", r"/m\u2028\x0c-"),
    ("its disk is mounted", {HERE: "2 1 8:16 / /m rw - xfs sdb rw"}, {}, "mounted", "sdb is mounted on /m"),
    ("for another program", {"proc/9/mountinfo": "2 1 8:17 / /m rw - xfs x rw", "proc/9/comm": "qemu"}, {},
     "mounted-elsewhere", "mounted on /m, visible only to qemu (process 9)"),
    ("btrfs that the kernel knows", {"sys/fs/btrfs/1-2/devices/sdb1": ""}, {}, "btrfs-member", "btrfs in use"),
    ("swap by its lasting name", {"proc/swaps": f"{SWAPS}{BY_ID}-part1 partition 4 0 -2"}, {}, "swap", "used as swap"),
    ("read-only partition", {"BLOCK/sdb1/ro": "1"}, {}, "read-only", "read-only"),
    ("zones to be written in order", {"BLOCK/queue/zoned": "host-managed"}, {}, "zoned", "zones (host-managed)"),
    ("zones of a kind not known", {"BLOCK/queue/zoned": "something"}, {}, "zoned", "zones (something)"),
    ("zones that the kernel does not know", {"BLOCK/queue/zoned": ""}, {}, "zoned", "zones"),
    ("one path of a disk", {"BLOCK/hidden": "1"}, {}, "multipath-member", "one path"),
    ("a path that multipath took", {}, {"DM_MULTIPATH_DEVICE_PATH": "1"}, "multipath-member", "one path"),
    *(
        (f"{words}: {kind}", {}, {PART_TYPE: kind}, "system-partition", words)
        for kind, words in {
            "c12a7328-f81f-11d2-ba4b-00a0c93ec93b": "(ESP)",
            "0xef": "(ESP)",
            "E3C9E316-0B5C-4DB8-817D-F92DF00215AE": "(MSR)",
            "de94bba4-06d1-4d40-a16a-bfd50179d6ac": "recovery",
            "0x12": "maker's recovery",
            "21686148-6449-6e6f-744e-656564454649": "boot loader",
        }.items()
    ),
    ("several filesystems", {}, {"ID_FS_AMBIVALENT": "xfs ext4"}, "ambivalent", "signatures of several"),
    ("LVM, called as a run's", {}, {TYPE: "LVM2_member", USAGE: "raid", LABEL: OURS}, "lvm-member", "LVM volume group"),
    ("LVM of old", {}, {TYPE: "LVM1_member"}, "raid-member", "a larger whole"),
    ("ZFS, nearly a run's", {}, {TYPE: "zfs_member", LABEL: f"x{OURS}"}, "zfs-member", "ZFS pool"),
    ("RAID", {}, {TYPE: "linux_raid_member", USAGE: "raid", LABEL: "box:0"}, "raid-member", "(box:0) is a member"),
    ("RAID, nearly a run's", {}, {TYPE: "linux_raid_member", LABEL: f"{OURS}:0"}, "raid-member", "RAID array"),
    ("bcache", {}, {TYPE: "bcache"}, "bcache-member", "bcache set"),
    ("bcache in use", {"BLOCK/sdb1/holders/bcache0": ""}, {TYPE: "bcache"}, "bcache-member", "bcache disk bcache0"),
    ("multipath", {}, {TYPE: "mpath_member"}, "multipath-member", "a multipath disk"),
    ("firmware RAID", {}, {TYPE: "isw_raid_member", USAGE: "raid", LABEL: OURS}, "raid-member", "firmware RAID"),
    *(
        (f"part of more: {kind}", {}, {TYPE: kind, USAGE: usage}, "raid-member", "a larger whole")
        for kind, usage in {
            "ddf_x": "raid", "via_raid_member": "raid", "ceph_bluestore": "other", "drbd": "raid", "oracleasm": "other",
            "stratis": "raid", "VMFS_volume_member": "raid", "DM_snapshot_cow": "other", "vdo": "other",
        }.items()
    ),
)  # fmt: skip


@pytest.mark.parametrize("row", MATRIX, ids=[row[0] for row in MATRIX])
def test_it_is_refused(row: Row, tmp_path: Path) -> None:
    _, files, udev, code, words = row
    against = found(stage(tmp_path, files, {"sdb1": {**PART, **udev}}))
    assert words in against.get(code, ""), against


@pytest.mark.parametrize(
    ("path", "hint"),
    [
        ("/", "This system runs from it."), ("/boot/efi", "This system runs from it."),
        ("/home", "This system runs from it."), ("/srv", "Unmount it first: umount /srv"),
    ],
)  # fmt: skip
def test_what_the_system_runs_from_is_not_to_be_unmounted(path: str, hint: str, tmp_path: Path) -> None:
    machine = stage(tmp_path, {HERE: f"2 1 8:17 / {path} rw - ext4 x rw"}, {"sdb1": PART})
    (refusal,) = refusals(find_device("/dev/sdb1", machine))
    assert (refusal.case, refusal.hint) == ("mounted" if "umount" in hint else "mounted/system", hint)


def test_a_partition_that_nothing_uses_passes(tmp_path: Path) -> None:
    others = "UUID=ffff / ext4\nLABEL=archive /x ext4\n/dev/sdb10 /y\n# UUID=0a1b-uuid /old\n//nas/store /nas cifs"
    machine = stage(tmp_path, {"etc/fstab": others, "proc/mdstat": "md0 : active raid1 sdb10[1]"}, {"sdb1": PART})
    assert found(machine) == {}
    assert by_root(machine, "sdb1") == []


@pytest.mark.parametrize(
    "udev",
    [
        {TYPE: "bcachefs", USAGE: "filesystem"},
        {TYPE: "crypto_LUKS", USAGE: "crypto"},
        {TYPE: "zfs_member", LABEL: OURS},
        {TYPE: "linux_raid_member", USAGE: "raid", LABEL: f"box:{OURS}"},
    ],
)
def test_what_can_be_given_up_is_a_loss_and_no_refusal(udev: dict[str, str], tmp_path: Path) -> None:
    machine = stage(tmp_path, {}, {"sdb1": udev})
    assert found(machine) == {}
    assert by_root(machine, "sdb1", signatures=frozenset({udev[TYPE]})) == []


@pytest.mark.parametrize(
    ("marks", "words"),
    [
        ({"signatures": frozenset({"xfs", "ext4"})}, "carries signatures of several"),
        ({"signatures": frozenset({"LVM2_member"})}, "is a member of an LVM volume group"),
        ({"signatures": frozenset({"drbd"})}, "a larger whole"),
        ({"properties": {TYPE: "btrfs"}, "devices": 2}, "is one of 2 devices of a btrfs"),
        ({"signatures": frozenset({"dos", "ext4"}), "devices": 1}, ""),
    ],
)
def test_root_sees_what_udev_does_not(marks: dict[str, Any], words: str, tmp_path: Path) -> None:
    refused = by_root(stage(tmp_path, {}, {"sdb1": PART}), "sdb1", **marks)
    assert words in refused[0] if words else not refused


def test_a_filesystem_of_several_devices_is_refused_unless_a_run_made_it(tmp_path: Path) -> None:
    for label, codes in (("archive", ["btrfs-member"]), (OURS, [])):
        btrfs = {TYPE: "btrfs", "ID_FS_UUID": "one", LABEL: label}
        machine = stage(tmp_path / label, {"sys/class/block/sdc/dev": "8:32"}, {"sdb1": btrfs, "sdc": btrfs})
        assert list(found(machine)) == codes, "although it is not mounted"
        assert bool(by_root(machine, "sdb1", devices=2)) == bool(codes)


def test_a_partition_of_a_member_and_a_disk_with_partitions_are_refused(tmp_path: Path) -> None:
    machine = stage(tmp_path / "member", {}, {"sdb": {TYPE: "linux_raid_member", USAGE: "raid"}, "sdb1": PART})
    assert found(machine) == {"raid-member": "sdb is a member of a Linux RAID array."}
    machine = stage(tmp_path / "whole", {}, {"sdb1": PART})
    assert found(machine, BY_ID) == {"partitioned": "sdb has partitions: sdb1."}
    assert by_root(machine, "sdb") == ["sdb has partitions: sdb1"]


def test_whoever_has_it_open_is_named(tmp_path: Path) -> None:
    machine = stage(tmp_path, {"proc/77/comm": "dd\x1b[2J"}, {})
    (tmp_path / "proc/77/fd").mkdir()
    (tmp_path / "proc/77/fd/3").symlink_to("/dev/sdb")
    assert found(machine) == {"open": r"dd\x1b[2J (process 77) has sdb1 open."}
    facts = find_device("/dev/sdb1", machine).facts
    assert not list(disk_facts.openers(facts, Tree(tmp_path), "77"))


def test_the_directories_of_processes_are_not_looked_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    machine = stage(tmp_path, {"proc/77/comm": "sh", "proc/78/comm": "fswizard"}, {})
    for number in (77, 78):
        (tmp_path / f"proc/{number}/fd").mkdir()
        (tmp_path / f"proc/{number}/fd/{number}").symlink_to("/mnt/server/file")
        (tmp_path / f"proc/{number}/cwd").symlink_to("/mnt/server")
    facts = find_device("/dev/sdb1", machine).facts
    looked: list[str] = []

    def stat(path: Path, **options: bool) -> None:
        looked.append(path.name)
        raise OSError

    monkeypatch.setattr(Path, "stat", stat)
    assert not list(disk_facts.openers(facts, Tree(tmp_path), "78", anywhere=True))
    assert looked == ["77"]


def test_a_whole_disk_with_zones_is_refused(tmp_path: Path) -> None:
    machine = stage(tmp_path, {"BLOCK/queue/zoned": "host-managed"}, {})
    for path in ("sys/class/block/sdb1", "sys/dev/block/8:17"):
        (machine.root / path).unlink()
    shutil.rmtree(machine.root / BLOCK / "sdb1")
    assert list(found(machine, BY_ID)) == ["zoned"]


@pytest.mark.parametrize("path", ["/dev/sdb1", f"{BY_ID}-part1"])
def test_whatever_name_is_used_the_lasting_one_is_shown(path: str, tmp_path: Path) -> None:
    target = find_device(path, stage(tmp_path, {}, {"sdb1": PART}))
    assert target.path == f"{BY_ID}-part1"
    device = target.device
    assert (device.name, device.disk, device.number, device.diskseq) == ("sdb1", "sdb", "8:17", 7)
    assert target.identifiers == (SERIAL, "ata-ST8000_Z8400000-part1", "77-partuuid")
    assert target.kind == "serial number"


def test_everything_that_would_be_lost_is_listed_and_of_a_new_disk_that_nothing_was_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine = stage(tmp_path / "used", {}, {"sdb": {"ID_PART_TABLE_TYPE": "gpt"}, "sdb1": PART})
    assert losses(find_device(BY_ID, machine)) == ("sdb: its partition table (gpt)", 'sdb1: ext4 "my archive", 8.00 TB')
    machine = stage(tmp_path / "new", {}, {})
    target = find_device("/dev/sdb1", machine)
    assert (target.empty, "may hold data" in losses(target)[0]) == (False, True), "it cannot be read as a disk"
    monkeypatch.setattr("fswizard.drives.devices.is_blank", lambda device, tree: True)
    target = find_device("/dev/sdb1", machine)
    assert losses(target) == ("Nothing was found on sdb1 (8.00 TB): no partition table and no filesystem.",)
    (tmp_path / "new/run/udev/data/b8:17").unlink()
    target = find_device("/dev/sdb1", machine)
    assert (target.empty, losses(target)) == (False, ("sdb1: its contents couldn't be read",))
    assert found(machine) == {"unknown": "The contents of sdb1 couldn't be read."}
    failing = replace(target, drive=replace(target.drive, health="failing"))
    assert [finding.code for finding in refusals(failing)] == ["unknown", "failing"]


@pytest.mark.parametrize(
    ("rest", "at", "noise", "blank"),
    [
        (b"\0", 0, b"", True), (b"\xff", 0, b"", True), (b"\0", 9 << 20, b"\xff" * 4096, True),
        (b"\0", 0, b"x", False), (b"\0", (32 << 20) - 1, b"x", False), (b"\xff", 9 << 20, b"x" * 99_999, False),
        (b"\0", 0, b"\xff", False),
    ],
    ids="abcdefg",
)  # fmt: skip
def test_a_disk_is_blank_where_a_thousand_blocks_hold_only_zeros_or_ones(
    rest: bytes, at: int, noise: bytes, blank: bool, tmp_path: Path
) -> None:
    disk = tmp_path / f"dev/{rest[0]}-{at}-{len(noise)}"
    disk.parent.mkdir()
    disk.write_bytes(rest * (32 << 20))
    with disk.open("r+b") as file:
        file.seek(at)
        file.write(noise)
    assert is_blank(Device(disk.name, disk.name, "8:16", size_bytes=32 << 20), Tree(tmp_path)) is blank
    assert not is_blank(Device("sdc", "sdc", "8:32", size_bytes=32 << 20), Tree(tmp_path)), "nothing can be read there"


FORGED = "77 1 0:50 / /home/eve/m rw - fuse.x /dev/sdb1 rw\n78 1 0:51 / /home/eve/n rw - fuse /dev/sdb rw"


def test_a_mount_is_known_by_its_number_and_not_by_the_source_that_a_user_chose(tmp_path: Path) -> None:
    machine = stage(tmp_path, {HERE: FORGED, "proc/9/mountinfo": FORGED}, {"sdb1": PART})
    assert found(machine) == {}
    assert [part.mount_point for drive in inventory(machine) for part in drive.partitions] == [""]
    assert devices_at("/home/eve/m/file", machine) == ()


@pytest.mark.parametrize("kind", ["btrfs", "bcachefs"])
def test_a_filesystem_on_several_devices_is_in_use_on_each_wherever_it_is_mounted(kind: str, tmp_path: Path) -> None:
    for source, code in (("/dev/sdb1", "mounted"), ("/dev/root", f"{kind}-member"), ("", f"{kind}-member")):
        root = tmp_path / (source or "none").replace("/", "-")
        mount = f"2 1 0:9 / /m rw - {kind} /dev/sdx:{source} rw" if source else ""
        machine = stage(root, {HERE: mount}, {})
        members = root / f"sys/fs/{kind}/1-2" / ("devices" if kind == "btrfs" else "dev-0")
        members.mkdir(parents=True)
        (members / ("sdb1" if kind == "btrfs" else "block")).symlink_to(root / BLOCK / "sdb1")
        assert list(found(machine)) == [code], source


def test_a_btrfs_is_known_by_its_device_where_dev_lacks_it_as_in_a_container(tmp_path: Path) -> None:
    machine = stage(tmp_path, {HERE: "2 1 0:9 / /m rw - btrfs /dev/sdb1 rw"}, {})
    (tmp_path / "sys/fs/btrfs/1-2/devices/sdb1").mkdir(parents=True)
    (tmp_path / "dev/sdb1").unlink()
    assert devices_at("/m/file", machine) == ("sdb1",)


def attach(root: Path, name: str, number: str, **attributes: str) -> None:
    """Attach another SATA disk of 8 TB, with these attributes by path, `__` for a slash; its partitions among them."""
    block = root / f"sys/devices/pci0/ata2/host1/block/{name}"
    for path, text in {"dev": number, "size": "15628053168", **attributes}.items():
        file = block / path.replace("__", "/")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"{text}\n")
    (root / "sys/block" / name).symlink_to(block)
    for each in (block, *block.glob(f"{name}?*")):
        (root / "sys/class/block" / each.name).symlink_to(each)
        (root / "sys/dev/block" / (each / "dev").read_text().strip()).symlink_to(each)


def second_path(root: Path, **attributes: str) -> None:
    """`sdc`, as large as `sdb`, of the same serial number, and with one partition in the place of `sdb1`."""
    partitions = {"sdc1__dev": "8:33", "sdc1__partition": "1", "sdc1__start": "2048"}
    partitions |= {"sdc2__dev": "8:34", "sdc2__partition": "1", "sdc2__start": "9999"}
    attach(root, "sdc", "8:32", device__serial=SERIAL, **partitions, **attributes)


@pytest.mark.parametrize(("mounted", "codes"), [("8:33", ["mounted"]), ("8:34", []), ("8:32", ["mounted"])])
def test_a_disk_in_use_by_another_path_to_it_is_refused(mounted: str, codes: list[str], tmp_path: Path) -> None:
    """In use is the same partition, another one, the whole disk."""
    files = {HERE: f"2 1 {mounted} / /srv/x rw - xfs x rw", "BLOCK/device/wwid": "naa.5000c500a1b2c3d0"}
    machine = stage(tmp_path, files, {"sdb1": PART})
    second_path(tmp_path, device__wwid="naa.5000c500a1b2c3d0")
    assert list(found(machine)) == codes
    assert find_device("/dev/sdb1", machine).facts.paths == ("sdc1",)
    assert find_device("/dev/sdb", machine).facts.paths == ("sdc",)


@pytest.mark.parametrize(
    ("wwid", "other", "codes"),
    [("", "", ["mounted"]), ("", "naa.5000c500a1b2c3d1", []), ("naa.5000c500a1b2c3d0", "naa.5000c500a1b2c3d1", [])],
)
def test_an_equal_serial_number_and_size_are_taken_for_another_path_unless_a_wwn_says_otherwise(
    wwid: str, other: str, codes: list[str], tmp_path: Path
) -> None:
    files = {HERE: "2 1 8:33 / /srv/x rw - xfs x rw", **({"BLOCK/device/wwid": wwid} if wwid else {})}
    machine = stage(tmp_path, files, {"sdb1": PART})
    second_path(tmp_path, **({"device__wwid": other} if other else {}))
    assert list(found(machine)) == codes
    assert SERIAL not in find_device("/dev/sdb1", machine).identifiers, "it confirms neither of them"


# Rules over facts that were read

DEVICE = Device("sdb1", "sdb", "8:17", 7, 8 << 40, "none")
FREE = Facts(DEVICE, {"sdb1": Probed(), "sdb": Probed()}, reported={SERIAL: "serial number"})
SWAP = may_erase.make_finding("swap", name="sdb1")
OPEN = may_erase.make_finding("open", name="sdb1", program="{pid}\x1b", pid="9")
FAILING = may_erase.make_finding("failing", device="sdb")


def test_where_the_kernel_numbers_no_disks_none_is_the_one_that_was_chosen() -> None:
    """Another of the same size may have taken its name."""
    for device, diskseq, codes in ((DEVICE, 7, []), (DEVICE, 8, ["gone"]), (replace(DEVICE, diskseq=0), 0, ["gone"])):
        facts = replace(FREE, device=device)
        assert [finding.code for finding in may_erase.changes(facts, diskseq, DEVICE.size_bytes)] == codes


def test_the_weightiest_comes_first_and_no_text_of_a_disk_is_a_template() -> None:
    against = findings(replace(FREE, uses=[FAILING, OPEN, SWAP]))
    assert [finding.code for finding in against] == ["swap", "open", "failing"]
    assert against[1].text == "{pid}\x1b (process 9) has sdb1 open"


@given(text=st.text(max_size=60), line=st.sampled_from(["{0}", "UUID={0} /x\n{0}", "DEVICE {0}"]))
def test_no_table_however_written_ends_in_a_traceback(
    text: str, line: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    root = tmp_path_factory.mktemp("noise")
    (root / "etc").mkdir()
    for table in ("fstab", "crypttab", "mdadm.conf"):
        (root / "etc" / table).write_bytes(line.format(text).encode("utf-8", "surrogatepass"))
    facts = disk_facts.read(DEVICE, {"sdb1": Probed(PART)}, Tree(root))
    assert {finding.code for finding in findings(facts)} <= {"named", "no-serial"}
