"""Short real runs for tests: a small image, short workloads."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path
from typing import Any

from fswizard import results
from fswizard.disks.choice import TargetChoice
from fswizard.engines.fio import FioJob
from fswizard.engines.tree import TreeJob
from fswizard.filesystems import parse_candidates
from fswizard.model.events import Event, StepStarted
from fswizard.model.metrics import DURATION, IOPS
from fswizard.model.plan import Plan
from fswizard.model.recipe import Recipe, Workload
from fswizard.model.result import Result
from fswizard.session import FollowedRun
from fswizard.session.planning import Choices, make_plan
from fswizard.session.session import Session

RANDOM_WRITE = Workload(
    "random-write", "Random writes", "fio", FioJob("randwrite", 4096, 4 << 20, seconds=0.1, depth=4), IOPS,
    seconds=0.5, writes_bytes=16 << 20,
)  # fmt: skip
COPY_TREE = Workload(
    "copy-tree", "Copy a tree", "tree", TreeJob("copy", "small-files", 100, 1 << 20), DURATION, seconds=0.3,
    writes_bytes=2 << 20,
)  # fmt: skip
SHORT = Recipe("short", "Short", "For tests.", (RANDOM_WRITE, COPY_TREE), 128 << 20, 60.0, candidates=("ext4", "ext2"))
"""The image is as small as btrfs lets it be."""
TINY = replace(SHORT, image_bytes=64 << 20)
COPIES, WRITES = (replace(TINY, workloads=(workload,)) for workload in (COPY_TREE, RANDOM_WRITE))


def short_plan(
    directory: Path, candidates: str = "ext4; ext2", recipe: Recipe = TINY, rounds: int = 0, **fields: Any
) -> Plan:
    """A plan for an image in `directory`, with exactly `rounds` rounds if given; `fields` replace those of the plan."""
    target = TargetChoice("image", str(directory), recipe.image_bytes)
    plan = make_plan(Choices(recipe, parse_candidates(candidates), target=target, seed=1))
    plan = replace(plan, minimum_rounds=rounds, maximum_rounds=rounds) if rounds else plan
    return replace(plan, **fields)


def session_in(directory: Path, plan: Plan) -> Session:
    """Its file is `result.jsonl` there."""
    return Session(plan, directory / "result.jsonl")


def short_session(directory: Path, candidates: str, recipe: Recipe = TINY, rounds: int = 1, **fields: Any) -> Session:
    return session_in(directory, short_plan(directory, candidates, recipe, rounds, **fields))


At = Callable[[Event], object]
"""Does something at some events."""


async def watch(session: Session | FollowedRun, at: At = lambda event: None) -> list[Event]:
    """Carry out a session, or follow a run, to its end."""
    told = []
    async with aclosing(session.events()) as events:
        async for event in events:
            told.append(event)
            at(event)
    return told


async def result_of(session: Session, at: At = lambda event: None) -> Result:
    """What its file holds at its end."""
    await watch(session, at)
    return results.load(session.path)


def begins(event: Event, stage: str, **fields: object) -> bool:
    """Whether it is a step of that stage that begins, of a candidate or round, say."""
    if not isinstance(event, StepStarted) or event.step.stage != stage:
        return False
    return all(getattr(event.step, name) == value for name, value in fields.items())


def at(stage: str, do: Callable[[], object], **fields: object) -> At:
    return lambda event: begins(event, stage, **fields) and do()
