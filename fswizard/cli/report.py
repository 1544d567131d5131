"""`fswizard report` and `import`: results in the format that is asked for, wherever they were measured."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from pathlib import Path

from plumbum import cli

from fswizard import importers, results
from fswizard.advice import again, conclude
from fswizard.cli.command import Command, parse_weights
from fswizard.cli.output import deliver
from fswizard.errors import UsageError
from fswizard.filesystems import parse_needs
from fswizard.importers.published import with_published
from fswizard.language import _, in_english, n_
from fswizard.model.analysis import Findings
from fswizard.model.text import safe
from fswizard.report import FORMATS, find_format, format_of, render
from fswizard.system.pictures import png


class Reporting(Command):
    """Options that `report` and `published` share."""

    format = cli.SwitchAttr("--format", str, argname="FORMAT", help=" ".join(FORMATS))
    output = cli.SwitchAttr("--output", str, argname="FILE", help=_("write to FILE; its extension sets the format"))
    english = cli.Flag("--english", help=_("in English, whatever your language"))

    def format_name(self) -> str:
        """UsageError where there is no such format, before anything is read."""
        name: str = self.format or format_of(self.output or "")
        find_format(name)
        return name


class Report(Reporting):
    """Show a result: the newest, a file, or one named by part of its name in `fswizard history`."""

    weights = cli.SwitchAttr(
        ["--what-if", "--weights"],
        str,
        argname="LIST",
        help=_('rank again with other weights, such as "sqlite=2, copy-video=0"'),
    )
    need = cli.SwitchAttr("--need", str, argname="LIST", help=_("features it must have: checksums,snapshots,…"))
    identify = cli.Flag("--identify", help=_("include serial number, host name and paths"))

    def main(self, result: str = "") -> int:
        name = self.format_name()
        findings = conclude(
            results.load(results.find(result)),
            weights=parse_weights(self.weights) if self.weights else None,
            needs=parse_needs(self.need) if self.need else None,
        )
        deliver(exported(with_published(findings), name, identify=self.identify, english=self.english), self.output)
        return 0


class Import(Command):
    """Turn figures measured elsewhere into a result, and report it.

    FILE is fio's JSON (--output-format=json), filebench's output, a CSV table, or a directory of such files. The name
    of fio's or filebench's file or directory says which candidate it is for; or name it: `xfs=FILE`, `xfs=DIRECTORY`.
    Files that are named alike are repeats.

    A table has a line for each run:

    / candidate,workload,value,unit
    / ext4,unpacking,41.2,s
    / xfs:noatime,unpacking,38.9,s
    / xfs:noatime,copying,512,MB/s

    Units are B/s, kB/s, MB/s, GB/s, 1/s, s and ms. A run without a value has failed.
    """

    output = cli.SwitchAttr(
        "--output", str, argname="RESULT", help=_("write the result to this file, not to the history")
    )
    baseline = cli.SwitchAttr(
        "--baseline", str, argname="NAME", help=_("candidate that others are compared with (ext4)")
    )
    format = cli.SwitchAttr("--format", str, default="text", argname="FORMAT", help=" ".join(FORMATS))

    def main(self, *files: str) -> int:
        if not files:
            text = _("Name at least one file: import reads fio's JSON, filebench's output and CSV tables.")
            raise UsageError(text, _(importers.HOW))
        find_format(self.format)
        by_disk = importers.read(files, baseline=self.baseline or "")
        if self.output and len(by_disk) > 1:
            raise UsageError(
                n_(
                    "These files are about {count} disk: {disks}.", "These files are about {count} disks: {disks}.",
                    len(by_disk), disks=", ".join(by_disk),
                ),
                _("Import one disk's files at a time, or leave out --output."),
            )  # fmt: skip
        for disk, result in by_disk.items():
            findings = conclude(result)
            path = Path(self.output) if self.output else results.new_path(result.plan)
            with in_english():
                verdict = conclude(result).advice.card.verdict
            results.write_result(path, result, findings.analysis, verdict)
            saved = _("saved as {path}", path=safe(str(path)))
            print(f"{disk}: {saved}" if disk else saved, file=sys.stderr)
            deliver(exported(findings, self.format), None)
        return 0


def exported(findings: Findings, format_name: str, *, identify: bool = False, english: bool = False) -> str | bytes:
    """A report in that format: bytes where it is a picture."""
    kind = find_format(format_name)
    with in_english() if kind.english or english else nullcontext():
        text = render(again(findings), format_name, identify=identify)
    return png(text) if kind.drawn else text
