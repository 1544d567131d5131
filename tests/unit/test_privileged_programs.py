"""Programs are root's alone, from the root directory on."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from fswizard.privileged import programs
from fswizard.privileged.protocol import Refusal
from tests.fakes.machine import make_program


@pytest.fixture
def place(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where a program is looked for: below a directory that is root's alone."""
    place = Path(tempfile.mkdtemp(prefix=".fswizard-test-", dir="/root"))
    make_program(place / "bin", "mkfs.ext4", "exit 0")
    monkeypatch.setattr(programs, "ROOT_PATH", f"{place}/current/bin")
    (place / "current").symlink_to(place)
    yield place
    shutil.rmtree(place)


def test_the_systems_own_programs_are_found() -> None:
    assert programs.find("mount").endswith("/mount")
    assert "/usr/local" not in programs.ROOT_PATH


def test_a_program_that_everybody_could_replace_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The sticky bit of /tmp does not keep anybody from putting something where nothing was."""
    make_program(tmp_path, "mkfs.ext4", "exit 0")
    monkeypatch.setattr(programs, "ROOT_PATH", str(tmp_path))
    with pytest.raises(Refusal, match="others can change"):
        programs.find("mkfs.ext4")
    with pytest.raises(Refusal, match=r"mkfs\.none is not installed"):
        programs.find("mkfs.none")


@pytest.mark.root
def test_a_program_behind_links_is_found_where_all_of_them_are_roots(place: Path) -> None:
    (place / "bin" / "mkfs.ext3").symlink_to("../bin/./mkfs.ext4")
    assert programs.find("mkfs.ext3") == f"{place}/current/bin/mkfs.ext3"


@pytest.mark.root
@pytest.mark.parametrize("changeable", ["", "bin", "bin/mkfs.ext4"])
@pytest.mark.parametrize("how", ["group", "everybody", "owner"])
def test_who_can_change_anything_on_the_way_could_change_the_program(place: Path, changeable: str, how: str) -> None:
    at = place / changeable
    if how == "owner":
        os.chown(at, 65534, 65534)
    else:
        at.chmod(at.stat().st_mode | (0o020 if how == "group" else 0o1002))
    with pytest.raises(Refusal, match=f"others can change {place}"):
        programs.find("mkfs.ext4")


@pytest.mark.root
def test_a_link_of_somebody_elses_leads_nowhere(place: Path) -> None:
    os.chown(place / "current", 65534, 65534, follow_symlinks=False)
    with pytest.raises(Refusal, match="others can change"):
        programs.find("mkfs.ext4")


@pytest.mark.root
def test_the_store_of_nixos_may_be_added_to_by_its_builders(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(programs, "NIX_STORE", str(place / "bin"))
    (place / "bin").chmod(0o1775)
    assert programs.find("mkfs.ext4")
    (place / "bin").chmod(0o775)
    with pytest.raises(Refusal):
        programs.find("mkfs.ext4")
