"""Recipes that the user makes: of tests from all recipes, or like a directory; kept as files, and removed again."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from fswizard.engines.tree import TreeJob, TreeShape
from fswizard.errors import RunFailed, UsageError
from fswizard.model.codec import to_json
from fswizard.model.estimates import least_image_bytes
from fswizard.model.keys import toml_lines, written
from fswizard.model.recipe import YOURS, Recipe, Workload
from fswizard.model.text import safe
from fswizard.model.units import binary_size_text
from fswizard.recipes import available, own_directory, parse
from fswizard.recipes.parsing import MOST_WORKLOADS
from fswizard.recipes.tree_profile import PLACE_FOR_IMAGE, Look, recipe_text, usual_minutes

SMALLEST_IMAGE_BYTES = 4 << 30
"""Btrfs is slower on smaller ones; catalogue/btrfs.toml has the figures."""
LONGEST_MINUTES = 7 * 24 * 60
NEW = "The new recipe"
"""What errors call a recipe that has no file yet."""


def short_name(title: str) -> str:
    """What a recipe with this title is called on the command line: `Evening work` is `evening-work`.

    UsageError where nothing is left of it.
    """
    name = re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")
    if not name:
        raise UsageError(f"'{safe(title)}' can't be a recipe's name.", "Use letters from a to z, or digits.")
    return name


def combined(title: str, workloads: Iterable[Workload]) -> str:
    """A recipe in TOML with these workloads, each kind of work once; UsageError where they don't fit together."""
    chosen = list({(workload.job, workload.metric.name): workload for workload in workloads}.values())
    if not chosen:
        raise UsageError("No test is ticked.", "Tick at least one.")
    if len(chosen) > MOST_WORKLOADS:
        raise UsageError(f"A recipe has at most {MOST_WORKLOADS} tests; {len(chosen)} are ticked.", "Untick some.")
    chosen.sort(key=lambda workload: workload.job.fill_percent)  # what fills the filesystem slows down what follows
    trees: set[TreeShape] = {
        job.own for workload in chosen if isinstance(job := workload.job, TreeJob) and job.own is not None
    }
    if len(trees) > 1:
        raise UsageError("The tests use the files of two directories of yours.", "Take those of one of them.")
    image_bytes = math.ceil(least_image_bytes([w.job for w in chosen]) / PLACE_FOR_IMAGE) * PLACE_FOR_IMAGE
    titles = ", ".join(workload.title for workload in chosen)
    head = {
        "schema": 1,
        "name": short_name(title),
        "title": title,
        "why": f"Your own choice of tests: {titles}"[:499] + ".",
        "minutes": min(usual_minutes(sum(workload.seconds for workload in chosen)), LONGEST_MINUTES),
        "image": binary_size_text(max(image_bytes, SMALLEST_IMAGE_BYTES)),
        "candidates": ["ext4", "xfs", "btrfs"],
    }
    lines = toml_lines(head)
    for table in _tables(chosen):
        lines += ["", "[[workload]]", *toml_lines(table)]
    for tree in trees:
        lines += ["", "[tree]", *toml_lines(to_json(tree))]
    return "\n".join(lines) + "\n"


def like(seen: Look, title: str) -> str:
    """A recipe in TOML with files like those in a directory."""
    return recipe_text(seen, short_name(title), title)


def save(text: str) -> Recipe:
    """Check a recipe in TOML as any other, and keep it where the user's recipes lie.

    UsageError where something in it is wrong, where another has its name, or where nothing can be written there.
    """
    recipe = parse(text, NEW)
    if recipe.name in {known.name for known in available()}:
        raise UsageError(f"There is already a recipe called '{recipe.name}'.", "Choose another name.")
    path = own_directory() / f"{recipe.name}.toml"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("x", encoding="utf-8") as file:
            _write(file, path, text)
    except FileExistsError as error:
        raise UsageError(
            f"{safe(str(path))} exists already.", "Choose another name, or move that file away."
        ) from error
    except OSError as error:
        hint = "Make that directory writable, or free some space."
        raise RunFailed(f"{safe(str(path))} cannot be written: {error.strerror}.", hint) from error
    return replace(recipe, source=safe(str(path)), group=YOURS)


def _write(file: Any, path: Path, text: str) -> None:
    try:
        file.write(text)
        file.flush()
    except OSError:
        with suppress(OSError):
            path.unlink()  # no half of a recipe stays behind
        raise


def remove(recipe: Recipe) -> None:
    """Delete the file of a recipe of the user's own; one that is gone already is fine.

    UsageError where it is none of them, or where the file cannot be deleted.
    """
    path = Path(recipe.source)
    if path.parent != own_directory():
        raise UsageError(f"{recipe.title} is not a recipe of yours.", "Only those can be removed.")
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        raise RunFailed(f"{safe(str(path))} cannot be deleted: {error.strerror}.", "Delete it yourself.") from error


def _tables(workloads: Iterable[Workload]) -> Iterator[dict[str, Any]]:
    names: set[str] = set()
    for workload in workloads:
        name, number = workload.name, 2
        while name in names:
            name, number = f"{workload.name[:36]}-{number}", number + 1
        names.add(name)
        yield {
            "name": name,
            "title": workload.title,
            "engine": workload.engine,
            "metric": workload.metric.name,
            "weight": workload.weight,
            "why": workload.why or workload.title,
            **written(workload.job),
        }
