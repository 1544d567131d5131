"""Recipes, read from TOML files. They are data: they contain no paths and no programs."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

from fswizard.errors import UsageError
from fswizard.language import _
from fswizard.model.keys import LONGEST_FILE_BYTES
from fswizard.model.recipe import SHIPPED, TITLES, Recipe
from fswizard.model.text import safe
from fswizard.recipes.parsing import check, parse
from fswizard.system.files import home_directory, read_file

__all__ = ["SHIPPED", "available", "broken", "check", "find", "load", "parse", "shipped_directory", "user_directory"]


def available() -> tuple[Recipe, ...]:
    """All usable recipes, by group; the user's recipes replace shipped ones of the same name."""
    return tuple(_read_all()[0].values())


def broken() -> tuple[UsageError, ...]:
    """The errors in recipes that cannot be used."""
    return tuple(_read_all()[1].values())


def find(name_or_path: str) -> Recipe:
    """The recipe of that name, or in that file; raises UsageError if there is none, or if it cannot be used."""
    if "/" in name_or_path or name_or_path.endswith(".toml"):
        return load(Path(name_or_path))
    usable, errors = _read_all()
    if name_or_path in usable:
        return usable[name_or_path]
    if name_or_path in errors:
        raise errors[name_or_path]
    hint = _("Choose one of {names}, or name a file that ends with .toml.", names=", ".join(usable))
    raise UsageError(_("There is no recipe '{name}'.", name=safe(name_or_path)), hint)


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


def _read_all() -> tuple[dict[str, Recipe], dict[str, UsageError]]:
    """Usable recipes by name, in the order of lists, and the errors of others by file name without its ending."""
    recipes: dict[str, Recipe] = {}
    errors: dict[str, UsageError] = {}
    for directory, shipped in ((shipped_directory(), True), (user_directory(), False)):
        for path in sorted(directory.glob("*.toml")):
            try:
                recipe = load(path)
                other = recipes.get(recipe.name)
                if other and other.source != SHIPPED:
                    text = _(
                        "{file}: 'name': {other} is called '{name}' too.",
                        file=recipe.source, other=other.source, name=recipe.name,
                    )  # fmt: skip
                    raise UsageError(text, _("Give each its own name."))
                recipes[recipe.name] = replace(recipe, source=SHIPPED) if shipped else replace(recipe, group="yours")
            except UsageError as error:
                errors[safe(path.stem)] = error
    groups = list(TITLES)
    ordered = sorted(recipes.values(), key=lambda each: (groups.index(each.group), each.name != "quick", each.name))
    return {recipe.name: recipe for recipe in ordered}, errors
