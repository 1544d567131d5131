from __future__ import annotations

import subprocess
import sys

import pytest

from fswizard.filesystems import Availability
from tests.fakes.command_line import fswizard
from tests.fakes.host import ModelHost, use

PROGRAM = (sys.executable, "-m", "fswizard")


@pytest.fixture(autouse=True)
def everything_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """What somebody asks for is wrong here, not what the machine lacks."""
    monkeypatch.setattr("fswizard.session.planning.find", lambda program: f"/usr/bin/{program}")
    monkeypatch.setattr("fswizard.session.planning.availability", lambda _: Availability(True))


WRONG = [
    (("frobnicate",), "no subcommand 'frobnicate'"),
    (("rnu",), "Did you mean `fswizard run`"),
    (("run", "--frobnicate"), "frobnicate"),
    (("run", "quikc"), "quikc"),
    (("run", "quick", "--candidates", "ext5"), "ext5"),
    (("run", "quick", "--candidates", "ext4:noatim"), "noatim"),
    (("run", "quick", "--candidates", "ext4; ext4"), "ext4"),
    (("run", "quick", "--target", "image:lots@/tmp"), "'lots' is not a size"),
    (("run", "quick", "--target", "image:2G@/nowhere/at/all"), "/nowhere/at/all is not a directory"),
    (("run", "quick", "--target", "image:900P"), "the image takes 1013 PB"),
    (("run", "quick", "--target", "image:100000G@/var/tmp"), "free"),
    (("run", "quick", "--target", "image:16M@/var/tmp"), "too small"),
    (("run", "quick", "--target", "floppy:A"), "'floppy:A' is no target"),
    (("run", "quick", "--target", "dir:/nowhere"), "/nowhere is not a directory"),
    (("run", "quick", "--time", "soon"), "'soon' is not a duration"),
    (("run", "quick", "--time", "0s"), "measures nothing"),
    (("run", "quick", "--rounds", "many"), "'many' is no number of rounds"),
    (("run", "quick", "--rounds", "5..3"), "Rounds 5..3"),
    (("run", "quick", "--weights", "speed"), "'speed' is no weight"),
    (("run", "quick", "--weights", "speed=1"), "no workload 'speed'"),
    (("run", "quick", "--need", "magic"), "magic"),
    (("run", "quick", "--baseline", "ntfs", "--candidates", "ext4; xfs"), "baseline ntfs"),
    (("report", "/nowhere.jsonl"), "/nowhere.jsonl"),
    (("report", "--format", "docx"), "docx"),
    (("smr",), "Name a model"),
]


@pytest.mark.parametrize(("arguments", "words"), WRONG, ids=[" ".join(arguments) for arguments, _ in WRONG])
def test_wrong_usage_is_one_clear_message_with_exit_code_2(arguments: tuple[str, ...], words: str) -> None:
    done = fswizard(*arguments)
    assert words in done.stderr
    assert done.returncode == 2
    assert done.stdout == ""
    assert "Traceback" not in done.stderr


def test_a_process_ends_with_the_code_and_keeps_to_its_streams() -> None:
    """Costs two starts of Python: what a shell sees needs a process."""
    wrong = subprocess.run([*PROGRAM, "frobnicate"], capture_output=True, text=True, check=False)
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert "no subcommand 'frobnicate'" in wrong.stderr
    right = subprocess.run([*PROGRAM, "--version"], capture_output=True, text=True, check=False)
    assert (right.returncode, right.stderr) == (0, "")
    assert right.stdout.startswith("fswizard 0.")


def test_who_has_read_enough_gets_no_complaint(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PYTHONUNBUFFERED", raising=False)
    with subprocess.Popen([*PROGRAM, "--version"], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None and process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 0


def test_a_device_is_refused_with_exit_code_3() -> None:
    done = fswizard("run", "quick", "--target", "device:/dev/null", "--erase", "X")
    assert done.returncode == 3
    assert "no block device" in done.stderr


def test_a_missing_program_is_named_with_exit_code_4(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fswizard.session.planning.find", lambda program: None if program == "fio" else program)
    done = fswizard("run", "quick")
    assert done.returncode == 4
    assert "fio is not installed" in done.stderr
    assert "fswizard doctor" in done.stderr
    assert "Traceback" not in done.stderr


def test_an_image_that_would_fill_the_disk_is_refused() -> None:
    with use(ModelHost(free_bytes=2 << 30)):
        done = fswizard("run", "quick", "--target", "image:2G@/var/tmp")
    assert done.returncode == 2
    assert "must stay free" in done.stderr


def test_without_a_terminal_the_wizard_says_what_to_do_instead() -> None:
    done = fswizard()
    assert done.returncode == 2
    assert "fswizard run quick" in done.stderr


def test_version_and_help_are_data() -> None:
    assert fswizard("--version").stdout.startswith("fswizard 0.")
    for subcommand in ("drives", "smr", "recipes", "plan", "run", "report", "history", "doctor", "clean"):
        done = fswizard(subcommand, "--help")
        assert done.returncode == 0
        assert "Usage" in done.stdout
