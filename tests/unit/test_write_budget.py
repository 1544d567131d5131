"""A plan shows what a run writes and its share of the disk's life; the run ends at the user's limit."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fswizard.disks.choice import TargetChoice
from fswizard.engines.fio import FioJob
from fswizard.errors import UsageError
from fswizard.filesystems import parse_candidates
from fswizard.model.drive import Drive
from fswizard.model.endurance import usual_budget_bytes
from fswizard.model.estimates import affordable_rounds, round_bytes
from fswizard.model.metrics import TRIAL_WRITTEN
from fswizard.model.plan import Plan
from fswizard.model.result import Result, Sample
from fswizard.report.writes import share_of_life
from fswizard.session import Choices, make_plan
from tests.builders import make_drive, make_recipe, make_result, make_samples, make_workload
from tests.fakes.command_line import fswizard

GB, TB = 10**9, 10**12
SSD = make_drive(kind="ssd", model="Samsung SSD 870 EVO 1TB", size_bytes=TB)
WRITES = make_recipe([make_workload("write", job=FioJob("write", 1 << 20, 1 << 30))], image_bytes=2 << 30)
pytestmark = pytest.mark.usefixtures("everything_is_installed")


def plan(directory: Path, drive: Drive | None = SSD, **choices: Any) -> Plan:
    target = TargetChoice("image", str(directory), 2 << 30)
    made = {"recipe": WRITES, "candidates": parse_candidates("ext4; xfs"), "drive": drive, "target": target, **choices}
    return make_plan(Choices(**made))


@pytest.mark.parametrize(
    ("drive", "budget_bytes"),
    [
        (SSD, 50 * GB),
        (replace(SSD, kind="flash-card", size_bytes=16 * GB), 8 * GB),
        (replace(SSD, kind="array", rotational=True), None),
        (None, None),
    ],
)
def test_the_usual_budget_goes_by_the_kind_of_disk(drive: Drive | None, budget_bytes: int | None) -> None:
    assert usual_budget_bytes(drive) == budget_bytes


def test_what_was_chosen_goes_before_what_is_usual_which_cuts_no_recipe_short(tmp_path: Path) -> None:
    assert plan(tmp_path).write_budget_bytes == 50 * GB
    assert plan(tmp_path, write_budget_bytes=20 * GB).write_budget_bytes == 20 * GB
    assert plan(tmp_path, write_budget_bytes=math.inf).write_budget_bytes is None
    heavy = replace(WRITES, workloads=(replace(WRITES.workloads[0], writes_bytes=40 * GB),))
    made = plan(tmp_path, recipe=heavy)
    assert made.write_budget_bytes == round(1.25 * made.writes_bytes) > 200 * GB
    with pytest.raises(UsageError, match=r"One round writes about 9\d\.\d GB, and the write budget is 50\.0 GB"):
        plan(tmp_path, recipe=heavy, write_budget_bytes=50 * GB)


def result(made: Plan, *written: float) -> Result:
    """Of a run in which ext4 wrote so much in its trials, and nobody else anything."""
    return make_result(plan=made, samples=make_samples({"ext4": written}, "", TRIAL_WRITTEN))


def test_another_round_is_begun_where_it_fits_by_what_the_devices_counted(tmp_path: Path) -> None:
    made = plan(tmp_path, write_budget_bytes=20 * GB)
    image, trial = made.target.filled_bytes, made.writes_bytes_per_trial

    def rounds(measured: Result, *names: str) -> float:
        return affordable_rounds(made, round_bytes(made, measured, names), measured.written_bytes)

    measured = result(made, 3 * GB)
    assert rounds(measured, "ext4", "xfs") == (17 * GB - image) // (3 * GB + trial)
    bare = Sample(1, "", "", "bare_written", GB, "B", "lower")
    with_bare = replace(measured, samples=(*measured.samples, bare))
    assert rounds(with_bare, "ext4", "xfs") == (16 * GB - image) // (4 * GB + trial)
    assert rounds(result(made, 21 * GB), "ext4") == 0


@pytest.mark.parametrize(
    ("drive", "words"),
    [
        (SSD, "0.008 % of this SSD's life"),
        (replace(SSD, model="No Name"), "0.03 % of this SSD's life"),
        (replace(SSD, written_bytes=30 * TB, life_used_percent=3), "0.005 % of this SSD's life"),
        (replace(SSD, kind="flash-card"), ""),
    ],
)
def test_wear_is_a_share_of_the_life_that_the_disk_reports_or_its_maker_rates(drive: Drive, words: str) -> None:
    assert share_of_life(drive, 50 * GB) == words


def test_a_budget_can_be_set_on_the_command_line(tmp_path: Path) -> None:
    run = ("run", "quick", "--dry-run", "--target", f"image:4G@{tmp_path}", "--write-budget")
    assert "or once 40.0 GB are written" in " ".join(fswizard(*run, "40G").stdout.split())
    assert fswizard(*run, "much").returncode == 2
