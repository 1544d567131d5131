"""Runs: planning (`make_plan`), resuming (`take_up`), execution (`Session`) here or in a separate process (`start`),
and following such a process (`FollowedRun`)."""

from fswizard.session.doubts import left_out_text
from fswizard.session.following import FollowedRun
from fswizard.session.ongoing_runs import OngoingRun, find_ongoing, ongoing
from fswizard.session.planning import (
    Choices,
    absent_programs,
    all_aged,
    make_plan,
    packages_of,
    within_budget,
)
from fswizard.session.process import start
from fswizard.session.resuming import Resumption, resumable, take_up, why_not
from fswizard.session.session import STOPPED, Session

__all__ = [
    "STOPPED",
    "Choices",
    "FollowedRun",
    "OngoingRun",
    "Resumption",
    "Session",
    "absent_programs",
    "all_aged",
    "find_ongoing",
    "left_out_text",
    "make_plan",
    "ongoing",
    "packages_of",
    "resumable",
    "start",
    "take_up",
    "why_not",
    "within_budget",
]
