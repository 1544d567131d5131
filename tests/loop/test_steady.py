"""Jobs that go on until their rate is steady: the first trial finds out how long that takes, for the whole run."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from fswizard.engines import fio
from fswizard.engines.fio import FioJob
from fswizard.model.events import CommandFinished, Event, RunEnded, SampleTaken
from fswizard.session import take_up
from fswizard.session.session import Session
from tests.loop.runs import RANDOM_WRITE, WRITES, session_in, short_plan, watch

pytestmark = [pytest.mark.root, pytest.mark.loop, pytest.mark.fio]
LEAST_S, CAP_S = 2.25, 60.0


def runtimes(events: list[Event]) -> list[str]:
    """Of each measuring fio on a candidate, in order."""
    ended = (event for event in events if isinstance(event, CommandFinished) and not event.as_root)
    commands = [event for event in ended if "--rw=randwrite" in event.argv]
    assert {command.exit_code for command in commands} == {0}
    return [word for command in commands for word in command.argv if word.startswith("--runtime=")]


async def test_a_job_that_is_steady_is_ended_and_lasts_as_long_in_all_trials_also_after_a_break(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It takes four times the shortest in which fio's figures tell anything."""
    monkeypatch.setattr(fio, "STEADY", 1e6)  # whatever the rate is on a busy machine
    job = FioJob("randwrite", 4096, 4 << 20, seconds=LEAST_S, depth=4, cap_seconds=CAP_S)
    recipe = replace(WRITES, workloads=(replace(RANDOM_WRITE, job=job),))
    session = session_in(tmp_path, short_plan(tmp_path, "ext4; ext2", recipe, rounds=2))

    def stop_after_the_first_trial(event: Event) -> None:
        if isinstance(event, SampleTaken) and event.sample.metric == "lasted":
            session.stop()

    first = runtimes(await watch(session, stop_after_the_first_trial))
    lasted_s = session.result.lasted_s["random-write"]
    assert LEAST_S <= lasted_s < CAP_S
    assert first == [f"--runtime={CAP_S * 1000:.0f}ms"]
    taken_up = take_up(session.path)
    again = Session(replace(taken_up.plan, minimum_rounds=1, maximum_rounds=1), taken_up.path, idle_wait_s=0,
                    earlier=taken_up.earlier)  # fmt: skip
    events = await watch(again)
    assert isinstance(events[-1], RunEnded)
    assert events[-1].outcome == "finished", events[-1].text
    later = runtimes(events)
    assert later == [f"--runtime={round(lasted_s * 1000)}ms"] * 2
    assert len([s for s in again.result.samples if s.metric == "lasted"]) == 1


async def test_a_job_that_is_too_short_to_tell_lasts_to_its_cap_and_one_that_is_exact_as_it_says(
    tmp_path: Path,
) -> None:
    exact = replace(RANDOM_WRITE, name="exact", job=replace(_job(RANDOM_WRITE.job), cap_seconds=0.1))
    session = session_in(tmp_path, short_plan(
        tmp_path, "ext4", replace(WRITES, workloads=(RANDOM_WRITE, exact)), rounds=1))  # fmt: skip
    assert runtimes(await watch(session)) == [f"--runtime={ms}ms" for ms in (200, 100)]
    assert session.result.lasted_s == {"random-write": 0.2}


def _job(job: object) -> FioJob:
    assert isinstance(job, FioJob)
    return job
