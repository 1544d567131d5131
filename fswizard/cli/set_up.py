"""`fswizard set-up`: creates, mounts and enters a filesystem in /etc/fstab as recommended by a result."""

from __future__ import annotations

import shlex
import sys

from plumbum import cli

from fswizard import results
from fswizard.advice import conclude
from fswizard.cli.command import Command
from fswizard.disks import rights
from fswizard.disks.choice import require_confirmed
from fswizard.disks.set_up import why_not_set_up
from fswizard.disks.set_up_plan import SetUpDone, SetUpPlan, plan_set_up, script, set_up, usual_mount_point
from fswizard.errors import ExitCode, Refused, UsageError
from fswizard.filesystems import parse_candidate
from fswizard.language import _
from fswizard.model.text import safe


class SetUp(Command):
    """Set a disk up for good as a result recommends: make the filesystem, enter it in /etc/fstab, and mount it.

    Without --erase it shows the exact commands and changes nothing. RESULT is the newest, a file, or part of its name
    in `fswizard history`.
    """

    PROGNAME = "fswizard set-up"

    disk = cli.SwitchAttr(
        "--disk", str, argname="PATH", help=_("disk or partition: /dev/disk/by-id/NAME"), mandatory=True
    )
    candidate = cli.SwitchAttr(
        "--candidate", str, argname="NAME", help=_('instead of what is recommended: "xfs:noatime"')
    )
    mount_point = cli.SwitchAttr(
        "--mount-point", str, argname="DIRECTORY", help=_("where to mount it (/mnt/data); its last part is the label")
    )
    script = cli.Flag("--script", help=_("print a script that does it, and do nothing"))
    erase = cli.SwitchAttr(
        "--erase", str, argname="SERIAL", help=_("do it: serial number of the disk, which is erased")
    )

    def main(self, result: str = "") -> int:
        plan = self._plan(result)
        if self.script:
            print(script(plan), end="")
        elif self.erase is None:
            print(review(plan))
        else:
            require_confirmed(plan.target, self.erase)
            rights.authorise()
            for step in set_up(plan, self.erase):
                print(f"{_(step)} …" if isinstance(step, str) else ended(plan, step), file=sys.stderr)
        return ExitCode.OK

    def _plan(self, result: str) -> SetUpPlan:
        known = results.load(results.find(result))
        name = self.candidate or conclude(known).answer.recommended
        if not name:
            raise UsageError(_("This result recommends nothing."), _("Name what to set up: --candidate NAME."))
        measured = {each.name: each for each in known.plan.candidates}
        candidate = measured.get(name) or parse_candidate(name)
        if reason := why_not_set_up(candidate):
            raise Refused(_(reason))
        return plan_set_up(candidate, self.disk, self.mount_point or usual_mount_point(known.plan))


def review(plan: SetUpPlan) -> str:
    """What would be done, and how to confirm it."""
    lost = [f"  {_(safe(loss))}" for loss in plan.losses]
    commands = [f"  # {safe(command)}" for command in plan.commands]
    target = plan.target
    return "\n".join(
        (
            _("{disk} would be ERASED:", disk=safe(target.title)), *lost, "",
            _("Commands, as root:"), *commands, "",
            _(
                "Nothing was changed. To have it done, confirm with its {kind}: {confirmation}",
                kind=_(target.kind), confirmation=f"--erase {shlex.quote(safe(target.identifier))}",
            ),
            _("To do it yourself, read and run what --script prints."),
        )
    )  # fmt: skip


def ended(plan: SetUpPlan, done: SetUpDone) -> str:
    """Location of the filesystem, and how to undo the changes."""
    undo = [f"  sudo {command}" for command in done.undo]
    return "\n".join(
        (
            _("Your disk is at {directory}.", directory=plan.mount_point),
            _("To undo it (the disk keeps its files, and {file} is /etc/fstab as it was):", file=done.backup),
            *undo,
        )
    )
