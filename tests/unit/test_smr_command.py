"""`fswizard smr` and `fswizard drives` as people and scripts call them."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from pathlib import Path

import pytest

RECORDED = Path(__file__).parents[1] / "recorded" / "smartctl"
SHINGLED = RECORDED / "WDC_WD40EFAX-68JH4N1.txt"


def fswizard(*arguments: str, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "fswizard", *arguments]
    return subprocess.run(command, input=stdin, capture_output=True, timeout=120, check=False)


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
    assert b"absent.txt" in done.stderr
    assert b"is no file" in done.stderr
    assert b"Traceback" not in done.stderr
    assert [item["verdict"] for item in json.loads(done.stdout)] == ["drive-managed"]


def test_a_file_that_is_something_else_is_unknown_and_said_so(tmp_path: Path) -> None:
    other = tmp_path / "notes.txt"
    other.write_bytes(b"\x1b[2J nothing about disks \xff")
    done = fswizard("smr", "--json", str(other))
    assert json.loads(done.stdout)[0]["verdict"] == "unknown"
    assert b"not output of smartctl" in done.stderr


def test_without_a_question_it_is_wrong_usage() -> None:
    done = fswizard("smr")
    assert done.returncode == 2
    assert done.stdout == b""


def test_for_people_it_fits_the_screen_and_keeps_addresses_whole() -> None:
    done = fswizard("smr", "ST8000AS0002", str(SHINGLED))
    text = done.stdout.decode()
    assert "shingled, drive-managed (strong evidence)" in text
    assert max(len(line) for line in text.splitlines() if "://" not in line and "/" not in line) <= 80
    assert "https://www.usenix.org/conference/fast15/technical-sessions/presentation/aghayev" in text


def test_two_thousand_files_take_about_a_second(tmp_path: Path) -> None:
    content = SHINGLED.read_bytes()
    files = [tmp_path / f"{number}.txt" for number in range(2000)]
    for file in files:
        file.write_bytes(content)
    before = cpu_s()
    done = fswizard("smr", "--json", *map(str, files))
    assert len(json.loads(done.stdout)) == 2000
    assert cpu_s() - before < 4, "of the processor's time, whatever else it does meanwhile"


def cpu_s() -> float:
    """Of all programs that this one has started and waited for."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


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
    for target, words in ((str(tmp_path / "absent"), b"cannot be used"), ("/dev/null", b"neither a directory")):
        done = fswizard("smr", "--probe", target)
        assert done.returncode in (2, 3), done.stderr
        assert b"Traceback" not in done.stderr
        assert words in done.stderr or b"lies on no disk" in done.stderr
    soon = fswizard("smr", "--probe", str(tmp_path), "--time", "soon")
    assert soon.returncode == 2
    assert b"'soon' is not a duration" in soon.stderr


def test_drives_are_listed_as_json_and_for_people() -> None:
    done = fswizard("drives", "--json")
    assert done.returncode == 0, done.stderr
    for drive in json.loads(done.stdout):
        assert {"name", "size_bytes", "smr"} <= set(drive)
        assert {"verdict", "confidence", "evidence", "advice"} == set(drive["smr"])
    assert fswizard("drives").returncode == 0


@pytest.mark.parametrize("command", ["smr", "drives"])
def test_help_says_what_there_is(command: str) -> None:
    done = fswizard(command, "--help")
    assert done.returncode == 0
    assert b"--json" in done.stdout
