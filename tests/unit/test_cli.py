"""The command line as people and scripts call it: what is wrong is one clear message, what is right is data."""

from __future__ import annotations

import json
import pwd
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from fswizard import results
from fswizard.advice import conclude
from fswizard.cli import drives
from fswizard.cli.output import deliver
from fswizard.drives import inventory
from fswizard.errors import UsageError
from fswizard.sharing import export
from tests.builders import write_result
from tests.fakes.command_line import fswizard
from tests.recorded.machines import machine
from tests.unit.report_findings import make_findings

PROGRAM = (sys.executable, "-m", "fswizard")


pytestmark = pytest.mark.usefixtures("everything_is_installed")


RESULT = make_findings().result


@pytest.fixture
def newest(state: Path) -> Path:
    path = results.new_path(RESULT.plan)
    findings = conclude(RESULT)
    write_result(path, RESULT, findings.analysis, findings.answer)
    return path


WRONG = [
    (("run", "--seed", "x"), "The seed 'x' isn't a whole number."),
    (("frobnicate",), "no subcommand 'frobnicate'"),
    (("run", "--frobnicate"), "Unknown switch --frobnicate."),
    (("run", "quick", "more"), "got ['quick', 'more']"),
    (("run", "--resume", "x", "--seed", "3"), "invalid ['--seed']"),
    (("run", "--time", "soon"), "'soon' is not a duration"),
    (("run", "--baseline", "ntfs", "--candidates", "ext4; xfs"), "baseline ntfs"),
    (("run", "--rounds", "many"), "'many' isn't a number of rounds"),
    (("smr",), "Name something to check"),
    (("report", "nothing-like-it"), "no result 'nothing-like-it'"),
    (("report", "--what-if", "speed=0"), "It has: large-files, "),
    (("report", "--what-if", "search"), "isn't a weight"),
    (("report", "--output", "/nowhere/a.txt"), "/nowhere/a.txt cannot be written"),
    ((), "fswizard run quick"),
]


@pytest.mark.parametrize(("arguments", "words"), WRONG)
@pytest.mark.usefixtures("newest")
def test_wrong_usage_is_one_clear_message_with_exit_code_2(arguments: tuple[str, ...], words: str) -> None:
    done = fswizard(*arguments)
    assert words in done.stderr
    assert (done.returncode, done.stdout) == (2, "")
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("redirected", "code", "words"),
    [
        (">&-", 2, "Standard output is closed."),
        (">/dev/full", 1, "Standard output cannot be written: No space left on device."),
        ("<&- 2>&-", 0, ""),
        ("| true", 0, ""),
    ],
)
def test_output_that_cannot_be_written_is_one_clear_error_and_none_where_nobody_reads_it(
    redirected: str, code: int, words: str
) -> None:
    command = ["bash", "-o", "pipefail", "-c", f"{shlex.join(PROGRAM)} recipes {redirected}"]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    assert (done.returncode, bool(done.stderr)) == (code, bool(words))
    assert words in done.stderr
    assert "Traceback" not in done.stderr


def test_help_is_data() -> None:
    for arguments in (("--help",), ("run", "--help")):
        done = fswizard(*arguments)
        assert (done.returncode, "Usage" in done.stdout) == (0, True)


RECORDED = Path(__file__).parents[1] / "recorded" / "smartctl"
SHINGLED, CONVENTIONAL = RECORDED / "WDC_WD40EFAX-68JH4N1.txt", RECORDED / "TOSHIBA_HDWD120.txt"


def test_names_files_standard_input_and_several_disks_in_one_file_are_judged_in_order(tmp_path: Path) -> None:
    both = tmp_path / "all.txt"
    both.write_bytes(SHINGLED.read_bytes() + CONVENTIONAL.read_bytes())
    done = fswizard("smr", "--json", "WD80EFAX", str(both), "-", stdin=SHINGLED.read_bytes())
    assert done.returncode == 0, done.stderr
    documents = json.loads(done.stdout)
    assert [item["verdict"] for item in documents] == ["cmr", "drive-managed", "cmr", "drive-managed"]
    assert [item["source"] for item in documents] == ["WD80EFAX", str(both), f"{both} (2)", "-"]
    keys = {"source", "model", "problem", "verdict", "confidence", "evidence", "advice"}
    assert all(set(item) == keys for item in documents)
    assert "SMR, drive-managed (strong evidence)" in fswizard("smr", "ST8000AS0002").stdout


def test_files_that_cannot_be_read_are_errors_and_the_others_are_judged(tmp_path: Path) -> None:
    done = fswizard("smr", "--json", str(tmp_path / "absent.txt"), str(tmp_path), "/dev/null", str(SHINGLED))
    assert done.returncode == 2
    assert all(words in done.stderr for words in ("absent.txt", "Is a directory", "not a file"))
    assert [item["verdict"] for item in json.loads(done.stdout)] == ["drive-managed"]


def test_output_of_something_else_or_in_part_is_reported(tmp_path: Path) -> None:
    other = tmp_path / "notes.txt"
    other.write_bytes(b"\x1b[2J nothing about disks \xff")
    done = fswizard("smr", "--json", str(other))
    (document,) = json.loads(done.stdout)
    assert (document["verdict"], done.returncode) == ("unknown", 1)
    assert document["problem"] in done.stderr
    other.write_bytes(SHINGLED.read_bytes() + b'\n{"json_format_version": [1, 0], "model_name": "ST1')
    done = fswizard("smr", str(other))
    assert (done.returncode, "SMR, drive-managed" in done.stdout) == (5, True)
    assert "can't be read beyond line" in done.stderr


def test_drives_are_listed_as_json_and_for_people(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = inventory(machine("laptop", tmp_path))
    monkeypatch.setattr(drives, "inventory", lambda: found)
    monkeypatch.setattr(drives, "details_each", lambda drives, **_: iter(drives))
    documents = json.loads(fswizard("drives", "--json").stdout)
    assert [drive["name"] for drive in documents] == ["nvme0n1", "mmcblk0"]
    assert {"verdict", "confidence", "evidence", "advice"} == set(documents[0]["smr"])
    assert "nvme0n1  Samsung SSD 990 PRO 2TB  2.00 TB  NVMe SSD (nvme)" in fswizard("drives").stdout


def test_the_newest_result_or_a_named_one_is_reported_in_the_format_of_the_files_ending(
    newest: Path, tmp_path: Path
) -> None:
    done = fswizard("report")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == export(RESULT, "text")
    assert fswizard("report", str(newest)).stdout == fswizard("report", "ST8000AS0002").stdout == done.stdout
    page = tmp_path / "page.html"
    assert fswizard("report", "--output", str(page)).returncode == 0
    written = page.read_text("utf-8")
    assert written.startswith("<!DOCTYPE html>")
    again = fswizard("report", "--output", str(page), "--format", "text")
    assert (again.returncode, page.read_text("utf-8")) == (2, written), "it exists already"


def test_a_pipe_gets_a_picture_as_it_is_and_no_terminal_one(
    capsysbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    deliver(b"\x89PNG\r\n", None)
    assert capsysbinary.readouterr().out == b"\x89PNG\r\n"
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    with pytest.raises(UsageError, match="A terminal shows no PNG"):
        deliver(b"\x89PNG", None)


def document(*arguments: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(fswizard("report", "--format", "json", *arguments).stdout)
    return found


def test_weights_needs_names_and_ascii_are_as_asked_for(newest: Path) -> None:
    deleting = document("--what-if", "large-files=0, random-append=0")
    assert document()["answer"]["choice"] != deleting["answer"]["choice"]
    assert document("--need", "checksums")["answer"]["choice"] == ["btrfs:noatime"]
    assert "annes-box" in json.dumps(document("--identify"))
    assert "System" not in fswizard("report").stdout
    assert "System" in fswizard("report", "--full").stdout


def test_a_terminal_of_any_encoding_gets_text(newest: Path) -> None:
    for arguments in (("report",), ("frobnicate\u25cf",)):
        done = fswizard(*arguments, encoding="ascii")
        assert "Traceback" not in done.stderr
        assert done.stdout or done.returncode == 2


def test_who_has_no_home_directory_is_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HOME", "XDG_STATE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(pwd, "getpwuid", {}.__getitem__)
    done = fswizard("history")
    assert (done.returncode, done.stderr.splitlines()[0]) == (4, "fswizard: This account has no home directory.")


def test_the_history_lists_answers_and_is_searched(newest: Path) -> None:
    lines = fswizard("history").stdout.splitlines()
    assert lines[0] == newest.stem
    assert "quick on ST8000AS0002-1NA17Z" in lines[2]
    assert conclude(RESULT).answer.verdict in " ".join(" ".join(lines).split())
    assert newest.stem in fswizard("history", "st8000", "2026-01", "quick", "btrfs").stdout
    assert fswizard("history", "WD40").stdout == ""
