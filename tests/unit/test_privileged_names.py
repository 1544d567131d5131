"""A name is held by one helper at a time, in a file that nobody else can open. Two helpers: see test_pools.py."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from fswizard.privileged.names import Names
from fswizard.privileged.protocol import Refusal

NAME, OTHER = "fswizard-ffffffffffffffff", "fswizard-0000000000000000"


def refused_elsewhere(file: Path, name: str) -> bool:
    """In a process of its own, as the kernel does not keep one from itself."""
    child = os.fork()
    if not child:
        try:
            with Names(str(file)).reclaiming(name):
                os._exit(0)
        except Refusal:
            os._exit(1)
        finally:
            os._exit(2)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert code in (0, 1)
    return code == 1


def test_a_name_is_held_until_it_is_released(tmp_path: Path) -> None:
    names = Names(str(tmp_path / "names"))
    names.hold(NAME)
    names.hold(NAME)
    assert refused_elsewhere(tmp_path / "names", NAME)
    assert not refused_elsewhere(tmp_path / "names", OTHER)
    with pytest.raises(Refusal, match="is running"), names.reclaiming(NAME):
        pass
    names.release(OTHER)
    names.release(NAME)
    assert not refused_elsewhere(tmp_path / "names", NAME)


def test_nobody_takes_a_name_while_it_is_reclaimed(tmp_path: Path) -> None:
    names = Names(str(tmp_path / "names"))
    with names.reclaiming(NAME):
        assert refused_elsewhere(tmp_path / "names", NAME)
    assert not refused_elsewhere(tmp_path / "names", NAME)


def test_what_is_no_name_is_refused_before_any_file_is_opened(tmp_path: Path) -> None:
    for name in ("tank", f"{NAME}0", "fswizard-", f"{NAME}\n"):
        with pytest.raises(Refusal, match="is no name of a run"), Names(str(tmp_path / "names")).reclaiming(name):
            pass
    assert not list(tmp_path.iterdir())


def test_a_file_that_others_can_open_is_refused(tmp_path: Path) -> None:
    (tmp_path / "names").touch()
    (tmp_path / "names").chmod(0o644)
    os.mkfifo(tmp_path / "pipe", 0o600)
    for name in ("names", "pipe"):
        with pytest.raises(Refusal, match="is not root's alone"):
            Names(str(tmp_path / name)).hold(NAME)
    (tmp_path / "link").symlink_to(tmp_path / "names")
    with pytest.raises(OSError, match="Too many levels"):
        Names(str(tmp_path / "link")).hold(NAME)
