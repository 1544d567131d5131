"""Real runs, recorded event by event, so that screens can be tested and drawn without a disk.

    python -m tests.recording NAME RECIPE "CANDIDATES" SIZE DIRECTORY [MINUTES]

carries out a run and writes tests/recorded/runs/NAME.jsonl.
"""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
from collections.abc import Iterator
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path

from fswizard.filesystems import parse_candidates
from fswizard.model import events
from fswizard.model.codec import from_json, tagged
from fswizard.model.events import Event, RunStarted
from fswizard.model.units import parse_size
from fswizard.recipes import find
from fswizard.session.planning import Choices, TargetChoice, make_plan
from fswizard.session.session import Session

RUNS = Path(__file__).parent / "recorded" / "runs"


def recorded(name: str) -> Iterator[Event]:
    """The events of a recorded run, as they were told."""
    return events_in(RUNS / f"{name}.jsonl")


def events_in(path: Path) -> Iterator[Event]:
    for line in path.read_text("utf-8").splitlines():
        data = json.loads(line)
        yield from_json(getattr(events, data.pop("type")), data)


async def record(session: Session, path: Path) -> None:
    """Carry out a session and write down what it tells."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8") as file:
        async with aclosing(session.events()) as told:
            async for event in told:
                if isinstance(event, RunStarted):
                    event = replace(event, environment=replace(event.environment, host=""))  # noqa: PLW2901
                print(json.dumps(tagged(event), ensure_ascii=False), file=file)


def main() -> None:
    name, recipe, candidates, size, directory, *minutes = sys.argv[1:]
    target = TargetChoice("image", directory, parse_size(size))
    limit_s = float(minutes[0]) * 60 if minutes else None
    plan = make_plan(Choices(find(recipe), parse_candidates(candidates), target=target, time_limit_s=limit_s, seed=1))
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(record(Session(plan, Path(folder) / "result.jsonl"), RUNS / f"{name}.jsonl"))


if __name__ == "__main__":
    main()
