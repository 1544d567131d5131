"""A plan takes what earlier runs took on the same disk, where there are any."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from fswizard import results
from fswizard.disks.choice import TargetChoice
from fswizard.engines.fio import FioJob
from fswizard.engines.tree import TreeJob
from fswizard.filesystems import parse_candidates
from fswizard.model.drive import Drive
from fswizard.model.estimates import Calibration, Took, calibration, timed_bytes
from fswizard.model.events import RunStarted
from fswizard.model.plan import Plan
from fswizard.model.recipe import Recipe
from fswizard.model.result import Result
from fswizard.report.writes import budget_text
from fswizard.results import Entry, ResultWriter, all_results, new_path
from fswizard.session import Choices, estimated, make_plan
from fswizard.system import host
from tests.builders import make_drive, make_recipe, make_workload
from tests.fakes.host import use
from tests.recording import recorded

pytestmark = pytest.mark.usefixtures("state", "everything_is_installed")

DISK = make_drive(kind="ssd", model="FAST SSD", serial="F1", rotational=False)
TIMED = FioJob("randwrite", 4096, 1 << 30, seconds=4, depth=32)
NAMES = "ext4; xfs; btrfs:noatime"
quarter = partial(pytest.approx, rel=0.25)


def kept(name: str, drive: Drive | None = DISK, started: str = "2026-01-02T03:04:05Z") -> Result:
    """The result of a recorded run, in the history, as if it had been on that disk at that time."""
    begun, *further = recorded(name)
    assert isinstance(begun, RunStarted)
    plan, environment = replace(begun.plan, drive=drive), replace(begun.environment, started=started)
    path = new_path(plan)
    with ResultWriter(path) as writer:
        for event in (replace(begun, plan=plan, environment=environment), *further):
            writer.write(event)
    return results.load(path)


def plan(directory: Path, recipe: Recipe, names: str = NAMES, history: Sequence[Entry] | None = None) -> Plan:
    choices = Choices(
        recipe, parse_candidates(names), target=TargetChoice("image", str(directory), 4 << 30), drive=DISK, seed=1
    )
    return make_plan(choices, all_results() if history is None else history)


def test_the_same_again_takes_what_came_and_another_recipe_what_it_shares(tmp_path: Path) -> None:
    came = kept("xfs-searching")
    made = plan(tmp_path, came.plan.recipe)
    trials = len(came.trials)
    assert made.preparation_s + trials * made.seconds_per_trial == pytest.approx(came.elapsed_s, rel=0.01)
    assert made.looks_first, "which that run did not"
    assert replace(made, looks_first=False).writes_bytes_in(trials) == pytest.approx(came.written_bytes, rel=0.01)
    assert made.measured_on == came.environment.started[:10]
    assert budget_text(made).endswith(f", by the run of {made.measured_on}")
    alone = {name: plan(tmp_path, came.plan.recipe, name) for name in ("ext4", "btrfs:noatime")}
    for name, made in alone.items():
        written = [sample.value for sample in came.trials_written if sample.candidate == name]
        assert made.writes_bytes_per_trial == quarter(sum(written) / len(written))
    install = {name: made.recipe.workload("install-packages") for name, made in alone.items()}
    assert install["btrfs:noatime"].seconds > 2 * install["ext4"].seconds
    both = plan(tmp_path, came.plan.recipe)
    unpack = came.plan.recipe.workload("unpack")
    other = replace(unpack, name="more", job=TreeJob("untar", "small-files", 64_000, 400 << 20), seconds=10.0)
    made = plan(tmp_path, replace(came.plan.recipe, name="other", workloads=(unpack, other)))
    same, more = made.recipe.workloads
    assert same.seconds == both.recipe.workload("unpack").seconds
    found = calibration(came)
    assert found is not None
    assert found.slower == quarter(0.5), "the disk of that run wrote twice as fast as a SATA SSD"
    assert more.seconds == pytest.approx(10.0 * found.slower)


@pytest.mark.parametrize(("measured", "share"), [(TIMED, 0.5), (replace(TIMED, rw="randread"), 1.0)])
def test_what_timed_jobs_wrote_tells_the_pace_of_others(tmp_path: Path, measured: FioJob, share: float) -> None:
    other = replace(TIMED, block_bytes=64 << 10, depth=2)
    made = plan(
        tmp_path, make_recipe([make_workload(job=other, writes_bytes=other.cost.measure_bytes)]), "ext4; xfs", ()
    )
    took = Took(5.0, 0.5 * timed_bytes(measured, "ssd"))
    earlier = Calibration("2026-01-02", {measured: {"ext4": took}}, {"ext4": Took(1.0, 0.0)}, 3.0, 4 << 30, 1.0)
    paced = estimated(made, (earlier,)).recipe.workloads[0]
    assert paced.writes_bytes == paced.timed_bytes == int(share * timed_bytes(other, "ssd"))


@pytest.mark.parametrize(
    ("kernel", "names", "share"),
    [("6.14.2", "btrfs", 1.0), ("6.15.0-1-amd64", "btrfs", 0.25), ("7.0.1", "btrfs; ext4", 0.625),
     ("7.0.1", "btrfs:nodatasum", 1.0), ("7.0.1", "ext4; xfs", 1.0)],
)  # fmt: skip
def test_less_is_expected_of_direct_writes_where_btrfs_makes_them_buffered(
    tmp_path: Path, kernel: str, names: str, share: float
) -> None:
    (tmp_path / "proc/sys/kernel").mkdir(parents=True)
    (tmp_path / "proc/sys/kernel/osrelease").write_text(kernel)
    workloads = [make_workload(name, job=replace(TIMED, direct=name == "direct")) for name in ("direct", "buffered")]
    with use(replace(host.this, root=tmp_path)):
        made = plan(tmp_path, make_recipe(workloads), names, ())
    direct, buffered = made.recipe.workloads
    assert direct.writes_bytes == pytest.approx(share * buffered.writes_bytes, abs=1)
    assert direct.timed_bytes == buffered.timed_bytes, "no candidate is cut short for the sake of another"


@pytest.mark.parametrize("drive", [replace(DISK, serial="another"), replace(DISK, model="", serial=""), None])
def test_another_disk_tells_nothing(tmp_path: Path, drive: Drive | None) -> None:
    recipe = kept("xfs-searching", drive).plan.recipe
    assert plan(tmp_path, recipe) == plan(tmp_path, recipe, history=())
    assert "by the run" not in budget_text(plan(tmp_path, recipe))


@pytest.mark.parametrize("damage", [lambda lines: (*lines[:9], b"{damaged}\n", *lines[9:]), lambda lines: lines[:1]])
def test_what_is_damaged_is_passed_over_for_what_is_older(
    tmp_path: Path, damage: Callable[[list[bytes]], Sequence[bytes]]
) -> None:
    recipe = kept("xfs-searching").plan.recipe
    kept("quick-again", started="2026-02-03T04:05:06Z")
    newest, _ = all_results()
    lines = newest.path.read_bytes().splitlines(keepends=True)
    newest.path.write_bytes(b"".join(damage(lines)))
    assert plan(tmp_path, recipe).measured_on == "2026-01-02"
    newest.path.write_bytes(b"".join(lines))
    assert plan(tmp_path, recipe).measured_on == "2026-02-03"
