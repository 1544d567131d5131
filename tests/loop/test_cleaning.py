"""`fswizard clean` where disks come and go: it removes only what a run made, and forgets none of that."""

from __future__ import annotations

from pathlib import Path

import pytest

from fswizard.disks import journal
from fswizard.errors import ExitCode, RunFailed
from tests.fakes.command_line import fswizard
from tests.loop.devices import Bench, run
from tests.unit.test_journal import left_behind

pytestmark = [pytest.mark.root, pytest.mark.loop]


def test_what_lies_on_a_disk_that_is_not_mounted_is_removed_once_it_is(bench: Bench, tmp_path: Path) -> None:
    device = bench.made("mkfs.ext4", "-q").path
    place = bench.mount(device)
    away, here = left_behind(place), left_behind(tmp_path)
    run("umount", str(place))
    done = fswizard("clean")
    assert done.returncode == ExitCode.RUN_FAILED
    assert f"{away} could not be removed" in done.stderr and "Mount its disk" in done.stderr
    assert str(here) in done.stdout and not here.exists()
    run("mount", "-t", "tmpfs", "none", str(place))
    with pytest.raises(RunFailed, match=str(away)):  # another one is
        journal.clean(journal.leftovers()[0])
    run("umount", str(place))
    run("mount", device, str(place))
    journal.clean(journal.leftovers()[0])
    assert not away.exists() and journal.leftovers() == ()


def test_what_is_mounted_below_a_runs_directory_is_left_alone(bench: Bench, tmp_path: Path) -> None:
    place = bench.mount(bench.made("mkfs.ext4", "-q").path)
    (place / "precious").write_text("mine")
    made = left_behind(tmp_path)
    (made / "below").mkdir()
    run("mount", "--bind", str(place), str(made / "below"))
    with pytest.raises(RunFailed, match="Something is mounted below it"):
        journal.clean(journal.leftovers()[0])
    assert (place / "precious").read_text() == "mine"
    run("umount", str(made / "below"))
    journal.clean(journal.leftovers()[0])
    assert not made.exists()
