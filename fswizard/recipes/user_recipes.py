"""Recipes of the user, made from a directory, and saved as files."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import replace

from fswizard.errors import RunFailed, UsageError
from fswizard.language import _
from fswizard.model.recipe import Recipe
from fswizard.model.text import safe
from fswizard.recipes import available, parse, user_directory
from fswizard.recipes.tree_profile import TreeProfile, recipe_text


def short_name(title: str) -> str:
    """Command-line name of a recipe, derived from its title: `Evening work` is `evening-work`.

    Raises UsageError if it would be empty.
    """
    name = re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")
    if not name:
        raise UsageError(
            _("'{text}' can't be a recipe's name.", text=safe(title)), _("Use letters from a to z, or digits.")
        )
    return name


def like(profile: TreeProfile, title: str) -> str:
    """A recipe in TOML for files similar to those in a directory."""
    return recipe_text(profile, short_name(title), title)


def save(text: str) -> Recipe:
    """Validate a recipe in TOML, and save it in the directory of the user's recipes.

    Raises UsageError if the recipe is invalid, or if another one has its name, and RunFailed if it cannot be
    written.
    """
    recipe = parse(text, _("The new recipe"))
    if recipe.name in {known.name for known in available()}:
        raise UsageError(_("There is already a recipe called '{name}'.", name=recipe.name), _("Choose another name."))
    path = user_directory() / f"{recipe.name}.toml"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("x", encoding="utf-8") as file:
            try:
                file.write(text)
                file.flush()
            except OSError:
                with suppress(OSError):
                    path.unlink()  # leave no incomplete recipe
                raise
    except FileExistsError as error:
        raise UsageError(
            _("{path} exists already.", path=safe(str(path))), _("Choose another name, or move that file away.")
        ) from error
    except OSError as error:
        hint = _("Make that directory writable, or free some space.")
        text = _("{path} cannot be written: {reason}.", path=safe(str(path)), reason=error.strerror)
        raise RunFailed(text, hint) from error
    return replace(recipe, source=safe(str(path)), group="yours")
