"""Whole runs on simulated disks: real filesystems, real workloads, and a disk whose behaviour is known."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

from fswizard.disks.choice import TargetChoice
from fswizard.drives.devices import find_device
from fswizard.engines.fio import FioJob
from fswizard.engines.overflow import OverflowJob
from fswizard.filesystems import parse_candidates
from fswizard.model.metrics import IOPS
from fswizard.model.recipe import Recipe, Workload
from fswizard.model.result import Result
from fswizard.session.planning import Choices, make_plan
from fswizard.session.session import Session
from tests.long.simulated.disks import Disk
from tests.long.simulated.nbd import attached
from tests.loop.runs import watch

IMAGE_BYTES = 128 << 20


def recipe(*workloads: Workload) -> Recipe:
    return Recipe("simulated", "Simulated", "For tests.", workloads, IMAGE_BYTES, 60.0)


def random_writes(seconds: float, *, fsync: int = 0) -> Recipe:
    """Single random writes into a small file, on the disk one by one."""
    job = FioJob("randwrite", 4096, 4 << 20, seconds, io_engine="psync", fsync=fsync)
    return recipe(Workload("writes", "Random writes", "fio", job, IOPS, seconds=seconds, writes_bytes=8 << 20))


def overflow(working_set_bytes: int, seconds: float) -> Recipe:
    job = OverflowJob(working_set_bytes, seconds)
    return recipe(Workload("overflow", "Overflow", "overflow", job, IOPS, seconds=seconds, writes_bytes=64 << 20))


def run(disk: Disk, directory: Path, recipe: Recipe, candidates: str, *, drive: Any = None, **fields: Any) -> Result:
    """Carry out a run on the disk as a whole; `fields` replace those of the plan."""
    with attached(disk, directory, direct=False) as device:
        target = TargetChoice("device", device, serial=find_device(device).identifiers[0])
        plan = make_plan(Choices(recipe, parse_candidates(candidates), target=target, seed=1, drive=drive))
        session = Session(replace(plan, **fields), directory / "result.jsonl", idle_wait_s=0)
        asyncio.run(watch(session))
        if session.error is not None:
            raise session.error
        return session.result
