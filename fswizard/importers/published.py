"""Published figures that are shipped with the program."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache

from fswizard.advice import beside
from fswizard.errors import UsageError
from fswizard.language import _
from fswizard.model.analysis import Findings
from fswizard.model.result import Result
from fswizard.model.text import safe
from fswizard.recipes import shipped_directory


@cache
def published() -> Mapping[str, Result]:
    """All published figures, by name."""
    from fswizard.importers import table

    paths = sorted((shipped_directory() / "published").glob("*.toml"))
    results = (table.parse(path.read_text("utf-8"), path.name) for path in paths)
    return {result.plan.recipe.name: result for result in results}


def find(name: str) -> Result:
    """Published figures of that name; raises UsageError if there are none."""
    known = published()
    if name not in known:
        raise UsageError(
            _("There are no published figures '{name}'.", name=safe(name)),
            _("There are: {names}.", names=", ".join(known)),
        )
    return known[name]


def with_published(findings: Findings) -> Findings:
    """The same findings, with published figures for similar work."""
    return replace(findings, published=beside(findings.result, findings.analysis, published().values()))
