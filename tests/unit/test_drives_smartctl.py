"""Asking through smartctl, with a smartctl that answers, refuses, hangs or is absent."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from fswizard.drives.smartctl import details, details_each
from fswizard.model.drive import Drive
from tests.builders import make_drive
from tests.fakes.clock import SimulatedClock
from tests.fakes.machine import make_program, without_root
from tests.recorded.machines import machine

ANSWER = {
    "smartctl": {"version": [7, 3], "exit_status": 0},
    "device": {"protocol": "ATA", "type": "sat"},
    "model_name": "ST4000DM004-2CV104",
    "model_family": "Seagate BarraCuda 3.5 (SMR)",
    "serial_number": "ZFN00001",
    "firmware_version": "0001",
    "rotation_rate": 5425,
    "trim": {"supported": False},
    "smart_status": {"passed": True},
    "temperature": {"current": 34},
    "power_on_time": {"hours": 1234},
}


def answering(directory: Path, answer: dict[str, object], code: int = 0, only: str = "") -> None:
    """A smartctl that notes its arguments and answers, to calls that contain `only`."""
    (directory / "answer.json").write_text(json.dumps(answer))
    note = f'echo "$@" >> {directory}/calls'
    answered = f'case "$*" in *"{only}"*) cat {directory}/answer.json; exit {code};; esac'
    silent = json.dumps(saying("Unknown USB bridge [0x174c:0x55aa]"))
    make_program(directory, "smartctl", f"{note}\n{answered}\necho '{silent}'; exit 1")


def saying(message: str) -> dict[str, object]:
    """An answer that is a message alone."""
    return {"smartctl": {"version": [7, 3], "messages": [{"string": message}]}}


def calls(directory: Path) -> list[str]:
    return (directory / "calls").read_text().splitlines()


def disk(**fields: object) -> Drive:
    return make_drive("unknown", **{"name": "sdzz", "model": "ST4000DM004-2CV1", **fields})


def test_an_answer_fills_in_what_the_kernel_does_not_know_and_a_sleeping_disk_is_left_asleep(programs: Path) -> None:
    answering(programs, ANSWER)
    known = details(disk())
    assert (known.model, known.serial, known.rpm) == ("ST4000DM004-2CV104", "ZFN00001", 5425)
    assert (known.health, known.temperature_c, known.power_on_hours) == ("good", 34, 1234)
    assert (known.smr.kind, known.pending) == ("drive-managed", "")
    assert {"smartctl-family", "model-table"} <= {piece.code for piece in known.smr.evidence}
    assert "--log farm" in calls(programs)[-1], "as Seagate's disks have one"
    answering(programs, saying("Device is in STANDBY mode, exit(2)"), code=2)
    asleep = details(disk())
    assert "asleep" in asleep.pending
    assert "--nocheck standby" in calls(programs)[-1]
    details(disk(), wake=True)
    assert "--nocheck" not in calls(programs)[-1]


def test_nonsense_is_no_answer(programs: Path) -> None:
    make_program(programs, "smartctl", "printf '{\"smartctl\": [1, \\033[2J'")
    known = details(disk())
    assert known.pending.isprintable() and known.pending


def test_one_that_hangs_holds_up_no_other(programs: Path, time: SimulatedClock) -> None:
    answering(programs, ANSWER)
    hanging = f'case "$*" in *sdhang*) echo > {programs}/hangs; exec sleep 1000;; esac'
    make_program(programs, "smartctl", f"{hanging}; cat {programs}/answer.json")
    os.mkfifo(programs / "hangs")
    arriving = details_each([disk(), disk(name="sdhang"), disk(name="sdy")], timeout_s=10.0)
    assert [next(arriving).health for _ in range(2)] == ["good", "good"]
    (programs / "hangs").read_bytes()
    time.advance(11.0)
    assert "did not answer" in next(arriving).pending


def test_without_root_or_smartctl_the_user_is_told_what_is_missing(
    programs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    without_root(monkeypatch)
    answering(programs, saying("Smartctl open device: /dev/sdzz failed: Permission denied"), code=2)
    known = details(disk(model="HGST HTS541010B7E610"))
    assert "needs root" in known.pending and "smartctl -x /dev/sdzz | fswizard smr -" in known.pending
    monkeypatch.setattr("fswizard.system.commands.find", lambda program: None)
    known = details(disk(model="HGST HTS541010B7E610"))
    assert "not installed" in known.pending and "fswizard doctor" in known.pending


def test_a_bridge_is_got_through(programs: Path, tmp_path: Path) -> None:
    hidden = disk(name="sdb", model="ASMT109x - Safe", bus="usb", kind="unknown", bridge="ASMedia")
    usb = machine("usb", tmp_path)
    answering(programs, ANSWER, only="--device sat ")
    known = details(hidden, tree=usb)
    assert (known.model, known.kind, known.smr.kind) == ("ST4000DM004-2CV104", "hdd", "drive-managed")
    answering(programs, ANSWER, only="no such call")
    still_hidden = details(hidden, tree=usb)
    assert still_hidden.smr.kind == "unknown"
    assert "Unknown USB bridge" in still_hidden.pending


def statistic(page: int, offset: int, value: int, *, valid: bool = True) -> dict[str, object]:
    """What `--log devstat` adds, cut down to one figure: 5 % used, or the sectors written, of a real disk."""
    row = {"offset": offset, "value": value, "flags": {"valid": valid}}
    return {"ata_device_statistics": {"pages": [{"number": page, "table": [row]}]}}


@pytest.mark.parametrize(
    ("document", "used", "written"),
    [
        (statistic(1, 24, 8274386439), None, 8274386439 * 512),
        (statistic(7, 8, 5), 5, None),
        (statistic(7, 8, 5, valid=False), None, None),
        ({"nvme_smart_health_information_log": {"data_units_written": 5859375, "percentage_used": 3}}, 3, 3 * 10**12),
        ({"temperature": "hot", "endurance_used": [1], "nvme_smart_health_information_log": None}, None, None),
    ],
)
def test_wear_is_read_where_its_unit_is_known(
    document: dict[str, object], used: int | None, written: int | None, programs: Path
) -> None:
    answering(programs, {"model_name": "An SSD", "rotation_rate": 0, **document})
    known = details(disk(kind="ssd"))
    assert (known.life_used_percent, known.written_bytes) == (used, written)
    assert "--log devstat" in calls(programs)[-1]


def test_what_smartctl_cannot_ask_is_left_alone(programs: Path) -> None:
    answering(programs, ANSWER)
    drive = make_drive(bus="virtio")
    assert details(drive) is drive
    assert not (programs / "calls").exists()
