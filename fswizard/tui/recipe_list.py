"""How recipes are listed and explained: by group, with what each takes, and whether there is room for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from textual.content import Content

from fswizard.errors import FswizardError
from fswizard.language import _, p_
from fswizard.model.recipe import TITLES, Recipe
from fswizard.model.units import binary_text
from fswizard.report.writes import budget_figures
from fswizard.tui.backend import Backend, Place
from fswizard.tui.choices import WizardChoices
from fswizard.tui.drawing import bullet, columns, fit, heading, lines, radio, text, wrap
from fswizard.tui.drives import largest_that_fits, too_large
from fswizard.tui.wizard import Wizard

FIGURES = (13, 9, 8)
"""Cells for time, bytes and room."""


@dataclass(frozen=True, slots=True)
class Offered:
    """A recipe with what it takes on what was chosen."""

    recipe: Recipe
    time: str = ""
    writes: str = ""
    refused: str = ""
    """Why it cannot be measured there, in a sentence; empty where it can."""


def fitted(wizard: Wizard, recipe: Recipe) -> Offered:
    """A recipe, with an image as large as there is room for where its usual one does not fit."""
    choices, machine = wizard.choices, wizard.machine
    if choices.recipe is not None and choices.recipe.name == recipe.name:
        recipe = choices.recipe
    else:
        recipe = recipe.on(choices.drive)
    if choices.comparing:
        return Offered(recipe)
    if choices.devices:
        room_bytes = choices.device_bytes
        short = room_bytes < recipe.image_bytes
        size, room = binary_text(recipe.image_bytes), binary_text(room_bytes)
        needs = _("It needs {size}, and there are {room}.", size=size, room=room)
        return Offered(recipe, refused=needs if short else "")
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


def header(width: int) -> Content:
    """The names of the columns of `row`."""
    names = [text((name, "$muted")) for name in _columns()]
    return fit(text("     ", columns(names, _widths(width - 1), right=(1, 2, 3))), width)


def _columns() -> tuple[str, ...]:
    return _("Recipe"), p_("of a run", "Time"), p_("bytes of a run", "Writes"), p_("space on disks", "Room")


def row(item: Offered, chosen: bool, width: int, on: bool) -> Content:
    """Whether it is the one in use, its title, time, bytes and room; greyed out where there is no room for it."""
    recipe, style = item.recipe, "$muted" if item.refused else ""
    mark, name = text(radio(chosen, enabled=not item.refused), " "), text((_(recipe.title), style or "bold"))
    figures = (item.time, item.writes, binary_text(recipe.image_bytes))
    cells = [text((figure or "…", style or "$muted")) for figure in figures]
    widths = _widths(width)
    if name.cell_length <= widths[0]:
        return mark + columns((name, *cells), widths, right=(1, 2, 3))
    return lines((fit(mark + name, width), Content(" " * 4) + columns(("", *cells), widths, right=(1, 2, 3))))


def _widths(width: int) -> Sequence[int]:
    figures = FIGURES if width >= 55 else (FIGURES[0], 0, 0)
    shown = [cells for cells in figures if cells]
    return (max(8, width - 4 - sum(shown) - 2 * len(shown)), *figures)


def words(item: Offered, width: int, *, brief: bool) -> Content:
    """What it does and what it is for."""
    recipe = item.recipe
    rows = [text((_(recipe.title), "bold")), *wrap(_(recipe.why), width)]
    if item.refused:
        rows.append(bullet(("✗", "$text-error"), item.refused, width))
    if brief:
        return lines(rows)
    rows += [Content(""), heading(_("Tests"), width)]
    for workload in recipe.workloads:
        rows.append(bullet(("•", "$text-primary"), _(workload.title), width))
        if workload.why:
            rows += [text("  ", line) for line in wrap((_(workload.why), "$muted"), width - 2)]
    rows += [Content(""), *wrap(text((f"{p_('recipe', 'Name')}  ", "$muted"), recipe.name), width)]
    return lines([*rows, *wrap(text((f"{p_('recipe', 'From')}  ", "$muted"), (_(recipe.source), "$muted")), width)])
