"""What confirms one disk and no other: in the plan, on the command line, and when it is claimed."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from fswizard.disks import choice
from fswizard.drives import may_erase
from fswizard.drives.devices import find_device, losses
from fswizard.errors import Refused
from fswizard.model.plan import Target
from fswizard.system.block_device import Tree
from tests.builders import make_plan
from tests.recorded import machines
from tests.unit.test_may_erase import PART, SERIAL, attach, stage

DOCK = {"sdb": "usb-WDC_WD40_EFAX-68JH4N1_152D00539000-0:0", "sdc": "usb-ST8000DM_004-2CX188_152D00539000-0:1"}
STICK = "usb-Generic_Flash_Disk_0123456789ABCDEF-0:0"
WWID = "naa.5000c500a1b2c3d0"


def identifiers(machine: Tree, name: str) -> dict[str, str]:
    return may_erase.identifiers(find_device(f"/dev/{name}", machine).facts)


def against(machine: Tree, name: str, typed: str | None = None) -> list[str]:
    """Cases of what the plan, and with what was typed root, say about how the device is confirmed."""
    found = may_erase.findings(find_device(f"/dev/{name}", machine).facts, typed=typed)
    return [it.case for it in found if it.code in ("no-serial", "wrong-serial")]


@pytest.mark.parametrize("name", DOCK)
def test_two_disks_in_a_dock_have_its_serial_number_and_are_confirmed_by_their_names(name: str, tmp_path: Path) -> None:
    machine = machines.machine("dock", tmp_path)
    for wrong in ("152D00539000", *(DOCK.keys() - {name}), ""):
        assert against(machine, name, wrong) == ["wrong-serial"]
    assert not against(machine, name, DOCK[name])


def test_two_sticks_that_nothing_tells_apart_are_refused(tmp_path: Path) -> None:
    machine = machines.machine("twins", tmp_path)
    for name in ("sdb", "sdc"):
        for typed in (None, "0123456789ABCDEF", STICK):
            assert against(machine, name, typed) == ["no-serial/twins"]
    for link in ("sys/block/sdc", "sys/class/block/sdc"):
        (machine.root / link).unlink()
    assert find_device("/dev/sdb", machine).identifiers == (STICK,), "once the other one is unplugged"
    assert against(machine, "sdb", "0123456789ABCDEF") == ["wrong-serial"]


@pytest.mark.parametrize(
    ("wwid", "sectors", "same"),
    [(WWID, "15628053168", True), (WWID, "2048", False), ("naa.5000c500ffffffff", "15628053168", False)],
)
def test_a_path_has_the_same_wwn_and_size(wwid: str, sectors: str, same: bool, tmp_path: Path) -> None:
    machine = stage(tmp_path, {"BLOCK/device/wwid": WWID}, {})
    attach(tmp_path, "sdc", "8:32", device__serial=SERIAL, device__wwid=wwid, size=sectors)
    assert (SERIAL in identifiers(machine, "sdb")) == same


@pytest.mark.parametrize("wwid", ["t10.ATA     ST8000    Z8400000", "naa.0000000000000000"])
def test_a_wwn_made_of_the_serial_number_or_of_zeros_makes_no_path(wwid: str, tmp_path: Path) -> None:
    machine = stage(tmp_path, {"BLOCK/device/wwid": wwid}, {})
    attach(tmp_path, "sdc", "8:32", device__serial=SERIAL, device__wwid=wwid)
    assert list(identifiers(machine, "sdb")) == [f"ata-ST8000_{SERIAL}"]


@pytest.mark.parametrize("serial", ["0123456789abcdef", "123456789012", "Generic", "000000000000", "1", ""])
def test_a_placeholder_confirms_nothing_but_the_lasting_name_does(serial: str, tmp_path: Path) -> None:
    machine = stage(tmp_path, {"BLOCK/device/serial": serial}, {})
    target = find_device("/dev/sdb", machine)
    assert (target.identifiers, target.kind) == ((f"ata-ST8000_{SERIAL}",), "name in /dev/disk/by-id")
    assert against(machine, "sdb", serial) == ["wrong-serial"]
    (tmp_path / "run/udev/data/b8:16").unlink()
    assert against(machine, "sdb") == ["no-serial"]


@pytest.mark.parametrize(
    ("files", "udev", "typed", "kind"),
    [
        ({}, PART, SERIAL, "serial number"),
        ({"BLOCK/device/serial": ""}, {}, f"ata-ST8000_{SERIAL}-part1", "name in /dev/disk/by-id"),
        ({"BLOCK/device/serial": "", "BLOCK/device/wwid": WWID}, PART, WWID, "name in /dev/disk/by-id"),
        ({"BLOCK/loop/backing_file": "/home/a/image"}, PART, "/home/a/image", "file's path"),
    ],
)
def test_a_partition_is_confirmed_by_numbers_of_its_disk_or_names_of_its_own(
    files: dict[str, str], udev: dict[str, str], typed: str, kind: str, tmp_path: Path
) -> None:
    machine = stage(tmp_path, files, {"sdb1": udev})
    assert find_device("/dev/sdb1", machine).kind == kind
    assert not against(machine, "sdb1", typed)

    for wrong in (f"{typed}1", "", " ", f"ata-ST8000_{SERIAL}"):
        assert against(machine, "sdb1", wrong) == ["wrong-serial"]


@pytest.mark.parametrize(
    ("name", "attributes"),
    [("sdc", {"size": "0"}), ("nvme0c0n1", {"hidden": "1"}), ("dm-0", {"slaves__sdb": ""})],
)
def test_what_is_no_other_disk_takes_no_number_away(name: str, attributes: dict[str, str], tmp_path: Path) -> None:
    machine = stage(tmp_path, {}, {})
    attach(tmp_path, name, "8:32", device__serial=SERIAL, **attributes)
    assert SERIAL in identifiers(machine, "sdb")


def test_what_cannot_be_printed_or_a_copy_has_too_cannot_be_typed(tmp_path: Path) -> None:
    machine = stage(tmp_path, {"BLOCK/device/serial": "Z84\x1b[2J"}, {})
    assert list(identifiers(machine, "sdb")) == [f"ata-ST8000_{SERIAL}"]
    root = tmp_path / "copied"
    machine = stage(root, {"BLOCK/device/serial": ""}, {"sdb1": PART})
    attach(root, "sdc", "8:32", sdc1__partition="1", sdc1__dev="8:33")
    assert "77-partuuid" in identifiers(machine, "sdb1")
    machines.record(root, "sdc1", PART)
    assert "77-partuuid" not in identifiers(machine, "sdb1")


def test_both_disks_of_a_dock_are_named_on_the_command_line_and_a_twin_of_later_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dock, twins = (machines.machine(name, tmp_path / name) for name in ("dock", "twins"))
    monkeypatch.setattr(choice, "find_device", partial(find_device, tree=dock))
    docked = [find_device(f"/dev/{name}", dock) for name in DOCK]
    members = [choice.member_of(each) for each in docked]
    made = make_plan(target=Target.of("device", members), losses=(*losses(docked[0]), *losses(docked[1])))
    with pytest.raises(Refused) as refused:
        choice.require_confirmation(made)
    assert refused.value.hint.endswith(f"--erase {','.join(DOCK.values())}")
    confirmed = choice.confirmed(made, f"{DOCK['sdc']}, {DOCK['sdb']}")
    assert [member.identifier for member in confirmed.target.members] == [*DOCK.values()]

    both = f"{DOCK['sdc']},{DOCK['sdb']}"
    for typed in ("152D00539000,152D00539000", f"{DOCK['sdb']},{DOCK['sdb']}", f"{both},Z84", f"{both},{DOCK['sdb']}"):
        with pytest.raises(Refused):
            choice.confirmed(made, typed)
    same = replace(made, target=Target.of("device", members[:1] * 2))
    with pytest.raises(Refused, match="is not the name"):  # what is typed once confirms one of two targets
        choice.confirmed(same, DOCK["sdb"])
    monkeypatch.setattr(choice, "find_device", partial(find_device, tree=twins))
    with pytest.raises(Refused, match="nothing else tells them apart"):
        choice.devices_of(make_plan(target=Target("device", "/dev/sdb")))
