"""Events as lines of JSON, for who follows a run from elsewhere and for recordings."""

from __future__ import annotations

import json
from typing import Any

import fswizard.engines  # noqa: F401 - finds the kinds of jobs that plans consist of
from fswizard.model import events
from fswizard.model.codec import from_json, tagged
from fswizard.model.events import Event


def line_of(event: Event) -> str:
    """A line that `event_in` reads, without its line feed."""
    return json.dumps(tagged(event), ensure_ascii=False)


def event_in(line: str | bytes) -> Event:
    """ValueError where there is none."""
    return event_of(json.loads(line))


def event_of(data: Any) -> Event:
    """What `tagged` made plain values of; ValueError where it was no event."""
    kind = getattr(events, str(data.get("type")), None) if isinstance(data, dict) else None
    if not (isinstance(kind, type) and issubclass(kind, Event)):
        raise ValueError("an event was expected")
    return from_json(kind, {name: value for name, value in data.items() if name != "type"})
