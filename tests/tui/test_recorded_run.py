"""A real run, recorded event by event, on the screens that show it."""

from __future__ import annotations

import json

from fswizard.advice import conclude
from fswizard.model.codec import tagged
from fswizard.model.events import RunEnded, RunStarted
from fswizard.report import render
from fswizard.tui.runstate import RunState, advance
from tests.recording import RUNS, recorded
from tests.tui.screenshots import RUN, result


def test_every_recorded_event_is_read_back_as_it_was_told() -> None:
    lines = (RUNS / f"{RUN}.jsonl").read_text("utf-8").splitlines()
    assert [tagged(event) for event in recorded(RUN)] == [json.loads(line) for line in lines]


def test_the_last_state_is_what_a_report_says() -> None:
    events = list(recorded(RUN))
    assert isinstance(events[0], RunStarted)
    assert isinstance(events[-1], RunEnded)
    state = RunState(events[0].plan)
    for event in events:
        state = advance(state, event)
    findings = conclude(result())
    assert state.ended
    assert state.judgement == findings.judgement
    report = render(findings, "text")
    assert all(candidate.name in report for candidate in events[0].plan.candidates)
