"""The machine of a story: it has the disks that were recorded, and measures by telling a run again."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from fswizard.demo.replay import TENFOLD, Replay
from fswizard.demo.stories import Story, other_drives
from fswizard.errors import FswizardError, UsageError
from fswizard.model.drive import Drive
from fswizard.model.filesystem import Filesystem
from fswizard.model.forecast import Forecast
from fswizard.model.layout import Layout
from fswizard.model.plan import Plan
from fswizard.model.recipe import Recipe
from fswizard.model.result import Result
from fswizard.system import clock
from fswizard.tui.backend import Backend, Place
from fswizard.tui.choices import WizardChoices

if TYPE_CHECKING:
    from fswizard.tui.backend import (
        Availability,
        Entry,
        Leftover,
        Offer,
        OngoingRun,
        ProbeProgress,
        ProbeResult,
        ProbeTarget,
        Purpose,
        Question,
        RunHandle,
        State,
    )

LOOK_S = 0.1


class DemoMachine(Backend):
    """Answers from a recording; nothing is asked of this machine, and nothing is kept on it."""

    def __init__(self, story: Story, *, speed: float = TENFOLD) -> None:
        self.story = story
        self.speed = speed
        self.pace = "in real time" if speed == 1 else f"{speed:.0f}× faster"
        self.banner = f"Demo on {story.disk}, {self.pace}. Nothing here is touched."
        self._replays: dict[Path, Replay] = {}

    @property
    def _plan(self) -> Plan:
        return self.story.plan

    @property
    def choices(self) -> WizardChoices:
        """What was chosen for the run."""
        plan, target = self._plan, self._plan.target
        several = len(target.members) > 1
        paths = tuple(member.path for member in target.members) if target.kind == "device" else ()
        return WizardChoices(
            purpose="own",
            drive=self._drives[0],
            device="" if several else "".join(paths),
            members=paths if several else (),
            member_bytes=target.size_bytes if several else 0,
            recipe=plan.recipe,
            candidates=tuple(candidate.name for candidate in plan.candidates),
            baseline=plan.baseline,
            needs=plan.needs,
        )

    @property
    def _drives(self) -> tuple[Drive, ...]:
        own = self._plan.drive
        assert own is not None
        return (own, *(drive for drive in other_drives() if drive.name != own.name))

    # Disks and places

    def watch(self, stopped: Callable[[], bool]) -> Iterator[tuple[Drive, ...]]:
        yield self._drives
        while not stopped():
            clock.sleep(LOOK_S)

    def details(self, drive: Drive) -> Drive:
        return drive

    def place(self, drive: Drive | None) -> Place:
        return self._place(drive.name if drive else self._drives[0].name)

    def _place(self, name: str) -> Place:
        own, target = self._drives[0].name, self._plan.target
        if name != own or target.kind != "image":
            raise UsageError(f"This demo was recorded on {own}: choose that one." if name != own else _GIVEN_UP)
        return Place(target.path, target.host_filesystem, 1 << 38, own, 1 << 38)

    def named_place(self, directory: str) -> Place:
        raise _refused("measures where it was recorded")

    def mounted(self) -> tuple[Place, ...]:
        return ()

    def offers(self, drive: Drive, recipe: Recipe | None) -> tuple[Offer, ...]:
        from fswizard.targets import Offer

        target = self._plan.target
        if drive.name != self._drives[0].name or target.kind != "device" or target.others:
            return ()
        return (Offer(target.path, drive.name, target.size_bytes, True, True, self._plan.losses),)

    def probe_target(self, path: str, serial: str) -> ProbeTarget:
        raise _refused("probes no disk")

    def probe(
        self, target: ProbeTarget, stopped: Callable[[], bool], progress: Callable[[ProbeProgress], object]
    ) -> ProbeResult:
        raise _refused("probes no disk")

    # What can be measured

    def recipes(self) -> tuple[Recipe, ...]:
        return (self._plan.recipe,)

    def broken_recipes(self) -> tuple[str, ...]:
        return ()

    def recipe_like(self, directory: str, title: str, stopped: Callable[[], bool]) -> Recipe | None:
        raise _refused("keeps no recipes")

    def remove_recipe(self, recipe: Recipe) -> None:
        raise _refused("keeps no recipes")

    def availability(self, filesystem: Filesystem) -> Availability:
        return _available(filesystem.name in {candidate.filesystem.name for candidate in self._plan.candidates})

    def layout_availability(self, layout: Layout) -> Availability:
        arrays = (candidate.array for candidate in self._plan.candidates if candidate.array)
        return _available(layout.name in {array.layout.name for array in arrays})

    def layout_candidates(self, recipe: Recipe, members: int) -> tuple[str, ...]:
        return tuple(candidate.name for candidate in self._plan.candidates)

    # The run

    def draft(self, choices: WizardChoices) -> Plan:
        return self._plan

    def make_plan(self, choices: WizardChoices) -> Plan:
        if choices.drive is None or choices.drive.name != self._drives[0].name or choices.comparing:
            raise _refused(f"was recorded on {self._drives[0].name}")
        return self._plan

    def settles(self, plan: Plan) -> str:
        return ""

    def questions(self, plan: Plan) -> tuple[Question, ...]:
        return ()

    def privilege(self, needed: Purpose) -> State:
        return "root"

    def authorise(self, needed: Purpose) -> None:
        """Nothing needs root."""

    def open_session(self, plan: Plan) -> Replay:
        replay = Replay(self.story, plan, speed=self.speed)
        self._replays[replay.path] = replay
        return replay

    # What is kept: nothing

    def history(self) -> tuple[Entry, ...]:
        return ()

    def ongoing(self) -> tuple[OngoingRun, ...]:
        return ()

    async def follow(self, run: OngoingRun) -> RunHandle:
        raise _refused("follows no run")

    def resumable(self) -> tuple[Entry, ...]:
        return ()

    def why_not_resumed(self, path: Path) -> str:
        return "A demo ends where its recording ends."

    def take_up(self, path: Path, forecast: Forecast | None = None) -> Replay:
        raise UsageError(self.why_not_resumed(path))

    def load(self, path: Path) -> Result:
        return self._replays[path].result

    def write_note(self, path: Path, note: str) -> None:
        raise _refused("keeps no notes")

    def remove(self, path: Path) -> None:
        raise _refused("keeps no results")

    def keep_theme(self, name: str) -> None:
        """It lasts as long as the demo."""

    def leftovers(self) -> tuple[Leftover, ...]:
        return ()

    def clean(self, leftover: Leftover) -> tuple[str, ...]:
        return ()


_GIVEN_UP = "The recorded run had the whole disk."


def _refused(words: str) -> FswizardError:
    return UsageError(f"A demo {words}.", "Start fswizard without --demo for your own disks.")


def _available(usable: bool) -> Availability:
    from fswizard.filesystems import Availability

    return Availability(usable, "" if usable else "This demo was recorded without it")
