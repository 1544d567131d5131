"""From the choices to a plan."""

from __future__ import annotations

from dataclasses import replace

from fswizard.errors import UsageError
from fswizard.language import _, listing
from fswizard.model.plan import Member, Plan, Target
from fswizard.model.recipe import Recipe
from fswizard.tui.choices import WizardChoices


def draft(choices: WizardChoices) -> Plan:
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
    members = [Member(path, size_bytes) for path in devices or (location,)]
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


def make_plan(choices: WizardChoices) -> Plan:
    """The plan for the choices; raises FswizardError if they are incompatible."""
    from fswizard.disks.choice import TargetChoice
    from fswizard.filesystems import parse_candidate
    from fswizard.session import Choices
    from fswizard.session import make_plan as checked_plan

    first, *others = choices.devices or (choices.directory,)
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
    return checked_plan(planned)


def _recipe(choices: WizardChoices) -> Recipe:
    if choices.recipe is None:
        raise UsageError(_("No recipe was chosen."), _("Go back and choose one."))
    return choices.recipe
