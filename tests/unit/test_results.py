"""Result files: what is written can be read, whatever happens to the file."""

from __future__ import annotations

import os
import random
import re
import stat
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fswizard.errors import FswizardError, UsageError
from fswizard.model import events
from fswizard.model.analysis import Analysis
from fswizard.model.events import RunStarted
from fswizard.model.result import Doubt, Failure, Result, Sample, ThroughputSeries
from fswizard.model.result_file import encoded
from fswizard.results import (
    ResultWriter,
    find,
    is_being_written,
    load,
    new_path,
    state_directory,
)
from fswizard.session import take_up
from tests.builders import make_drive, make_plan, make_result, write_result

FAILURE = Failure(2, "xfs", "write", "ENOSPC", "The volume was full.", "fio: No space left\nsecond line")
RESULT = make_result(
    plan=make_plan(drive=make_drive()),
    failures=(FAILURE,),
    doubts=(Doubt("busy-machine", "Other programs were running."),),
    discarded_rounds=(3,),
    throughput_series=(ThroughputSeries(1, "xfs", "write", "B/s", (1.5e8, 0.0, 1.42e8)),),
)
PUBLISHED = Path(__file__).parents[2] / "recipes/published/reruns"


@pytest.mark.parametrize("path", sorted(PUBLISHED.glob("*.jsonl")), ids=lambda path: path.stem)
def test_what_was_published_is_read_whatever_a_recipe_may_have_now(path: Path) -> None:
    assert load(path).samples


SAMPLE = (
    b'{"type": "SampleTaken", "at_s": 1, "sample": {"round": 1, "candidate": "xfs", "workload": "", "metric": "m", '
    b'"value": 2.5, "unit": "s", "better": "higher"}}'
)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "result.jsonl"
    write_result(path, RESULT, Analysis(leaders=("xfs",), rounds=3))
    return path


def test_a_cut_anywhere_leaves_every_whole_line_readable(file: Path) -> None:
    data = file.read_bytes()
    header = data.index(b"\n", data.index(b"\n") + 1)
    for place in (*random.Random(4).sample(range(len(data)), 200), *range(header - 2, header + 3)):
        file.write_bytes(data[:place])
        if place <= header:
            with pytest.raises(UsageError):
                load(file)
            continue
        whole, result = data[:place].rpartition(b"\n")[0], load(file)
        assert len(result.samples) == whole.count(b'"type":"SampleTaken"')
        assert len(result.failures) == whole.count(b'"type":"StepFailed"')


@pytest.mark.parametrize("end", [bytes(4096), b'{"type": "FutureThing", "at_s": 1.0}\n'])
def test_zeros_that_a_power_cut_left_at_the_end_and_lines_of_unknown_kinds_are_passed_over(
    file: Path, end: bytes
) -> None:
    file.write_bytes(file.read_bytes() + end)
    assert load(file) == RESULT


def test_a_result_is_for_its_owner_alone_and_never_overwritten(file: Path, tmp_path: Path) -> None:
    with closing(ResultWriter(tmp_path / "mine")):
        assert stat.S_IMODE((tmp_path / "mine").stat().st_mode) == 0o600
    before = file.read_bytes()
    with pytest.raises(UsageError, match="exists already"):
        ResultWriter(file)
    assert file.read_bytes() == before


def test_a_file_is_free_when_its_writer_is_closed_though_a_child_being_started_still_has_it_open(
    tmp_path: Path,
) -> None:
    path, (waiting, ended) = tmp_path / "r", os.pipe()
    with closing(ResultWriter(path)):
        if not (child := os.fork()):  # as before a program is run in its place
            os.close(ended)
            os.read(waiting, 1)
            os._exit(0)
        assert is_being_written(path)
    assert not is_being_written(path)
    os.close(ended)
    os.waitpid(child, 0)
    os.close(waiting)


def test_a_run_that_is_resumed_counts_as_running_and_not_as_killed_while_it_prepares(file: Path) -> None:
    result = load(file)
    with closing(ResultWriter(file, resumed=True)) as writer:
        writer.write(RunStarted(result.elapsed_s, result.plan, result.environment))
        assert load(file).outcome == "running"
    assert load(file).outcome == "killed"


@pytest.mark.parametrize("name", ["missing/r", "a\0b"])
def test_a_path_that_cannot_be_made_is_refused_in_words(tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError, match="cannot be made: "):
        ResultWriter(f"{tmp_path}/{name}")


def replaced(file: Path, old: bytes, new: bytes) -> Path:
    content = file.read_bytes()
    assert old in content
    file.write_bytes(content.replace(old, new, 1))
    return file


LINE = b'{"type":"DoubtRaised"'


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"not json", "not JSON"),
        (b"\xff\xfe", "not UTF-8"),
        (b'{"type": "SampleTaken", "sample": {}}', "missing required field .round"),
        (b'{"at_s": ' + b"9" * 5000 + b"}", "out of range"),
        (SAMPLE.replace(b"2.5", b"1e30"), "the number 1e.30 is too large"),
        (SAMPLE.replace(b"higher", b"greener"), "sample.better: Invalid enum value 'greener'"),
        (b'{"a": ' * 100_000, "nested too deeply"),
    ],
)
def test_a_wrong_line_is_refused_with_its_number_and_reason(file: Path, line: bytes, reason: str) -> None:
    with pytest.raises(UsageError, match=reason) as caught:
        load(replaced(file, LINE, line + b"\n" + LINE))
    assert re.search(r"result\.jsonl, line \d+: ", caught.value.message)


def test_a_whole_number_and_a_new_field_do_not_matter_and_text_becomes_harmless(file: Path) -> None:
    sample = SAMPLE.replace(b"2.5", b"2").replace(b"}", b', "mood": "good"}', 1)
    result = load(replaced(file, LINE, sample + b"\n" + LINE))
    assert Sample(1, "xfs", "", "m", 2.0, "s", "higher") in result.samples
    result = load(replaced(file, b"ST8000AS0002", b"\\u001b]52;c;x\\u0007\\u202e"))
    assert result.plan.drive is not None
    assert result.plan.drive.model.isprintable()


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        (b'"schema":3', b'"schema":4', "schema 4"),
        (b'"baseline":"ext4"', b'"baseline":"zfs"', "'zfs' is not among the candidates"),
        (b'"name":"xfs"', b'"name":"ext4"', "twice"),
        (b'"job":{', b'"job":[],"jobs":{', "workloads.0..job: FioJob: Expected .object."),
    ],
)
def test_a_file_of_a_newer_program_and_a_plan_that_does_not_fit_together_are_refused(
    file: Path, old: bytes, new: bytes, reason: str
) -> None:
    with pytest.raises(UsageError, match=reason):
        load(replaced(file, old, new))


def test_a_run_comes_back_as_it_was_written_and_progress_says_how_far_a_killed_one_came(
    file: Path, tmp_path: Path
) -> None:
    *lines, _ending = file.read_bytes().splitlines(keepends=True)
    progress = encoded(events.StepProgressed(32.0, 1, 0.5, "writing"))
    (tmp_path / "killed").write_bytes(b"".join([*lines, progress, progress]))
    assert load(tmp_path / "killed") == replace(RESULT, outcome="killed", elapsed_s=32.0)
    assert load(file) == RESULT


OLD = PUBLISHED / "trees-ssd-large.jsonl"
"""A file of schema 1, without the lines of three kinds that it could also have."""
FURTHER = """\
{"type": "Course", "round": 1, "candidate": "", "workload": "", "unit": "B/s", "rates": [1.0], "at_s": 205.0}
{"type": "Failure", "round": 2, "candidate": "", "workload": "", "kind": "EIO", "text": "No.", "at_s": 206.0}
{"type": "Resumption", "at_s": 207.0, "started": "2026-01-02T03:04:05Z"}
"""


def test_a_file_of_an_earlier_version_is_read(tmp_path: Path) -> None:
    old = load(OLD)
    assert (len(old.samples), len(old.doubts), old.outcome) == (209, 3, "budget-used")
    (tmp_path / "old").write_text(OLD.read_text() + FURTHER)
    resumed = load(tmp_path / "old")
    assert (resumed.samples, resumed.outcome, resumed.elapsed_s) == (old.samples, "killed", 207.0)
    assert resumed.throughput_series == (ThroughputSeries(1, "", "", "B/s", (1.0,)),)
    assert resumed.failures == (Failure(2, "", "", "EIO", "No."),)


def test_a_result_with_work_that_exists_no_more_is_read_and_not_resumed(tmp_path: Path) -> None:
    former = tmp_path / "former"
    text = OLD.read_text().replace('"operation": "delete"', '"operation": "git-status"')
    former.write_text(text.replace('"engine": "tree"', '"engine": "rsync"', 1))
    assert [workload.engine for workload in load(former).plan.recipe.workloads] == ["former", "former"]
    with pytest.raises(UsageError, match="doesn't have all its tests"):
        take_up(former)


@pytest.mark.parametrize("name", ["", "missing", "/dev/zero", "x\0", "pipe"])
def test_what_is_no_file_is_refused_and_a_named_pipe_not_waited_for(tmp_path: Path, name: str) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(UsageError, match=r"cannot be read|is not a file"):
        load(tmp_path / name)


@settings(deadline=None)
@given(place=st.integers(0, 10**6), byte=st.binary(min_size=1, max_size=4))
def test_a_damaged_file_is_read_or_refused(tmp_path_factory: pytest.TempPathFactory, place: int, byte: bytes) -> None:
    path = tmp_path_factory.getbasetemp() / "damaged"
    write_result(path, RESULT)
    data = path.read_bytes()
    place %= len(data)
    path.write_bytes(data[:place] + byte + data[place + len(byte) :])
    try:
        assert isinstance(load(path), Result)
    except FswizardError as error:
        assert error.message


def test_new_results_go_below_the_state_directory_with_a_name(state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = make_plan(drive=make_drive(model="../[evil]\n ST 8000"))
    path = new_path(plan)
    assert path.parent == state / "results"
    assert path.name.endswith("_quick_evil-ST-8000.jsonl")
    path.touch()
    assert new_path(plan) != path
    monkeypatch.setenv("XDG_STATE_HOME", "relative")
    monkeypatch.setenv("HOME", "/somewhere")
    assert state_directory() == Path("/somewhere/.local/state/fswizard")


def test_a_result_is_found_by_a_part_of_its_name_and_without_any_it_is_said(state: Path, file: Path) -> None:
    with pytest.raises(UsageError, match="No results yet"):
        find("")
    results = new_path(RESULT.plan).parent
    for name in ("2025_quick_A", "2026_quick_A", "2026_quick"):
        (results / f"{name}.jsonl").write_bytes(file.read_bytes())
    assert find("2026_quick").stem == "2026_quick"
    assert find(str(file)) == file
    with pytest.raises(UsageError, match="matches 3 results"):
        find("quick")
