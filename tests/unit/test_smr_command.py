"""`fswizard smr` and `fswizard drives` as people and scripts call them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fswizard.cli import drives
from fswizard.drives import inventory
from tests.fakes.command_line import fswizard
from tests.recorded.machines import machine

RECORDED = Path(__file__).parents[1] / "recorded" / "smartctl"
SHINGLED = RECORDED / "WDC_WD40EFAX-68JH4N1.txt"


def test_names_files_and_standard_input_in_one_call() -> None:
    done = fswizard("smr", "--json", "WD80EFAX", str(SHINGLED), "-", stdin=SHINGLED.read_bytes())
    assert done.returncode == 0, done.stderr
    documents = json.loads(done.stdout)
    assert [item["verdict"] for item in documents] == ["cmr", "drive-managed", "drive-managed"]
    assert [item["source"] for item in documents] == ["WD80EFAX", str(SHINGLED), "-"]
    for item in documents:
        assert set(item) == {"source", "model", "verdict", "confidence", "evidence", "advice"}
        assert all(set(piece) == {"code", "says", "strength", "text"} for piece in item["evidence"])


def test_what_cannot_be_read_is_said_and_the_rest_goes_on(tmp_path: Path) -> None:
    done = fswizard("smr", "--json", str(tmp_path / "absent.txt"), str(tmp_path), str(SHINGLED))
    assert done.returncode == 2
    assert "absent.txt" in done.stderr
    assert "Is a directory" in done.stderr
    assert "Traceback" not in done.stderr
    assert [item["verdict"] for item in json.loads(done.stdout)] == ["drive-managed"]


def test_a_file_that_is_something_else_is_unknown_and_said_so(tmp_path: Path) -> None:
    other = tmp_path / "notes.txt"
    other.write_bytes(b"\x1b[2J nothing about disks \xff")
    done = fswizard("smr", "--json", str(other))
    assert json.loads(done.stdout)[0]["verdict"] == "unknown"
    assert "not output of smartctl" in done.stderr


def test_without_a_question_it_is_wrong_usage() -> None:
    done = fswizard("smr")
    assert done.returncode == 2
    assert done.stdout == ""


def test_for_people_it_fits_the_screen_and_keeps_addresses_whole() -> None:
    done = fswizard("smr", "ST8000AS0002", str(SHINGLED))
    text = done.stdout
    assert "shingled, drive-managed (strong evidence)" in text
    assert max(len(line) for line in text.splitlines() if "://" not in line and "/" not in line) <= 80
    assert "https://www.usenix.org/conference/fast15/technical-sessions/presentation/aghayev" in text


def test_many_files_are_told_in_their_order(tmp_path: Path) -> None:
    files = [tmp_path / f"{number}.txt" for number in range(100)]
    for number, file in enumerate(files):
        file.write_bytes(SHINGLED.read_bytes() if number % 2 else (RECORDED / "TOSHIBA_HDWD120.txt").read_bytes())
    documents = json.loads(fswizard("smr", "--json", *map(str, files)).stdout)
    assert [item["source"] for item in documents] == list(map(str, files))
    assert [item["verdict"] for item in documents] == ["cmr", "drive-managed"] * 50


def test_every_disk_in_a_file_is_told(tmp_path: Path) -> None:
    file = tmp_path / "all.txt"
    file.write_bytes(SHINGLED.read_bytes() + (RECORDED / "TOSHIBA_HDWD120.txt").read_bytes())
    done = fswizard("smr", "--json", str(file))
    documents = json.loads(done.stdout)
    assert [(item["source"], item["verdict"]) for item in documents] == [
        (str(file), "drive-managed"),
        (f"{file} (2)", "cmr"),
    ]


def test_the_probe_refuses_what_would_tell_nothing_or_cost_data(tmp_path: Path) -> None:
    for target, words in ((str(tmp_path / "absent"), "cannot be used"), ("/dev/null", "neither a directory")):
        done = fswizard("smr", "--probe", target)
        assert done.returncode in (2, 3), done.stderr
        assert "Traceback" not in done.stderr
        assert words in done.stderr or "lies on no disk" in done.stderr
    soon = fswizard("smr", "--probe", str(tmp_path), "--time", "soon")
    assert soon.returncode == 2
    assert "'soon' is not a duration" in soon.stderr


def test_drives_are_listed_as_json_and_for_people(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = inventory(machine("laptop", tmp_path))
    monkeypatch.setattr(drives, "inventory", lambda: found)
    monkeypatch.setattr(drives, "details_each", lambda drives, **_: iter(drives))
    done = fswizard("drives", "--json")
    assert done.returncode == 0, done.stderr
    documents = json.loads(done.stdout)
    assert [drive["name"] for drive in documents] == ["nvme0n1", "mmcblk0", "zram0"]
    for drive in documents:
        assert {"verdict", "confidence", "evidence", "advice"} == set(drive["smr"])
    listing = fswizard("drives")
    assert listing.returncode == 0
    assert "nvme0n1  Samsung SSD 990 PRO 2TB  2.00 TB  NVMe (nvme)" in listing.stdout


@pytest.mark.parametrize("command", ["smr", "drives"])
def test_help_says_what_there_is(command: str) -> None:
    done = fswizard(command, "--help")
    assert done.returncode == 0
    assert "--json" in done.stdout
