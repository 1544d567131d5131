"""A plan from a file, or from another process, passes the same limits as choices on the command line."""

from __future__ import annotations

from dataclasses import replace

from fswizard import recipes
from fswizard.disks.choice import require_plausible
from fswizard.disks.locations import located_candidates
from fswizard.errors import UsageError
from fswizard.filesystems import parse_candidate
from fswizard.language import _
from fswizard.model.filesystem import Candidate
from fswizard.model.plan import Plan
from fswizard.model.text import safe
from fswizard.session.planning import check_limits, check_space, require_ageing


def checked(plan: Plan) -> Plan:
    """The plan with its candidates as this program knows them: nothing of it is believed that can be known.

    UsageError or Refused where no choices could have led to it.
    """
    target, recipe = plan.target, plan.recipe
    recipes.check(recipe)
    check_limits((plan.minimum_rounds, plan.maximum_rounds), plan.time_limit_s or None, plan.memory_limit_bytes)
    require_plausible(target, recipe)
    if target.kind == "directory":
        return replace(plan, candidates=_located(plan.candidates), beside=_located(plan.beside))
    members = len(target.members)
    candidates, beside = (
        tuple(_known(candidate.name, members) for candidate in those) for those in (plan.candidates, plan.beside)
    )
    for candidate in (*candidates, *beside):
        check_space(candidate, target, recipe)
    if any(candidate.aged for candidate in candidates):
        require_ageing(candidates, target, recipe)
    return replace(plan, candidates=candidates, beside=beside)


def _known(name: str, members: int) -> Candidate:
    """The candidate of that name in the catalogue; UsageError where it has none."""
    found = parse_candidate(name).on(members)
    if found.name != name:
        raise UsageError(_("'{name}' isn't the name of a candidate.", name=safe(name)), _("Start a new run."))
    return found


def _located(candidates: tuple[Candidate, ...]) -> tuple[Candidate, ...]:
    """The filesystems that directories lie on now; each keeps its name."""
    found = located_candidates([candidate.directory for candidate in candidates])
    return tuple(replace(now, name=then.name) for now, then in zip(found, candidates))
