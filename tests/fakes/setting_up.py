"""Setting up a disk for good, where what root would say is scripted."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from fswizard.disks import set_up_plan
from fswizard.disks.set_up import Here, chosen_set_up
from fswizard.disks.set_up_plan import SetUpDone, SetUpPlan
from fswizard.drives.devices import DeviceTarget
from fswizard.drives.may_erase import SERIAL, Facts, Probed
from fswizard.errors import Refused, RunFailed
from fswizard.model.filesystem import Candidate
from fswizard.system.block_device import Device, Tree
from fswizard.tui.app import FswizardApp
from tests.fakes.wizard import NEW, OLD, FakeMachine, app

DONE = SetUpDone("/etc/fstab.fswizard-1", ("umount /mnt/data", "sed …", "rmdir /mnt/data"))


class SettingUp:
    """What root would say is scripted."""

    def __init__(self, patch: pytest.MonkeyPatch, ending: SetUpDone | RunFailed = DONE) -> None:
        self.ending = ending
        self.asked: list[SetUpPlan] = []
        patch.setattr(set_up_plan, "plan_set_up", self.plan)
        patch.setattr(set_up_plan, "set_up", self.set_up)

    def plan(self, candidate: Candidate, path: str, point: str) -> SetUpPlan:
        if point == "/mnt/taken":
            raise Refused("/etc/fstab has /mnt/taken already.", "Choose another mount point.")
        device = Device(NEW.name, NEW.name, "", size_bytes=NEW.size_bytes)
        facts = Facts(device, {NEW.name: Probed()}, reported={NEW.serial: SERIAL})
        target = DeviceTarget(device.path, NEW, facts, Tree(), blank=True)
        return SetUpPlan(chosen_set_up(candidate, point), point, Here(), target)

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
