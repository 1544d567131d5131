"""A plan that is carried out as root, whatever file it comes from: nothing of it is believed that can be known."""

from __future__ import annotations

from dataclasses import replace

from fswizard.filesystems import parse_candidate
from fswizard.model.filesystem import Candidate
from fswizard.model.plan import Plan


def checked(plan: Plan) -> Plan:
    """The plan with its candidates as the catalogue has them; UsageError where it does not have one."""
    members = len(plan.target.members)

    def known(candidates: tuple[Candidate, ...]) -> tuple[Candidate, ...]:
        return tuple(parse_candidate(candidate.name).on(members) for candidate in candidates)

    return replace(plan, candidates=known(plan.candidates), beside=known(plan.beside))
