"""Real runs, recorded event by event, so that screens can be tested and drawn without a disk.

    fswizard run RECIPE --output FILE

A recording is the result file of a run, which holds its events.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from fswizard.demo.stories import stories
from fswizard.model.events import Event, RunStarted, fold
from fswizard.model.result import Result
from fswizard.results import event_in

RUNS = Path(__file__).parent / "recorded" / "runs"
HEADER = b'{"type":"Header"'


def recorded(name: str) -> Iterator[Event]:
    """The events of a recorded run: of a story of the demo, or one that only tests know."""
    return iter(stories()[name].events) if name in stories() else events_in(RUNS / f"{name}.jsonl")


def recorded_result(name: str) -> Result:
    """The result of a recorded run."""
    started, *events = recorded(name)
    assert isinstance(started, RunStarted)
    return fold(Result(started.environment, started.plan), events)


def events_in(path: Path) -> Iterator[Event]:
    """The events of a result file."""
    with path.open("rb") as file:
        yield from (event_in(line) for line in file if not line.startswith(HEADER))
