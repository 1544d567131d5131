"""Which recipes fit what was chosen, and what each would take there."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from fswizard.errors import FswizardError
from fswizard.language import _
from fswizard.model.recipe import TITLES, Recipe
from fswizard.model.units import binary_text
from fswizard.report.writes import budget_figures
from fswizard.tui.backend import Backend, Place
from fswizard.tui.choices import WizardChoices
from fswizard.tui.drives import largest_that_fits, too_large

if TYPE_CHECKING:
    from fswizard.tui.app import FswizardApp


@dataclass(frozen=True, slots=True)
class Offered:
    """A recipe with what it takes on what was chosen."""

    recipe: Recipe
    time: str = "…"
    writes: str = "…"
    refused: str = ""
    """Why it cannot be measured there, in a sentence; empty where it can."""


def fitted(wizard: FswizardApp, recipe: Recipe) -> Offered:
    """A recipe, with an image as large as there is room for where its usual one does not fit."""
    choices, machine = wizard.choices, wizard.machine
    if choices.recipe is not None and choices.recipe.name == recipe.name:
        recipe = choices.recipe
    else:
        recipe = recipe.on(choices.drive)
    if choices.comparing:
        return Offered(recipe)
    if choices.devices:
        if choices.device_bytes >= recipe.image_bytes:
            return Offered(recipe)
        size, room = binary_text(recipe.image_bytes), binary_text(choices.device_bytes)
        return Offered(recipe, refused=_("It needs {size}, and there are {room}.", size=size, room=room))
    place = machine.named.get(choices.directory) or machine.places.get(choices.drive.name if choices.drive else "")
    if not isinstance(place, Place) or not (refused := too_large(recipe, place, choices.images)):
        return Offered(recipe)
    largest = largest_that_fits(recipe, place, machine.image_sizes(recipe)) if choices.images == 1 else 0
    return Offered(replace(recipe, image_bytes=largest)) if largest else Offered(recipe, refused=refused)


def with_figures(backend: Backend, choices: WizardChoices, item: Offered) -> Offered:
    """The same with what it takes, or why that is too much; looks at earlier results, so it is for a thread."""
    try:
        time, writes = budget_figures(backend.draft(with_recipe(choices, item.recipe)))
    except FswizardError as error:
        return replace(item, refused=item.refused or f"{error.message} {error.hint}".strip())
    return replace(item, time=time, writes=writes)


def with_recipe(choices: WizardChoices, recipe: Recipe) -> WizardChoices:
    """Another recipe, without the time of the one before."""
    if choices.recipe is not None and choices.recipe.name == recipe.name:
        return choices
    return replace(choices, recipe=recipe, time_limit_s=None)


def matches(recipe: Recipe, typed: str) -> bool:
    """Each word that was typed is in its name, its words or the titles of its tests, as they are shown."""
    tests = (workload.title for workload in recipe.workloads)
    shown = map(_, (recipe.title, recipe.why, TITLES[recipe.group], *tests))
    words = " ".join((recipe.name, *shown)).lower()
    return all(word in words for word in typed.lower().split())
