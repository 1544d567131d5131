"""The machine of a story: it has the disks that were recorded, and measures by replaying a run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from fswizard.demo.replay import REAL, TENFOLD, Replay
from fswizard.demo.stories import Story, other_drives
from fswizard.disks.choice import Offer
from fswizard.disks.set_up import SetUpChoices
from fswizard.disks.set_up_plan import SetUpPlan, set_up_on
from fswizard.errors import UsageError
from fswizard.filesystems import Availability
from fswizard.language import _
from fswizard.model.drive import Drive
from fswizard.model.filesystem import Candidate, Filesystem
from fswizard.model.layout import Layout
from fswizard.model.plan import Plan
from fswizard.model.recipe import Recipe
from fswizard.model.result import Result
from fswizard.system import clock
from fswizard.tui.backend import Backend, Location
from fswizard.tui.choices import WizardChoices

POLL_S = 0.1
ROOM_BYTES = 1 << 38
"""Free space, and room for an image: enough for each recording."""


def _answers(value: Any) -> Callable[..., Any]:
    """A method that asks nobody."""
    return lambda machine, *arguments: value


def _refuse(machine: DemoMachine, *arguments: object) -> Any:
    raise UsageError(
        _("This demo was recorded on {disk}: choose that one.", disk=machine.drive.name),
        _("Start fswizard without --demo for your own disks."),
    )


REFUSED: Callable[..., Any] = _refuse
"""What a demo does not do."""


class DemoMachine(Backend):
    """Answers from a recording; nothing is asked of this machine, and nothing is written to it."""

    def __init__(self, story: Story, *, speed: float = TENFOLD) -> None:
        self.story = story
        self.speed = speed
        self.plan = story.plan
        assert self.plan.drive is not None
        self.drive = self.plan.drive
        self.drives = (self.drive, *(other for other in other_drives() if other.name != self.drive.name))
        self.replay: Replay | None = None
        """The run that was started last."""

    @property
    def banner(self) -> str:
        pace = _("in real time") if self.speed == REAL else _("{speed}× faster", speed=f"{self.speed:.0f}")
        return _("Demo on {disk}, {pace}. Nothing here is touched.", disk=_(self.story.disk), pace=pace)

    @property
    def choices(self) -> WizardChoices:
        """What was chosen for the recorded run."""
        plan = self.plan
        return WizardChoices(
            purpose="own",
            drive=self.drive,
            devices=(plan.target.path,) if plan.target.kind == "device" else (),
            device_bytes=plan.target.size_bytes,
            recipe=plan.recipe,
            candidates=tuple(candidate.name for candidate in plan.candidates),
            baseline=plan.baseline,
            needs=plan.needs,
        )

    follow = named_location = set_up = take_up = REFUSED
    authorise = _answers(None)
    history = leftovers = mounted = ongoing = questions = resumable = _answers(())
    rights = image_rights = _answers("root")
    why_root = _answers("")

    def watch(self, stopped: Callable[[], bool]) -> Iterator[tuple[Drive, ...]]:
        yield self.drives
        while not stopped():
            clock.sleep(POLL_S)

    def details(self, drive: Drive) -> Drive:
        return drive

    def location(self, drive: Drive | None) -> Location:
        target = self.plan.target
        if target.kind != "image" or (drive is not None and drive.name != self.drive.name):
            _refuse(self)
        return Location(target.path, target.host_filesystem, ROOM_BYTES, self.drive.name, ROOM_BYTES)

    def offers(self, drive: Drive, *, lasting: bool = False) -> tuple[Offer, ...]:
        """The whole disk: the recorded one for the run, any for setting it up."""
        target, path = self.plan.target, f"/dev/{drive.name}"
        if not lasting:
            if drive.name != self.drive.name or target.kind != "device":
                return ()
            path = target.path
        return (Offer(path, drive.name, drive.size_bytes, whole=True, empty=True, losses=()),)

    def recipes(self) -> tuple[Recipe, ...]:
        return (self.plan.recipe,)

    def availability(self, made: Filesystem | Layout) -> Availability:
        usable = made.name in {candidate.filesystem.name for candidate in self.plan.candidates}
        return Availability(usable, "" if usable else _("This demo was recorded without it"))

    def draft(self, choices: WizardChoices) -> Plan:
        return self.plan

    def make_plan(self, choices: WizardChoices) -> Plan:
        if choices.drive is None or choices.drive.name != self.drive.name or choices.comparing:
            _refuse(self)
        if self.plan.target.kind == "image":
            return self.plan
        return replace(self.plan, losses=(_("Nothing was found on {device}.", device=self.drive.name),))

    def start(self, plan: Plan, path: Path | None = None) -> Replay:
        self.replay = Replay(Path(f"{self.story.name}.jsonl"), self.story.events, speed=self.speed)
        return self.replay

    def load(self, path: Path) -> Result:
        assert self.replay is not None
        return self.replay.result

    def why_not_resumed(self, path: Path) -> str:
        return _("A demo ends where its recording ends.")

    def plan_set_up(self, candidate: Candidate, path: str, choices: SetUpChoices) -> SetUpPlan:
        drive = next(drive for drive in self.drives if path == f"/dev/{drive.name}")
        return set_up_on(candidate, choices, drive.name, drive)
