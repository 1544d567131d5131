"""Real runs, recorded event by event, so that screens can be tested and drawn without a disk.

    python -m tests.recording FILE RECIPE [OPTIONS of `fswizard run`]

carries out a run and writes what it tells into FILE.
"""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections.abc import Iterator
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path

from fswizard.cli.run import Run, new_session
from fswizard.demo.stories import stories
from fswizard.model.codec import tagged
from fswizard.model.events import Event, RunStarted
from fswizard.recipes import find
from fswizard.results import event_in
from fswizard.session import Session

RUNS = Path(__file__).parent / "recorded" / "runs"


def recorded(name: str) -> Iterator[Event]:
    """The events of a recorded run, as they were told: of a story of the demo, or one that only tests know."""
    return iter(stories()[name].events) if name in stories() else events_in(RUNS / f"{name}.jsonl")


def events_in(path: Path) -> Iterator[Event]:
    with path.open("rb") as file:
        yield from map(event_in, file)


async def record(session: Session, path: Path) -> None:
    """Carry out a session and write down what it tells."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8") as file:
        async with aclosing(session.events()) as told:
            async for event in told:
                if isinstance(event, RunStarted):
                    event = replace(event, environment=replace(event.environment, host=""))  # noqa: PLW2901
                print(json.dumps(tagged(event), ensure_ascii=False), file=file, flush=True)


class Recording(Run):
    """Carry out a run, and write down what it tells."""

    def main(self, path: str, recipe: str) -> int:  # type: ignore[override]
        with tempfile.TemporaryDirectory() as folder:
            session = new_session(self.plan(find(recipe)), f"{folder}/result.jsonl")
            asyncio.run(record(session, Path(path)))
            if session.error is not None:
                raise session.error
        return 0


if __name__ == "__main__":
    Recording.run()
