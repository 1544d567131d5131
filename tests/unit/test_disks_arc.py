"""ZFS's cache is held to a memory limit and gets back what it had, in files of the format that OpenZFS has in /sys."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

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


class Module(Arc):
    """With the parameters of a module, and each value that one was given."""

    def __init__(self, directory: Path, maximum: int = 0) -> None:
        self.given: list[tuple[str, int]] = []
        super().__init__(str(directory), str(directory / "arcstats"), str(directory / "kept"))
        if not (directory / "arcstats").exists():
            (directory / "arcstats").write_text(STATISTICS)
            (directory / "zfs_arc_max").write_text(f"{maximum}\n")
            (directory / "zfs_arc_min").write_text("0\n")

    def _write(self, name: str, value: int) -> None:
        self.given.append((name, value))
        super()._write(name, value)


@pytest.mark.parametrize("maximum", [0, 4 << 30])
def test_the_limits_in_force_come_back_before_the_parameters_read_as_before(maximum: int, tmp_path: Path) -> None:
    module = Module(tmp_path, maximum)
    module.hold(LIMIT)
    assert module.given == [("zfs_arc_min", LEAST), ("zfs_arc_max", LIMIT)]
    module.release()
    assert module.given[2:] == [
        *(("zfs_arc_max", C_MAX), ("zfs_arc_min", C_MIN), ("zfs_arc_max", C_MAX)),
        *(("zfs_arc_min", 0), ("zfs_arc_max", maximum)),
    ]
    assert (tmp_path / "zfs_arc_max").read_text() == f"{maximum}\n"


def test_the_last_of_several_programs_lets_go(tmp_path: Path) -> None:
    module = Module(tmp_path)
    module.hold(LIMIT)
    module.hold(LIMIT)
    module.release()
    assert (tmp_path / "zfs_arc_max").read_text() == f"{LIMIT}\n"
    module.release()
    assert (tmp_path / "zfs_arc_max").read_text() == "0\n"


def test_what_a_killed_run_left_is_put_back_by_the_next_one(tmp_path: Path) -> None:
    killed = Module(tmp_path)
    killed.hold(LIMIT)
    os.close(killed._descriptor)
    (tmp_path / "arcstats").write_text(STATISTICS.replace(str(C_MAX), str(LIMIT)).replace(str(C_MIN), str(LEAST)))
    following = Module(tmp_path)
    following.hold(LIMIT)
    following.end()
    assert ("zfs_arc_max", C_MAX) in following.given
    assert (tmp_path / "zfs_arc_max").read_text() == "0\n"


def test_what_another_run_holds_is_left_alone(tmp_path: Path) -> None:
    first, second = Module(tmp_path), Module(tmp_path)
    first.hold(LIMIT)
    second.hold(LIMIT * 2)
    second.release()
    assert second.given == []
    first.release()
    assert (tmp_path / "zfs_arc_max").read_text() == "0\n"


def test_without_the_module_nothing_is_made(tmp_path: Path) -> None:
    arc = Arc(str(tmp_path / "none"), str(tmp_path / "none"), str(tmp_path / "kept"))
    arc.hold(LIMIT)
    arc.release()
    assert not list(tmp_path.iterdir())
