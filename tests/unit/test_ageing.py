"""Aged candidates: what they are called, when they are refused, and results that also have new ones."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fswizard import filesystems, results
from fswizard.advice import conclude
from fswizard.disks.choice import TargetChoice
from fswizard.errors import UsageError
from fswizard.filesystems import parse_candidates
from fswizard.model.plan import Plan
from fswizard.model.result_file import encoded, lines
from fswizard.recipes import find
from fswizard.report import render
from fswizard.report.content import set_up
from fswizard.report.plan import plan_commands
from fswizard.report.subject import attempt_command
from fswizard.session import Choices, make_plan
from tests.builders import make_plan as made_plan
from tests.builders import make_recipe, make_result, make_samples, make_workload
from tests.fakes.host import ModelHost, use

RECIPE = make_recipe([make_workload("write")], image_bytes=256 << 20)
NAMES = ("ext4", "xfs")
AGED = tuple(f"{name}:aged" for name in NAMES)


def plan(directory: Path, candidates: str = "ext4; xfs", **choices: Any) -> Plan:
    target = choices.pop("target", TargetChoice("image", str(directory), 1 << 30))
    return make_plan(Choices(RECIPE, parse_candidates(candidates), target=target, aged=True, **choices))


@pytest.mark.usefixtures("everything_is_installed")
class TestPlanning:
    def test_all_are_aged_once_before_the_first_round_and_the_run_may_take_longer(self, tmp_path: Path) -> None:
        made, twice = plan(tmp_path, baseline="xfs"), plan(tmp_path, "ext4; ext4:aged")
        assert [candidate.name for candidate in made.candidates] == list(AGED)
        assert (made.baseline, made.time_limit_s) == ("xfs:aged", 2 * RECIPE.minutes * 60)
        assert attempt_command(made).endswith("--candidates 'ext4:aged; xfs:aged'")
        assert [candidate.name for candidate in twice.candidates] == ["ext4:aged"]
        assert made.filled_bytes == (1 + 2 * (3 + 2)) << 30
        copied = [command for command in plan_commands(made) if " if=" in command]
        assert len(copied) == 4 and {" of=KEPT-1 " in copied[0], " if=KEPT-2 " in copied[3]} == {True}, "as reviewed"
        assert made.writes_bytes >= made.filled_bytes + 4 * made.writes_bytes_per_trial

    def test_too_little_room_directories_and_recipes_that_fill_are_refused(self, tmp_path: Path) -> None:
        small, recipe = TargetChoice("image", str(tmp_path), 256 << 20), replace(find("archive-disk"), image_bytes=1)
        with pytest.raises(UsageError, match="too little room for old files"):
            make_plan(Choices(recipe, parse_candidates("ext4"), target=small, aged=True))
        with pytest.raises(UsageError, match="in a scratch image alone"):
            plan(tmp_path, target=TargetChoice("directory", str(tmp_path)))
        with pytest.raises(UsageError, match="fills filesystems itself"):
            make_plan(Choices(find("fill"), target=TargetChoice("image", str(tmp_path)), aged=True))
        machine = ModelHost(free_bytes=3 << 30)
        with use(machine), pytest.raises(UsageError, match="3 images of 1 GiB"):
            plan(tmp_path)


def test_of_an_earlier_version_s_result_the_new_ones_beside_the_aged_ones_are_not_read(tmp_path: Path) -> None:
    speeds = {"ext4": 100.0, "xfs": 100.0, "ext4:aged": 50.0, "xfs:aged": 80.0}
    figures = {name: [speed * luck for luck in (1.0, 0.99, 1.01, 1.0)] for name, speed in speeds.items()}
    made = made_plan(NAMES, RECIPE.workloads)
    aged = tuple(filesystems.aged(candidate) for candidate in made.candidates)
    whole = replace(made, candidates=aged, baseline=AGED[0])
    path = tmp_path / "old.jsonl"
    path.write_bytes(b"".join(map(encoded, lines(make_result(figures, plan=whole, samples=make_samples(figures))))))
    findings = conclude(results.load(path))
    assert {sample.candidate for sample in findings.result.samples} == set(AGED)
    assert findings.answer.choice == ("xfs:aged",)
    assert not any("aged" in command for command in set_up(findings).commands)
    assert "xfs (aged)" in render(findings, "text", full=True).lower()
