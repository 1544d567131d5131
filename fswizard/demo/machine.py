"""The machine of a story: it has the disks that were recorded, and measures by replaying a run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fswizard.demo.replay import TENFOLD, Replay
from fswizard.demo.stories import Story, other_drives
from fswizard.errors import UsageError
from fswizard.language import N_, _
from fswizard.model.drive import Drive
from fswizard.model.filesystem import Candidate, Filesystem
from fswizard.model.layout import Layout
from fswizard.model.plan import Plan
from fswizard.model.recipe import Recipe
from fswizard.model.result import Result
from fswizard.system import clock
from fswizard.tui.backend import Backend, Place
from fswizard.tui.choices import WizardChoices

if TYPE_CHECKING:
    from fswizard.tui.backend import Availability, Offer, SetUpChoices, SetUpPlan, State

LOOK_S = 0.1


def _nothing(machine: DemoMachine, *arguments: Any, **named: Any) -> Any:
    """There is none, and nothing is kept."""
    return ()


def _refuses(sentence: str) -> Callable[..., Any]:
    """A method that says that a demo does something else; `{disk}` is the one that it was recorded on."""

    def method(machine: DemoMachine, *arguments: Any, **named: Any) -> Any:
        disk = machine.story.plan.drive
        raise UsageError(
            _(sentence, disk=disk.name if disk else ""), _("Start fswizard without --demo for your own disks.")
        )

    return method


class DemoMachine(Backend):
    """Answers from a recording; nothing is asked of this machine, and nothing is kept on it."""

    def __init__(self, story: Story, *, speed: float = TENFOLD) -> None:
        self.story = story
        self.speed = speed
        self._replays: dict[Path, Replay] = {}
        own = story.plan.drive
        assert own is not None
        self._own: Drive = own
        """The disk that the story was recorded on."""

    @property
    def banner(self) -> str:
        pace = _("in real time") if self.speed == 1 else _("{speed}× faster", speed=f"{self.speed:.0f}")
        return _("Demo on {disk}, {pace}. Nothing here is touched.", disk=_(self.story.disk), pace=pace)

    @property
    def choices(self) -> WizardChoices:
        """What was chosen for the run."""
        plan, target = self.story.plan, self.story.plan.target
        return WizardChoices(
            purpose="own",
            drive=self._own,
            device=target.path if target.kind == "device" else "",
            recipe=plan.recipe,
            candidates=tuple(candidate.name for candidate in plan.candidates),
            baseline=plan.baseline,
            needs=plan.needs,
        )

    # Disks and places

    def watch(self, stopped: Callable[[], bool]) -> Iterator[tuple[Drive, ...]]:
        yield (self._own, *(drive for drive in other_drives() if drive.name != self._own.name))
        while not stopped():
            clock.sleep(LOOK_S)

    def details(self, drive: Drive) -> Drive:
        return drive

    def place(self, drive: Drive | None) -> Place:
        own, target = self._own.name, self.story.plan.target
        if drive is not None and drive.name != own:
            raise UsageError(_("This demo was recorded on {disk}: choose that one.", disk=own))
        if target.kind != "image":
            raise UsageError(_("The recorded run had the whole disk."))
        return Place(target.path, target.host_filesystem, 1 << 38, own, 1 << 38)

    def offers(self, drive: Drive, recipe: Recipe | None) -> tuple[Offer, ...]:
        from fswizard.disks.choice import Offer

        target = self.story.plan.target
        if drive.name != self._own.name or target.kind != "device":
            return ()
        losses = self.story.plan.losses or (N_("everything on it"),)
        return (Offer(target.path, drive.name, target.size_bytes, True, False, losses),)

    def set_up_offers(self, drive: Drive) -> tuple[Offer, ...]:
        from fswizard.disks.choice import Offer

        return (Offer(f"/dev/{drive.name}", drive.name, drive.size_bytes, True, True, ()),)

    def usual_set_up(self, candidate: Candidate, plan: Plan) -> SetUpChoices:
        return replace(super().usual_set_up(candidate, plan), owner="you")

    def plan_set_up(self, candidate: Candidate, path: str, choices: SetUpChoices) -> SetUpPlan:
        from fswizard.disks.set_up_plan import set_up_on

        name = path.rpartition("/")[2]
        drive = next(drive for drive in (self._own, *other_drives()) if drive.name == name)
        return set_up_on(candidate, choices, name, drive)

    require_confirmed = set_up = _refuses(N_("A demo sets up no disk."))
    named_place = _refuses(N_("A demo measures where it was recorded."))

    # What can be measured

    def recipes(self) -> tuple[Recipe, ...]:
        return (self.story.plan.recipe,)

    def availability(self, made: Filesystem | Layout) -> Availability:
        from fswizard.filesystems import Availability

        usable = made.name in {candidate.filesystem.name for candidate in self.story.plan.candidates}
        return Availability(usable, "" if usable else _("This demo was recorded without it"))

    layout_candidates = _nothing
    recipe_like = remove_recipe = _refuses(N_("A demo keeps no recipes."))

    # The run

    def draft(self, choices: WizardChoices) -> Plan:
        return self.story.plan

    def make_plan(self, choices: WizardChoices) -> Plan:
        if choices.drive is None or choices.drive.name != self._own.name or choices.comparing:
            _refuses(N_("A demo was recorded on {disk}."))(self)
        return self.story.plan

    def rights(self) -> State:
        return "root"

    def way(self) -> State:
        return "root"

    def why_root(self, plan: Plan) -> str:
        return ""

    def authorise(self) -> None:
        """Nothing needs root."""

    def start(self, plan: Plan, path: Path | None = None) -> Replay:
        replay = Replay(self.story, plan, speed=self.speed)
        self._replays[replay.path] = replay
        return replay

    follow = take_up = _refuses(N_("A demo ends where its recording ends."))

    # What is kept: nothing

    def load(self, path: Path) -> Result:
        return self._replays[path].result

    def why_not_resumed(self, path: Path) -> str:
        return _("A demo ends where its recording ends.")

    def keep_setting(self, name: str, value: str) -> None:
        """It lasts as long as the demo."""

    mounted = broken_recipes = questions = history = ongoing = resumable = leftovers = clean = _nothing
    remove = _refuses(N_("A demo keeps no results."))
