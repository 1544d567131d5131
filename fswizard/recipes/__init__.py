"""Recipes, read from TOML files. They are data: they contain no paths and no programs."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from fswizard.errors import FswizardError, UsageError
from fswizard.language import _
from fswizard.model.keys import LONGEST_FILE_BYTES, nearest
from fswizard.model.recipe import SHIPPED, TITLES, Recipe
from fswizard.model.text import safe
from fswizard.recipes.parsing import check, parse
from fswizard.system.files import home_directory, read_file

__all__ = ["SHIPPED", "available", "broken", "check", "find", "load", "parse", "shipped_directory", "user_directory"]


def available() -> tuple[Recipe, ...]:
    """All usable recipes, shipped ones first; the user's recipes replace shipped ones of the same name."""
    return tuple(recipe for recipe in _read_all().values() if isinstance(recipe, Recipe))


def broken() -> tuple[FswizardError, ...]:
    """The errors in recipes that cannot be used."""
    return tuple(error for error in _read_all().values() if isinstance(error, FswizardError))


def find(name_or_path: str) -> Recipe:
    """The recipe of that name, or in that file; raises UsageError if there is none, or if it cannot be used."""
    if "/" in name_or_path or name_or_path.endswith(".toml"):
        return load(Path(name_or_path))
    known = _read_all()
    recipe = known.get(name_or_path)
    if isinstance(recipe, FswizardError):
        raise recipe
    if recipe is None:
        usable = [name for name, each in known.items() if isinstance(each, Recipe)]
        hint = _("Choose one of {names}, or name a file that ends with .toml.", names=", ".join(usable))
        near = nearest(name_or_path, known)
        raise UsageError(_("There is no recipe '{name}'{near}.", name=safe(name_or_path), near=near), hint)
    return recipe


def load(path: Path) -> Recipe:
    """The recipe in a file; raises UsageError if it cannot be read or used."""
    data = read_file(path, LONGEST_FILE_BYTES, hint=_("`fswizard recipes` lists the recipes."))
    try:
        return parse(data.decode("utf-8-sig"), str(path))  # some editors write a byte order mark
    except UnicodeDecodeError as error:
        raise UsageError(_("{path}: this is not text in UTF-8.", path=safe(str(path)))) from error


def shipped_directory() -> Path:
    """The directory of the shipped recipes."""
    package = Path(__file__).parents[1]
    shipped = package / "shipped_recipes"
    return shipped if shipped.is_dir() else package.parent / "recipes"


def user_directory() -> Path:
    """The directory of the user's recipes, which need not exist."""
    configured = Path(os.environ.get("XDG_CONFIG_HOME", ""))
    base = configured if configured.is_absolute() else home_directory() / ".config"
    return base / "fswizard" / "recipes"


def _read_all() -> Mapping[str, Recipe | FswizardError]:
    recipes: dict[str, Recipe | FswizardError] = {}
    for directory, shipped in ((shipped_directory(), True), (user_directory(), False)):
        for path in sorted(directory.glob("*.toml")):
            try:
                recipe = load(path)
                other = recipes.get(recipe.name)
                if isinstance(other, Recipe) and other.source != SHIPPED:
                    text = _(
                        "{file}: 'name': {other} is called '{name}' too.",
                        file=recipe.source, other=other.source, name=recipe.name,
                    )  # fmt: skip
                    raise UsageError(text, _("Give each its own name."))
                recipes[recipe.name] = replace(recipe, source=SHIPPED) if shipped else replace(recipe, group="yours")
            except UsageError as error:
                recipes[safe(path.name if path.stem in recipes else path.stem)] = error
    return dict(sorted(recipes.items(), key=_sort_key))


def _sort_key(item: tuple[str, Recipe | FswizardError]) -> tuple[int, bool, str]:
    """Sort key: group and name, the quick recipe first."""
    name, recipe = item
    group = list(TITLES).index(recipe.group) if isinstance(recipe, Recipe) else len(TITLES)
    return group, name != "quick", name
