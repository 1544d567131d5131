"""Setting up a disk for good, where what root would say is scripted."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from fswizard.disks import set_up_plan
from fswizard.disks.set_up import Here, SetUpChoices, chosen_set_up
from fswizard.disks.set_up_plan import SetUpDone, SetUpPlan
from fswizard.errors import Refused, RunFailed
from fswizard.model.filesystem import Candidate
from fswizard.system.block_device import Device
from fswizard.tui.app import FswizardApp
from tests.fakes.wizard import NEW, OLD, FakeMachine, app

DONE = SetUpDone(
    "/mnt/data",
    "/mnt/data/fswizard-test.txt",
    "/etc/fstab.fswizard-1",
    ("umount /mnt/data", "sed …"),
)


class SettingUp:
    """What root would say is scripted."""

    def __init__(self, patch: pytest.MonkeyPatch, ending: SetUpDone | RunFailed = DONE) -> None:
        self.ending = ending
        self.asked: list[SetUpPlan] = []
        patch.setattr(set_up_plan, "plan_set_up", self.plan)
        patch.setattr(set_up_plan, "set_up", self.set_up)

    def plan(self, candidate: Candidate, path: str, choices: SetUpChoices) -> SetUpPlan:
        if choices.mount_point == "/mnt/taken":
            raise Refused("/etc/fstab has /mnt/taken already.", "Choose another mount point.")
        device = Device(NEW.name, NEW.name, "", size_bytes=NEW.size_bytes)
        made = chosen_set_up(candidate, choices)
        plan = SetUpPlan(made, choices, Here(), device.path, f"{NEW.name} ({NEW.model})", device)
        return replace(plan, identifiers=(NEW.serial,), kind="serial number")

    def set_up(self, plan: SetUpPlan, typed: str) -> Iterator[str | SetUpDone]:
        self.asked.append(plan)
        yield "removing what was on it"
        yield "making the filesystem"
        if isinstance(self.ending, RunFailed):
            raise self.ending
        yield self.ending


def at_result(machine: FakeMachine | None = None) -> FswizardApp:
    """The wizard at a result; by default two spare disks are attached."""
    return app("result", machine or FakeMachine(drives=(NEW, OLD)))
