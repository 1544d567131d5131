"""States of a machine in which a disk must not be formatted: shown by the plan, and refused by the helper."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fswizard.drives.devices import find_device, losses, refusals
from fswizard.drives.machine import Machine
from fswizard.model.text import safe
from fswizard.privileged import block_device, disk_checks, exclusive_claim
from fswizard.privileged.block_device import Device, Tree
from fswizard.privileged.in_use import Probed
from fswizard.privileged.protocol import Refusal
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


def stage(root: Path, files: Mapping[str, str], udev: Udev) -> Machine:
    """A machine with an 8 TB disk `sdb` of one partition, of which nothing is in use, and `files` besides."""
    for path, text in {**USUAL, **files}.items():
        file = root / path.replace("BLOCK", BLOCK)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"{text}\n")
    for path, target in LINKS.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).symlink_to(root / target.replace("BLOCK", BLOCK))
    for name in {"sdb", "sdb1", *udev}:
        machines.record(root, name, udev.get(name, {}))
    return Machine(root)


def found(machine: Machine, path: str = f"{BY_ID}-part1", typed: str | None = SERIAL) -> dict[str, str]:
    """What the plan shows, the text of each by its code."""
    against = refusals(find_device(path, machine), typed, minimum_bytes=1 << 30, machine=machine)
    return {finding.code: finding.text for finding in reversed(against)}


def by_root(machine: Machine, name: str, **marks: Any) -> str:
    """What the helper says, where its programs find what udev's database has, and `marks`; empty where it agrees."""
    number = machine.text(f"/sys/class/block/{name}/dev")
    device = block_device.find(number, Tree(machine.root))
    probed = {each: Probed(machine.properties(each)) for each in device.names}
    probed[name] = replace(probed[name], **marks)
    try:
        exclusive_claim.refuse(disk_checks.findings(device, probed))
    except Refusal as refusal:
        return refusal.text
    return ""


Row = tuple[str, dict[str, str], dict[str, str], str, str]
HERE, SWAPS = "proc/self/mountinfo", "Filename\n"
TYPE, LABEL, USAGE = "ID_FS_TYPE", "ID_FS_LABEL_ENC", "ID_FS_USAGE"
PART_TYPE = "ID_PART_ENTRY_TYPE"
NAMED = "sdb1 is named in /etc/"
LEFT = "fswizard-0123456789abcdef"
INITRAMFS = "etc/initramfs-tools"
OURS = "fswizard-0123456789abcdef"
MATRIX: tuple[Row, ...] = (
    ("fstab by UUID", {"etc/fstab": "UUID=0A1B-UUID /data ext4 noauto 0 0"}, {}, "named", NAMED),
    ("fstab by a quoted UUID", {"etc/fstab": 'UUID="0a1b-uuid" /data ext4 noauto 0 0'}, {}, "named", NAMED),
    ("fstab by label", {"etc/fstab": "# disks\n\nLABEL=my\\040archive /data ext4"}, {}, "named", NAMED),
    ("fstab by PARTUUID", {"etc/fstab": "PARTUUID=77-partuuid /data ext4"}, {}, "named", NAMED),
    ("fstab by PARTLABEL", {"etc/fstab": "PARTLABEL=store /data ext4"}, {}, "named", NAMED),
    ("fstab by a link to the UUID", {"etc/fstab": "/dev/disk/by-uuid/0a1b-uuid /data ext4"}, {}, "named", NAMED),
    ("fstab by a link to the label", {"etc/fstab": r"/dev/disk/by-label/my\x20archive /x"}, {}, "named", NAMED),
    ("fstab by a link to the serial", {"etc/fstab": f"{BY_ID}-part1 /data ext4"}, {}, "named", NAMED),
    ("fstab by the kernel's name", {"etc/fstab": "\t/dev/sdb1 /data ext4"}, {}, "named", NAMED),
    ("fstab, one of several devices", {"etc/fstab": "/dev/sdx /x btrfs device=/dev/sdb1"}, {}, "named", NAMED),
    ("fstab, the whole disk", {"etc/fstab": "/dev/sdb /data ext4"}, {}, "named", "sdb is named in /etc/fstab"),
    ("crypttab", {"etc/crypttab": "vault UUID=0a1b-uuid none luks"}, {}, "named", NAMED),
    ("crypttab, the key", {"etc/crypttab": "vault UUID=ffff /dev/sdb1 luks"}, {}, "named", NAMED),
    ("mdadm.conf, a pattern", {"etc/mdadm/mdadm.conf": "DEVICE /dev/sd[bc]1"}, {}, "named", NAMED),
    ("mdadm.conf, listed", {"etc/mdadm.conf": "ARRAY /dev/md0\n  devices=/dev/sda1,/dev/sdb1"}, {}, "named", NAMED),
    ("resume= of the kernel", {"proc/cmdline": "quiet resume=PARTUUID=77-partuuid"}, {}, "named", "resume="),
    ("resume= by number", {"proc/cmdline": "quiet resume=8:17"}, {}, "named", "the kernel's resume="),
    ("root= of the kernel", {"proc/cmdline": "root=/dev/sdb1 ro"}, {}, "named", "the kernel's root="),
    ("hibernates to it", {"sys/power/resume": "8:17"}, {}, "named", "hibernates"),
    ("initial RAM disk", {f"{INITRAMFS}/conf.d/resume": "RESUME=UUID=0a1b-uuid"}, {}, "named", NAMED),
    ("initramfs.conf", {f"{INITRAMFS}/initramfs.conf": "MODULES=most\nRESUME=/dev/sdb1"}, {}, "named", NAMED),
    ("a table that cannot be read", {"etc/crypttab/x": ""}, {}, "unknown", "/etc/crypttab cannot be read"),
    ("a kernel table that cannot be read", {"proc/mdstat/x": ""}, {}, "unknown", "/proc/mdstat cannot be read"),
    ("a volume on top", {"BLOCK/sdb1/holders/dm-0": ""}, {}, "holder", "sdb1 holds the volume dm-0"),
    ("an array on top", {"BLOCK/holders/md0": "", "sys/block/md0/md/level": "raid1"}, {}, "raid-member", "array md0"),
    ("left by a killed run", {"BLOCK/sdb1/holders/dm-0": "", "sys/block/dm-0/dm/name": f"{LEFT}-meta"}, {}, "holder",
     f"sdb1 holds the volume {LEFT}-meta"),
    ("made of others", {"BLOCK/sdb1/slaves/sdc": ""}, {}, "stacked", "made of sdc"),
    ("array that stands still", {"proc/mdstat": "md1 : inactive sdb1[0](S)"}, {}, "raid-member", "array md1"),
    ("mounted", {HERE: "2 1 8:17 / /srv/a\\040b rw - ext4 /dev/root rw"}, {}, "mounted", "mounted on /srv/a b."),
    ("mounted under a strange name", {HERE: "2 1 8:17 / /m\u2028\f- rw - xfs x rw"}, {}, "mounted", r"/m\u2028\x0c-"),
    ("its disk is mounted", {HERE: "2 1 8:16 / /m rw - xfs sdb rw"}, {}, "mounted", "sdb is mounted on /m"),
    ("for another program", {"proc/9/mountinfo": "2 1 8:17 / /m rw - xfs x rw", "proc/9/comm": "qemu"}, {},
     "mounted-elsewhere", "mounted on /m, visible only to qemu (process 9)"),
    ("bcachefs over several", {HERE: "2 1 0:9 / /m rw - bcachefs /dev/sdc:/dev/sdb1 rw"}, {}, "mounted", "/m"),
    ("btrfs that the kernel knows", {"sys/fs/btrfs/1-2/devices/sdb1": ""}, {}, "btrfs-member", "btrfs in use"),
    ("swap", {"proc/swaps": f"{SWAPS}/dev/sdb1 partition 4 0 -2"}, {}, "swap", "used as swap"),
    ("swap by its lasting name", {"proc/swaps": f"{SWAPS}{BY_ID}-part1 partition 4 0 -2"}, {}, "swap", "used as swap"),
    ("below a loop device", {"sys/block/loop0/loop/backing_file": "/dev/sdb1"}, {}, "loop", "loop0 is on sdb1"),
    ("stands on a disk", {"BLOCK/loop/backing_file": "/dev/sdc"}, {}, "loop", "sdb is on /dev/sdc"),
    ("two for one file", {"BLOCK/loop/backing_file": "/x", "sys/block/loop0/loop/backing_file": "/x"}, {}, "loop",
     "loop0 and sdb use the same file"),
    ("of a run", {"BLOCK/loop/backing_file": "/x/fswizard-ab/image"}, {}, "loop", "a file of this program"),
    ("read-only", {"BLOCK/ro": "1"}, {}, "read-only", "read-only"),
    ("read-only partition", {"BLOCK/sdb1/ro": "1"}, {}, "read-only", "read-only"),
    ("zones to be written in order", {"BLOCK/queue/zoned": "host-managed"}, {}, "zoned", "zones (host-managed)"),
    ("zones of a kind not known", {"BLOCK/queue/zoned": "something"}, {}, "zoned", "zones (something)"),
    ("zones that the kernel does not know", {"BLOCK/queue/zoned": ""}, {}, "zoned", "zones"),
    ("too small", {"BLOCK/sdb1/size": "2048"}, {}, "too-small", "sdb1 has 1 MiB, but 1024 MiB are needed"),
    ("one path of a disk", {"BLOCK/hidden": "1"}, {}, "multipath-member", "one path"),
    ("a path that multipath took", {}, {"DM_MULTIPATH_DEVICE_PATH": "1"}, "multipath-member", "one path"),
    ("ESP", {}, {PART_TYPE: "c12a7328-f81f-11d2-ba4b-00a0c93ec93b"}, "system-partition", "(ESP)"),
    ("ESP of an MBR", {}, {PART_TYPE: "0xef"}, "system-partition", "(ESP)"),
    ("MSR", {}, {PART_TYPE: "E3C9E316-0B5C-4DB8-817D-F92DF00215AE"}, "system-partition", "(MSR)"),
    ("recovery", {}, {PART_TYPE: "de94bba4-06d1-4d40-a16a-bfd50179d6ac"}, "system-partition", "recovery"),
    ("BIOS boot", {}, {PART_TYPE: "21686148-6449-6e6f-744e-656564454649"}, "system-partition", "boot loader"),
    ("several filesystems", {}, {"ID_FS_AMBIVALENT": "xfs ext4"}, "ambivalent", "signatures of several"),
    ("LVM", {}, {TYPE: "LVM2_member"}, "lvm-member", "physical volume of LVM"),
    ("LVM, called as a run's", {}, {TYPE: "LVM2_member", USAGE: "raid", LABEL: OURS}, "lvm-member", "volume of LVM"),
    ("LVM of old", {}, {TYPE: "LVM1_member"}, "raid-member", "larger whole (LVM1_member)"),
    ("ZFS", {}, {TYPE: "zfs_member", LABEL: "tank"}, "zfs-member", "(tank) is a member of a ZFS pool"),
    ("ZFS, nearly a run's", {}, {TYPE: "zfs_member", LABEL: f"x{OURS}"}, "zfs-member", "ZFS pool"),
    ("RAID", {}, {TYPE: "linux_raid_member", USAGE: "raid", LABEL: "box:0"}, "raid-member", "(box:0) is a member"),
    ("RAID, nearly a run's", {}, {TYPE: "linux_raid_member", LABEL: f"{OURS}:0"}, "raid-member", "RAID array"),
    ("bcache", {}, {TYPE: "bcache"}, "bcache-member", "bcache set"),
    ("bcache in use", {"BLOCK/sdb1/holders/bcache0": ""}, {TYPE: "bcache"}, "bcache-member", "bcache disk bcache0"),
    ("multipath", {}, {TYPE: "mpath_member"}, "multipath-member", "one path"),
    ("firmware RAID", {}, {TYPE: "isw_raid_member", USAGE: "raid", LABEL: OURS}, "raid-member", "firmware RAID"),
    *(
        (f"part of more: {kind}", {}, {TYPE: kind, USAGE: usage}, "raid-member", f"larger whole ({kind})")
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


def test_a_partition_that_nothing_uses_passes(tmp_path: Path) -> None:
    others = "UUID=ffff / ext4\nLABEL=archive /x ext4\n/dev/sdb10 /y\n# UUID=0a1b-uuid /old\n//nas/store /nas cifs"
    machine = stage(tmp_path, {"etc/fstab": others, "proc/mdstat": "md0 : active raid1 sdb10[1]"}, {"sdb1": PART})
    assert found(machine) == {}
    assert by_root(machine, "sdb1") == ""


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
    assert by_root(machine, "sdb1", signatures=frozenset({udev[TYPE]})) == ""


@pytest.mark.parametrize(
    ("marks", "words"),
    [
        ({"signatures": frozenset({"xfs", "ext4"})}, "carries signatures of several"),
        ({"signatures": frozenset({"LVM2_member"})}, "is a physical volume of LVM"),
        ({"signatures": frozenset({"drbd"})}, "larger whole (drbd)"),
        ({"properties": {TYPE: "btrfs"}, "devices": 2}, "is one of 2 devices of a btrfs"),
        ({"signatures": frozenset({"dos", "ext4"}), "devices": 1}, ""),
    ],
)
def test_root_sees_what_udev_does_not(marks: dict[str, Any], words: str, tmp_path: Path) -> None:
    refused = by_root(stage(tmp_path, {}, {"sdb1": PART}), "sdb1", **marks)
    assert words in refused if words else not refused


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
    assert found(machine, BY_ID) == {"partitioned": "sdb has 1 partition: sdb1."}
    assert by_root(machine, "sdb") == "sdb has 1 partition: sdb1"


def test_whoever_has_it_open_is_named(tmp_path: Path) -> None:
    machine = stage(tmp_path, {"proc/77/comm": "dd\x1b[2J"}, {})
    (tmp_path / "proc/77/fd").mkdir()
    (tmp_path / "proc/77/fd/3").symlink_to("/dev/sdb")
    assert found(machine) == {"open": r"dd\x1b[2J (process 77) has sdb1 open."}
    device = block_device.find("8:17", Tree(tmp_path))
    assert not list(disk_checks.openers(device, "77"))


def test_what_could_not_be_looked_at_and_a_failing_disk_are_refused(tmp_path: Path) -> None:
    machine = stage(tmp_path, {}, {})
    target = find_device(f"{BY_ID}-part1", machine)
    against = refusals(replace(target, unseen=("sdb1",)), machine=machine)
    assert [finding.text for finding in against] == ["The contents of sdb1 couldn't be read."]
    drive = replace(target.drive, pending="sdb1 did not answer in time.", health="failing")
    against = refusals(replace(target, drive=drive), machine=machine)
    assert [finding.text for finding in against] == [
        "sdb1 did not answer in time.",
        "sdb reports that it is failing.",
    ]


def test_a_whole_disk_with_zones_is_refused(tmp_path: Path) -> None:
    machine = stage(tmp_path, {"BLOCK/queue/zoned": "host-managed"}, {})
    for path in ("sys/class/block/sdb1", "sys/dev/block/8:17"):
        (machine.root / path).unlink()
    shutil.rmtree(machine.root / BLOCK / "sdb1")
    assert list(found(machine, BY_ID)) == ["zoned"]


@pytest.mark.parametrize("name", [path.stem for path in sorted(machines.HERE.glob("*.txt"))])
def test_the_helper_refuses_what_the_plan_refuses_and_for_a_reason_of_the_plans(name: str, tmp_path: Path) -> None:
    machine = machines.machine(name, tmp_path)
    for device in machine.names("/sys/class/block"):
        target = find_device(block_device.path_of(device), machine)
        shown = [finding.text for finding in refusals(target, machine=machine) if finding.code not in OF_THE_PLAN]
        refused = by_root(machine, device)
        assert (f"{safe(refused)}." in shown) if refused else not shown, (device, refused, shown)


OF_THE_PLAN = ("no-serial", "wrong-serial", "failing")
"""The helper compares what was typed with the disk itself, and asks it for its health."""


@pytest.mark.parametrize("path", ["/dev/sdb1", f"{BY_ID}-part1"])
def test_whatever_name_is_used_the_lasting_one_is_shown(path: str, tmp_path: Path) -> None:
    target = find_device(path, stage(tmp_path, {}, {"sdb1": PART}))
    assert target.path == f"{BY_ID}-part1"
    assert (target.name, target.disk, target.number, target.diskseq) == ("sdb1", "sdb", "8:17", 7)
    assert target.identifiers == (SERIAL, "ata-ST8000_Z8400000-part1", "77-partuuid")
    assert target.kind == "serial number"


def test_everything_that_would_be_lost_is_listed_and_of_a_new_disk_that_nothing_was_found(tmp_path: Path) -> None:
    machine = stage(tmp_path / "used", {}, {"sdb": {"ID_PART_TABLE_TYPE": "gpt"}, "sdb1": PART})
    assert losses(find_device(BY_ID, machine)) == ("sdb: its partition table (gpt)", 'sdb1: ext4 "my archive", 8.00 TB')
    target = find_device(f"{BY_ID}-part1", stage(tmp_path / "new", {}, {}))
    assert losses(target) == ("Nothing was found on sdb1 (8.00 TB): no partition table and no filesystem.",)


def test_the_helper_wants_the_disk_that_was_chosen_and_a_kernel_that_can_tell(tmp_path: Path) -> None:
    stage(tmp_path, {}, {})
    device = block_device.find("8:17", Tree(tmp_path))
    size_bytes = 15628050000 * 512
    exclusive_claim.check_identity(device, 7, size_bytes)
    for diskseq, size, words in ((8, size_bytes, "no longer the disk"), (7, size_bytes + 512, "changed its size")):
        with pytest.raises(Refusal, match=words):
            exclusive_claim.check_identity(device, diskseq, size)
    (tmp_path / "sys/block/sdb/diskseq").unlink()
    with pytest.raises(Refusal, match="cannot tell"):
        exclusive_claim.check_identity(device, 0, size_bytes)


@given(text=st.text(max_size=60), line=st.sampled_from(["{0}", "UUID={0} /x\n{0}", "DEVICE {0}"]))
def test_no_table_however_written_ends_in_a_traceback(
    text: str, line: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    root = tmp_path_factory.mktemp("noise")
    (root / "etc").mkdir()
    for table in ("fstab", "crypttab", "mdadm.conf"):
        (root / "etc" / table).write_bytes(line.format(text).encode("utf-8", "surrogatepass"))
    device = Device("sdb1", "sdb", "8:17", Tree(root))
    against = disk_checks.findings(device, {"sdb1": Probed(PART)})
    assert {finding.code for finding in against} <= {"named", "zoned", "too-small"}
