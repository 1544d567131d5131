"""Recorded machines give the inventory that a user would expect of them; what disks hold, and where it is mounted."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from fswizard.drives import drive_of, inventory, is_file_of_others
from fswizard.drives.contents import probe
from fswizard.drives.inventory import _free_bytes, describe
from fswizard.drives.smr import judge_composed
from fswizard.model.drive import Confidence, Drive, Partition, SmrKind, SmrVerdict
from fswizard.system.block_device import HERE, Tree
from fswizard.system.mounts import Mount, mount_of, parse
from tests.fakes.clock import SimulatedClock
from tests.fakes.machine import make_program
from tests.recorded.machines import machine

Recorded = Callable[[str], Tree]


@pytest.fixture
def recorded(tmp_path: Path) -> Recorded:
    return lambda name: machine(name, tmp_path / name)


def drives_of(machine: Tree) -> dict[str, Drive]:
    """Its disks by name."""
    return {drive.name: drive for drive in inventory(machine)}


def part(drive: Drive, name: str = "") -> Partition:
    """Its partition of that name, or what it holds without a table of partitions."""
    return next(partition for partition in drive.partitions if partition.name == (name or drive.name))


def smr_of(drive: Drive) -> tuple[str, str]:
    return drive.smr.kind, drive.smr.confidence


def codes(found: Drive | Partition) -> list[str]:
    return [use.code for use in found.uses]


def use_texts(drive: Drive) -> list[str]:
    return [use.text for use in drive.uses]


def shingled_members(drive: Drive) -> list[str]:
    return [piece.text.split()[4] for piece in drive.smr.evidence if piece.says == "drive-managed"]


def test_a_laptops_disks_are_described_with_mounts_below_luks_and_lvm(recorded: Recorded) -> None:
    drives = drives_of(recorded("laptop"))
    nvme = drives["nvme0n1"]
    assert (nvme.serial, nvme.kind, nvme.size_bytes) == ("S7KHNJ0W000001", "nvme", 3907029168 * 512)
    assert nvme.stable_name == "/dev/disk/by-id/nvme-Samsung_SSD_990_PRO_2TB_S7KHNJ0W000001"
    luks = part(nvme, "nvme0n1p3")
    assert (luks.filesystem, luks.mount_point, codes(luks)) == ("crypto_LUKS", "/", ["mounted", "encrypted"])
    photos = part(drives["mmcblk0"], "mmcblk0p1")
    assert (photos.label, photos.mount_point) == ("holiday photos", "/media/me/holiday photos")


def test_a_nas_shows_eight_disks_and_their_array_with_verdicts(recorded: Recorded) -> None:
    drives = drives_of(recorded("nas"))
    assert (drives["md0"].kind, drives["md0"].bus, drives["md0"].model) == ("array", "md", "raid6 array")
    assert drives["md0"].smr.kind == "drive-managed"
    assert shingled_members(drives["md0"]) == ["sdd", "sde", "sdf"]
    assert drives["sda"].model == "WDC WD40EFRX-68N32N0", "IDENTIFY has the whole name, SCSI 16 characters of it"
    assert use_texts(drives["sda"]) == [
        "sda1 is mounted on /srv/backup", "sda1 is mounted on /srv/pool", "sda1 holds the RAID array md0",
    ]  # fmt: skip
    assert part(drives["md0"]).mount_point == "/srv/pool", "not the subvolume"
    assert [partition.name for partition in drives["sdh"].partitions] == ["sdh1", "sdh5"], "no extended one's frame"
    assert codes(drives["sdh"]) == ["mounted", "swap"]
    assert smr_of(drives["sdd"]) == ("drive-managed", "strong"), "by the table"
    assert smr_of(drives["sde"]) == ("drive-managed", "certain"), "by IDENTIFY word 69"


def test_bridges_and_sticks_are_told_from_disks(recorded: Recorded) -> None:
    drives = drives_of(recorded("usb"))
    hidden, shown, stick = drives["sdb"], drives["sdc"], drives["sdd"]
    assert (hidden.bus, hidden.kind, hidden.bridge) == ("usb", "unknown", "ASMedia ASMT1051 (174c:55aa)")
    assert smr_of(hidden)[0] == "unknown"
    assert part(hidden).label == "Safe", "a filesystem without a partition table"
    assert (shown.model, shown.rpm, smr_of(shown)[0]) == ("WDC WD20SDRW-11VUUS0", 5400, "drive-managed")
    assert (stick.kind, stick.rotational, smr_of(stick)[0]) == ("flash-card", False, "not-a-hard-disk")


def test_zones_and_multipath_disks_of_a_server(recorded: Recorded) -> None:
    drives = drives_of(recorded("server"))
    assert smr_of(drives["sda"]) == smr_of(drives["nvme0n2"]) == ("host-managed", "certain")
    assert (drives["sdb"].serial, codes(drives["sdb"])) == ("ZA100001", ["multipath-member"])
    assert (drives["dm-0"].model, codes(drives["dm-0"])) == ("mpatha", ["zfs-member"])
    assert part(drives["dm-0"]).mount_point == "/tank"


def test_hostile_text_becomes_harmless(recorded: Recorded) -> None:
    (drive,) = inventory(recorded("hostile"))
    assert drive.model == r"[/b] x\x1b]52;c;aGk=\x07\u202e"
    texts = [drive.model, drive.firmware, *use_texts(drive)]
    for partition in drive.partitions:
        texts += [partition.label, partition.mount_point]
    assert all(text.isprintable() for text in texts)


def test_a_pool_is_judged_by_its_disks(recorded: Recorded) -> None:
    pools = recorded("pools")
    both, mirror = drive_of("/srv/both/backups", pools), drive_of("/tank/media/films", pools)
    assert both is not None and mirror is not None
    assert (both.name, both.model, both.kind) == ("sda+sdb", "ST4000DM004-2CV1 + WDC WD40EFRX-68N", "array")
    assert (both.smr.kind, shingled_members(both)) == ("drive-managed", ["sda"])
    assert (mirror.name, mirror.model, mirror.smr.kind) == ("sdc+sdd", "2 × WDC WD80EFZX-68U", "cmr")
    assert mirror.size_bytes == 2 * 15628053168 * 512


@pytest.mark.parametrize(
    ("name", "path", "disk"),
    [
        ("laptop", "/dev/nvme0n1p2", "nvme0n1"),
        ("laptop", "/run/user/1000/x", None),
        ("nas", "/srv/poolside", "sdh"),
        ("server", "/tank/home", "dm-0"),
        ("pools", "/srv/both", "sda+sdb"),
    ],
)
def test_the_disk_below_a_path(recorded: Recorded, name: str, path: str, disk: str | None) -> None:
    found = drive_of(path, recorded(name))
    assert (found.name if found else None) == disk


def test_the_space_on_a_mounted_disk_is_asked_of_df_which_may_hang(programs: Path, time: SimulatedClock) -> None:
    make_program(programs, "df", "echo 'Avail File'; echo '50 /a b'; echo '- /proc'")
    assert _free_bytes(["/a b", "/proc"]) == {"/a b": 50}
    make_program(programs, "df", f"echo > {programs}/hangs; exec sleep 1000")
    os.mkfifo(programs / "hangs")
    with ThreadPoolExecutor() as pool:
        answer = pool.submit(_free_bytes, ["/a b"])
        (programs / "hangs").read_bytes()
        time.advance(3.0)
        assert answer.result() == {}


def disk(name: str, kind: SmrKind, confidence: Confidence = "strong", serial: str = "") -> Drive:
    return Drive(name, 1 << 40, model=f"MODEL-{name}", serial=serial, smr=SmrVerdict(kind, confidence))


@pytest.mark.parametrize(
    ("members", "kind", "confidence"),
    [
        ([disk("sda", "cmr"), disk("sdb", "drive-managed", "weak")], "drive-managed", "weak"),
        ([disk("sda", "cmr"), disk("sdb", "unknown")], "unknown", "weak"),
        ([disk("sda", "cmr"), disk("nvme0n1", "not-a-hard-disk", "certain")], "cmr", "strong"),
    ],
)
def test_one_shingled_member_is_worth_saying(members: list[Drive], kind: str, confidence: str) -> None:
    verdict = judge_composed(members)
    assert (verdict.kind, verdict.confidence) == (kind, confidence)
    paths = [disk("sda", "drive-managed", serial="Z84"), disk("sdb", "drive-managed", serial="Z84")]
    assert len(judge_composed(paths).evidence) == 1, "two paths to one disk are one member"


EXT4 = "echo ID_FS_TYPE=ext4; echo ID_FS_LABEL=archive; exit 0"
NO_RIGHTS = "echo 'blkid: error: /dev/sdx: Permission denied' >&2; exit 2"
FAILURES = (NO_RIGHTS, "exit 4", "kill -SEGV $$", "echo ID_FS_TYPE=ext4; echo 'I/O error' >&2; exit 0")


@pytest.mark.parametrize(
    ("script", "found"),
    [(EXT4, {"ID_FS_TYPE": "ext4", "ID_FS_LABEL": "archive"}), ("exit 2", {}), *((each, None) for each in FAILURES)],
)
def test_a_failure_is_not_taken_for_nothing(script: str, found: dict[str, str] | None, programs: Path) -> None:
    make_program(programs, "blkid", script)
    assert probe("/dev/sdx") == found


def test_a_disk_that_could_not_be_looked_at_says_so(programs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_program(programs, "blkid", NO_RIGHTS)
    monkeypatch.setattr("fswizard.drives.contents.UDEV", "/nonexistent")
    (drive,) = describe(("sdx",), HERE)
    assert "sdx couldn't be read" in drive.pending


LINE = r"41 22 179:1 /@home /media/holiday\040photos rw,nosuid shared:7 master:2 - btrfs /dev/sda1 rw,space_cache"


def test_mountinfo_is_read_and_the_deepest_mount_counts() -> None:
    (mount,) = parse([LINE])
    assert mount == Mount("179:1", "/@home", "/media/holiday photos", "btrfs", "/dev/sda1")
    table = [mounted("/", "a"), mounted("/srv", "b"), mounted("/srv", "c"), mounted("/srv/data", "d")]
    for path, source in {"/srv/x": "c", "/srv/data": "d", "/srvx": "a", "/srv/database": "c"}.items():
        found = mount_of(path, table)
        assert found is not None and found.source == source


def mounted(point: str, source: str) -> Mount:
    return Mount("8:1", "/", point, "ext4", source)


def test_names_cut_in_two_fabrics_removable_and_virtual_disks_are_taken_for_what_they_are(recorded: Recorded) -> None:
    def known(name: str) -> dict[str, Drive]:
        machine = recorded(name)
        return {drive.name: drive for drive in describe(machine.names("/sys/block"), machine)}

    dock = known("usb-dock-split-names")
    assert [(disk.model, disk.smr.kind) for disk in dock.values()] == [
        ("WDC WD40EFAX-68JH4N1", "drive-managed"),
        ("ST8000DM004-2CX188", "drive-managed"),
    ]
    served = known("nvme-over-tcp")["nvme1n1"]
    assert (served.kind, served.smr.kind) == ("virtual", "unknown"), "whatever lies behind it"
    odd = known("odd-devices")
    assert odd["sdg"].smr.kind == "unknown", "a USB hard disk that calls itself removable"
    assert {odd[name].kind for name in ("zd0", "xvda", "rbd0", "sdd")} == {"virtual"}
    assert odd["sdf"].smr.kind == "cmr", "by the product's name, whoever sells it"


def test_a_loop_device_is_offered_only_where_its_file_is_there_and_ones_own(tmp_path: Path) -> None:
    own, gone = tmp_path / "own.img", tmp_path / "gone.img"
    own.touch()
    assert not is_file_of_others(Drive("loop1", 1, str(own), bus="loop"))
    assert is_file_of_others(Drive("loop2", 1, f"{gone} (deleted)", bus="loop"))
    assert not is_file_of_others(Drive("sda", 1, "ST8000", bus="sata"))
    if os.geteuid() == 0:
        os.chown(own, 65534, 65534)
        assert is_file_of_others(Drive("loop1", 1, str(own), bus="loop"))
