"""`fswizard report`: a result in one of the formats."""

from __future__ import annotations

from plumbum import cli

from fswizard import results
from fswizard.advice import conclude
from fswizard.cli.command import Command
from fswizard.cli.output import deliver
from fswizard.errors import UsageError
from fswizard.filesystems import parse_needs
from fswizard.language import _
from fswizard.report import FORMATS, find_format, format_of
from fswizard.sharing import export


class Report(Command):
    """Show a result: the newest, a file, or one named by part of its name in `fswizard history`."""

    format = cli.SwitchAttr("--format", str, argname="FORMAT", help=" ".join(FORMATS))
    output = cli.SwitchAttr("--output", str, argname="FILE", help=_("write to FILE; its extension sets the format"))
    english = cli.Flag("--english", help=_("in English, whatever your language"))
    full = cli.Flag("--full", help=_("the whole report: as text and for forums it is short otherwise"))
    weights = cli.SwitchAttr(
        "--what-if", str, argname="LIST", help=_('rank again with other weights, such as "sqlite=2, copy-video=0"')
    )
    need = cli.SwitchAttr("--need", str, argname="LIST", help=_("features it must have: checksums,snapshots,…"))
    identify = cli.Flag("--identify", help=_("include serial number, host name and paths"))

    def main(self, result: str = "") -> int:
        name = self.format or format_of(self.output or "")
        find_format(name)  # before anything is read
        findings = conclude(
            results.load(results.find(result)),
            weights=_weights(self.weights) if self.weights else None,
            needs=parse_needs(self.need) if self.need else None,
        )
        report = export(findings.result, name, identify=self.identify, english=self.english, full=self.full)
        deliver(report, self.output)
        return 0


def _weights(text: str) -> dict[str, float]:
    """`NAME=2, NAME=0` as a mapping; raises UsageError otherwise."""
    weights = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        name, __, value = part.partition("=")
        try:
            weights[name.strip()] = float(value)
        except ValueError as error:
            raise UsageError(_("'{text}' isn't a weight.", text=part), _('Write "NAME=2, NAME=0".')) from error
    return weights
