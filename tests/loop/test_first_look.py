"""The first look: figures of every candidate before the scratch image is written, which count for nothing."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from fswizard.disks import image
from fswizard.engines.tree import TreeJob
from fswizard.model import plan as plans
from fswizard.model.events import SampleTaken, StepStarted
from fswizard.model.metrics import DURATION, FIRST_LOOK_RATE
from tests.builders import make_workload
from tests.loop.runs import TINY, session_in, short_plan, watch

pytestmark = [pytest.mark.root, pytest.mark.loop]

MIB = 1 << 20
JOB = TreeJob("untar", "mixed", 40, 4 * MIB)
UNPACK = make_workload("unpack", DURATION, engine="tree", job=JOB)
RECIPE = replace(TINY, workloads=(UNPACK,))


async def test_every_candidate_has_a_figure_before_the_large_image_which_counts_for_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plans, "FIRST_LOOK_BYTES", 64 * MIB)
    monkeypatch.setattr(image, "FIRST_LOOK_BYTES", 64 * MIB)
    monkeypatch.setattr(plans, "WORTH_A_LOOK", 1)
    plan = short_plan(tmp_path, "ext4; ext2", RECIPE, 1)
    assert plan.looks_first
    session = session_in(tmp_path, plan)
    events = await watch(session)
    written = [n for n, e in enumerate(events) if isinstance(e, StepStarted) and e.step.stage == "fill"]
    figures = [
        (n, e.sample.candidate)
        for n, e in enumerate(events)
        if isinstance(e, SampleTaken) and e.sample.metric == FIRST_LOOK_RATE.name and e.sample.value > 0
    ]
    assert [name for _, name in figures] == ["ext4", "ext2"]
    assert len(written) == 2
    assert all(written[0] < n < written[1] for n, _ in figures)
    result = session.result
    assert result.outcome == "finished"
    assert not [sample for sample in result.samples if sample.candidate and not sample.round]
    assert {trial.round for trial in result.trials} == {1}


def test_small_images_and_long_work_alone_get_no_first_look(tmp_path: Path) -> None:
    assert not short_plan(tmp_path, "ext4; ext2", RECIPE, 1).looks_first
    assert short_plan(tmp_path, "ext4; ext2", TINY, 1).first_look is None
