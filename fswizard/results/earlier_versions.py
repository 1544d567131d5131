"""Conversion of lines written by earlier versions: of schema 1 to current events, and of jobs that exist no more."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fswizard.model.events import DoubtRaised, RunEnded, RunStarted, SampleTaken, SeriesRecorded, StepFailed

INSIDE = {
    "Sample": (SampleTaken, "sample"),
    "ThroughputSeries": (SeriesRecorded, "series"),
    "Course": (SeriesRecorded, "series"),
    "Failure": (StepFailed, "failure"),
    "Doubt": (DoubtRaised, "doubt"),
}
"""Former type of a line to the event that replaces it, and the event's field for the contents of the line."""
FORMER_ENGINES = ("backup", "overflow", "rsync")
FORMER_OPERATIONS = ("deliver", "git-status")


def as_event(line: dict[str, Any], started: Mapping[str, Any]) -> dict[str, Any]:
    """Convert the JSON object of a line to that of an event; events are returned unchanged.

    `started` is the second line of the file, the start of the run.
    """
    former, at_s = line.get("type"), line.get("at_s", 0.0)
    if former == RunStarted.__name__:
        return {**line, "plan": with_former_jobs(line.get("plan"))}
    if former == "Ending":
        return {**line, "type": RunEnded.__name__}
    if former == "Resumption":
        return {**started, "type": RunStarted.__name__, "at_s": at_s}
    if former not in INSIDE:
        return line
    kind, field = INSIDE[former]
    event = {"type": kind.__name__, "at_s": at_s, field: line}
    if kind is StepFailed:
        event["step"] = {"number": 0, "stage": "workload", "title": ""}
    return event


def with_former_jobs(value: Any) -> Any:
    """JSON values of a plan, in which jobs that this version does not have are of the engine `former`."""
    if isinstance(value, list):
        return [with_former_jobs(item) for item in value]
    if not isinstance(value, dict):
        return value
    table = {key: with_former_jobs(item) for key, item in value.items()}
    job = table.get("job")
    if isinstance(job, dict) and (table.get("engine") in FORMER_ENGINES or job.get("operation") in FORMER_OPERATIONS):
        table["engine"] = "former"
    return table
