"""From what the user chose to a plan: complete, checked, and nothing has happened yet."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from fswizard.disks.choice import TargetChoice, drive_at, drive_under, plan_target
from fswizard.disks.exact_commands import planned_commands
from fswizard.disks.locations import directory_candidates, image_room_bytes
from fswizard.disks.memory_limit import LEAST_BYTES as LEAST_MEMORY_LIMIT_BYTES
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
    require_members,
)
from fswizard.language import _, in_english, listing, n_
from fswizard.model.drive import Drive
from fswizard.model.endurance import usual_budget_bytes
from fswizard.model.estimates import free_when_aged_bytes, memory_limit_bytes
from fswizard.model.filesystem import AGED, Candidate
from fswizard.model.plan import AGED_TIMES, MAXIMUM_ROUNDS, MINIMUM_ROUNDS, LeftOut, Plan, Target
from fswizard.model.recipe import PlannedCommand, Recipe
from fswizard.model.text import safe
from fswizard.model.units import binary_size_text, binary_text, size_text
from fswizard.results import Entry
from fswizard.session.precedent import estimated
from fswizard.system import host, programs
from fswizard.system.commands import find

DEFAULT_BASELINES = ("ext4", f"ext4:{AGED}")
LEAST_OLD = 1.5
"""The least image over the room that the workloads need; the rest is for old files."""
MARGIN = 1.25
"""By so much a run may write more than expected where the user chose no limit."""


@dataclass(frozen=True, slots=True)
class Choices:
    """Everything that a user can choose about a run."""

    recipe: Recipe
    candidates: tuple[Candidate, ...] = ()
    """Empty: those of the recipe that this machine can make."""
    baseline: str = ""
    target: TargetChoice = field(default_factory=TargetChoice)
    needs: tuple[str, ...] = ()
    time_limit_s: float | None = None
    write_budget_bytes: float | None = None
    """None for what is usual for the disk, infinite for no limit."""
    rounds: tuple[int, int] = (MINIMUM_ROUNDS, MAXIMUM_ROUNDS)
    seed: int | None = None
    memory_limit_bytes: int | None = None
    """None: as is fitting for the recipe and this machine; 0: no limit."""
    aged: bool = False
    """Measure each candidate aged as well, and choose among those."""
    drive: Drive | None = None


@in_english()
def make_plan(choices: Choices, history: Sequence[Entry] = ()) -> Plan:
    """The plan for `choices`; nothing on the machine is changed. `history` may show how fast the disk is.

    Raises UsageError where choices do not fit together, Missing where a program or a right is absent,
    Refused where data could be lost.
    """
    recipe = choices.recipe.on(choices.drive or drive_at(choices.target))
    recipe = replace(recipe, workloads=recipe.measured)
    if not recipe.workloads:
        raise UsageError(_("Every test has weight 0."), _("Give at least one a weight above 0."))
    check_limits(choices.rounds, choices.time_limit_s, choices.memory_limit_bytes)
    target, losses, drive = plan_target(choices.target, recipe, choices.drive)
    work = _work(recipe)
    candidates, left_out = _candidates(choices, target, recipe, packages_of(_absent(work)))
    baseline = choices.baseline
    beside: tuple[Candidate, ...] = ()
    if choices.aged:
        candidates, beside = with_age(candidates)
        baseline = next((candidate.name for candidate in candidates if candidate.as_new == baseline), baseline)
    ageing = any(candidate.aged for candidate in candidates)
    if ageing:
        require_ageing(candidates, target, recipe)
    require_programs(work, _("the recipe {recipe}", recipe=recipe.name), packages=[each.package for each in left_out])
    names = [candidate.name for candidate in candidates]
    if baseline and baseline not in names:
        raise UsageError(
            _("The baseline {baseline} is not among the candidates.", baseline=baseline),
            _("They are: {names}.", names="; ".join(names)),
        )
    if choices.drive and not target.others:
        drive = choices.drive
    time_limit_s = choices.time_limit_s
    if time_limit_s is None:
        time_limit_s = recipe.minutes * 60 * (AGED_TIMES if ageing else 1)
    limit_bytes = choices.memory_limit_bytes
    if limit_bytes is None:
        limit_bytes = memory_limit_bytes((workload.job for workload in recipe.workloads), host.this.memory_bytes())
    plan = Plan(
        recipe=recipe,
        candidates=candidates,
        baseline=baseline or next((name for name in DEFAULT_BASELINES if name in names), names[0]),
        target=target,
        drive=drive or drive_under(target, otherwise=candidates[0].directory, asking=True),
        needs=choices.needs,
        time_limit_s=time_limit_s,
        minimum_rounds=choices.rounds[0],
        maximum_rounds=choices.rounds[1],
        seed=random.randrange(1 << 31) if choices.seed is None else choices.seed,
        memory_limit_bytes=limit_bytes,
        losses=losses,
        beside=beside,
        left_out=left_out,
    )
    plan = within_budget(estimated(plan, history), choices.write_budget_bytes)
    age = planned_age(plan.churn_bytes, free_when_aged_bytes(plan.recipe)) if plan.aged else None
    by_udisks = target.kind == "image" and not why_root(target, plan.measured)
    commands = planned_commands(target, plan.measured, _work(plan.recipe), age, by_udisks)
    return replace(plan, by_udisks=by_udisks, commands=commands)


def with_age(candidates: Sequence[Candidate]) -> tuple[tuple[Candidate, ...], tuple[Candidate, ...]]:
    """All of them aged, and new ones to be measured beside these."""
    new = {candidate.as_new: replace(candidate, name=candidate.as_new, aged=False) for candidate in candidates}
    return tuple(map(aged, new.values())), tuple(new.values())


def require_ageing(candidates: Sequence[Candidate], target: Target, recipe: Recipe) -> None:
    """UsageError where candidates can't be aged on the target, or measured once they are."""
    if target.kind != "image" or target.others:
        raise UsageError(
            _("Candidates can be aged in a single scratch image alone."),
            _("Don't age them, or choose --target image:SIZE@DIRECTORY."),
        )
    if any(workload.job.fill_percent for workload in recipe.workloads):
        raise UsageError(
            _("The recipe {recipe} fills filesystems itself, which leaves no room for old files.", recipe=recipe.name),
            _("Don't age them, or choose another recipe."),
        )
    least_bytes = round(LEAST_OLD * free_when_aged_bytes(recipe))
    if target.size_bytes < least_bytes:
        text = _(
            "An image of {size} leaves too little room for old files beside the recipe {recipe}.",
            size=binary_size_text(target.size_bytes),
            recipe=recipe.name,
        )
        raise UsageError(
            text, _("It needs {least} or more: --target image:SIZE@DIRECTORY.", least=binary_text(least_bytes))
        )
    images = 1 + sum(candidate.aged for candidate in candidates)
    room_bytes = image_room_bytes(target.path)
    if room_bytes < images * target.size_bytes:
        text = _(
            "Ageing takes {images} images of {size}, and there is room for {room} in {directory}.",
            images=images,
            size=binary_text(target.size_bytes),
            room=binary_text(max(0, room_bytes)),
            directory=safe(target.path),
        )
        raise UsageError(text, _("Name a directory with more free space, or age fewer candidates."))


def _work(recipe: Recipe) -> tuple[PlannedCommand, ...]:
    return tuple(dict.fromkeys(command for workload in recipe.workloads for command in engine(workload.job).commands()))


def within_budget(plan: Plan, chosen_bytes: float | None = None) -> Plan:
    """The plan with what it may write: `chosen_bytes`, or what is usual for the disk where that suffices.

    A recipe whose minimum of rounds is expected to write more is not cut short by a limit that nobody chose, but said
    to write so much. UsageError where not even one round fits into what was chosen.
    """
    if chosen_bytes is None:
        usual_bytes = usual_budget_bytes(plan.drive)
        if usual_bytes is not None:
            usual_bytes = max(usual_bytes, round(MARGIN * plan.writes_bytes))
        return replace(plan, write_budget_bytes=usual_bytes)
    if chosen_bytes == math.inf:
        return replace(plan, write_budget_bytes=None)
    round_bytes = plan.writes_bytes_in(len(plan.measured))
    if round_bytes > chosen_bytes:
        text = _(
            "One round writes about {writes}, and the write budget is {chosen}.",
            writes=size_text(round_bytes),
            chosen=size_text(chosen_bytes),
        )
        raise UsageError(text, _("Allow more writes, or choose fewer candidates or workloads."))
    return replace(plan, write_budget_bytes=int(chosen_bytes))


def check_limits(rounds: tuple[int, int], time_limit_s: float | None, memory_limit_bytes: int | None) -> None:
    """UsageError where a limit that was chosen makes no sense."""
    lowest, highest = rounds
    if not 1 <= lowest <= highest <= MAXIMUM_ROUNDS:
        raise UsageError(
            _("{lowest}..{highest} isn't a range of rounds.", lowest=lowest, highest=highest),
            _("Give MIN..MAX with 1 <= MIN <= MAX <= {maximum_rounds}.", maximum_rounds=MAXIMUM_ROUNDS),
        )
    if time_limit_s is not None and time_limit_s <= 0:
        raise UsageError("--time 0 leaves no time to measure.", _("Give --time a duration such as 10m."))
    if memory_limit_bytes and memory_limit_bytes < LEAST_MEMORY_LIMIT_BYTES:
        least = binary_text(LEAST_MEMORY_LIMIT_BYTES)
        raise UsageError(
            _("{limit} of memory is too little for most programs to start.", limit=binary_text(memory_limit_bytes)),
            _("Give --memory-limit at least {least_memory_limit}, or none.", least_memory_limit=least),
        )


def _candidates(
    choices: Choices, target: Target, recipe: Recipe, packages: Sequence[str]
) -> tuple[tuple[Candidate, ...], tuple[LeftOut, ...]]:
    """The candidates, and of those that nobody chose the ones that cannot be made; `packages` are missing, too."""
    left_out: tuple[LeftOut, ...] = ()
    if target.kind == "directory":
        candidates = directory_candidates(choices.target.path)
    else:
        named = choices.candidates or _defaults(recipe, target)
        states = [(candidate, available(candidate)) for candidate in (c.on(len(target.members)) for c in named)]
        packages = [*packages, *(state.package for _, state in states)]
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
        short = [
            _("{candidate} lacks {features}", candidate=c.name, features=listing(c.lacking(choices.needs)))
            for c in candidates
        ]
        text = _(
            "No candidate has all that you need ({needs}): {short}.",
            needs=", ".join(choices.needs),
            short="; ".join(short),
        )
        raise UsageError(text, _("Add another filesystem to --candidates, or leave something out of --need."))
    return fitting, left_out


def _defaults(recipe: Recipe, target: Target) -> tuple[Candidate, ...]:
    """Those of the recipe; on several disks those for that number, or, where there is space, every layout for it."""
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


def available(candidate: Candidate) -> Availability:
    """Whether its filesystem can be made here, and its layout."""
    state = availability(candidate.filesystem)
    return layout_availability(candidate.array.layout) if state.usable and candidate.array else state


def require_available(candidate: Candidate, state: Availability, *, packages: Sequence[str] = ()) -> None:
    """Missing where it cannot be made; the hint is one command that brings `packages`, too, if a package helps."""
    if not state.usable:
        name = candidate.name if candidate.array else candidate.filesystem.title
        hint = programs.install_hint(state.package, *packages) if state.package else state.hint
        raise Missing(_("{name} cannot be made here: {reason}", name=name, reason=state.reason), hint)


def check_space(candidate: Candidate, target: Target, recipe: Recipe) -> None:
    """UsageError where the target has too little room for a candidate, or too few members."""
    require_members(candidate.name, candidate.array, len(target.members))
    least_bytes = max(candidate.filesystem.minimum_bytes, recipe.image_bytes)
    space_bytes = target.room_bytes(candidate.array)
    if space_bytes < least_bytes:
        text = _(
            "{filesystem} needs at least {minimum}, and the target has {space}.",
            filesystem=candidate.title,
            minimum=binary_size_text(least_bytes),
            space=binary_size_text(space_bytes),
        )
        raise UsageError(text, _("Choose larger devices or images, more of them, or leave it out."))


def require_programs(commands: Sequence[PlannedCommand], what: str, *, packages: Sequence[str] = ()) -> None:
    """Missing where a program of `commands`, which `what` needs, is absent; the hint brings `packages`, too."""
    if absent := _absent(commands):
        text = n_(
            "{names} is not installed, and {what} needs it.",
            "{names} are not installed, and {what} needs them.",
            len(absent),
            names=", ".join(map(safe, absent)),
            what=what,
        )
        hint = programs.install_hint(*packages_of(absent), *packages)
        if programs.package_manager():
            hint = _("{hint}, or run `fswizard doctor --install`.", hint=hint)
        raise Missing(text, hint)


def absent_programs(recipe: Recipe) -> dict[str, list[str]]:
    """By the name of each of its tests that can't run here: the programs that are not installed."""
    absent = {workload.name: _absent(engine(workload.job).commands()) for workload in recipe.measured}
    return {name: programs for name, programs in absent.items() if programs}


def _absent(commands: Sequence[PlannedCommand]) -> list[str]:
    """Programs of `commands` that are not there."""
    named = dict.fromkeys(command.argv[0] if command.argv else "" for command in commands)
    return [name for name in named if not name.startswith("python") and find(name) is None]


def packages_of(names: Sequence[str]) -> list[str]:
    """What brings programs, each of its distribution's."""
    known = {program.name: program.packages for program in (*programs.PROGRAMS, *engine_programs())}
    system = host.this.distribution()
    return [programs.package_of({"": name, **known.get(name, {})}, system) for name in names]
