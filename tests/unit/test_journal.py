from __future__ import annotations

import asyncio
import json
import os
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from fswizard.disks import journal as journal_module
from fswizard.disks import stack
from fswizard.disks.journal import Identity, Journal, Leftover, clean, leftovers
from fswizard.disks.locations import filesystem_type
from fswizard.errors import RunFailed, UsageError
from fswizard.results import state_directory
from fswizard.system import timeouts


def the_entry() -> Path:
    (entry,) = (state_directory() / "unfinished").iterdir()
    return entry


def the_leftover() -> Leftover:
    (leftover,) = leftovers()
    return leftover


def gone(made: Path) -> tuple[str]:
    return (f"{made} is gone. If you moved it elsewhere, delete it there.",)


def test_a_run_that_lives_is_not_cleaned_away_and_leaves_nothing_when_it_ends(tmp_path: Path) -> None:
    journal = Journal(None)
    made, entry = journal.make_directory(tmp_path), the_entry()
    (made / "image").write_bytes(b"x" * 5000)
    assert leftovers() == ()
    clean(Leftover({str(made): None}, entry=entry))
    assert made.is_dir() and entry.exists()
    assert journal.close() == ""
    assert not made.exists() and not entry.exists()


def _die(journal: Journal) -> None:
    """As the kernel would: its lock is free, and its entry is there."""
    os.close(journal._descriptor)


def left_behind(place: Path, result: Path | None = None) -> Path:
    """The directory of a run that is dead."""
    journal = Journal(result)
    made = journal.make_directory(place)
    (made / "image").write_bytes(b"x" * 5000)
    _die(journal)
    return made


def test_what_a_killed_run_left_is_found_and_removed(tmp_path: Path) -> None:
    made = left_behind(tmp_path, tmp_path / "result.jsonl")
    leftover = the_leftover()
    assert [*leftover.directories] == [str(made)]
    assert leftover.result == f"{tmp_path}/result.jsonl"
    assert len(clean(leftover)) == 1
    assert not made.exists()
    assert leftovers() == ()


@pytest.mark.parametrize("instead", ["link", "directory"])
def test_what_has_the_name_of_the_directory_now_is_left_alone(instead: str, tmp_path: Path) -> None:
    made = left_behind(tmp_path)
    made.rename(tmp_path / "elsewhere")
    precious = tmp_path / "precious" if instead == "link" else made
    precious.mkdir()
    (precious / "file").write_text("mine")
    if instead == "link":
        made.symlink_to(precious)
    assert clean(the_leftover()) == gone(made)
    assert (precious / "file").read_text() == "mine"
    assert (tmp_path / "elsewhere/image").exists() and leftovers() == ()


def test_what_was_removed_by_hand_with_the_directory_above_is_forgotten(tmp_path: Path) -> None:
    (tmp_path / "above").mkdir()
    made = left_behind(tmp_path / "above")
    shutil.rmtree(made.parent)
    assert clean(the_leftover()) == gone(made)
    assert leftovers() == ()


def test_after_a_restart_nothing_is_looked_for_in_memory_and_what_cannot_be_looked_at_is_named(tmp_path: Path) -> None:
    left_behind(tmp_path)
    lost, long = tmp_path / "fswizard-1", tmp_path / f"fswizard-{'x' * 300}"
    with pytest.raises(RunFailed, match=f"{lost} is gone.*{long} could not be removed"):
        clean(replace(the_leftover(), directories={str(lost): Identity(-1, 1, "tmpfs"), str(long): None}))
    assert [*the_leftover().directories] == [str(long)]


@pytest.mark.parametrize("kind", ["vfat", "fuse.sshfs"])
def test_where_inodes_are_numbered_anew_the_name_has_to_do(tmp_path: Path, kind: str) -> None:
    made = left_behind(tmp_path)
    clean(replace(the_leftover(), directories={str(made): Identity(0, 0, kind)}))
    assert not made.exists()


def test_what_a_run_cannot_remove_is_named_and_stays_written_down(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = Journal(None)
    made, other = journal.make_directory(tmp_path), journal.make_directory(tmp_path)
    (made / "image").write_bytes(b"x")
    with monkeypatch.context() as context:
        context.setattr(journal_module, "EMPTY", ("true",))
        asyncio.run(journal.remove_directory(made))
        assert journal.close().startswith(f"{made} could not be removed")
        with pytest.raises(RunFailed, match=f"{made} could not be removed: Directory not empty"):
            clean(the_leftover())
        context.setattr(journal_module, "EMPTY", ("sleep", "60"))
        context.setattr(timeouts, "LIMIT_S", 0.1)
        with pytest.raises(RunFailed, match=f"{made} could not be removed: sleep did not answer within 0.1 s"):
            clean(the_leftover())
    assert [*the_leftover().directories] == [str(made)]
    clean(the_leftover())
    assert not made.exists() and not other.exists()


def test_a_journal_that_names_somebody_elses_directory_removes_nothing(tmp_path: Path) -> None:
    made, precious = left_behind(tmp_path), tmp_path / "documents"
    precious.mkdir()
    the_entry().write_text(json.dumps({"directories": {str(precious): None}}))
    clean(the_leftover())
    assert precious.is_dir() and made.is_dir()


@pytest.mark.parametrize("text", ['{"direct', '{"directories": ["/mnt/fswizard-1"], "result": ""}', "[]"])
def test_entries_that_cannot_be_read_are_forgotten(text: str) -> None:
    folder = state_directory() / "unfinished"
    folder.mkdir(parents=True)
    (folder / "run-x.json").write_text(text)
    clean(the_leftover())
    assert leftovers() == ()


def test_entries_are_on_disk_before_the_directory_is_and_one_that_cannot_be_made_is_an_error(tmp_path: Path) -> None:
    journal = Journal(None)
    made = journal.make_directory(tmp_path)
    identity = [made.stat().st_dev, made.stat().st_ino, filesystem_type(str(tmp_path))]
    assert json.loads(the_entry().read_text())["directories"] == {str(made): identity}
    with pytest.raises(RunFailed, match="No directory can be made in /proc"):
        journal.make_directory(Path("/proc"))
    journal.close()


def test_pools_are_written_down_and_need_root_only_where_the_kernel_may_hold_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = Journal(None)
    journal.note_pool("fswizard-0123456789abcdef")
    pools = json.loads(the_entry().read_text())["pools"]
    assert pools == ["fswizard-0123456789abcdef"]
    journal.close()
    blocks, module, absent = tmp_path / "block", tmp_path / "zfs", tmp_path / "absent"
    (blocks / "dm-0/dm").mkdir(parents=True)
    (blocks / "dm-0/dm/name").write_text("fswizard-0123456789abcdef\n")
    module.mkdir()
    for module_at, blocks_at, needed in ((absent, absent, False), (absent, blocks, True), (module, absent, True)):
        monkeypatch.setattr(stack, "ZFS_MODULE", module_at)
        monkeypatch.setattr(stack, "BLOCKS", blocks_at)
        assert Leftover(pools=pools).needs_root is needed
    assert not Leftover().needs_root


def test_a_state_directory_that_cannot_be_written_is_one_clear_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    with pytest.raises(UsageError, match="cannot be written: Not a directory"):
        Journal(None)
    assert leftovers() == ()


def test_a_directory_that_is_exchanged_while_it_is_made_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An account that may write to the parent directory can move another one there."""
    journal, make = Journal(None), os.mkdir

    def exchanged(name: str, mode: int, dir_fd: int) -> None:
        make(name, mode, dir_fd=dir_fd)
        (tmp_path / name / "precious").write_text("mine")

    monkeypatch.setattr(os, "mkdir", exchanged)
    with pytest.raises(RunFailed, match="Directory not empty"):
        journal.make_directory(tmp_path)
