"""Short real runs for tests: a small image, short workloads."""

from __future__ import annotations

from contextlib import aclosing
from dataclasses import replace
from pathlib import Path
from typing import Any

from fswizard.engines.fio import FioJob
from fswizard.engines.tree import TreeJob
from fswizard.filesystems import parse_candidates
from fswizard.model.events import Event
from fswizard.model.metrics import DURATION, IOPS
from fswizard.model.plan import Plan
from fswizard.model.recipe import Recipe, Workload
from fswizard.session.planning import Choices, TargetChoice, make_plan
from fswizard.session.session import Session

RANDOM_WRITE = Workload(
    "random-write",
    "Random writes",
    "fio",
    FioJob("randwrite", 4096, 4 << 20, seconds=0.1, depth=4),
    IOPS,
    seconds=0.5,
    writes_bytes=16 << 20,
)
COPY_TREE = Workload(
    "copy-tree", "Copy a tree", "tree", TreeJob("copy", "small-files", 100, 1 << 20), DURATION, seconds=0.3,
    writes_bytes=2 << 20,
)  # fmt: skip
SHORT = Recipe("short", "Short", "For tests.", (RANDOM_WRITE, COPY_TREE), 128 << 20, 60.0, ("ext4", "ext2"))
"""The image is as small as btrfs lets it be."""
TINY = replace(SHORT, image_bytes=64 << 20)


def short_plan(directory: Path, candidates: str = "ext4; ext2", recipe: Recipe = TINY, **fields: Any) -> Plan:
    """A plan for an image in `directory`; `fields` replace those of the plan."""
    size_bytes = fields.pop("size_bytes", recipe.image_bytes)
    plan = make_plan(
        Choices(recipe, parse_candidates(candidates), target=TargetChoice("image", str(directory), size_bytes), seed=1)
    )
    return replace(plan, **fields)


async def watch(session: Session) -> list[Event]:
    """Carry out a session to its end."""
    async with aclosing(session.events()) as events:
        return [event async for event in events]
