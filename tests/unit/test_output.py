"""Where output goes, and files that are named: whatever they are, one clear error instead of a traceback."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from fswizard import importers
from fswizard.errors import UsageError
from fswizard.system.files import read_file


def fswizard(redirected: str, *, shell: str = "sh") -> subprocess.CompletedProcess[str]:
    command = f'"{sys.executable}" -m fswizard {redirected}'
    return subprocess.run([shell, "-c", command], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("redirected", "code", "words"),
    [
        ("recipes >&-", 2, "Standard output is closed."),
        ("recipes >/dev/full", 1, "Standard output cannot be written: No space left on device."),
        ("recipes <&- 2>&-", 0, ""),
    ],
)
def test_output_that_cannot_be_written_is_one_clear_error(redirected: str, code: int, words: str) -> None:
    done = fswizard(redirected)
    assert done.returncode == code
    assert words in done.stderr
    assert "Traceback" not in done.stderr


def test_a_reader_that_has_seen_enough_is_no_error() -> None:
    done = fswizard("recipes | :; echo ${PIPESTATUS[0]}", shell="bash")
    assert (done.stdout, done.stderr) == ("0\n", "")


def test_a_named_pipe_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(UsageError, match="is not a file"):
        read_file(tmp_path / "pipe", 100)


@pytest.mark.parametrize("name", ["n" * 300, "absent", "x\0", "."])
def test_a_name_that_leads_to_no_file_is_told(name: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"cannot be read|is not a file"):
        read_file(tmp_path / name, 100)


def test_a_file_that_is_too_long_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "long").write_bytes(bytes(3_000_000))
    with pytest.raises(UsageError, match="over 2 MB"):
        read_file(tmp_path / "long", 2_000_000)


def test_a_number_of_five_thousand_digits_is_told(tmp_path: Path) -> None:
    path = tmp_path / "fio.json"
    path.write_text('{"fio version": "fio-3.33", "jobs": [{"jobname": "a", "error": %s}]}' % ("9" * 5000))
    with pytest.raises(UsageError, match="a number in it is too long"):
        importers.read([str(path)])
