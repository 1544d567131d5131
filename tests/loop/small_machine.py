"""This machine for the wizard, with one recipe that is over after one round."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from fswizard.model.plan import Plan
from fswizard.model.recipe import Recipe
from fswizard.tui.app import FswizardApp
from fswizard.tui.machine import MachineCache
from fswizard.tui.monitor import Run, start_run
from tests.loop.runs import WRITES

QUICK = replace(WRITES, name="quick", title="Quick")


def small_wizard(recipe: Recipe = QUICK, **arguments: Any) -> FswizardApp:
    """One round: no time limit decides how much is measured."""

    def start(plan: Plan, path: Path | None) -> Run:
        return start_run(replace(plan, minimum_rounds=1, maximum_rounds=1), path)

    machine = MachineCache()
    machine.recipes = (recipe,)
    return FswizardApp(machine=machine, start_run=start, **arguments)
