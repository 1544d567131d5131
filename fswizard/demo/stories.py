"""The stories that are shipped: what each is about, and the log of its run."""

from __future__ import annotations

import gzip
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

from fswizard.model.events import Event
from fswizard.results import event_in

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Story:
    """A recorded run."""

    name: str
    title: str
    text: str
    """What there is to see, in a sentence."""
    disk: str
    """What it was recorded on, in the middle of a sentence: `a simulated SSD`."""

    @cached_property
    def events(self) -> tuple[Event, ...]:
        with gzip.open(HERE / "recordings" / f"{self.name}.jsonl.gz") as file:
            return tuple(map(event_in, file))


@cache
def stories() -> Mapping[str, Story]:
    """By name, in the order in which they are shown."""
    import tomli

    table = tomli.loads((HERE / "stories.toml").read_text("utf-8"))
    return {name: Story(name, **fields) for name, fields in table.items()}
