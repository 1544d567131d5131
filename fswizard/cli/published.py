"""`fswizard published`: figures that others published, reported like any result."""

from __future__ import annotations

import json
from collections.abc import Iterable

from plumbum import cli

from fswizard.advice import conclude
from fswizard.cli.choices import parse_weights
from fswizard.cli.command import Command
from fswizard.cli.output import deliver
from fswizard.importers.published import find, published
from fswizard.model.result import Result
from fswizard.report import FORMATS, find_format, format_of, render
from fswizard.report.layout import WIDTH, wrap


class Published(Command):
    """Lists published figures that are shipped with the program, or reports those of NAME."""

    format = cli.SwitchAttr("--format", str, argname="FORMAT", help=" ".join(FORMATS))
    output = cli.SwitchAttr("--output", str, argname="FILE", help="write to a file; its ending chooses the format")
    weights = cli.SwitchAttr("--weights", str, argname="LIST", help='rank anew, such as "copy-dvd=2"')
    json = cli.Flag("--json", help="list as JSON")

    def main(self, name: str = "") -> int:
        if not name:
            known = published().values()
            print(json.dumps([_document(result) for result in known], indent=2) if self.json else _listing(known))
            return 0
        chosen = self.format or format_of(self.output or "")
        find_format(chosen)
        weights = parse_weights(self.weights) if self.weights else None
        deliver(render(conclude(find(name), weights=weights), chosen), self.output)
        return 0


def _listing(known: Iterable[Result]) -> str:
    return "\n\n".join("\n".join(_lines(result)) for result in known)


def _lines(result: Result) -> list[str]:
    plan, environment = result.plan, result.environment
    names = ", ".join(candidate.name for candidate in plan.candidates)
    origin = "; ".join(filter(None, (environment.started, environment.source)))
    told = (f"{plan.recipe.title}: {names}", origin)
    return [plan.recipe.name, *(f"    {line}" for text in told for line in wrap(text, WIDTH - 4))]


def _document(result: Result) -> dict[str, object]:
    plan, environment = result.plan, result.environment
    return {
        "name": plan.recipe.name,
        "title": plan.recipe.title,
        "source": environment.source,
        "measured": environment.started,
        "drive": plan.drive.model if plan.drive else "",
        "candidates": [candidate.name for candidate in plan.candidates],
    }
