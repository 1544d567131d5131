"""How much work fits into a box of time: found on the baseline, the same for all, and ended where one is far slower."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from fswizard import recipes
from fswizard.disks.disk import CandidateFailed
from fswizard.engines.fsync import FsyncJob
from fswizard.engines.shared.engine import Engine, Files, Timed, duration_s
from fswizard.engines.shared.programs import Work
from fswizard.engines.sqlite import SqliteJob
from fswizard.engines.tree import TreeJob
from fswizard.errors import UsageError
from fswizard.model.estimates import as_before, estimate, expected, looked_at
from fswizard.model.events import Event, SampleTaken
from fswizard.model.filesystem import Candidate
from fswizard.model.metrics import BYTES_WRITTEN, DURATION, OPERATION_RATE, Metric
from fswizard.model.plan import Plan
from fswizard.model.recipe import Amount, Job, Workload
from fswizard.model.result import Sample
from fswizard.model.run_state import RunState
from fswizard.progress.emitter import Emitter
from fswizard.progress.workload_events import Measured, WorkloadEvent
from fswizard.session import amounts
from fswizard.stats.comparison import compare
from tests.builders import make_drive, make_plan, make_result, make_samples
from tests.fakes.local_context import LocalContext

MIB = 1 << 20
VIDEO = TreeJob("copy-onto", "video", 1, 512 * MIB)
UNPACK = TreeJob("untar", "home", 4000, 128 * MIB)
FIND = replace(UNPACK, operation="find")


def boxed(name: str, job: Job, box_s: float, least: int) -> Workload:
    return Workload(name, name, job.engine, job, DURATION, box_s=box_s, least=least, writes_bytes=1_000_000)


WORKLOADS = (
    boxed("copy", VIDEO, 1.5, 8),
    boxed("unpack", UNPACK, 0.8, 10),
    boxed("find", FIND, 0.8, 20),
    replace(boxed("save", SqliteJob("wal", 1000), 1.0, 40), metric=OPERATION_RATE),
    Workload("fsync", "fsync", "fsync", FsyncJob(4 << 30, 8.0), DURATION, weight=0.0, every=3),
)
PLAN = make_plan(("ext4", "xfs"), WORKLOADS)


async def chosen(
    took_s: dict[str, float], monkeypatch: pytest.MonkeyPatch, start_s: float = 0.0
) -> tuple[Any, list[tuple[str, int]]]:
    """The amounts chosen, and what was tried, on a baseline on which the least amounts take these times.

    Each program takes `start_s` to start.
    """
    tried = list[tuple[str, int]]()

    @asynccontextmanager
    async def baseline(candidate: Candidate) -> AsyncIterator[None]:
        assert candidate.name == "ext4"
        if not took_s:
            raise CandidateFailed("mkfs", "It can't be made.")
        yield None

    async def measured(plan: Plan, workload: Workload, units: int, *rest: object, **title: str) -> dict[Metric, float]:
        tried.append((workload.name, units))
        return {DURATION: start_s + (took_s[workload.name] - start_s) * units / workload.least}

    monkeypatch.setattr(amounts, "_measured", measured)
    prepared = cast(Any, SimpleNamespace(open=baseline))
    return await amounts.choose_amounts(PLAN, prepared, Emitter(list[Event]().append)), tried


async def test_amounts_fill_the_box_on_the_baseline_between_the_least_and_all(monkeypatch: pytest.MonkeyPatch) -> None:
    took_s = {"copy": 0.5, "unpack": 0.2, "find": 0.1, "save": 2.0}
    got, tried = await chosen(took_s, monkeypatch)
    assert got["copy"] == Amount(24, 1.5)
    assert got["unpack"].units == got["find"].units == 40, "one tree, and all of it"
    assert got["save"] == Amount(40, 2.0), "the least takes longer than its box"
    assert got["fsync"] == Amount(24 * 8 // 3 * 2, 8.0), "at the pace of the copy"
    assert tried == [("copy", 8), ("copy", 24), ("unpack", 20), ("find", 20), ("save", 40)]
    started, _ = await chosen(took_s, monkeypatch, start_s=0.3)
    assert started["copy"].units in (39, 40), "by what more work takes, not by the start of a program"
    slow, tried = await chosen({**took_s, "unpack": 0.6}, monkeypatch)
    assert (slow["unpack"], slow["find"]) == (Amount(20, 1.2), Amount(20, 1.2))
    assert ("find", 20) not in tried, "so little fits that the least is done in any case"
    assert (await chosen({}, monkeypatch))[0]["copy"].units == 8, "the baseline will fail in its first round, too"


def test_work_seconds_and_writes_follow_from_the_amounts() -> None:
    changed = PLAN.with_amounts({"copy": Amount(16, 1.4), "fsync": Amount(100, 8.0)})
    copy, _, find, _, fsync = changed.recipe.workloads
    assert (copy.task.units, copy.job, copy.cut_s) == (16, VIDEO, 6.0), "a box, or four times what the baseline takes"
    assert (fsync.task.units, fsync.cut_s, find) == (100, 0.0, PLAN.recipe.workload("find"))
    assert copy.writes_bytes == 250_000
    assert copy.seconds == pytest.approx(1.3 * 1.4 + 0.1), "as long as it took the baseline, and others a little longer"


def test_estimates_follow_from_the_first_rates() -> None:
    made = make_plan(("ext4", "xfs"), (replace(WORKLOADS[0], box_s=0.0, seconds=1.0),), drive=make_drive(kind="ssd"))
    target = replace(made.target, size_bytes=4 << 30)
    usual = estimate(replace(made, target=target, time_limit_s=0.0))
    assert usual.first_look is not None
    rate = usual.first_look.job.cost.measure_bytes / usual.first_look.job.cost.measure_s
    slower = looked_at(usual, [rate / 4, rate / 4])
    assert slower.seconds_per_trial == pytest.approx(usual.seconds_per_trial + 3 * 1.0)
    assert slower.preparation_s > usual.preparation_s
    sample = Sample(0, "xfs", "copy", "first_look_rate", rate / 4, "B/s", "higher")
    assert RunState.of(usual).after(SampleTaken(1.0, sample)).outlook == expected(slower, looked=True)


def test_a_run_that_ended_in_its_first_trial_says_nothing_of_the_rest() -> None:
    result = make_result()
    assert as_before(result.plan, result) == result.plan


def test_two_disks_that_did_different_amounts_are_compared_by_what_as_much_takes() -> None:
    plan = make_plan(("ext4", "xfs"), WORKLOADS[:1])
    one, two = (
        replace(
            make_result(plan=plan, samples=make_samples({"ext4": seconds, "xfs": seconds}, "copy", DURATION)),
            plan=plan.with_amounts({"copy": Amount(units, seconds[0])}),
        )
        for units, seconds in ((60, (1.5, 1.52, 1.48, 1.5)), (12, (1.2, 1.22, 1.18, 1.2)))
    )
    change = next(change for change in compare(one, two).changes if change.workload == "copy")
    assert (change.before, change.after) == pytest.approx((1.5, 6.0), rel=1e-3)
    assert change.ratio.ratio == pytest.approx(0.25, rel=1e-3)


@dataclass(frozen=True, slots=True)
class Endless(Engine):
    """Shows that it has done a quarter, and goes on."""

    engine = "endless"
    metrics = (DURATION, BYTES_WRITTEN)

    def timed(self, directory: str, scratch: str, seed: str) -> Timed:
        text = f"mkdir {directory}/made; exec sleep 1000"
        work = Work(("sh", "-c", text), "going on", seconds=1.0, share_done=lambda pid: 0.25, whole=1.0)
        return Timed((work,), makes=Files(f"{directory}/made", 0), reads=False)

    def figures(self, done: Any) -> Any:
        yield Measured(DURATION, duration_s(done))
        yield Measured(BYTES_WRITTEN, 1000.0)


@pytest.fixture
def context(tmp_path: Path) -> LocalContext:
    for name in ("there", "scratch"):
        (tmp_path / name).mkdir()
    return LocalContext(str(tmp_path / "there"), str(tmp_path / "scratch"))


async def test_one_that_is_far_slower_is_ended_and_its_rate_until_then_counts(
    context: LocalContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fswizard.engines.shared.programs.POLL_S", 0.01)
    events: list[WorkloadEvent] = []
    await Endless().run(context, events.append, seed=1, cut_s=0.05)
    figures = {event.metric.name: event.value for event in events if isinstance(event, Measured)}
    assert figures["share_done"] == 0.25
    assert figures["duration"] >= 4 * 0.05
    assert figures["bytes_written"] == 250, "as the disk counts what was done"
    assert list(Path(context.directory).iterdir()) == [], "half a tree is no tree to work on"


SAVES = 'engine = "sqlite"\nmetric = "duration"\njournal = "wal"\ntransactions = 10'
BLOCKS = 'engine = "fio"\nmetric = "iops"\nrw = "write"\nblock = "4K"\nsize = "1M"'


@pytest.mark.parametrize(
    ("keys", "what"), [(f"{SAVES}\nbox = 1\nleast = 11", "'least'"), (f"{BLOCKS}\nbox = 1", "'box'")]
)
def test_a_box_needs_work_whose_amount_can_be_changed(keys: str, what: str) -> None:
    head = 'schema = 1\nname = "mine"\ntitle = "Mine"\nwhy = "Why."\nminutes = 1\nimage = "1G"\n'
    with pytest.raises(UsageError, match=what):
        recipes.parse(f'{head}[[workload]]\nname = "one"\ntitle = "One"\n{keys}', "mine.toml")


def test_shipped_boxes_last_until_the_disk_has_it_and_a_tree_has_one_size() -> None:
    for recipe in recipes.available():
        trees: dict[object, set[bool]] = {}
        for workload in recipe.workloads:
            trees.setdefault(workload.job.works_on, set()).add(bool(workload.box_s))
            assert not workload.box_s or workload.metric in (DURATION, OPERATION_RATE), "until it is on the disk"
        assert all(len(kinds) == 1 for kinds in trees.values()), f"{recipe.name}: one tree has one size"
