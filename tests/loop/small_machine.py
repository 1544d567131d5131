"""This machine for the wizard, with one recipe: over after one round, or going on until somebody ends it."""

from __future__ import annotations

from dataclasses import replace

from fswizard.engines.fio import FioJob
from fswizard.model.plan import Plan
from fswizard.model.recipe import Recipe
from fswizard.tui.backend import Backend
from fswizard.tui.choices import WizardChoices
from tests.loop.runs import RANDOM_WRITE, WRITES

QUICK = replace(WRITES, name="quick", title="Quick")
LASTING = replace(
    QUICK, workloads=(replace(RANDOM_WRITE, job=FioJob("randwrite", 4096, 8 << 20, seconds=600.0, depth=4, fsync=64)),)
)
"""With fsync nothing is measured on the bare device."""


class SmallMachine(Backend):
    """One round: no time limit decides how much is measured."""

    def __init__(self, recipe: Recipe = QUICK) -> None:
        self.recipe = recipe

    def recipes(self) -> tuple[Recipe, ...]:
        return (self.recipe,)

    def make_plan(self, choices: WizardChoices) -> Plan:
        return replace(super().make_plan(choices), minimum_rounds=1, maximum_rounds=1)
