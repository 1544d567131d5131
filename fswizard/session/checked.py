"""A plan from a file, or from another process, passes the same limits as choices on the command line."""

from __future__ import annotations

from collections.abc import Sequence
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
    recipes.check(plan.recipe)
    check_limits((plan.minimum_rounds, plan.maximum_rounds), plan.time_limit_s or None, plan.memory_limit_bytes)
    require_plausible(plan.target, plan.recipe)
    plan = replace(plan, candidates=_known(plan.candidates, plan), beside=_known(plan.beside, plan))
    if any(candidate.aged for candidate in plan.candidates):
        require_ageing(plan.candidates, plan.target, plan.recipe)
    return plan


def _known(candidates: Sequence[Candidate], plan: Plan) -> tuple[Candidate, ...]:
    """Directories as the filesystems that they lie on now, and others by their names in the catalogue."""
    if plan.target.kind == "directory":
        located = located_candidates([candidate.directory for candidate in candidates])
        return tuple(replace(now, name=then.name) for now, then in zip(located, candidates))
    known = []
    for name in (candidate.name for candidate in candidates):
        candidate = parse_candidate(name).on(len(plan.target.members))
        if candidate.name != name:
            raise UsageError(_("'{name}' isn't the name of a candidate.", name=safe(name)), _("Start a new run."))
        check_space(candidate, plan.target, plan.recipe)
        known.append(candidate)
    return tuple(known)
