"""`fswizard published`: figures that others have published, how they came out here, and the same run on your disk."""

from __future__ import annotations

import json

from plumbum import cli

from fswizard import results
from fswizard.advice import conclude
from fswizard.cli.output import deliver
from fswizard.cli.report import Reporting, exported
from fswizard.cli.run import Choosing, measure, new_session
from fswizard.errors import UsageError
from fswizard.importers.published import find, published
from fswizard.importers.reruns import find_experiment, recipe_of, rerun, with_reruns
from fswizard.language import _
from fswizard.model.plan import MAXIMUM_ROUNDS
from fswizard.model.result import Result
from fswizard.report.layout import WIDTH, bullet, wrap
from fswizard.report.reruns import rerun_texts

ROUNDS = 3
"""The minimum unless you ask for another: two rounds are too few to contradict somebody."""


class Published(Choosing, Reporting):
    """List the published figures that come with fswizard, report those called NAME, or run them again with --run.

    Where fswizard has run them again, the report says how its figures compare. RESULT, a file or part of a name in
    `fswizard history`, is a run of your own to compare instead. --run takes the options of `fswizard run`, and --output
    is then the file of its result.
    """

    PROGNAME = "fswizard published"

    again = cli.Flag("--run", help=_("measure the same here, as far as this disk and kernel can"))
    json = cli.Flag("--json", help=_("list as JSON"))

    def main(self, name: str = "", result: str = "") -> int:
        if self.again:
            return self._run(name)
        self._refuse_what_measures()
        if name:
            chosen = self.format_name()
            findings = conclude(find(name))
            ours = results.load(results.find(result)) if result else None
            deliver(exported(with_reruns(findings, ours), chosen, english=self.english), self.output)
        elif self.json:
            print(json.dumps([_document(result) for result in published().values()], indent=2))
        else:
            print("\n\n".join("\n".join(_lines(result)) for result in published().values()))
        return 0

    def _run(self, name: str) -> int:
        self.rounds = self.rounds or f"{ROUNDS}..{MAXIMUM_ROUNDS}"
        session = new_session(self.plan(recipe_of(find_experiment(name))), self.output)
        code = measure(session)
        print("\n".join(line for text in rerun_texts(rerun(name, session.result)) for line in bullet(text)))
        return code

    def _refuse_what_measures(self) -> None:
        chosen = (self.target, self.candidates, self.baseline, self.need, self.time, self.rounds, self.budget)
        if any(value is not None for value in (*chosen, self.seed, self.memory_limit)) or self.erase:
            raise UsageError(
                _("Options of `fswizard run` take effect only with --run."), _("Leave them out, or add --run.")
            )


def _lines(result: Result) -> list[str]:
    plan, environment = result.plan, result.environment
    names = ", ".join(candidate.name for candidate in plan.candidates)
    origin = "; ".join(filter(None, (environment.started, environment.source)))
    texts = (f"{_(plan.recipe.title)}: {names}", origin)
    return [plan.recipe.name, *(f"    {line}" for text in texts for line in wrap(text, WIDTH - 4))]


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
