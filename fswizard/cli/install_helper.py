"""`fswizard install-helper`: gives root a copy of the helper that only root can change."""

from __future__ import annotations

from plumbum import cli

from fswizard.cli.command import Command
from fswizard.errors import ExitCode
from fswizard.language import _
from fswizard.targets import helper_copy


class InstallHelper(Command):
    """Gives root a copy of the part that runs as root, which your account can't change.

    fswizard uses that copy from then on, and refuses one that is not its own. Run it again after each update.
    """

    PROGNAME = "fswizard install-helper"

    remove = cli.Flag("--remove", help=_("take the copy away again"))

    def main(self) -> int:
        if self.remove:
            helper_copy.remove()
            print(_("Removed. Lines of sudoers that name it can go, too."))
        else:
            helper_copy.install()
            print(installed())
        return ExitCode.OK


def installed() -> str:
    done = _(
        "Root has a copy of the helper now that your account can't change. Run this again after each update of "
        "fswizard."
    )
    allow = _(
        "To allow scratch images, and nothing else, without a password, have root add this line with visudo, for USER:"
    )
    return f"{done}\n\n{allow}\n  USER ALL=(root) NOPASSWD: {helper_copy.installed_command('images')}"
