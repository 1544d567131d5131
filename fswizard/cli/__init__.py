"""The command line. Each subcommand is imported when it is called."""

from __future__ import annotations

from plumbum import cli

from fswizard.cli.command import Command
from fswizard.errors import UsageError
from fswizard.language import _

SUBCOMMANDS = {
    "run": "fswizard.cli.run.Run",
    "report": "fswizard.cli.report.Report",
    "history": "fswizard.cli.history.History",
    "drives": "fswizard.cli.drives.Drives",
    "smr": "fswizard.cli.smr.Smr",
    "set-up": "fswizard.cli.set_up.SetUp",
    "watch": "fswizard.cli.watch.Watch",
    "doctor": "fswizard.cli.doctor.Doctor",
    "recipes": "fswizard.cli.recipes.Recipes",
    "clean": "fswizard.cli.clean.Clean",
}


class Fswizard(Command):
    """Find out which filesystem and mount options suit a disk and what you do with it, by measuring on that disk.

    Without a subcommand, the full-screen wizard starts; --demo shows recorded runs in it.
    """

    PROGNAME = "fswizard"
    demo = cli.Flag("--demo", help=_("show recorded runs, without root, disks or fio: nothing here is touched"))

    def main(self, *words: str) -> int:
        if words:
            text = _("There is no subcommand '{name}'.", name=words[0])
            raise UsageError(text, _("Available: {names}.", names=", ".join(SUBCOMMANDS)))
        if self.nested_command:
            return 0
        from fswizard.tui import run_wizard

        if self.demo:
            from fswizard.demo.app import DemoApp

            return run_wizard(DemoApp)
        return run_wizard()


for _name, _where in SUBCOMMANDS.items():
    Fswizard.subcommand(_name, _where)
