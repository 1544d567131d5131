"""`fswizard pool`: results of several machines or days as one statement."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

from plumbum import cli

from fswizard import results
from fswizard.advice.pooled import pooled_card
from fswizard.cli.command import Command
from fswizard.cli.output import deliver
from fswizard.errors import ExitCode, FswizardError, UsageError
from fswizard.language import N_, _, in_english
from fswizard.model.analysis import Card
from fswizard.model.codec import to_json
from fswizard.model.pool import Pool, Study
from fswizard.model.result_file import recipe_digest
from fswizard.model.text import safe
from fswizard.report.pool import render
from fswizard.stats.pooling import pool
from fswizard.stats.study import study_of


class PoolResults(Command):
    """Make one statement of results from several machines or days: who is ahead, and where not.

    RESULT is a result file, one from `fswizard report --format result`, or a directory with such files. What doesn't
    belong together is kept apart and named.
    """

    PROGNAME = "fswizard pool"

    json = cli.Flag("--json", help=_("print JSON"))

    def main(self, *result: str) -> int:
        if not result:
            raise UsageError(
                _("Name at least one result."), _("`fswizard history` lists yours; a directory works, too.")
            )
        studies: dict[str, Study] = {}
        wrong: list[FswizardError] = []
        for path, known in results.read_once("pool", Study, read, files(result)):
            if isinstance(known, FswizardError):
                wrong.append(known)
            else:
                studies[str(path)] = known
        if not studies:
            none = UsageError(_("There are no results."), _("Results are files that end in .jsonl."))
            raise wrong[0] if wrong else none
        with in_english() if self.json else nullcontext():
            pooled = pool(studies)
            cards = [pooled_card(group) for group in pooled.groups]
        if self.json:
            print(json.dumps(document(pooled, cards, wrong), indent=2))
        else:
            deliver(render(pooled, cards), None)
        for error in wrong:
            print(_("Not read: {reason}", reason=error.message), file=sys.stderr)
        return ExitCode.PARTIAL if wrong else ExitCode.OK


def files(names: Sequence[str]) -> Iterator[Path]:
    """Each file once, in order; those in directories by name, however deep.

    UsageError where a name is neither a file nor a part of the name of a result in the history.
    """
    seen = set()
    for name in names:
        path = Path(name)
        inside = sorted(path.rglob("*.jsonl")) if path.is_dir() else [results.find(name)]
        for file in inside:
            if (known := os.path.realpath(file)) not in seen:
                seen.add(known)
                yield file


def read(path: Path) -> Study:
    """What one file brings. UsageError if it is not a result."""
    result = results.load(path)
    study = study_of(result)
    header = results.header(path)
    if header.digest and header.digest != recipe_digest(result.plan.recipe):
        wrote = f"fswizard {header.version}" if header.version else N_("another version")
        unfit = N_("{version} measured its recipe in a way that this version doesn't know.").format(version=wrote)
        return replace(study, unfit=unfit)
    return study


def document(pool: Pool, cards: Sequence[Card], wrong: Sequence[FswizardError]) -> dict[str, Any]:
    groups = [to_json(group) | {"card": to_json(card)} for group, card in zip(pool.groups, cards)]
    left_out = [to_json(item) for item in pool.left_out]
    return {"schema": 2, "groups": groups, "left_out": left_out, "not_read": [safe(error.message) for error in wrong]}
