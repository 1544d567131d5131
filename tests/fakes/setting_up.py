"""A machine with spare disks that can be set up for good; what root would say is scripted."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from fswizard.disks.set_up import SetUpChoices
from fswizard.disks.set_up_plan import SetUpDone, SetUpPlan, set_up_on
from fswizard.errors import Refused, RunFailed
from fswizard.model.drive import Drive
from fswizard.model.filesystem import Candidate
from tests.fakes.wizard import NEW, OLD, FakeMachine

DONE = SetUpDone(
    "/mnt/data",
    "/mnt/data/fswizard-test.txt",
    "/etc/fstab.fswizard-1",
    ("umount /mnt/data", "sed …"),
)


class SettingUp(FakeMachine):
    """Two spare disks; what root would say is scripted."""

    def __init__(self, ending: SetUpDone | RunFailed, drives: tuple[Drive, ...] = (NEW, OLD)) -> None:
        super().__init__(drives=drives)
        self.ending = ending
        self.asked: list[SetUpPlan] = []

    def plan_set_up(self, candidate: Candidate, path: str, choices: SetUpChoices) -> SetUpPlan:
        if choices.mount_point == "/mnt/taken":
            raise Refused("/etc/fstab has /mnt/taken already.", "Choose another mount point.")
        return replace(set_up_on(candidate, choices, NEW.name, NEW), identifiers=(NEW.serial,), kind="serial number")

    def set_up(self, plan: SetUpPlan, typed: str) -> Iterator[str | SetUpDone]:
        self.asked.append(plan)
        yield "removing what was on it"
        yield "making the filesystem"
        if isinstance(self.ending, RunFailed):
            raise self.ending
        yield self.ending
