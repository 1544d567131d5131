"""From the choices to a plan."""

from __future__ import annotations

from dataclasses import replace

from fswizard.model.estimates import estimate
from fswizard.model.plan import Member, Plan, Target
from fswizard.tui.choices import WizardChoices


def draft(choices: WizardChoices) -> Plan:
    """Estimate of duration and writes for incomplete choices: an unchecked plan without commands.

    Fast enough for every change of a choice.
    """
    from fswizard.disks.choice import drive_under
    from fswizard.filesystems import parse_candidate
    from fswizard.session import all_aged, within_budget

    recipe = choices.recipe
    assert recipe is not None
    paths = choices.devices or (choices.directory,)
    members = [Member(path, choices.member_bytes) for path in paths]
    target = Target.of("device" if choices.devices else "image", members)
    candidates = tuple(parse_candidate(name).on(choices.across) for name in choices.candidates)
    plan = Plan(
        replace(recipe, workloads=recipe.measured),
        all_aged(candidates) if choices.aged else candidates,
        next(iter(choices.candidates), ""),
        target,
        choices.written_drive or drive_under(target),
        time_limit_s=choices.budget_s,
    )
    return within_budget(estimate(plan))


def make_plan(choices: WizardChoices) -> Plan:
    """The plan for the choices; raises FswizardError if they are incompatible."""
    from fswizard.disks.choice import TargetChoice
    from fswizard.filesystems import parse_candidate
    from fswizard.session import Choices
    from fswizard.session import make_plan as checked_plan

    assert choices.recipe is not None
    first, *others = choices.devices or (choices.directory,)
    planned = Choices(
        choices.recipe,
        candidates=tuple(map(parse_candidate, choices.candidates)),
        time_limit_s=choices.time_limit_s,
        target=TargetChoice("device" if choices.devices else "image", first, others=tuple(others)),
        aged=choices.aged,
        drive=choices.written_drive,
    )
    return checked_plan(planned)
