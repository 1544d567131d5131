"""Shapes of trees of files: those of `shapes.toml`, and those of users' own directories."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Annotated, Any

from fswizard.engines import shared
from fswizard.engines.shared.engine import TIB
from fswizard.language import N_, _
from fswizard.model.codec import from_json
from fswizard.model.keys import Expected, Keys, whole, wholes

DEEPEST = 63
"""Largest depth of a directory in a tree."""
MOST_DIRECTORIES = 1_000_000
MOST_STEPS = 1025


def _shares(values: tuple[float, ...]) -> bool:
    return len(values) <= MOST_STEPS and all(0 <= value <= 1 for value in values)


@dataclass(frozen=True, slots=True)
class TreeShape:
    """Shape of a tree of real files, without names: quantiles at equal steps, from the smallest to the largest."""

    sizes: Annotated[tuple[int, ...], wholes(2, MOST_STEPS, TIB)]
    """File sizes in bytes."""
    random_shares: Annotated[
        tuple[float, ...], Expected(N_("a list of numbers from 0 to 1, one for each size,"), _shares)
    ]
    """Share that does not compress, of the file at each of the sizes."""
    directories: Annotated[int, whole(1, MOST_DIRECTORIES)]
    """Number of directories, the top directory included."""
    files_in_directory: Annotated[tuple[int, ...], wholes(2, MOST_STEPS, 10_000_000)]
    """Number of files in a directory."""
    depths: Annotated[tuple[int, ...], wholes(2, MOST_STEPS, DEEPEST)]
    """Depth of the directory at each of the numbers of files; that of the top directory is 0."""


def shipped_shape(name: str, files: int) -> TreeShape | None:
    """A shape of `shapes.toml` for that many files; None for other names."""
    shapes = _shipped()
    if name not in shapes:
        return None
    table = {**shapes.get(shapes[name].get("like", ""), {}), **shapes[name]}
    table["directories"] = max(1, round(files / table["files_per_directory"]))
    return from_json(TreeShape, table)  # which passes over the other keys


@cache
def _shipped() -> Mapping[str, Mapping[str, Any]]:
    import tomli

    return tomli.loads(resources.files(shared).joinpath("shapes.toml").read_text("utf-8"))


def own_shape(recipe: Keys) -> TreeShape | None:
    """A recipe's table `tree`, which `fswizard recipes --from` writes."""
    if not recipe.table.get("tree"):
        return None
    keys = recipe.inner(recipe.table["tree"], "tree")
    shape = keys.read(TreeShape)
    for key in ("sizes", "files_in_directory"):
        if list(getattr(shape, key)) != sorted(getattr(shape, key)):
            raise keys.error(key, _("a list of numbers, the smallest first,"))
    for key, beside in (("random_shares", "sizes"), ("depths", "files_in_directory")):
        if len(getattr(shape, key)) != len(getattr(shape, beside)):
            raise keys.error(key, _("as many numbers as '{beside}' has", beside=beside))
    return shape
