"""Recorded machines give the inventory that a user would expect of them; what disks hold, and where it is mounted."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from fswizard.drives import drive_of, inventory, is_file_of_others
from fswizard.drives.contents import probe
from fswizard.drives.devices import find_device
from fswizard.drives.inventory import _free_bytes, describe
from fswizard.drives.may_erase import identifiers
from fswizard.drives.smr import judge_composed
from fswizard.model.drive import Confidence, Drive, SmrKind, SmrVerdict
from fswizard.system.block_device import HERE, Tree
from fswizard.system.mounts import Mount, mount_of
from tests.fakes.machine import make_program
from tests.recorded.machines import HERE as RECORDED
from tests.recorded.machines import machine

EXPECTED = [line.split("\t", 1) for line in (RECORDED / "inventory.tsv").read_text("utf-8").splitlines()[1:]]


def row(drive: Drive, tree: Tree) -> str:
    """A line of the recorded inventory, without the machine: what a disk is, what confirms it, and what is on it."""
    confirming = identifiers(find_device(f"/dev/{drive.name.replace('!', '/')}", tree).facts)
    cells = [drive.name, drive.kind, drive.bus, drive.model, drive.serial, drive.bridge, str(drive.rpm or "")]
    cells += [f"{drive.smr.kind} ({drive.smr.confidence})", " ".join(use.code for use in drive.uses)]
    cells.append("; ".join(f"{text} ({kind})" for text, kind in confirming.items()))
    for part in drive.partitions:
        uses = " ".join(use.code for use in part.uses)
        cells.append(f"{part.name}, {part.filesystem}, {part.label}, {part.mount_point}, {uses}")
    return "\t".join(cells).rstrip()


@pytest.mark.parametrize("name", dict.fromkeys(name for name, _ in EXPECTED))
def test_a_recorded_machine_has_the_disks_that_its_owner_would_name(name: str, tmp_path: Path) -> None:
    tree = machine(name, tmp_path)
    rows = [row(drive, tree) for drive in inventory(tree)]
    assert rows == [expected for whose, expected in EXPECTED if whose == name]


@pytest.mark.parametrize(
    ("name", "path", "disk", "model"),
    [
        ("laptop", "/dev/nvme0n1p2", "nvme0n1", "Samsung SSD 990 PRO 2TB"),
        ("laptop", "/run/user/1000/x", "", ""),
        ("nas", "/srv/poolside", "sdh", "INTEL SSDSC2BB240G4"),
        ("server", "/tank/home", "dm-0", "mpatha"),
        ("pools", "/srv/both/backups", "sda+sdb", "ST4000DM004-2CV1 + WDC WD40EFRX-68N"),
        ("pools", "/tank/media/films", "sdc+sdd", "2 × WDC WD80EFZX-68U"),
    ],
)
def test_the_disk_below_a_path(name: str, path: str, disk: str, model: str, tmp_path: Path) -> None:
    found = drive_of(path, machine(name, tmp_path))
    assert (found and (found.name, found.model)) == ((disk, model) if disk else None)


def test_the_space_on_a_mounted_disk_is_asked_of_df_which_may_fail(programs: Path) -> None:
    make_program(programs, "df", "echo 'Avail File'; echo '50 /a b'; echo '- /proc'")
    assert _free_bytes(["/a b", "/proc"]) == {"/a b": 50}
    (programs / "df").write_bytes(b"\x7fELF nonsense")
    assert _free_bytes(["/a b"]) == {}


def disk(kind: SmrKind, confidence: Confidence = "strong") -> Drive:
    return Drive("sda", 1 << 40, serial=kind, smr=SmrVerdict(kind, confidence))


@pytest.mark.parametrize(
    ("other", "kind", "confidence"),
    [
        (disk("drive-managed", "weak"), "drive-managed", "weak"),
        (disk("unknown"), "unknown", "weak"),
        (disk("not-a-hard-disk", "certain"), "cmr", "strong"),
    ],
)
def test_one_shingled_member_is_worth_saying(other: Drive, kind: str, confidence: str) -> None:
    verdict = judge_composed([disk("cmr"), other])
    assert (verdict.kind, verdict.confidence) == (kind, confidence)
    paths = [disk("drive-managed")] * 2
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


def test_the_deepest_and_latest_mount_counts() -> None:
    points = {"/": "a", "/srv": "c", "/srv/data": "d"}
    table = [Mount("8:1", "/", point, "ext4", source) for point, source in [("/srv", "b"), *points.items()]]
    for path, source in {"/srv/x": "c", "/srv/data": "d", "/srvx": "a", "/srv/database": "c"}.items():
        found = mount_of(path, table)
        assert found is not None and found.source == source


def test_a_loop_device_is_offered_only_where_its_file_is_there_and_ones_own(tmp_path: Path) -> None:
    own, gone = tmp_path / "own.img", tmp_path / "gone.img"
    own.touch()
    assert not is_file_of_others(Drive("loop1", 1, str(own), bus="loop"))
    assert is_file_of_others(Drive("loop2", 1, f"{gone} (deleted)", bus="loop"))
    assert not is_file_of_others(Drive("sda", 1, "ST8000", bus="sata"))
    if os.geteuid() == 0:
        os.chown(own, 65534, 65534)
        assert is_file_of_others(Drive("loop1", 1, str(own), bus="loop"))
