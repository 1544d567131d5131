"""Facade of the machine, replaced by tests: disks, rights and results.

Screens import everything that needs no replacement, such as the catalogue of filesystems, themselves.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from fswizard.errors import UsageError
from fswizard.language import _, listing
from fswizard.model.analysis import MoreTime
from fswizard.model.drive import Drive
from fswizard.model.filesystem import Candidate, Filesystem
from fswizard.model.layout import Layout
from fswizard.model.plan import Member, Plan, Target
from fswizard.model.recipe import Recipe
from fswizard.model.result import Result
from fswizard.system import host
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


@dataclass(frozen=True, slots=True)
class Location:
    """A directory to measure in."""

    directory: str
    filesystem: str
    """Type of its filesystem; empty if unknown."""
    free_bytes: int
    drive: str = ""
    """Kernel name of the underlying disk; empty if unknown."""
    image_room_bytes: int = 0
    """Maximum size of a scratch image; negative if there is no space for any."""
    remark: str = ""
    """Why it is not the expected directory, in a sentence."""


class Backend:
    """Services for the screens. Methods that may take longer than 0.1 s must be called from a thread.

    Packages are imported when first needed, so that the first screen appears quickly.
    """

    def watch(self, stopped: Callable[[], bool]) -> Iterator[tuple[Drive, ...]]:
        """The disks now, and again after every change, until `stopped()`; blocks between changes."""
        from fswizard.drives import is_file_of_others, watch

        return (tuple(drive for drive in drives if not is_file_of_others(drive)) for drives in watch(stopped))

    def details(self, drive: Drive) -> Drive:
        from fswizard.drives import details

        return details(drive)

    def location(self, drive: Drive | None) -> Location:
        """Location for the scratch image of `drive`: on that disk, or elsewhere with a remark. Raises FswizardError
        if there is none."""
        from fswizard.disks.locations import default_directory

        try:
            return self.named_location(default_directory(drive))
        except UsageError as error:
            if drive is None:
                raise
            elsewhere = self.named_location(default_directory())
            where = elsewhere.drive or elsewhere.directory
            remark = f"{error.message} {_('So this would measure another disk ({where}).', where=where)}"
            return replace(elsewhere, remark=remark)

    def named_location(self, directory: str) -> Location:
        from fswizard.disks.locations import checked_directory, filesystem_name, image_room_bytes
        from fswizard.drives import drive_of

        path = checked_directory(directory)
        below, free_bytes = drive_of(path), host.this.space(path).free_bytes
        drive = below.name if below else ""
        return Location(path, filesystem_name(path), free_bytes, drive, image_room_bytes(path))

    def offers(self, drive: Drive) -> tuple[Offer, ...]:
        """Partitions and the whole disk as targets, each with what would be lost or why it is refused."""
        from fswizard.disks.choice import offers

        return offers(drive, 0)

    def recipes(self) -> tuple[Recipe, ...]:
        from fswizard import recipes

        return recipes.available()

    def availability(self, made: Filesystem | Layout) -> Availability:
        """Whether a filesystem, or a layout below any filesystem, can be created here."""
        from fswizard.filesystems import availability, layout_availability

        return layout_availability(made) if isinstance(made, Layout) else availability(made)

    def draft(self, choices: WizardChoices) -> Plan:
        """Estimate of duration and writes for incomplete choices: an unchecked plan without commands.

        Fast enough for every change of a choice. Raises UsageError if not even one round fits into the write budget.
        """
        from fswizard.disks.choice import drive_under
        from fswizard.disks.locations import default_directory
        from fswizard.filesystems import parse_candidate
        from fswizard.session import all_aged, estimated, within_budget

        recipe, drive, location = _recipe(choices), choices.written_drive, choices.directory
        devices = choices.devices
        if not devices and not location and drive is None:
            location = default_directory()
        size_bytes = choices.member_bytes
        members = [Member(path, size_bytes) for path in devices or (location,) * choices.images]
        target = Target.of("device" if devices else "image", members)
        candidates = tuple(parse_candidate(name).on(choices.across) for name in choices.candidates)
        fitting = tuple(candidate for candidate in candidates if not candidate.lacking(choices.needs))
        if candidates and not fitting:
            needed = listing([_(need) for need in choices.needs])
            raise UsageError(
                _("None of them has {features}.", features=needed), _("Tick one that does, or require less with m.")
            )
        plan = Plan(
            replace(recipe, workloads=recipe.measured),
            all_aged(fitting) if choices.aged else fitting,
            choices.against,
            target,
            drive or drive_under(target, otherwise=location),
            time_limit_s=choices.budget_s,
        )
        return within_budget(estimated(plan), choices.write_budget_bytes)

    def make_plan(self, choices: WizardChoices) -> Plan:
        """The plan for the choices; raises FswizardError if they are incompatible."""
        from fswizard.disks.choice import TargetChoice
        from fswizard.filesystems import parse_candidate
        from fswizard.session import Choices, make_plan

        first, *others = choices.devices or (choices.directory,) * choices.images
        planned = Choices(
            _recipe(choices),
            candidates=tuple(map(parse_candidate, choices.candidates)),
            baseline=choices.against,
            needs=choices.needs,
            time_limit_s=choices.time_limit_s,
            write_budget_bytes=choices.write_budget_bytes,
            target=TargetChoice("device" if choices.devices else "image", first, others=tuple(others)),
            aged=choices.aged,
            drive=choices.written_drive,
        )
        return make_plan(planned)

    def questions(self, plan: Plan) -> tuple[DeviceTarget, ...]:
        """The confirmations to type before the devices of `plan` are erased, one for each device."""
        from fswizard.disks.choice import devices_of

        return devices_of(plan)

    def rights(self) -> State:
        """How to become root."""
        from fswizard.disks import rights

        return rights.state()

    def image_rights(self) -> State:
        """How scratch images are attached and mounted: by udisks2 or, if that is not available, as root."""
        from fswizard.disks.way import udisks

        return "udisks" if not udisks()[1] and os.geteuid() else self.rights()

    def why_root(self, plan: Plan) -> str:
        """Why a plan for scratch images needs root, in a few words; empty if it does not."""
        from fswizard.disks.way import why_root

        return why_root(plan.target, plan.candidates)

    def authorise(self) -> None:
        """Ask for the password on the terminal, if necessary."""
        from fswizard.disks import rights

        rights.authorise()

    def ongoing(self) -> tuple[OngoingRun, ...]:
        """Runs in other processes, newest first."""
        from fswizard.session import ongoing

        return ongoing()

    def resumable(self) -> tuple[Entry, ...]:
        """Runs that ended early and can be resumed, newest first."""
        from fswizard.session import resumable

        return tuple(resumable())

    def why_not_resumed(self, path: Path) -> str:
        """Why a run cannot be resumed, in a sentence; empty if it can."""
        from fswizard.session import why_not

        return why_not(path)

    def take_up(self, path: Path, more: MoreTime | None = None) -> Resumption:
        """Prepare to resume the run in a result file; raises FswizardError if it cannot be resumed.

        Its limits are as before, or its time suffices for `more` rounds.
        """
        from fswizard.session import take_up

        run = take_up(path)
        if more is None or not more.limit_s:
            return run
        return replace(run, plan=replace(run.plan, time_limit_s=run.plan.preparation_s + more.limit_s))

    def plan_set_up(self, candidate: Candidate, path: str, choices: SetUpChoices) -> SetUpPlan:
        """The steps of setting up, without any changes; raises Refused if it is not possible."""
        from fswizard.disks.set_up_plan import plan_set_up

        return plan_set_up(candidate, path, choices)

    def set_up(self, plan: SetUpPlan, typed: str) -> Iterator[str | SetUpDone]:
        """Set a disk up, blocking: yields each step, and finally the result. A FswizardError lists what was undone."""
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
