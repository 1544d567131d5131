"""ZFS's cache is held to a memory limit and gets back what it had, in files of the format that OpenZFS has in /sys."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from fswizard.disks import arc
from fswizard.disks.arc import Arc

LIMIT, LEAST = 256 << 20, 32 << 20
C_MAX, C_MIN = 12653166592, 790822912
STATISTICS = f"""13 1 0x01 147 39984 4297226254 120923116207
name                            type data
hits                            4    1043
c                               4    {C_MIN}
c_min                           4    {C_MIN}
c_max                           4    {C_MAX}
size                            4    3170584
"""


@pytest.fixture
def given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int]]:
    """Each value written to a parameter of the module, with its files in `tmp_path`."""
    write, given = arc._write, list[tuple[str, int]]()

    def noted(parameter: str, value: int) -> None:
        given.append((parameter, value))
        write(parameter, value)

    monkeypatch.setattr(arc, "_write", noted)
    for name, file in (("PARAMETERS", ""), ("STATISTICS", "arcstats"), ("FILE", "kept")):
        monkeypatch.setattr(arc, name, tmp_path / file)
    (tmp_path / "arcstats").write_text(STATISTICS)
    (tmp_path / "zfs_arc_max").write_text(f"{4 << 30}\n")
    (tmp_path / "zfs_arc_min").write_text("0\n")
    return given


def test_the_limits_in_force_come_back_before_the_parameters_read_as_before(given: list[tuple[str, int]]) -> None:
    held = Arc()
    held.hold(LIMIT)
    assert given == [("zfs_arc_min", LEAST), ("zfs_arc_max", LIMIT)]
    held.end()
    assert given[2:] == [
        ("zfs_arc_max", C_MAX),
        ("zfs_arc_min", C_MIN),
        ("zfs_arc_max", C_MAX),
        ("zfs_arc_min", 0),
        ("zfs_arc_max", 4 << 30),
    ]


def test_what_a_killed_run_left_is_put_back_by_the_next_one(given: list[tuple[str, int]], tmp_path: Path) -> None:
    killed = Arc()
    killed.hold(LIMIT)
    os.close(killed._descriptor)
    (tmp_path / "arcstats").write_text(STATISTICS.replace(str(C_MAX), str(LIMIT)).replace(str(C_MIN), str(LEAST)))
    following = Arc()
    following.hold(LIMIT)
    following.end()
    assert ("zfs_arc_max", C_MAX) in given
    assert (tmp_path / "zfs_arc_max").read_text() == f"{4 << 30}\n"


def test_what_another_run_holds_is_left_alone(given: list[tuple[str, int]]) -> None:
    first, second = Arc(), Arc()
    first.hold(LIMIT)
    second.hold(LIMIT * 2)
    second.end()
    assert given == [("zfs_arc_min", LEAST), ("zfs_arc_max", LIMIT)]
    first.end()
