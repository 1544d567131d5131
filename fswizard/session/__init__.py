"""A run: planned (`make_plan`), carried out (`Session`), followed (`FollowedRun`), resumed (`take_up`)."""

from fswizard.session.doubts import left_out_text
from fswizard.session.estimating import estimated
from fswizard.session.following import FollowedRun
from fswizard.session.ongoing_runs import OngoingRun, chosen, connect, find_ongoing, ongoing
from fswizard.session.planning import Choices, make_plan, within_budget
from fswizard.session.precedent import calibrations, settles_text
from fswizard.session.resuming import resumable, take_up, why_not
from fswizard.session.session import Session, ended_text

__all__ = [
    "Choices",
    "FollowedRun",
    "OngoingRun",
    "Session",
    "calibrations",
    "chosen",
    "connect",
    "ended_text",
    "estimated",
    "find_ongoing",
    "left_out_text",
    "make_plan",
    "ongoing",
    "resumable",
    "settles_text",
    "take_up",
    "why_not",
    "within_budget",
]
