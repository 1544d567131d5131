"""This machine for the wizard, with one recipe: over after one round, or going on until somebody ends it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from fswizard.engines.fio import FioJob
from fswizard.model.plan import Plan
from fswizard.model.recipe import Recipe
from fswizard.tui.app import FswizardApp
from fswizard.tui.machine import MachineCache
from fswizard.tui.monitor import Run, start_run
from tests.loop.runs import RANDOM_WRITE, WRITES

QUICK = replace(WRITES, name="quick", title="Quick")
LASTING = replace(
    QUICK, workloads=(replace(RANDOM_WRITE, job=FioJob("randwrite", 4096, 8 << 20, seconds=600.0, depth=4, fsync=64)),)
)
"""With fsync nothing is measured on the bare device."""


def small_wizard(recipe: Recipe = QUICK, **arguments: Any) -> FswizardApp:
    """One round: no time limit decides how much is measured."""

    def start(plan: Plan, path: Path | None) -> Run:
        return start_run(replace(plan, minimum_rounds=1, maximum_rounds=1), path)

    machine = MachineCache()
    machine.recipes = (recipe,)
    return FswizardApp(machine=machine, start_run=start, **arguments)
