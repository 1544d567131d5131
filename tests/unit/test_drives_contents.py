"""A program that fails has found nothing out: nothing is called empty because of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from fswizard.drives import contents
from fswizard.drives.disks import describe_all
from fswizard.drives.machine import HERE

EXT4 = "echo ID_FS_TYPE=ext4; echo ID_FS_LABEL=archive; exit 0"
FAILURES = {
    "no rights": "echo 'blkid: error: /dev/sdx: Permission denied' >&2; exit 2",
    "an error": "exit 4",
    "a signal": "kill -SEGV $$",
    "half an answer": "echo ID_FS_TYPE=ext4; echo 'I/O error' >&2; exit 0",
}


def blkid(script: str, directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A `blkid` of that content takes the real one's place."""
    program = directory / "blkid"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{directory}:/usr/bin:/bin")


def test_what_is_found_and_that_nothing_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blkid(EXT4, tmp_path, monkeypatch)
    assert contents.probe("/dev/sdx") == {"ID_FS_TYPE": "ext4", "ID_FS_LABEL": "archive"}
    blkid("exit 2", tmp_path, monkeypatch)
    assert contents.probe("/dev/sdx") == {}


@pytest.mark.parametrize("failure", FAILURES)
def test_a_failure_is_not_taken_for_nothing(failure: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blkid(FAILURES[failure], tmp_path, monkeypatch)
    assert contents.probe("/dev/sdx") is None


def test_a_disk_that_could_not_be_looked_at_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blkid(FAILURES["no rights"], tmp_path, monkeypatch)
    monkeypatch.setattr("fswizard.drives.disks.udev_runs", lambda machine: False)
    for user, why in ((0, "blkid failed there"), (1000, "which takes root here")):
        monkeypatch.setattr("os.geteuid", lambda user=user: user)
        (drive,) = describe_all(("sdx",), HERE, timeout_s=60.0)
        assert f"sdx could not be looked at, {why}" in drive.pending
