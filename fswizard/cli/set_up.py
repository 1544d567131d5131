"""`fswizard set-up`: a disk made, mounted and entered in /etc/fstab as a result recommends."""

from __future__ import annotations

import sys
from dataclasses import replace

from plumbum import cli

from fswizard import results
from fswizard.advice import conclude
from fswizard.cli.command import OnMachine
from fswizard.errors import ExitCode, Refused, UsageError
from fswizard.filesystems import parse_candidate
from fswizard.model.text import safe
from fswizard.targets import (
    SetUpDone,
    SetUpPlan,
    plan_set_up,
    privilege,
    require_confirmed,
    script,
    set_up,
    usual_choices,
    why_not_set_up,
)


class SetUp(OnMachine):
    """Set a disk up for good as a result recommends: make the filesystem, enter it in /etc/fstab, and mount it.

    Without --erase it shows the exact commands and changes nothing. RESULT is the newest, a file, or part of its name
    in `fswizard history`.
    """

    PROGNAME = "fswizard set-up"

    disk = cli.SwitchAttr("--disk", str, argname="PATH", help="disk or partition: /dev/disk/by-id/NAME", mandatory=True)
    candidate = cli.SwitchAttr("--candidate", str, argname="NAME", help='instead of what is recommended: "xfs:noatime"')
    label = cli.SwitchAttr("--label", str, argname="LABEL", help="label of the filesystem")
    mount_point = cli.SwitchAttr("--mount-point", str, argname="DIRECTORY", help="where to mount it (/mnt/data)")
    owner = cli.SwitchAttr("--owner", str, argname="USER", help="who owns its top directory (you)")
    no_partition = cli.Flag("--no-partition", help="no partition table: the filesystem takes the whole disk")
    always_there = cli.Flag("--always-there", help="the machine doesn't start without it")
    script = cli.Flag("--script", help="print a script that does it, and do nothing")
    erase = cli.SwitchAttr("--erase", str, argname="SERIAL", help="do it: serial number of the disk, which is erased")

    def main(self, result: str = "") -> int:
        plan = self._plan(result)
        if self.script:
            print(script(plan), end="")
        elif self.erase is None:
            print(review(plan))
        else:
            require_confirmed(plan, self.erase)
            privilege.authorise(plan.purpose)
            for step in set_up(plan, self.erase):
                print(ended(step) if isinstance(step, SetUpDone) else f"{step} …", file=sys.stderr)
        return ExitCode.OK

    def _plan(self, result: str) -> SetUpPlan:
        shown = results.load(results.find(result))
        names = (self.candidate,) if self.candidate else conclude(shown).advice.choice
        if not names:
            raise UsageError("This result recommends nothing.", "Name what to set up: --candidate NAME.")
        measured = {each.name: each for each in shown.plan.candidates}
        candidate = measured.get(names[0]) or parse_candidate(names[0])
        if reason := why_not_set_up(candidate):
            raise Refused(reason)
        choices = usual_choices(candidate, shown.plan)
        given = {"label": self.label, "mount_point": self.mount_point, "owner": self.owner}
        choices = replace(
            choices, partition=not self.no_partition, may_be_absent=not self.always_there,
            **{name: text for name, text in given.items() if text is not None},
        )  # fmt: skip
        return plan_set_up(candidate, self.disk, choices)


def review(plan: SetUpPlan) -> str:
    """What would be done, and how to have it done."""
    lost = "\n".join(f"  {safe(loss)}" for loss in plan.losses)
    commands = "\n".join(f"  # {safe(command)}" for command in plan.commands)
    left_to_do = f"Left to do: {plan.left_to_do}\n\n" if plan.left_to_do else ""
    confirm = f"--erase '{safe(plan.identifiers[0])}'" if plan.identifiers else "nothing that could be typed"
    return (
        f"{safe(plan.title)} would be ERASED:\n{lost}\n\nCommands, as root:\n{commands}\n\n{left_to_do}"
        f"Nothing was changed. To have it done, confirm with its {plan.kind}: {confirm}\n"
        "To do it yourself, read and run what --script prints."
    )


def ended(done: SetUpDone) -> str:
    """Where it is, and how to undo it."""
    undo = "\n".join(f"  sudo {command}" for command in done.undo)
    left_to_do = f"Left to do: {done.left_to_do}\n" if done.left_to_do else ""
    return (
        f"Your disk is at {done.mount_point}; {done.test_file} is a test file.\n{left_to_do}"
        f"To undo it (the disk keeps its files, and {done.backup} is /etc/fstab as it was):\n{undo}"
    )
