"""Validation of plans, whether made from choices or read from a file or another process."""

from __future__ import annotations

from dataclasses import replace

from fswizard import recipes
from fswizard.disks.choice import require_plausible
from fswizard.disks.locations import image_room_bytes, located_candidates
from fswizard.disks.memory_limit import LEAST_BYTES as LEAST_MEMORY_LIMIT_BYTES
from fswizard.errors import UsageError
from fswizard.filesystems import parse_candidate, require_members
from fswizard.language import _
from fswizard.model.estimates import needed_bytes
from fswizard.model.filesystem import Candidate
from fswizard.model.plan import MAXIMUM_ROUNDS, Plan, Target
from fswizard.model.recipe import Recipe
from fswizard.model.text import safe
from fswizard.model.units import binary_size_text, binary_text

LEAST_OLD = 1.5
"""Minimum size of the image relative to the space for the workloads; the rest is for old files."""


def checked(plan: Plan) -> Plan:
    """Validate a plan. Its candidates are replaced by those of this program's catalogue rather than trusted.

    Raises UsageError or Refused if no choices could have led to it.
    """
    recipes.check(plan.recipe)
    check_limits((plan.minimum_rounds, plan.maximum_rounds), plan.memory_limit_bytes)
    require_plausible(plan.target, plan.recipe)
    known = []
    if plan.target.kind == "directory":
        located = located_candidates([candidate.directory for candidate in plan.candidates])
        known = [replace(now, name=then.name) for now, then in zip(located, plan.candidates)]
    else:
        for then in plan.candidates:
            candidate = parse_candidate(then.name).on(len(plan.target.members))
            if candidate.name != then.name:
                text = _("'{name}' isn't the name of a candidate.", name=safe(then.name))
                raise UsageError(text, _("Start a new run."))
            check_space(candidate, plan.target, plan.recipe)
            known.append(candidate)
    plan = replace(plan, candidates=tuple(known))
    require_ageing(plan)
    return plan


def check_limits(rounds: tuple[int, int], memory_limit_bytes: int | None) -> None:
    """Raises UsageError if a chosen limit makes no sense."""
    lowest, highest = rounds
    if not 1 <= lowest <= highest <= MAXIMUM_ROUNDS:
        raise UsageError(
            _("{lowest}..{highest} isn't a range of rounds.", lowest=lowest, highest=highest),
            _("Give MIN..MAX with 1 <= MIN <= MAX <= {maximum_rounds}.", maximum_rounds=MAXIMUM_ROUNDS),
        )
    if memory_limit_bytes and memory_limit_bytes < LEAST_MEMORY_LIMIT_BYTES:
        least = binary_text(LEAST_MEMORY_LIMIT_BYTES)
        raise UsageError(
            _("{limit} of memory is too little for most programs to start.", limit=binary_text(memory_limit_bytes)),
            _("Give --memory-limit at least {least_memory_limit}, or none.", least_memory_limit=least),
        )


def check_space(candidate: Candidate, target: Target, recipe: Recipe) -> None:
    """Raises UsageError if the target has too little space for a candidate, or too few members."""
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
        raise UsageError(text, _("Choose a larger image, larger or more devices, or leave it out."))


def require_ageing(plan: Plan) -> None:
    """Raises UsageError if a plan has aged candidates that can't be aged on its target, or measured afterwards."""
    target, recipe = plan.target, plan.recipe
    if not plan.aged:
        return
    if target.kind != "image":
        raise UsageError(
            _("Candidates can be aged in a scratch image alone."),
            _("Don't age them, or choose --target image:SIZE@DIRECTORY."),
        )
    if any(workload.job.fill_percent for workload in recipe.workloads):
        raise UsageError(
            _("The recipe {recipe} fills filesystems itself, which leaves no room for old files.", recipe=recipe.name),
            _("Don't age them, or choose another recipe."),
        )
    least_bytes = round(LEAST_OLD * needed_bytes(recipe))
    if target.size_bytes < least_bytes:
        text = _(
            "An image of {size} leaves too little room for old files beside the recipe {recipe}.",
            size=binary_size_text(target.size_bytes),
            recipe=recipe.name,
        )
        least = binary_text(least_bytes)
        raise UsageError(text, _("It needs {least} or more: --target image:SIZE@DIRECTORY.", least=least))
    images = 1 + len(plan.aged)
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
