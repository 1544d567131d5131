"""Converts the user's choices to a complete, validated plan, before anything is changed."""

from __future__ import annotations

import math
import random
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace

from fswizard.disks.choice import TargetChoice, drive_at, drive_under, plan_target
from fswizard.disks.exact_commands import planned_commands
from fswizard.disks.locations import directory_candidates
from fswizard.disks.way import why_root
from fswizard.engines import engine, planned_age
from fswizard.engines import programs as engine_programs
from fswizard.errors import Missing, UsageError
from fswizard.filesystems import (
    Availability,
    aged,
    availability,
    layout_availability,
    layout_candidates,
    parse_candidates,
)
from fswizard.language import _, in_english, listing
from fswizard.model.drive import Drive
from fswizard.model.endurance import usual_budget_bytes
from fswizard.model.estimates import estimate, memory_limit_bytes, needed_bytes
from fswizard.model.filesystem import Candidate
from fswizard.model.plan import AGED_TIMES, MAXIMUM_ROUNDS, MINIMUM_ROUNDS, LeftOut, Plan, Target
from fswizard.model.recipe import PlannedCommand, Recipe
from fswizard.model.text import safe
from fswizard.model.units import size_text
from fswizard.session.checked import check_limits, check_space, require_ageing
from fswizard.system import host, programs
from fswizard.system.commands import find

DEFAULT_BASELINE = "ext4"
MARGIN = 1.25
"""Factor by which a run may exceed its expected writes if the user chose no limit."""


@dataclass(frozen=True, slots=True)
class Choices:
    """Everything that a user can choose about a run."""

    recipe: Recipe
    candidates: tuple[Candidate, ...] = ()
    """Empty for those of the recipe that can be created on this machine."""
    baseline: str = ""
    target: TargetChoice = field(default_factory=TargetChoice)
    needs: tuple[str, ...] = ()
    time_limit_s: float | None = None
    write_budget_bytes: float | None = None
    """None for the default of the disk, infinite for no limit."""
    rounds: tuple[int, int] = (MINIMUM_ROUNDS, MAXIMUM_ROUNDS)
    seed: int | None = None
    memory_limit_bytes: int | None = None
    """None for the default of the recipe and this machine; 0 for no limit."""
    aged: bool = False
    """Measure each candidate after years of use."""
    drive: Drive | None = None


@in_english()
def make_plan(choices: Choices) -> Plan:
    """The plan for `choices`; nothing on the machine is changed.

    Raises UsageError if choices contradict each other, Missing if a program or permission is missing, and Refused if
    data could be lost.
    """
    recipe = choices.recipe.on(choices.drive or drive_at(choices.target))
    recipe = replace(recipe, workloads=recipe.measured)
    if not recipe.workloads:
        raise UsageError(_("Every test has weight 0."), _("Give at least one a weight above 0."))
    check_limits(choices.rounds, choices.memory_limit_bytes)
    target, losses = plan_target(choices.target, recipe, choices.drive)
    candidates, left_out = _candidates(choices, target, recipe)
    if choices.aged:
        candidates = all_aged(candidates)
    drive = None if target.others else choices.drive
    time_limit_s, memory_bytes = choices.time_limit_s, choices.memory_limit_bytes
    if time_limit_s is None:
        time_limit_s = recipe.minutes * 60 * (AGED_TIMES if any(each.aged for each in candidates) else 1)
    if memory_bytes is None:
        memory_bytes = memory_limit_bytes([workload.job for workload in recipe.workloads], host.this.memory_bytes())
    plan = Plan(
        recipe=recipe,
        candidates=candidates,
        baseline=_baseline(choices.baseline, candidates),
        target=target,
        drive=drive or drive_under(target, otherwise=candidates[0].directory, asking=True),
        needs=choices.needs,
        time_limit_s=time_limit_s,
        minimum_rounds=choices.rounds[0],
        maximum_rounds=choices.rounds[1],
        seed=random.randrange(1 << 31) if choices.seed is None else choices.seed,
        memory_limit_bytes=memory_bytes,
        losses=losses,
        left_out=left_out,
    )
    require_ageing(plan)
    require_programs(_work(recipe), packages=[each.package for each in left_out])
    plan = within_budget(estimate(plan), choices.write_budget_bytes)
    return with_commands(replace(plan, by_udisks=target.kind == "image" and not why_root(plan.candidates)))


def with_commands(plan: Plan) -> Plan:
    """The plan with the commands that this program runs for it."""
    age = planned_age(plan.churn_bytes, needed_bytes(plan.recipe)) if plan.aged else None
    commands = planned_commands(plan.target, plan.candidates, _work(plan.recipe), age, plan.by_udisks)
    return replace(plan, commands=commands)


def all_aged(candidates: Iterable[Candidate]) -> tuple[Candidate, ...]:
    """Aged versions of all candidates, each of them once."""
    by_name = {candidate.as_new: candidate if candidate.aged else aged(candidate) for candidate in candidates}
    return tuple(by_name.values())


def within_budget(plan: Plan, chosen_bytes: float | None = None) -> Plan:
    """The plan with its write budget: `chosen_bytes`, or the default of the disk.

    The default is raised if the minimum of rounds is expected to write more, so that no implicit limit cuts a run
    short. Raises UsageError if not even one round fits into the chosen budget.
    """
    if chosen_bytes is None:
        usual_bytes = usual_budget_bytes(plan.drive)
        if usual_bytes is not None:
            usual_bytes = max(usual_bytes, round(MARGIN * plan.writes_bytes))
        return replace(plan, write_budget_bytes=usual_bytes)
    if chosen_bytes == math.inf:
        return replace(plan, write_budget_bytes=None)
    round_bytes = plan.writes_bytes_in(len(plan.candidates))
    if round_bytes > chosen_bytes:
        text = _(
            "One round writes about {writes}, and the write budget is {chosen}.",
            writes=size_text(round_bytes),
            chosen=size_text(chosen_bytes),
        )
        raise UsageError(text, _("Allow more writes, or choose fewer candidates or workloads."))
    return replace(plan, write_budget_bytes=int(chosen_bytes))


def _baseline(chosen: str, candidates: Sequence[Candidate]) -> str:
    """The chosen baseline, optionally named without its age; by default ext4, or the first candidate."""
    names = {candidate.as_new: candidate.name for candidate in candidates}
    names |= {candidate.name: candidate.name for candidate in candidates}
    if not chosen:
        return names.get(DEFAULT_BASELINE, candidates[0].name)
    if chosen not in names:
        raise UsageError(
            _("The baseline {baseline} is not among the candidates.", baseline=chosen),
            _("They are: {names}.", names="; ".join(candidate.name for candidate in candidates)),
        )
    return names[chosen]


def _candidates(choices: Choices, target: Target, recipe: Recipe) -> tuple[tuple[Candidate, ...], tuple[LeftOut, ...]]:
    """The candidates that meet the needs, and the default candidates that cannot be created."""
    left_out: tuple[LeftOut, ...] = ()
    if target.kind == "directory":
        candidates = directory_candidates(choices.target.path)
    else:
        named = choices.candidates or _defaults(recipe, target)
        states = [(candidate.on(len(target.members)), available(candidate)) for candidate in named]
        packages = [*packages_of(_absent(_work(recipe))), *(state.package for _, state in states)]
        usable = [(candidate, state) for candidate, state in states if state.usable]
        if usable and not choices.candidates:
            left_out = tuple(LeftOut(c.name, state.reason, state.package) for c, state in states if not state.usable)
            states = usable
        for candidate, state in states:
            require_available(candidate, state, packages=packages)
            check_space(candidate, target, recipe)
        candidates = tuple(candidate for candidate, _ in states)
    fitting = tuple(candidate for candidate in candidates if not candidate.lacking(choices.needs))
    if not fitting:
        text = _("No candidate has all that you need: {features}.", features=listing(choices.needs))
        raise UsageError(text, _("Add another filesystem to --candidates, or leave something out of --need."))
    return fitting, left_out


def _defaults(recipe: Recipe, target: Target) -> tuple[Candidate, ...]:
    """Candidates of the recipe; on several disks its layouts for that number, or all of them if they have enough
    space."""
    names, key = recipe.candidates or ("ext4", "xfs", "btrfs"), "candidates"
    try:
        if target.others:
            key = "array_candidates"
            names = layout_candidates(recipe.array_candidates, len(target.members))
        candidates = parse_candidates("; ".join(names))
    except UsageError as error:
        raise UsageError(f"{recipe.source}: '{key}': {error.message}", error.hint) from error
    large_enough = tuple(c for c in candidates if target.room_bytes(c.array) >= recipe.image_bytes)
    return (large_enough or candidates) if target.others else candidates


# What must be installed


def available(candidate: Candidate) -> Availability:
    """Whether the filesystem of a candidate and its layout can be created here."""
    state = availability(candidate.filesystem)
    return layout_availability(candidate.array.layout) if state.usable and candidate.array else state


def require_available(candidate: Candidate, state: Availability, *, packages: Collection[str] = ()) -> None:
    """Raises Missing if a candidate cannot be created; the hint is one command that also installs `packages`, if a
    package helps."""
    if not state.usable:
        name = candidate.name if candidate.array else candidate.filesystem.title
        hint = programs.install_hint(state.package, *packages) if state.package else state.hint
        raise Missing(_("{name} cannot be made here: {reason}", name=name, reason=state.reason), hint)


def require_programs(commands: Sequence[PlannedCommand], *, packages: Collection[str] = ()) -> None:
    """Raises Missing if a program of `commands` is not installed; the hint also installs `packages`."""
    if absent := _absent(commands):
        text = _("The tests need programs that are not installed: {names}.", names=", ".join(map(safe, absent)))
        raise Missing(text, programs.install_hint(*packages_of(absent), *packages))


def absent_programs(recipe: Recipe) -> dict[str, list[str]]:
    """Programs that are not installed, by the name of the test that needs them."""
    absent = {workload.name: _absent(engine(workload.job).commands()) for workload in recipe.measured}
    return {name: programs for name, programs in absent.items() if programs}


def packages_of(names: Sequence[str]) -> list[str]:
    """Packages of programs in this distribution."""
    known = {program.name: program.packages for program in (*programs.PROGRAMS, *engine_programs())}
    return [programs.package_of({"": name, **known.get(name, {})}) for name in names]


def _work(recipe: Recipe) -> tuple[PlannedCommand, ...]:
    return tuple(dict.fromkeys(command for workload in recipe.workloads for command in engine(workload.job).commands()))


def _absent(commands: Sequence[PlannedCommand]) -> list[str]:
    """Programs of `commands` that are not installed."""
    named = dict.fromkeys(command.argv[0] if command.argv else "" for command in commands)
    return [name for name in named if not name.startswith("python") and find(name) is None]
