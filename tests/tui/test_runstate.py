"""The snapshot that the run screen draws, event by event."""

from __future__ import annotations

from dataclasses import replace

from fswizard.advice import conclude
from fswizard.model.analysis import Analysis, Ratio
from fswizard.model.events import (
    CommandFinished,
    CommandStarted,
    DoubtRaised,
    Event,
    RatioUpdated,
    RoundDiscarded,
    RoundFinished,
    RunEnded,
    Step,
    StepFailed,
    StepProgressed,
    StepStarted,
)
from fswizard.model.result import Doubt, Failure
from fswizard.model.run_state import LOG_ENTRIES, SERIES, LogNote, RunState
from fswizard.model.units import ratio_text
from fswizard.report import render
from tests.builders import make_plan, make_workload
from tests.recording import recorded
from tests.tui.screenshots import RUN, result

PLAN = make_plan(("ext4", "xfs"), (make_workload("write"), make_workload("read")))


def after(*events: Event) -> RunState:
    state = RunState.of(PLAN)
    for event in events:
        state = state.after(event)
    return state


def step(number: int, candidate: str = "ext4", workload: str = "write", round_: int = 1) -> StepStarted:
    return StepStarted(
        float(number), Step(number, "workload", f"{workload} on {candidate}", round_, candidate, workload)
    )


def told(number: int, rate: float | None, **fields: object) -> StepProgressed:
    return replace(StepProgressed(number + 0.5, number, 0.5, "writing", rate), **fields)


def test_the_curve_of_the_last_workload_stays_until_the_next_one_has_figures_of_one_unit() -> None:
    state = after(step(1), told(1, 100.0, latency_s=0.1), step(2, workload="read"))
    assert state.progress is None
    state = state.after(told(2, None))
    assert (state.rates, state.measured) == ((100.0,), 1)
    assert state.after(told(2, 7.0)).rates == (7.0,)
    state = after(step(1), told(1, 100.0), told(1, 5.0, rate_unit="1/s"))
    assert (state.rates, state.rate_unit) == ((5.0,), "1/s"), "bytes and operations are not mixed"


def test_a_curve_and_the_log_are_bounded_and_the_share_done_never_runs_backwards() -> None:
    state = after(step(1), *(told(1, float(value)) for value in range(SERIES + 50)), told(1, 1.0))
    assert (len(state.rates), state.rates[-2]) == (SERIES, SERIES + 49)
    assert state.run_fraction == 1.5 / state.outlook.most_s
    slower = replace(state, outlook=replace(state.outlook, most_s=1e6)).after(told(1, 1.0))
    assert (slower.run_fraction, slower.left_s) == (state.run_fraction, 1e6 - 1.5)
    state = after(*(CommandFinished(1.0, 1, (str(number),), 0, 0.1) for number in range(LOG_ENTRIES + 10)))
    assert len(state.log) == LOG_ENTRIES
    assert state.log[-1] == CommandFinished(1.0, 1, (str(LOG_ENTRIES + 9),), 0, 0.1)


def test_trials_are_counted_once() -> None:
    state = after(step(1), step(2, "", "", 1), step(3, workload="read"), step(4, "xfs"), step(5, "xfs", round_=2))
    assert (state.trials, state.trial, state.rounds_began_s) == (3, (2, "xfs"), 1.0)


def test_a_program_that_ends_completes_the_line_of_its_start() -> None:
    argv = ("mkfs.xfs", "/dev/loop0")
    ended = CommandFinished(1.4, 1, argv, 1, 0.4, "no room", as_root=True)
    assert after(CommandStarted(1.0, 1, argv, as_root=True), ended).log == (ended,)


def test_dropped_and_failed_candidates_are_told_apart() -> None:
    analysis = Analysis(overall=(Ratio("ext4", "ext4", "", 1.0),), dropped=("xfs",), rounds=3)
    state = after(RatioUpdated(9.0, analysis), RoundFinished(9.0, 3, ("ext4",)))
    assert state.out("xfs") == "dropped"
    assert state.out("ext4") == ""
    assert after(RoundFinished(9.0, 3, ("ext4", "xfs"))).out("xfs") == ""
    failure = Failure(1, "xfs", "write", "ENOSPC", "The volume is full.")
    state = after(StepFailed(2.0, Step(1, "workload", "", 1, "xfs"), failure), RoundFinished(3.0, 1, ("ext4",)))
    assert [ratio.text for ratio in state.standing if ratio.verdict == "failed"] == ["The volume is full."]
    assert state.out("xfs") == "", "it failed"
    state = after(*recorded("smr-fileserver"))
    assert any("once more" in entry.text for entry in state.log if isinstance(entry, LogNote))
    assert state.out("nilfs2") == "", "it was tried again"


def test_doubts_discarded_rounds_and_the_end_leave_a_line_each() -> None:
    state = after(
        DoubtRaised(1.0, Doubt("on-battery", "On battery.")),
        RoundDiscarded(2.0, 2, "suspended"),
        RunEnded(3.0, "stopped", "Ended on request."),
    )
    assert [entry.kind for entry in state.log if isinstance(entry, LogNote)] == ["doubt", "discarded", "end"]
    assert state.ended
    assert state.run_fraction == 0.0, "a run that was stopped is not complete"


def ratios_of(analysis: Analysis | None) -> list[tuple[str, ...]]:
    """Its ratios as people read them."""
    ratios = (*analysis.standing, *analysis.by_workload) if analysis else ()
    return [(r.workload, r.candidate, r.verdict, ratio_text(r.ratio), r.interval()) for r in ratios]


def test_a_recorded_run_leaves_no_program_open_and_ends_in_what_a_report_says() -> None:
    state = after(*recorded(RUN))
    assert state.outcome in ("finished", "time-up")
    assert state.run_fraction == 1.0
    assert state.trial[0] >= state.plan.minimum_rounds
    assert {ratio.candidate for ratio in state.standing} == {candidate.name for candidate in state.plan.candidates}
    assert [entry for entry in state.log if isinstance(entry, CommandStarted)] == []
    findings = conclude(result())
    assert ratios_of(state.analysis) == ratios_of(findings.analysis)
    report = render(findings, "text")
    assert all(candidate.title in report for candidate in state.plan.candidates)
