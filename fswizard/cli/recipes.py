"""`fswizard recipes`: the recipes with their duration and writes, and creation of a recipe from a directory."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

from plumbum import cli
from rich.cells import cell_len

from fswizard import recipes
from fswizard.cli.command import Command
from fswizard.cli.output import deliver, wrapped
from fswizard.language import _
from fswizard.model.recipe import Recipe, grouped
from fswizard.model.text import safe
from fswizard.model.units import binary_text, duration_text, size_text
from fswizard.recipes import tree_profile


class Recipes(Command):
    """List the recipes, with the time they take and what they write, or make one from a directory of yours.

    With --from, fswizard looks at sizes, depths and counts only, and reads a few blocks to see how well they compress.
    It writes nothing there, follows no links, and puts no file names into the recipe.
    """

    PROGNAME = "fswizard recipes"

    directory = cli.SwitchAttr("--from", argname="DIR", help=_("make a recipe with files like those in DIR"))
    output = cli.SwitchAttr("--output", argname="FILE", requires=["--from"], help=_("write that recipe to FILE"))

    def main(self) -> int:
        if self.directory:
            return self._make()
        paragraphs = []
        for title, members in grouped(recipes.available()):
            heading = _(title)
            paragraphs += [f"{heading}\n{'-' * cell_len(heading)}", *map(_paragraph, members)]
        print("\n\n".join(paragraphs))
        for error in recipes.broken():
            print(*filter(None, (error.message, error.hint)), file=sys.stderr)
        return 0

    def _make(self) -> int:
        profile = tree_profile.scan(Path(self.directory))
        deliver(tree_profile.recipe_text(profile), self.output)
        if self.output:
            command = f"fswizard run {shlex.quote(safe(self.output))}"
            print(_("Measure it: {command}", command=command), file=sys.stderr)
        return 0


def _paragraph(recipe: Recipe) -> str:
    costs = _(
        "About {duration} and {size} written per candidate and round, on an image of {image}. "
        "By default no new round starts after {limit}.",
        duration=duration_text(recipe.trial_s), size=size_text(recipe.trial_bytes),
        image=binary_text(recipe.image_bytes), limit=duration_text(recipe.minutes * 60),
    )  # fmt: skip
    lines = [f"{recipe.name}: {_(recipe.title)}", *wrapped(_(recipe.why)), *wrapped(costs)]
    lines += [f"    {workload.name:<18} {_(workload.title)}" for workload in recipe.workloads]
    return "\n".join(lines)
