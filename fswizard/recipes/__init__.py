"""Recipes: what is measured, read from TOML files. They are data: nothing in them names a path or a program."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from fswizard.errors import FswizardError, UsageError
from fswizard.model.keys import LONGEST_FILE_BYTES, nearest
from fswizard.model.recipe import SHIPPED, TITLES, YOURS, Recipe
from fswizard.model.text import safe
from fswizard.recipes.parsing import parse
from fswizard.system.files import read_file

__all__ = ["SHIPPED", "available", "broken", "find", "load", "own_directory", "parse", "shipped_directory"]


def available() -> tuple[Recipe, ...]:
    """Every recipe that can be used, shipped ones first; a user's own stands in for a shipped one of its name."""
    return tuple(found for found in _read_all().values() if isinstance(found, Recipe))


def broken() -> tuple[FswizardError, ...]:
    """What is wrong with the recipes that cannot be used."""
    return tuple(found for found in _read_all().values() if isinstance(found, FswizardError))


def find(name_or_path: str) -> Recipe:
    """The recipe of that name, or in that file; UsageError where there is none, or where it cannot be used."""
    if "/" in name_or_path or name_or_path.endswith(".toml"):
        return load(Path(name_or_path))
    known = _read_all()
    found = known.get(name_or_path)
    if isinstance(found, FswizardError):
        raise found
    if found is None:
        usable = [name for name, recipe in known.items() if isinstance(recipe, Recipe)]
        hint = f"Choose one of {', '.join(usable)}, or name a file that ends with .toml."
        raise UsageError(f"There is no recipe '{safe(name_or_path)}'{nearest(name_or_path, known)}.", hint)
    return found


def load(path: Path) -> Recipe:
    """Read a recipe's file; UsageError where it cannot be read or used."""
    data = read_file(path, LONGEST_FILE_BYTES, hint="`fswizard recipes` lists the recipes.")
    try:
        return parse(data.decode("utf-8-sig"), str(path))  # some editors begin a file with a mark
    except UnicodeDecodeError as error:
        raise UsageError(f"{safe(str(path))}: this is not text in UTF-8.") from error


def shipped_directory() -> Path:
    """Where the program's own recipes lie, and published figures below it."""
    package = Path(__file__).parents[1]
    shipped = package / "shipped_recipes"
    return shipped if shipped.is_dir() else package.parent / "recipes"


def own_directory() -> Path:
    """Where the user's own recipes lie; it need not exist."""
    configured = Path(os.environ.get("XDG_CONFIG_HOME", ""))
    base = configured if configured.is_absolute() else Path.home() / ".config"
    return base / "fswizard" / "recipes"


def _read_all() -> Mapping[str, Recipe | FswizardError]:
    found: dict[str, Recipe | FswizardError] = {}
    for directory, shipped in ((shipped_directory(), True), (own_directory(), False)):
        for path in sorted(directory.glob("*.toml")):
            try:
                recipe = load(path)
                other = found.get(recipe.name)
                if isinstance(other, Recipe) and other.source != SHIPPED:
                    text = f"{recipe.source}: 'name': {other.source} is called '{recipe.name}' too."
                    raise UsageError(text, "Give each its own name.")
                found[recipe.name] = replace(recipe, source=SHIPPED) if shipped else replace(recipe, group=YOURS)
            except UsageError as error:
                found[safe(path.name if path.stem in found else path.stem)] = error
    return dict(sorted(found.items(), key=_place))


def _place(item: tuple[str, Recipe | FswizardError]) -> tuple[int, bool, str]:
    """By group and name, the quick one first."""
    name, found = item
    group = list(TITLES).index(found.group) if isinstance(found, Recipe) else len(TITLES)
    return group, name != "quick", name
