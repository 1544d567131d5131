"""`fswizard import`: figures measured elsewhere become a result."""

from __future__ import annotations

import sys
from pathlib import Path

from plumbum import cli

from fswizard import importers, results
from fswizard.advice import conclude
from fswizard.cli.command import Command
from fswizard.cli.output import deliver
from fswizard.errors import UsageError
from fswizard.model.text import safe
from fswizard.report import FORMATS, find_format, render


class Import(Command):
    """Makes a result of figures that were measured elsewhere, and reports it.

    FILE is what fio (JSON or text), filebench, KDiskMark or the Phoronix Test Suite (XML) printed, a directory of
    such files, or a table in TOML. The candidate is taken from the file's name, or named: `xfs=FILE`.
    """

    output = cli.SwitchAttr("--output", str, argname="RESULT", help="the result file; the history otherwise")
    baseline = cli.SwitchAttr("--baseline", str, argname="NAME", help="what ratios are made against (ext4)")
    format = cli.SwitchAttr("--format", str, default="text", argname="FORMAT", help=" ".join(FORMATS))

    def main(self, *files: str) -> int:
        if not files:
            raise UsageError("No file was named.", f"Name files of {importers.READABLE}.")
        find_format(self.format)
        found = importers.read(files, baseline=self.baseline or "")
        if self.output and len(found) > 1:
            raise UsageError(
                f"These files tell of {len(found)} disks: {', '.join(found)}.", "Import those of one disk at a time."
            )
        for disk, result in found.items():
            findings = conclude(result)
            path = Path(self.output) if self.output else results.new_path(result.plan)
            results.write_result(path, result, findings.judgement)
            print(f"{disk + ': ' if disk else ''}kept as {safe(str(path))}", file=sys.stderr)
            deliver(render(findings, self.format), None)
        return 0
