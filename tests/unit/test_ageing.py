"""Aged candidates: what they are called, when they are refused, what is measured beside them, and what age costs."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fswizard import filesystems
from fswizard.advice import conclude
from fswizard.disks.choice import TargetChoice
from fswizard.errors import UsageError
from fswizard.filesystems import parse_candidate, parse_candidates
from fswizard.model.plan import Plan
from fswizard.model.result import Result
from fswizard.model.run_state import RunState
from fswizard.recipes import find
from fswizard.report import render
from fswizard.report.subject import repeat_command
from fswizard.session import Choices, make_plan
from fswizard.session.order import trial_order
from fswizard.stats import analyse, decide
from fswizard.tui.widgets.race import appearances_of
from tests.builders import make_plan as made_plan
from tests.builders import make_recipe, make_result, make_samples, make_workload
from tests.fakes.host import ModelHost, use

RECIPE = make_recipe([make_workload("write")], image_bytes=256 << 20)
NAMES = ("ext4", "xfs")
AGED = tuple(f"{name}:aged" for name in NAMES)


def plan(directory: Path, candidates: str = "ext4; xfs", kind: str = "image", **choices: Any) -> Plan:
    target = choices.pop("target", TargetChoice("image", str(directory), 1 << 30))
    return make_plan(Choices(RECIPE, parse_candidates(candidates), target=target, aged=True, **choices))


@pytest.mark.parametrize(
    ("typed", "name", "new"),
    [
        ("xfs:aged", "xfs:aged", "xfs"),
        ("btrfs:aged,noatime", "btrfs:noatime,aged", "btrfs:noatime"),
    ],
)
def test_age_is_typed_like_an_option(typed: str, name: str, new: str) -> None:
    candidate = parse_candidate(typed)
    assert (candidate.name, candidate.as_new, candidate.aged) == (name, new, True)
    assert replace(candidate, name=new, aged=False) == parse_candidate(new)


@pytest.mark.parametrize("typed", ["zfs:aged", "btrfs:raid1,aged", "md:raid5+ext4:aged"])
def test_what_a_copy_does_not_bring_back_is_not_aged(typed: str) -> None:
    with pytest.raises(UsageError, match="can't be aged"):
        parse_candidate(typed)


@pytest.mark.usefixtures("everything_is_installed")
class TestPlanning:
    def test_new_ones_are_measured_beside_and_the_run_may_take_longer(self, tmp_path: Path) -> None:
        made, twice = plan(tmp_path, baseline="xfs"), plan(tmp_path, "ext4; ext4:aged")
        assert [candidate.name for candidate in made.candidates] == list(AGED)
        assert [candidate.name for candidate in made.beside] == list(NAMES)
        assert (made.baseline, made.time_limit_s) == ("xfs:aged", 3 * RECIPE.minutes * 60)
        assert made.with_new(["xfs:aged"]) == ("xfs:aged", "xfs")
        assert "--candidates 'ext4; xfs' --aged --baseline xfs:aged" in repeat_command(made)
        assert [candidate.name for candidate in twice.measured] == ["ext4:aged", "ext4"]

    def test_what_ages_them_is_written_before_the_first_round(self, tmp_path: Path) -> None:
        made = plan(tmp_path)
        assert made.filled_bytes == (1 + 2 * (3 + 2)) << 30
        assert made.writes_bytes >= made.filled_bytes + 4 * made.writes_bytes_per_trial
        image = TargetChoice("image", str(tmp_path), 1 << 30)
        usual = make_plan(Choices(RECIPE, parse_candidates("ext4; xfs"), target=image))
        assert made.preparation_s > usual.preparation_s

    def test_too_little_room_several_images_directories_and_recipes_that_fill_are_refused(self, tmp_path: Path) -> None:
        small, recipe = TargetChoice("image", str(tmp_path), 256 << 20), replace(find("archive-disk"), image_bytes=1)
        with pytest.raises(UsageError, match="too little room for old files"):
            make_plan(Choices(recipe, parse_candidates("ext4"), target=small, aged=True))
        for target in (
            TargetChoice("image", str(tmp_path), 1 << 30, others=(str(tmp_path),)),
            TargetChoice("directory", str(tmp_path)),
        ):
            with pytest.raises(UsageError, match="single scratch image"):
                plan(tmp_path, target=target)
        with pytest.raises(UsageError, match="fills filesystems itself"):
            make_plan(Choices(find("fill"), target=TargetChoice("image", str(tmp_path)), aged=True))

    def test_each_takes_an_image_more(self, tmp_path: Path) -> None:
        machine = ModelHost(free_bytes=3 << 30, total_bytes=4 << 30)
        with use(machine), pytest.raises(UsageError, match="3 images of 1 GiB"):
            plan(tmp_path)


def measured(aged: dict[str, float], rounds: int = 6) -> Result:
    """A run in which aged candidates have this speed, new ones 100, and every round its own luck."""
    dice = random.Random(1)
    luck = [dice.gauss(1, 0.2) for _ in range(rounds)]
    speeds = {**dict.fromkeys(NAMES, 100.0), **{f"{name}:aged": speed for name, speed in aged.items()}}
    figures = {name: [speed * at * dice.gauss(1, 0.01) for at in luck] for name, speed in speeds.items()}
    made = made_plan(NAMES, RECIPE.workloads)
    old = tuple(filesystems.aged(candidate) for candidate in made.candidates)
    whole = replace(made, candidates=old, beside=made.candidates, baseline=AGED[0])
    return make_result(figures, plan=whole, samples=make_samples(figures))


def test_a_choice_is_made_among_the_aged_candidates() -> None:
    result = measured({"ext4": 50.0, "xfs": 80.0})
    analysis = analyse(result)
    assert (analysis.leaders, analysis.dropped) == (("xfs:aged",), ("ext4:aged",))
    assert decide(analysis, result.plan).survivors == ("xfs:aged",)
    answer = conclude(result).answer
    assert answer.choice == ("xfs:aged",)
    assert not any("aged" in command for command in answer.commands)


def test_a_round_measures_both_once() -> None:
    made = measured({"ext4": 50.0, "xfs": 80.0}).plan
    order = trial_order(made, 1, made.with_new(AGED))
    assert sorted(trial.candidate for trial in order) == sorted((*NAMES, *AGED))
    assert {trial.candidate for trial in trial_order(made, 2, made.with_new(["xfs:aged"]))} == {"xfs", "xfs:aged"}


def test_the_price_of_age_comes_from_the_same_rounds() -> None:
    """The luck of a round is twenty times the noise within it: unpaired, nothing would be proven."""
    findings = conclude(measured({"ext4": 50.0, "xfs": 80.0}))
    overall = {ratio.candidate: ratio for ratio in findings.age if not ratio.workload}
    for name, speed in zip(AGED, (0.5, 0.8)):
        ratio = overall[name]
        assert ratio.low is not None and ratio.high is not None
        assert ratio.low < speed < ratio.high < 1.0 and ratio.verdict == "slower"
    assert "age" in {reason.code for reason in findings.reasons}
    assert "aged over new" in render(findings, "text", full=True)


def test_new_candidates_leave_the_run_with_their_aged_ones() -> None:
    result = measured({"ext4": 50.0, "xfs": 80.0})
    assert len(set(appearances_of(result.plan).values())) == 4
    assert RunState.of(result.plan, result).alive == 4
    state = RunState.of(result.plan, replace(result, survivors=("xfs:aged",), finished_rounds=6))
    assert [state.out(name) for name in (*NAMES, *AGED)] == ["dropped", "", "dropped", ""]
