"""In which order candidates are measured, and the rest of the disk between two of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise, product
from pathlib import Path

import pytest

from fswizard.errors import RunFailed
from fswizard.model.drive import SmrKind
from fswizard.model.plan import Plan, Target, Trial
from fswizard.model.result import Sample
from fswizard.progress.emitter import Emitter
from fswizard.session import rest
from fswizard.session.order import trial_order
from fswizard.system import clock
from fswizard.system.block_stats import Counters
from tests.builders import make_drive, make_plan, make_result
from tests.fakes.host import ModelHost
from tests.fakes.machine import make_program

NAMES = ("ext4", "xfs", "btrfs", "f2fs", "ext2", "jfs", "exfat", "nilfs2")
DEVICE = Target("device", "/dev/sdx", 2 << 30)


def run(plan: Plan, rounds: int, left_in: Callable[[int], Sequence[str]] = lambda _: NAMES) -> Iterator[Trial]:
    """The trials of a run, in which those that `left_in` names take part in a round."""
    done: list[Trial] = []
    for number in range(1, rounds + 1):
        trials = trial_order(plan, number, left_in(number), done, done[-1].candidate if done else "")
        done += trials
        yield from trials


def spread(trials: Sequence[Trial], names: Sequence[str]) -> int:
    """How much more often the most frequent pair of neighbours comes about than the least."""
    followed = Counter((trial.predecessor, trial.candidate) for trial in trials)
    counts = [followed[pair] for pair in product(names, names)]
    return max(counts) - min(counts)


def test_a_seed_gives_an_order_in_which_each_comes_first_about_as_often_and_survivors_stay_balanced() -> None:
    orders = [tuple(run(make_plan(NAMES[:3], seed=seed), 3)) for seed in (1, 1, *range(2, 40))]
    assert orders[0] == orders[1]
    assert len({order[:3] for order in orders}) == 6
    trials = tuple(run(make_plan(NAMES[:3], seed=3), 60))
    assert all(15 <= count <= 25 for count in Counter(trial.candidate for trial in trials[::3]).values())
    trials = tuple(run(make_plan(NAMES[:4], seed=5), 12, lambda number: NAMES[:4] if number <= 3 else NAMES[:2]))
    assert spread([trial for trial in trials if trial.round > 4], NAMES[:2]) <= 2


@pytest.mark.parametrize("count", [2, 5, 8])
def test_each_candidate_follows_each_one_and_itself_about_equally_often(count: int) -> None:
    trials = tuple(run(make_plan(NAMES[:count], seed=3), 12))
    assert trials[0].predecessor == ""
    assert all(after.predecessor == before.candidate for before, after in pairwise(trials))
    assert spread(trials, NAMES[:count]) <= 4
    assert len(trials) == 12 * count


def test_a_result_has_the_trials_of_counted_rounds_as_they_were_carried_out() -> None:
    plan = make_plan(NAMES[:4], seed=11)
    trials = tuple(run(plan, 3))
    samples = tuple(
        Sample(trial.round, trial.candidate, "write", metric, 1.0, "1/s", "higher", predecessor=trial.predecessor)
        for trial in trials
        for metric in ("iops", "used")
    )
    earlier = make_result(plan=plan, samples=samples, discarded_rounds=(2,))
    assert earlier.trials == tuple(trial for trial in trials if trial.round != 2)


async def rested(plan: Plan, patch: pytest.MonkeyPatch, in_flight_s: float = 0.0, unwritten_s: float = 0.0) -> float:
    """How long the disk rests, in seconds, while requests are in flight or data unwritten for so long."""
    began_s = clock.monotonic()

    def passed_s() -> float:
        return clock.monotonic() - began_s

    patch.setattr(rest, "counters", lambda *names: Counters(0, 0, int(passed_s() < in_flight_s)))
    patch.setattr(ModelHost, "unwritten_bytes", lambda _: int(passed_s() < unwritten_s))
    await rest.let_rest(plan, (), Emitter(lambda _: None))
    return passed_s()


async def test_filesystems_that_stay_mounted_are_written_back_or_the_run_ends(
    programs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = make_plan(target=Target("directory", ""))
    candidates = (replace(candidate, directory=f"/srv/{candidate.name}") for candidate in plan.candidates)
    in_directories = replace(plan, candidates=tuple(candidates))
    make_program(programs, "sync", f'echo "$@" > {programs}/asked')
    await rested(in_directories, monkeypatch)
    assert (programs / "asked").read_text().split() == ["--file-system", "/srv/ext4", "/srv/xfs"]
    make_program(programs, "sync", "echo 'Input/output error' >&2; exit 1")
    with pytest.raises(RunFailed, match="Input/output error"):
        await rested(in_directories, monkeypatch)


@pytest.mark.usefixtures("time")
async def test_what_is_under_way_or_unwritten_is_waited_for_and_what_never_ends_is_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    plan = make_plan(target=DEVICE)
    assert await rested(plan, monkeypatch, in_flight_s=1.0) == pytest.approx(1.0, abs=0.3)
    assert await rested(plan, monkeypatch, in_flight_s=1000.0) == pytest.approx(rest.LONGEST_S, abs=0.3)
    assert await rested(plan, monkeypatch, unwritten_s=1000.0) == pytest.approx(rest.POLL_S, abs=0.3)


@pytest.mark.usefixtures("time")
@pytest.mark.parametrize(
    ("smr", "busy_s", "waits_s"), [("host-aware", 30.0, 30.0), ("drive-managed", 1000.0, rest.LONGEST_SHINGLED_S)]
)
async def test_a_shingled_disk_rests_once_nothing_is_under_way(
    monkeypatch: pytest.MonkeyPatch, smr: SmrKind, busy_s: float, waits_s: float
) -> None:
    plan = make_plan(target=DEVICE, drive=make_drive(smr))
    took_s = await rested(plan, monkeypatch, in_flight_s=busy_s)
    assert took_s == pytest.approx(waits_s + rest.SHINGLED_REST_S, abs=0.3)
