"""The race: what is gathered from events, and what its picture shows of that."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fswizard.model.events import (
    Event,
    RoundDiscarded,
    SampleTaken,
    SeriesRecorded,
    Step,
    StepFailed,
    StepProgressed,
    StepStarted,
)
from fswizard.model.metrics import DURATION
from fswizard.model.plan import Plan
from fswizard.model.race import POINTS, Curve, Lane, Measurement, Race
from fswizard.model.result import Failure, Sample, ThroughputSeries
from fswizard.model.run_state import RunState
from fswizard.tui.widgets.braille import area
from fswizard.tui.widgets.race import GAP, TimeLine, appearances_of
from fswizard.tui.widgets.race import Race as RaceWidget
from tests.builders import make_plan, make_result, make_workload
from tests.recording import recorded
from tests.tui.screenshots import RUN

WORKLOADS = (make_workload("write"), make_workload("copy", DURATION))
PLAN = make_plan(("ext4", "xfs"), WORKLOADS)


def sample(candidate: str, value: float, workload: str = "write", round_: int = 1, **fields: object) -> SampleTaken:
    metric = next(w.metric for w in WORKLOADS if w.name == workload)
    taken = Sample(round_, candidate, workload, metric.name, value, metric.unit, metric.better, primary=True)
    return SampleTaken(1.0, replace(taken, **fields))  # type: ignore[arg-type]


def begun(number: int, candidate: str, workload: str = "write", round_: int = 1) -> StepStarted:
    return StepStarted(0.0, Step(number, "workload", workload, round_, candidate, workload))


def told(number: int, rate: float, *, preparing: bool = False, fraction: float = 0.5) -> StepProgressed:
    return StepProgressed(0.0, number, fraction, "writing", rate, preparing=preparing)


def state_after(*events: Event, plan: Plan = PLAN) -> RunState:
    state = RunState.of(plan)
    for event in events:
        state = state.after(event)
    return state


def test_who_is_faster_stands_higher_whether_more_or_less_is_better() -> None:
    lanes = state_after(
        sample("ext4", 100e6), sample("xfs", 50e6), sample("ext4", 4.0, "copy"), sample("xfs", 1.0, "copy")
    ).race.lanes
    levels = [(lane.level(lane.measurements[1, "ext4"]), lane.level(lane.measurements[1, "xfs"])) for lane in lanes]
    assert levels == [(1.0, 0.5), (0.25, 1.0)]


def test_rounds_stand_on_one_time_line_in_the_order_of_measurement_with_what_is_still_to_come() -> None:
    line = TimeLine.of(state_after(sample("xfs", 1.0), sample("ext4", 1.0), sample("ext4", 1.0, round_=2)), 40)
    assert [[slot.candidate for slot in slots] for slots in line.rounds] == [["xfs", "ext4"], ["ext4", ""]]


def test_neither_failures_nor_rounds_that_do_not_count_have_figures() -> None:
    failure = Failure(1, "xfs", "write", "ENOSPC", "The volume is full.")
    state = state_after(sample("ext4", 1.0), sample("xfs", 1.0), StepFailed(2.0, Step(2, "workload", ""), failure))
    assert set(state.race.lanes[0].figures()) == {"ext4"}
    state = state_after(sample("ext4", 10.0), RoundDiscarded(2.0, 1, "suspended"), sample("ext4", 30.0, round_=2))
    assert state.race.lanes[0].figures(state.result.discarded_rounds) == {"ext4": 30.0}


def test_while_it_is_measured_its_rate_is_set_against_what_others_made_of_theirs() -> None:
    ended = (begun(1, "ext4", "copy"), told(1, 100e6), sample("ext4", 2.0, "copy"))
    race = state_after(*ended, begun(2, "xfs", "copy"), told(2, 50e6)).race
    assert race.lanes[1].level(race.lanes[1].measurements[1, "xfs"]) == pytest.approx(0.5)


def test_a_resumed_run_goes_on_in_the_same_picture() -> None:
    series = ThroughputSeries(1, "ext4", "write", "B/s", (1e6, 3e6))
    earlier = make_result({"ext4": (100.0,), "xfs": (120.0,)}, throughput_series=(series,), discarded_rounds=(1,))
    race = Race.of(earlier.plan, earlier)
    assert race.trials == ((1, "ext4"), (1, "xfs"))
    assert race.lanes[0].measurements[1, "ext4"].curve.means == (1e6, 3e6)
    plan = replace(earlier.plan, candidates=earlier.plan.candidates[:1])
    assert Race.of(plan, earlier).trials == ((1, "ext4"),), "who is no longer in the plan is not raced"


def test_what_was_seen_live_is_finer_than_what_is_recorded_and_what_only_prepares_is_not_raced() -> None:
    series = SeriesRecorded(1.0, ThroughputSeries(1, "ext4", "write", "B/s", (2e6,)))
    state = state_after(begun(1, "ext4"), told(1, 9e9, preparing=True), told(1, 1e6), told(1, 3e6), series)
    assert state.race.lanes[0].measurements[1, "ext4"].curve.means == (1e6, 3e6)


@given(st.lists(st.floats(0, 1e9), min_size=1, max_size=1000))
def test_a_curve_keeps_its_mean_in_a_bounded_number_of_points(rates: list[float]) -> None:
    curve = Curve()
    for rate in rates:
        curve = curve.plus(rate, "B/s")
    assert len(curve.means) < POINTS
    told_of = len(curve.means) * curve.each
    assert told_of + curve.count == len(rates)
    if told_of:
        assert curve.mean == pytest.approx(sum(rates[:told_of]) / told_of, abs=1e-3)


@given(st.integers(1, 200), st.integers(1, 8), st.integers(1, 12))
def test_trials_on_the_time_line_stay_within_the_width(width: int, candidates: int, rounds: int) -> None:
    names = tuple(f"fs{number}" for number in range(candidates))
    measurements = {(number, name): Measurement() for number in range(1, rounds + 1) for name in names}
    race = Race((Lane(PLAN.recipe.workloads[0], measurements),))
    line = TimeLine.of(replace(RunState.of(PLAN), race=race), width)
    count = sum(map(len, line.rounds))
    if count <= width:
        assert count * line.each + (len(line.rounds) - 1) * len(GAP) <= width
    if (candidates + len(GAP)) * max(rounds, PLAN.minimum_rounds) <= width:
        assert {(slot.round, slot.candidate) for slots in line.rounds for slot in slots} >= set(race.trials)
    assert line.rounds[-1][0].round >= rounds, "where there is no room for all, the newest stay"


def test_a_run_of_ten_workloads_and_twelve_rounds_stays_small_and_has_room() -> None:
    workloads = [make_workload(f"work{number}") for number in range(10)]
    plan = make_plan(("ext4", "xfs", "btrfs"), workloads)
    state, number = RunState.of(plan), 0
    for round_ in range(1, 13):
        for candidate in plan.candidates:
            for workload in workloads:
                number += 1
                state = state.after(begun(number, candidate.name, workload.name, round_))
                for rate in range(2 * POINTS):
                    state = state.after(told(number, float(rate)))
    points = [len(measurement.curve.means) for lane in state.race.lanes for measurement in lane.measurements.values()]
    assert len(points) == 360
    assert max(points) <= POINTS
    for width, height in ((74, 25), (130, 38), (76, 8)):
        drawn = RaceWidget().draw(state, width, height)
        assert len(drawn) <= height
        assert max(line.cell_length for line in drawn) <= width
        assert "▶ Work9" in "\n".join(line.plain for line in drawn), "that in which something happens is among them"


def test_before_the_first_round_is_over_the_leaderboard_follows_the_figures() -> None:
    state = state_after(sample("ext4", 100.0))
    assert [(ratio.candidate, ratio.ratio) for ratio in state.standing] == [("ext4", 1.0), ("xfs", 0.0)]
    state = state_after(sample("ext4", 100.0), sample("xfs", 200.0), sample("ext4", 1.0, "copy"))
    assert [(ratio.candidate, ratio.ratio) for ratio in state.standing] == [("xfs", pytest.approx(2.0)), ("ext4", 1.0)]
    assert all(ratio.verdict == "open" for ratio in state.standing)


def test_candidates_of_one_filesystem_share_its_colour_and_differ_in_texture() -> None:
    looks = appearances_of(make_plan(("ext4", "ext4:noatime", "xfs")))
    assert looks["ext4"].ink == looks["ext4:noatime"].ink != looks["xfs"].ink
    assert looks["ext4"].texture != looks["ext4:noatime"].texture
    assert area((1.0,), 1, 2, looks["ext4"].texture) != area((1.0,), 1, 2, looks["ext4:noatime"].texture)


def test_a_recorded_run_leaves_a_lap_with_a_figure_for_every_trial_of_every_workload() -> None:
    events = list(recorded(RUN))
    plan = events[0].plan  # type: ignore[attr-defined]
    race = state_after(*events, plan=plan).race
    assert len(race.trials) == 2 * len(plan.candidates)
    for lane in race.lanes:
        assert tuple(lane.measurements) == race.trials
        assert all(measurement.figure for measurement in lane.measurements.values())
