from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from fswizard.bench import cleaning
from fswizard.bench.cleaning import clean
from fswizard.bench.journal import Journal, Leftover, leftovers
from fswizard.errors import RunFailed, UsageError
from fswizard.results import state_directory


@pytest.fixture(autouse=True)
def own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


def test_a_run_that_ends_leaves_nothing(tmp_path: Path) -> None:
    journal = Journal(None)
    made = journal.make_directory(tmp_path)
    (made / "image").write_bytes(b"x" * 5000)
    journal.close()
    assert not made.exists()
    assert list((state_directory() / "unfinished").iterdir()) == []


def test_the_directory_of_a_living_run_is_no_leftover(tmp_path: Path) -> None:
    journal = Journal(None)
    journal.make_directory(tmp_path)
    assert leftovers() == ()
    journal.close()


def _killed_run(tmp_path: Path) -> Path:
    """A process that journals a directory and is then killed with SIGKILL."""
    code = (
        "import signal, sys; from pathlib import Path; from fswizard.bench.journal import Journal;"
        "made = Journal(Path(sys.argv[1]) / 'result.jsonl').make_directory(Path(sys.argv[1]));"
        "(made / 'image').write_bytes(b'x' * 100_000); print(made, flush=True); signal.pause()"
    )
    process = subprocess.Popen([sys.executable, "-c", code, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    made = Path(process.stdout.readline().strip())
    process.kill()
    process.wait()
    return made


def test_what_a_killed_run_left_is_found_and_removed(tmp_path: Path) -> None:
    made = _killed_run(tmp_path)
    assert made.is_dir()
    (leftover,) = leftovers()
    assert leftover.directories == (made,)
    assert leftover.result == tmp_path / "result.jsonl"
    assert leftover.size_bytes >= 100_000
    clean(leftover)
    assert not made.exists()
    assert leftovers() == ()


def test_a_link_in_place_of_the_directory_is_not_followed(tmp_path: Path) -> None:
    made = _killed_run(tmp_path)
    precious = tmp_path / "precious"
    precious.mkdir()
    (precious / "file").write_text("mine")
    made.rename(tmp_path / "elsewhere")
    made.symlink_to(precious)
    with pytest.raises(RunFailed):
        clean(leftovers()[0])
    assert (precious / "file").read_text() == "mine"


def test_a_journal_that_names_somebody_elses_directory_removes_nothing(tmp_path: Path) -> None:
    made = _killed_run(tmp_path)
    precious = tmp_path / "documents"
    precious.mkdir()
    (entry,) = (state_directory() / "unfinished").iterdir()
    entry.write_text(json.dumps({"directories": [str(precious)], "result": ""}))
    with pytest.raises(RunFailed):
        clean(leftovers()[0])
    assert precious.is_dir()
    assert made.is_dir()


def test_a_journal_cut_off_by_power_loss_is_cleaned_away() -> None:
    folder = state_directory() / "unfinished"
    folder.mkdir(parents=True)
    (folder / "run-x.json").write_text('{"direct')
    (leftover,) = leftovers()
    clean(leftover)
    assert leftovers() == ()


def test_a_directory_that_cannot_be_made_is_one_clear_error() -> None:
    journal = Journal(None)
    with pytest.raises(RunFailed, match="No directory can be made in /proc"):
        journal.make_directory(Path("/proc"))
    journal.close()


def test_entries_are_on_disk_before_the_directory_is(tmp_path: Path) -> None:
    journal = Journal(None)
    made = journal.make_directory(tmp_path)
    (entry,) = (state_directory() / "unfinished").iterdir()
    assert json.loads(entry.read_text())["directories"] == [str(made)]
    journal.close()


def test_pools_are_written_down_and_need_root_only_where_the_kernel_may_hold_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = Journal(None)
    journal.note_pool("fswizard-0123456789abcdef")
    (entry,) = (state_directory() / "unfinished").iterdir()
    pools = tuple(json.loads(entry.read_text())["pools"])
    assert pools == ("fswizard-0123456789abcdef",)
    journal.close()
    monkeypatch.setattr(cleaning, "ZFS_MODULE", tmp_path / "absent")
    assert not cleaning.needs_root(Leftover(entry, (), None, pools))
    monkeypatch.setattr(cleaning, "ZFS_MODULE", tmp_path)
    assert cleaning.needs_root(Leftover(entry, (), None, pools))
    assert not cleaning.needs_root(Leftover(entry, (), None))


def test_a_run_that_came_alive_after_it_was_listed_is_not_cleaned_away(tmp_path: Path) -> None:
    journal = Journal(None)
    made = journal.make_directory(tmp_path)
    (entry,) = (state_directory() / "unfinished").iterdir()
    clean(Leftover(entry, (made,), None))
    assert made.is_dir() and entry.exists()
    journal.close()
    assert not made.exists() and not entry.exists()


def test_a_state_directory_that_cannot_be_written_is_one_clear_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    with pytest.raises(UsageError, match="cannot be written: Not a directory"):
        Journal(None)
    assert leftovers() == ()
