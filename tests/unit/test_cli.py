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
    (("run", "--resume", "x", "--seed", "3"), "invalid ['--seed']"),
    (("run", "--time", "soon"), "'soon' is not a duration"),
    (("run", "--baseline", "ntfs", "--candidates", "ext4; xfs"), "baseline ntfs"),
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


RECORDED = Path(__file__).parents[1] / "recorded" / "smartctl"
SHINGLED, CONVENTIONAL = RECORDED / "WDC_WD40EFAX-68JH4N1.txt", RECORDED / "TOSHIBA_HDWD120.txt"


def test_names_files_standard_input_and_several_disks_in_one_file_are_judged_in_order(tmp_path: Path) -> None:
    both = tmp_path / "all.txt"
    both.write_bytes(SHINGLED.read_bytes() + CONVENTIONAL.read_bytes())
    done = fswizard("smr", "--json", "WD80EFAX", str(both), "-", stdin=SHINGLED.read_bytes())
    assert done.returncode == 0, done.stderr
    documents = json.loads(done.stdout)
    assert documents[0].keys() == {"source", "model", "problem", "verdict", "confidence", "evidence", "advice"}
    assert [item["verdict"] for item in documents] == ["cmr", "drive-managed", "cmr", "drive-managed"]
    assert [item["source"] for item in documents] == ["WD80EFAX", str(both), f"{both} (2)", "-"]
    assert "SMR, drive-managed (strong evidence)" in fswizard("smr", "ST8000AS0002").stdout


def test_files_that_cannot_be_read_are_errors_and_the_others_are_judged(tmp_path: Path) -> None:
    other = tmp_path / "notes.txt"
    other.write_bytes(b"\x1b[2J nothing about disks \xff")
    done = fswizard("smr", "--json", str(other))
    (document,) = json.loads(done.stdout)
    assert (done.returncode, document["verdict"], document["problem"] in done.stderr) == (1, "unknown", True)
    other.write_bytes(SHINGLED.read_bytes() + b'\n{"json_format_version": [1, 0], "model_name": "ST1')
    for named, code in ((other, 5), (tmp_path / "absent.txt", 2), (tmp_path, 2), ("/dev/null", 2)):
        done = fswizard("smr", "--json", str(named), str(SHINGLED))
        assert (done.returncode, bool(done.stderr)) == (code, True)
        assert json.loads(done.stdout)[-1]["verdict"] == "drive-managed"


def test_drives_are_listed_as_json_and_for_people(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = inventory(machine("laptop", tmp_path))
    monkeypatch.setattr(drives, "inventory", lambda: found)
    monkeypatch.setattr(drives, "details_each", lambda drives, **_: iter(drives))
    documents = json.loads(fswizard("drives", "--json").stdout)
    named = [(drive["name"], drive["smr"]["verdict"]) for drive in documents]
    assert named == [("nvme0n1", "not-a-hard-disk"), ("mmcblk0", "not-a-hard-disk")]
    assert "nvme0n1  Samsung SSD 990 PRO 2TB  2.00 TB  NVMe SSD (nvme)" in fswizard("drives").stdout


def test_the_newest_result_or_a_named_one_is_reported_in_the_format_of_the_files_ending(
    newest: Path, tmp_path: Path
) -> None:
    done = fswizard("report")
    assert (done.returncode, done.stderr, done.stdout) == (0, "", export(RESULT, "text"))
    assert fswizard("report", str(newest)).stdout == fswizard("report", "ST8000AS0002").stdout == done.stdout
    page = tmp_path / "page.html"
    assert fswizard("report", "--output", str(page)).returncode == 0
    assert fswizard("report", "--output", str(page), "--format", "text").returncode == 2, "it exists already"
    assert page.read_text("utf-8").startswith("<!DOCTYPE html>")


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


def test_weights_needs_and_names_are_as_asked_for(newest: Path) -> None:
    deleting = document("--what-if", "large-files=0, random-append=0")
    assert document()["answer"]["choice"] != deleting["answer"]["choice"]
    assert document("--need", "checksums")["answer"]["choice"] == ["btrfs:noatime"]
    assert "annes-box" in json.dumps(document("--identify"))


@pytest.mark.parametrize(("arguments", "code"), [(("report", "--full"), 0), (("frobnicate\u25cf",), 2)])
def test_a_terminal_of_any_encoding_gets_text(arguments: tuple[str, ...], code: int, newest: Path) -> None:
    assert fswizard(*arguments, encoding="ascii").returncode == code


def test_who_has_no_home_directory_is_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HOME", "XDG_STATE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(pwd, "getpwuid", {}.__getitem__)
    done = fswizard("history")
    assert (done.returncode, done.stderr.splitlines()[0]) == (4, "fswizard: This account has no home directory.")


def test_the_history_lists_answers_and_is_searched(newest: Path) -> None:
    listed = fswizard("history").stdout
    assert listed.startswith(newest.stem) and conclude(RESULT).answer.verdict in " ".join(listed.split())
    assert newest.stem in fswizard("history", "st8000", "2026-01", "quick", "btrfs").stdout
    assert fswizard("history", "WD40").stdout == ""
