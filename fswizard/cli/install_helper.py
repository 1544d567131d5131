"""`fswizard install-helper`: gives root a copy of the helper that only root can change."""

from __future__ import annotations

from plumbum import cli

from fswizard.cli.command import OnMachine
from fswizard.errors import ExitCode
from fswizard.targets import helper_copy

INSTALLED = f"""\
Root has a copy of the helper now that your account can't change. Run this again after each update of fswizard.

To allow scratch images, and nothing else, without a password, have root add this line with visudo, for USER:
  USER ALL=(root) NOPASSWD: {helper_copy.installed_command("images")}"""


class InstallHelper(OnMachine):
    """Gives root a copy of the part that runs as root, which your account can't change.

    fswizard uses that copy from then on, and refuses one that is not its own. Run it again after each update.
    """

    PROGNAME = "fswizard install-helper"

    remove = cli.Flag("--remove", help="take the copy away again")

    def main(self) -> int:
        if self.remove:
            helper_copy.remove()
            print("Removed. Lines of sudoers that name it can go, too.")
        else:
            helper_copy.install()
            print(INSTALLED)
        return ExitCode.OK
