"""`fswizard report`: a result in the format that somebody asks for."""

from __future__ import annotations

from plumbum import cli

from fswizard import results
from fswizard.advice import conclude
from fswizard.cli.choices import parse_weights
from fswizard.cli.command import Command
from fswizard.cli.output import deliver
from fswizard.filesystems import parse_needs
from fswizard.importers.published import with_published
from fswizard.report import FORMATS, find_format, format_of, render


class Report(Command):
    """Shows a result: the newest one, a file, or a part of a name that `fswizard history` lists."""

    format = cli.SwitchAttr("--format", str, argname="FORMAT", help=" ".join(FORMATS))
    output = cli.SwitchAttr("--output", str, argname="FILE", help="write to a file; its ending chooses the format")
    weights = cli.SwitchAttr("--weights", str, argname="LIST", help='rank anew, such as "random-write=2, small=0"')
    need = cli.SwitchAttr("--need", str, argname="LIST", help="features it must have: checksums,snapshots,…")
    identify = cli.Flag("--identify", help="with serial number, host name and paths")

    def main(self, result: str = "") -> int:
        name = self.format or format_of(self.output or "")
        find_format(name)
        findings = conclude(
            results.load(results.find(result)),
            weights=parse_weights(self.weights) if self.weights else None,
            needs=parse_needs(self.need) if self.need else None,
        )
        deliver(render(with_published(findings), name, identify=self.identify), self.output)
        return 0
