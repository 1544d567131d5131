"""The snapshot that the run screen draws, event by event, and the race in it."""

from __future__ import annotations

from dataclasses import replace

from fswizard.advice import conclude
from fswizard.model.analysis import Analysis, Ratio
from fswizard.model.events import (
    CommandFinished,
    Event,
    RatioUpdated,
    RoundDiscarded,
    RoundFinished,
    SampleTaken,
    SeriesRecorded,
    Step,
    StepFailed,
    StepProgressed,
    StepStarted,
)
from fswizard.model.metrics import DURATION
from fswizard.model.plan import Plan
from fswizard.model.race import POINTS
from fswizard.model.result import Failure, Sample, ThroughputSeries
from fswizard.model.run_state import LOG_ENTRIES, LogNote, RunState
from fswizard.tui.widgets.leaderboard import Leaderboard
from fswizard.tui.widgets.race import Race as RaceWidget
from fswizard.tui.widgets.race import TimeLine
from tests.builders import make_plan, make_workload
from tests.recording import recorded
from tests.tui.screenshots import RUN, result

WORKLOADS = (make_workload("write"), make_workload("copy", DURATION))
PLAN = make_plan(("ext4", "xfs"), WORKLOADS)
FULL = Failure(1, "xfs", "write", "ENOSPC", "The volume is full.")


def after(*events: Event, plan: Plan = PLAN) -> RunState:
    state = RunState.of(plan)
    for event in events:
        state = state.after(event)
    return state


def sample(candidate: str, value: float, workload: str = "write", round_: int = 1) -> SampleTaken:
    metric = next(w.metric for w in WORKLOADS if w.name == workload)
    return SampleTaken(
        1.0, Sample(round_, candidate, workload, metric.name, value, metric.unit, metric.better, primary=True)
    )


def begun(number: int, candidate: str = "ext4", workload: str = "write", round_: int = 1) -> StepStarted:
    return StepStarted(float(number), Step(number, "workload", workload, round_, candidate, workload))


def progress(number: int, rate: float | None, **fields: object) -> StepProgressed:
    return replace(StepProgressed(number + 0.5, number, 0.5, "writing", rate), **fields)


def test_a_curve_and_the_log_are_bounded_and_the_share_done_never_runs_backwards() -> None:
    state = after(begun(1), *(progress(1, float(value)) for value in range(9 * POINTS)), progress(1, 1.0))
    assert len(state.measurement.curve.means) <= POINTS
    assert state.run_fraction == 1.5 / state.outlook.most_s
    slower = replace(state, outlook=replace(state.outlook, most_s=1e6)).after(progress(1, 1.0))
    assert (slower.run_fraction, slower.left_s) == (state.run_fraction, 1e6 - 1.5)
    programs = [CommandFinished(1.0, 1, (str(number),), 0, 0.1) for number in range(LOG_ENTRIES + 10)]
    assert after(*programs).log == tuple(programs[10:])


def test_dropped_and_failed_candidates_are_told_apart() -> None:
    analysis = Analysis(overall=(Ratio("ext4", "ext4", "", 1.0),), dropped=("xfs",), rounds=3)
    state = after(RatioUpdated(9.0, analysis), RoundFinished(9.0, 3, ("ext4",)))
    assert (state.dropped("xfs"), state.dropped("ext4")) == (True, False)
    state = after(StepFailed(2.0, Step(1, "workload", "", 1, "xfs"), FULL), RoundFinished(3.0, 1, ("ext4",)))
    assert [ratio.text for ratio in state.standing if ratio.verdict == "failed"] == [FULL.text]
    assert not state.dropped("xfs"), "it failed"
    state = after(*recorded("smr-fileserver"))
    assert any("once more" in entry.text for entry in state.log if isinstance(entry, LogNote))
    assert not state.dropped("nilfs2"), "it was tried again"


def ratios_of(analysis: Analysis) -> list[tuple[str, ...]]:
    """As people read them."""
    return [(r.workload, r.candidate, r.verdict, r.interval()) for r in (*analysis.standing, *analysis.by_workload)]


def test_a_recorded_run_leaves_no_program_open_and_ends_in_what_a_report_says() -> None:
    state = after(*recorded(RUN))
    assert state.run_fraction == 1.0
    assert state.command is None
    assert {ratio.candidate for ratio in state.standing} == {candidate.name for candidate in state.plan.candidates}
    assert ratios_of(state.analysis) == ratios_of(conclude(result()).analysis)


def test_who_is_faster_stands_higher_whether_more_or_less_is_better() -> None:
    samples = (sample("ext4", 100e6), sample("xfs", 50e6), sample("ext4", 4.0, "copy"), sample("xfs", 1.0, "copy"))
    lanes = after(*samples).race.lanes
    levels = [(lane.level(lane.measurements[1, "ext4"]), lane.level(lane.measurements[1, "xfs"])) for lane in lanes]
    assert levels == [(1.0, 0.5), (0.25, 1.0)]


def test_rounds_stand_on_one_time_line_in_the_order_of_measurement_with_what_is_still_to_come() -> None:
    line = TimeLine.of(after(sample("xfs", 1.0), sample("ext4", 1.0), sample("ext4", 1.0, round_=2)), 40)
    assert [[trial[1] for trial in trials] for trials in line.rounds] == [["xfs", "ext4"], ["ext4", ""]]


def test_neither_failures_nor_rounds_that_do_not_count_have_figures() -> None:
    state = after(sample("ext4", 1.0), sample("xfs", 1.0), StepFailed(2.0, Step(2, "workload", ""), FULL))
    assert set(state.race.lanes[0].figures()) == {"ext4"}
    state = after(sample("ext4", 10.0), RoundDiscarded(2.0, 1, "suspended"), sample("ext4", 30.0, round_=2))
    assert state.race.lanes[0].figures(state.result.discarded_rounds) == {"ext4": 30.0}


def test_what_was_seen_live_is_finer_than_what_is_recorded_and_what_only_prepares_is_not_raced() -> None:
    series = SeriesRecorded(1.0, ThroughputSeries(1, "ext4", "write", "B/s", (2e6,)))
    state = after(begun(1), progress(1, 9e9, preparing=True), progress(1, 1e6), progress(1, 3e6), series)
    assert state.race.lanes[0].measurements[1, "ext4"].curve.means == (1e6, 3e6)


def test_of_ten_workloads_the_one_that_is_measured_has_room_in_the_race() -> None:
    workloads = [make_workload(f"work{number}") for number in range(10)]
    events = (begun(number, workload=workload.name) for number, workload in enumerate(workloads))
    state = after(*events, plan=make_plan(("ext4", "xfs", "btrfs"), workloads))
    for width, height in ((74, 25), (76, 8)):
        drawn = RaceWidget().draw(state, width, height)
        assert len(drawn) <= height and max(line.cell_length for line in drawn) <= width
        assert "▶ Work9" in "\n".join(line.plain for line in drawn)


def test_long_names_on_a_narrow_leaderboard_end_before_the_verdict() -> None:
    name = "btrfs:noatime,compress=zstd:1,space_cache=v2"
    lines = Leaderboard().draw(RunState.of(make_plan((name, "xfs"), WORKLOADS)), 36, 9)
    assert [line.plain[-12:] for line in lines[1::2]] == ["… ◆ baseline", "   · waiting"]
