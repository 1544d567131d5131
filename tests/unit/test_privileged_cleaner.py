"""NILFS2's cleaner gets the options that are meant for it, and the kernel the others."""

from __future__ import annotations

from pathlib import Path

import pytest

from fswizard.privileged import commands, programs
from tests.fakes.machine import make_program


@pytest.fixture
def told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where a stand-in for the cleaner writes down what it was started with."""
    make_program(tmp_path, commands.CLEANER, f'echo "$*" >> {tmp_path}/told')
    monkeypatch.setattr(programs, "find", lambda name: str(tmp_path / name))
    return tmp_path / "told"


@pytest.mark.parametrize(
    ("options", "kernel", "arguments"),
    [
        ("noatime,nosuid,nodev", "noatime,nosuid,nodev", "/dev/loop9 /m\n"),
        ("pp=600,order=strict", "order=strict", "-p 600 /dev/loop9 /m\n"),
        ("nogc,noatime", "noatime", None),
        ("ro", "ro", None),
    ],
)
def test_options_go_to_whom_they_mean(options: str, kernel: str, arguments: str | None, told: Path) -> None:
    mount, *starting = commands.mount("nilfs2", options, "/dev/loop9", "/m")
    assert mount[-4:] == ("-o", kernel, "/dev/loop9", "/m")
    assert [programs.call(command) for command in starting] == [0] * len(starting)
    assert (told.read_text() if told.exists() else None) == arguments
