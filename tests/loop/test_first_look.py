"""The first look: figures of every candidate before the scratch image is written, which count for nothing."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from fswizard import results
from fswizard.disks import image
from fswizard.engines.tree import TreeJob
from fswizard.model import plan as plans
from fswizard.model.events import Event, SampleTaken, StepStarted
from fswizard.model.metrics import DURATION, FIRST_LOOK_RATE
from tests.builders import make_workload
from tests.loop.runs import TINY, session_in, short_plan, watch

pytestmark = [pytest.mark.root, pytest.mark.loop]

MIB = 1 << 20
JOB = TreeJob("untar", "mixed", 40, 4 * MIB)
UNPACK = make_workload("unpack", DURATION, engine="tree", job=JOB)
RECIPE = replace(TINY, workloads=(UNPACK,))


@pytest.fixture(scope="module")
def looked(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[Event], Path]:
    """What a run told, and its file."""
    directory = tmp_path_factory.mktemp("looked")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(directory / "state"))
        patch.setattr(plans, "FIRST_LOOK_BYTES", 64 * MIB)
        patch.setattr(image, "FIRST_LOOK_BYTES", 64 * MIB)
        patch.setattr(plans, "WORTH_A_LOOK", 1)
        plan = short_plan(directory, "ext4; ext2", RECIPE, 1)
        assert plan.looks_first
        session = session_in(directory, plan)
        events = asyncio.run(watch(session))
    return events, session.path


@pytest.mark.xdist_group("session")
def test_there_is_a_figure_of_every_candidate_before_the_large_image(looked: tuple[list[Event], Path]) -> None:
    events, _ = looked
    written = [n for n, e in enumerate(events) if isinstance(e, StepStarted) and e.step.stage == "fill"]
    figures = [
        (n, e.sample.candidate)
        for n, e in enumerate(events)
        if isinstance(e, SampleTaken) and e.sample.metric == FIRST_LOOK_RATE.name and e.sample.value > 0
    ]
    assert [name for _, name in figures] == ["ext4", "ext2"]
    assert len(written) == 2
    assert all(written[0] < n < written[1] for n, _ in figures)


@pytest.mark.xdist_group("session")
def test_it_counts_for_nothing(looked: tuple[list[Event], Path]) -> None:
    result = results.load(looked[1])
    assert result.outcome == "finished"
    assert not [sample for sample in result.samples if sample.candidate and not sample.round]
    assert {trial.round for trial in result.trials} == {1}


def test_small_images_and_long_work_alone_get_no_first_look(tmp_path: Path) -> None:
    assert not short_plan(tmp_path, "ext4; ext2", RECIPE, 1).looks_first
    assert short_plan(tmp_path, "ext4; ext2", TINY, 1).first_look is None
