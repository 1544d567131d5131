"""The facade of the machine: what a demo or a test answers differently, from disks and rights to runs and results.

What is the same everywhere, such as the catalogue of filesystems, screens import themselves.
"""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator, Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol

from fswizard.errors import FswizardError, UsageError
from fswizard.language import _, listing
from fswizard.model.analysis import MoreTime
from fswizard.model.drive import Drive
from fswizard.model.events import Event
from fswizard.model.filesystem import Candidate, Filesystem
from fswizard.model.layout import Layout
from fswizard.model.plan import Member, Plan, Target
from fswizard.model.recipe import Recipe
from fswizard.model.result import Result
from fswizard.system import host
from fswizard.system.files import home_directory
from fswizard.tui.choices import WizardChoices

if TYPE_CHECKING:
    from fswizard.disks.choice import Offer
    from fswizard.disks.journal import Leftover
    from fswizard.disks.rights import State
    from fswizard.disks.set_up import SetUpChoices
    from fswizard.disks.set_up_plan import SetUpDone, SetUpPlan
    from fswizard.drives.devices import DeviceTarget
    from fswizard.filesystems import Availability
    from fswizard.results import Entry
    from fswizard.session import OngoingRun, Resumption

Order = Literal["pause", "resume", "skip", "stop"]
"""Orders to a run."""


@dataclass(frozen=True, slots=True)
class Place:
    """A directory to measure in."""

    directory: str
    filesystem: str
    """Type of its filesystem, or empty if unknown."""
    free_bytes: int
    drive: str = ""
    """Kernel name of the disk below, or empty if unknown."""
    image_room_bytes: int = 0
    """How large a scratch image there may be; below 0 where there is no room for any."""
    remark: str = ""
    """Why it is not where one would expect it, in a sentence."""
    filesystem_number: str = ""
    """The kernel's number of its filesystem, or empty if unknown."""
    refusal: str = ""
    """Why nothing can be measured there; empty where it can."""


class RunHandle(Protocol):
    """A run that goes on; `session.FollowedRun` is one."""

    plan: Plan
    path: Path
    """Its result file."""
    outlives: bool
    """It goes on when nobody follows it any more."""

    def events(self) -> AsyncGenerator[Event, None]:
        """From its beginning to its end, the newest as they come."""
        ...

    def order(self, order: Order) -> None: ...


class Backend:
    """What the screens need. Whatever may take longer than 0.1 s is called from a thread.

    Packages are imported when they are first needed, to keep the first picture quick.
    """

    @property
    def banner(self) -> str:
        """What stands above every screen, as this is not simply the machine itself; empty for nothing."""
        return ""

    def watch(self, stopped: Callable[[], bool]) -> Iterator[tuple[Drive, ...]]:
        """The disks now, and again whenever that changes, until `stopped()`; blocks between changes."""
        from fswizard.drives import is_file_of_others, watch

        return (tuple(drive for drive in drives if not is_file_of_others(drive)) for drives in watch(stopped))

    def details(self, drive: Drive) -> Drive:
        from fswizard.drives import details

        return details(drive)

    def place(self, drive: Drive | None) -> Place:
        """Where a scratch image for `drive` goes: on it, or with a remark elsewhere. FswizardError where nowhere."""
        from fswizard.disks.locations import default_directory

        try:
            return self.named_place(default_directory(drive))
        except UsageError as error:
            if drive is None:
                raise
            elsewhere = self.named_place(default_directory())
            where = elsewhere.drive or elsewhere.directory
            remark = f"{error.message} {_('So this would measure another disk ({where}).', where=where)}"
            return replace(elsewhere, remark=remark)

    def named_place(self, directory: str) -> Place:
        from fswizard.disks.locations import checked_directory, filesystem_name, filesystem_number, image_room_bytes
        from fswizard.drives import drive_of

        path = checked_directory(directory)
        below, free_bytes = drive_of(path), host.this.space(path).free_bytes
        drive, number = below.name if below else "", filesystem_number(path)
        room_bytes = image_room_bytes(path)
        return Place(path, filesystem_name(path), free_bytes, drive, room_bytes, filesystem_number=number)

    def mounted(self) -> tuple[Place, ...]:
        """One writable directory on each filesystem that lies on a disk, the best place of each first; or why not."""
        import psutil

        from fswizard.disks.locations import NOT_ON_A_DISK, filesystem_name, filesystem_type

        by_device: dict[int, str] = {}
        home = home_directory()
        directories = (home, Path("/var/tmp"), *(Path(p.mountpoint) for p in psutil.disk_partitions(all=False)))
        for directory in directories:
            try:
                if directory.is_dir() and os.access(directory, os.W_OK | os.X_OK):
                    by_device.setdefault(directory.stat().st_dev, str(directory))
            except OSError:
                continue
        places = []
        for path in by_device.values():
            if filesystem_type(path) in NOT_ON_A_DISK:
                continue
            try:
                places.append(self.named_place(path))
            except FswizardError as error:
                places.append(Place(path, filesystem_name(path), 0, refusal=error.message))
        return tuple(places)

    def offers(self, drive: Drive, *, lasting: bool = False) -> tuple[Offer, ...]:
        """Its partitions and the whole of it as targets, each with what would be lost or why it is refused.

        `lasting`: to be set up for good; only a demo answers that differently.
        """
        from fswizard.disks.choice import offers

        return offers(drive, 0)

    def recipes(self) -> tuple[Recipe, ...]:
        from fswizard import recipes

        return recipes.available()

    def availability(self, made: Filesystem | Layout) -> Availability:
        """Whether a filesystem can be made here, or a layout, beside its filesystem."""
        from fswizard.filesystems import availability, layout_availability

        return layout_availability(made) if isinstance(made, Layout) else availability(made)

    def draft(self, choices: WizardChoices) -> Plan:
        """How long the run would take so far, and what it would write: a plan with nothing else in it, nor checked.

        Quick: for every change of a choice. UsageError where not even one round fits into what may be written.
        """
        from fswizard.disks.choice import drive_under
        from fswizard.disks.locations import default_directory, located_candidates
        from fswizard.filesystems import parse_candidate
        from fswizard.session import estimated, with_age, within_budget

        recipe, drive, place = _recipe(choices), choices.written_drive, choices.directory
        if choices.comparing:
            target = Target("directory", "")
            candidates = located_candidates(choices.places)
            place = next(iter(choices.places), "")
        else:
            devices = choices.devices
            if not devices and not place and drive is None:
                place = default_directory()
            size_bytes = choices.member_bytes
            members = [Member(path, size_bytes) for path in devices or (place,) * choices.images]
            target = Target.of("device" if devices else "image", members)
            candidates = tuple(parse_candidate(name).on(choices.across) for name in choices.candidates)
        fitting = tuple(candidate for candidate in candidates if not candidate.lacking(choices.needs))
        if candidates and not fitting:
            needed = listing([_(need) for need in choices.needs])
            raise UsageError(
                _("None of them has {features}.", features=needed), _("Tick one that does, or require less with m.")
            )
        aged, beside = with_age(fitting) if choices.aged else (fitting, ())
        plan = Plan(
            replace(recipe, workloads=recipe.measured),
            aged,
            choices.against,
            target,
            drive or drive_under(target, otherwise=place),
            time_limit_s=choices.budget_s,
            beside=beside,
        )
        return within_budget(estimated(plan, self.history()), choices.write_budget_bytes)

    def make_plan(self, choices: WizardChoices) -> Plan:
        """The plan that the choices amount to; FswizardError where they do not fit together."""
        from fswizard.disks.choice import TargetChoice
        from fswizard.filesystems import parse_candidate
        from fswizard.session import Choices, make_plan

        planned = Choices(
            _recipe(choices),
            needs=choices.needs,
            time_limit_s=choices.time_limit_s,
            write_budget_bytes=choices.write_budget_bytes,
        )
        if choices.comparing:
            planned = replace(planned, target=TargetChoice("directory", ",".join(choices.places)))
        else:
            first, *others = choices.devices or (choices.directory,) * choices.images
            planned = replace(
                planned,
                candidates=tuple(map(parse_candidate, choices.candidates)),
                baseline=choices.against,
                target=TargetChoice("device" if choices.devices else "image", first, others=tuple(others)),
                aged=choices.aged,
                drive=choices.written_drive,
            )
        return make_plan(planned, self.history())

    def questions(self, plan: Plan) -> tuple[DeviceTarget, ...]:
        """What has to be typed before the devices of `plan` are erased, one question for each."""
        from fswizard.disks.choice import devices_of

        return devices_of(plan)

    def rights(self) -> State:
        """How root's rights can be had."""
        from fswizard.disks import rights

        return rights.state()

    def way(self) -> State:
        """How scratch images are attached and mounted: by udisks2 or, where that can't be had, with root's rights."""
        from fswizard.disks.way import udisks

        return "udisks" if not udisks()[1] and os.geteuid() else self.rights()

    def why_root(self, plan: Plan) -> str:
        """Why a plan for scratch images needs root's rights, in a few words; empty where it does not."""
        from fswizard.disks.way import why_root

        return why_root(plan.target, plan.measured)

    def authorise(self) -> None:
        """Have the password asked for on the terminal, where that is needed."""
        from fswizard.disks import rights

        rights.authorise()

    def start(self, plan: Plan, path: Path | None = None) -> RunHandle:
        """Start a run, or resume the one in the result file at `path`. FswizardError where it cannot begin."""
        from fswizard import results
        from fswizard.session import FollowedRun, start

        file = path or results.new_path(plan)
        start(plan, file, resumed=path is not None)
        return FollowedRun(file)

    def ongoing(self) -> tuple[OngoingRun, ...]:
        """Runs that go on in other processes, newest first."""
        from fswizard.session import ongoing

        return ongoing()

    def follow(self, run: OngoingRun) -> RunHandle:
        """One of them, to be watched; FswizardError where it is over."""
        from fswizard.session import FollowedRun

        return FollowedRun(Path(run.result))

    def resumable(self) -> tuple[Entry, ...]:
        """Runs that were ended early and can go on, newest first."""
        from fswizard.session import resumable

        return tuple(resumable())

    def why_not_resumed(self, path: Path) -> str:
        """In a sentence; empty where a run can be resumed."""
        from fswizard.session import why_not

        return why_not(path)

    def take_up(self, path: Path, more: MoreTime | None = None) -> Resumption:
        """The run in a result file, ready to go on; FswizardError where it cannot.

        It has the same limits again, or time for `more` rounds.
        """
        from fswizard.session import take_up

        run = take_up(path)
        if more is None or not more.limit_s:
            return run
        return replace(run, plan=replace(run.plan, time_limit_s=run.plan.preparation_s + more.limit_s))

    def plan_set_up(self, candidate: Candidate, path: str, choices: SetUpChoices) -> SetUpPlan:
        """All that would be done; Refused where anything stands against it. Nothing is changed."""
        from fswizard.disks.set_up_plan import plan_set_up

        return plan_set_up(candidate, path, choices)

    def set_up(self, plan: SetUpPlan, typed: str) -> Iterator[str | SetUpDone]:
        """Do it, blocking: what is done now, at last where it is. FswizardError says what was taken back."""
        from fswizard.disks.set_up_plan import set_up

        return set_up(plan, typed)

    def history(self) -> tuple[Entry, ...]:
        from fswizard.results import all_results

        return tuple(all_results())

    def load(self, path: Path) -> Result:
        from fswizard.results import load

        return load(path)

    def leftovers(self) -> tuple[Leftover, ...]:
        from fswizard.disks.journal import leftovers

        return leftovers()


def _recipe(choices: WizardChoices) -> Recipe:
    if choices.recipe is None:
        raise UsageError(_("No recipe was chosen."), _("Go back and choose one."))
    return choices.recipe
