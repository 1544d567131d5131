"""A run that was killed, ended early or ran out of time goes on, in the same file."""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import Callable
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path

import pytest

from fswizard import results
from fswizard.errors import Refused, UsageError
from fswizard.model.events import (
    Event,
    RoundDiscarded,
    RoundFinished,
    SampleTaken,
    Step,
    StepFailed,
    StepStarted,
)
from fswizard.model.plan import Target
from fswizard.model.result import Failure, Result
from fswizard.model.result_file import encoded
from fswizard.session import resuming
from fswizard.session.resuming import Resumption
from fswizard.session.session import Session
from tests.builders import write_result
from tests.loop.machine_state import assert_nothing_lives, names_in
from tests.loop.runs import COPIES, result_of, short_session, watch
from tests.loop.tiny_run import fswizard, killed

pytestmark = [pytest.mark.root, pytest.mark.loop, pytest.mark.fio]


async def ended_early(directory: Path, when: Callable[[Event], bool], candidates: str = "ext4; ext2") -> Path:
    """The file of a run of two rounds that was stopped at the first event that `when` is true of."""
    session = short_session(directory, candidates, COPIES, 2)

    def at(event: Event) -> None:
        if when(event):
            session.stop()

    await watch(session, at)
    return session.path


@pytest.fixture(scope="module")
def early(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file of one that was stopped in its second round."""
    directory = tmp_path_factory.mktemp("early")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(directory / "state"))
        return asyncio.run(ended_early(directory, measured_in(2)))


@pytest.fixture
def path(early: Path) -> Path:
    """A copy of it among the results."""
    results.results_directory().mkdir(parents=True)
    return Path(shutil.copy(early, results.results_directory() / "early.jsonl"))


def taken_up(path: Path) -> Session:
    return session_of(resuming.take_up(path))


def session_of(found: Resumption) -> Session:
    return Session(found.plan, found.path, earlier=found.earlier)


def measured_in(number: int, count: int = 1) -> Callable[[Event], bool]:
    """True of the primary sample number `count` of a round."""
    seen: list[Event] = []

    def when(event: Event) -> bool:
        if isinstance(event, SampleTaken) and event.sample.primary and event.sample.round == number:
            seen.append(event)
        return len(seen) == count

    return when


def cells(result: Result) -> list[tuple[int, str]]:
    """Round and candidate of each trial that counts; on a slow machine the bare device has figures as well."""
    counting = (s for s in result.samples if s.primary and s.candidate and s.round not in result.discarded_rounds)
    return sorted((sample.round, sample.candidate) for sample in counting)


def test_a_run_that_was_killed_in_its_second_round_goes_on_to_the_end(recipe: Path, tmp_path: Path) -> None:
    file = tmp_path / "result.jsonl"
    below = killed(file, str(recipe), "--target", f"image:64M@{tmp_path}", "--rounds", "2..2", "--seed", "7")
    assert_nothing_lives(tmp_path, below)
    assert results.load(file).outcome == "killed"
    assert "ext2" in fswizard("report", str(file), code=0).stdout
    cleaned = fswizard("clean", code=0)
    assert "Removed" in cleaned.stdout
    assert f"fswizard run --resume {file}" in cleaned.stderr
    assert names_in(tmp_path) == ["result.jsonl", "short.toml"]

    fswizard("run", "--resume", str(file), code=0)
    result = results.load(file)
    assert result.outcome == "finished"
    assert result.plan.seed == 7
    assert result.discarded_rounds == (2,)
    assert cells(result) == [(number, name) for number in (1, 3) for name in ("ext2", "ext4")]
    assert names_in(tmp_path) == ["result.jsonl", "short.toml"]


async def test_the_round_that_was_interrupted_is_done_anew_in_a_file_that_was_cut(path: Path) -> None:
    assert [entry.path for entry in resuming.resumable()] == [path]
    before_s = results.load(path).elapsed_s
    with path.open("ab") as file:
        file.write(b'{"type":"SampleTaken","at_s":2,"sam')
    events = await watch(taken_up(path))
    assert [event.round for event in events if isinstance(event, RoundDiscarded)] == [2]
    result = results.load(path)
    assert cells(result) == [(number, name) for number in (1, 3) for name in ("ext2", "ext4")]
    assert result.outcome == "finished"
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    times = [line["at_s"] for line in lines if "at_s" in line]
    assert times == sorted(times), "one time line"
    assert times[-1] > before_s
    assert resuming.resumable() == ()


async def test_a_run_that_was_ended_before_anything_was_measured_starts_with_its_first_round(tmp_path: Path) -> None:
    path = await ended_early(tmp_path, lambda event: isinstance(event, StepStarted))
    assert len(cells(await result_of(taken_up(path)))) == 4


async def test_rounds_that_were_whole_are_kept_and_who_failed_in_one_stays_out(tmp_path: Path) -> None:
    path = await ended_early(
        tmp_path, lambda event: isinstance(event, RoundFinished) and event.round == 1, "ext4; ext2; ext4:noatime"
    )
    text = path.read_text().replace('"ext2","ext4","ext4:noatime"', '"ext2","ext4"')
    failed = StepFailed(0.0, Step(1, "format", "formatting"), Failure(1, "ext4:noatime", "", "mkfs", "No."))
    path.write_text(text + encoded(failed).decode())
    result = await result_of(taken_up(path))
    assert result.discarded_rounds == ()
    assert {number for number, _ in cells(result)} == {1, 2}
    assert [name for number, name in cells(result) if number == 2] == ["ext2", "ext4"]


def test_the_time_limit_is_the_same_again_also_after_a_resumed_run_was_killed(path: Path) -> None:
    lines = path.read_text().splitlines()
    ending = next(n for n, line in enumerate(lines) if '"RunEnded"' in line)
    path.write_text("\n".join([*lines[: ending + 1], lines[1]]) + "\n")
    assert results.load(path).outcome == "killed"
    assert resuming.take_up(path).plan.time_limit_s == 3600


async def test_a_run_that_goes_on_cannot_be_resumed_and_two_cannot_share_a_file(path: Path) -> None:
    found = resuming.take_up(path)
    first, second = session_of(found), session_of(found)
    async with aclosing(first.events()) as events:
        await anext(events)
        with pytest.raises(UsageError, match="still in progress"):
            resuming.take_up(path)
        with pytest.raises(Refused, match="is being measured already"):
            await watch(second)
        unknown = replace(found, plan=replace(found.plan, drive=None))
        with pytest.raises(UsageError, match="still in progress"):
            await watch(session_of(unknown))
    assert results.load(path).outcome == "cancelled"


def test_what_cannot_go_on_says_why(path: Path, tmp_path: Path) -> None:
    result = results.load(path)

    def refusal(changed: Result) -> str:
        file = tmp_path / "changed.jsonl"
        file.unlink(missing_ok=True)
        write_result(file, changed)
        with pytest.raises(UsageError) as caught:
            resuming.take_up(file)
        return caught.value.message

    elsewhere = replace(result.environment, host="somewhere-else")
    ext4, ext2 = result.plan.candidates
    hostile = replace(ext2, filesystem=replace(ext2.filesystem, scratch_arguments=(("-d", "file=1,name=/etc/passwd"),)))
    assert "another machine" in refusal(replace(result, environment=elsewhere))
    assert "is complete" in refusal(replace(result, outcome="finished"))
    assert "A fault ended this run" in refusal(replace(result, outcome="failed"))
    assert "differently" in refusal(replace(result, plan=replace(result.plan, candidates=(ext4, hostile))))
    for target, words in (
        (replace(result.plan.target, size_bytes=1 << 50), "must stay free"),
        (replace(result.plan.target, path=str(tmp_path / "gone")), "is not a directory"),
        (Target("device", "/dev/disk/by-id/ata-DISK", 1 << 40, "", "8:16", 7, "Z84"), "what is on it now is unknown"),
    ):
        assert words in refusal(replace(result, plan=replace(result.plan, target=target)))
