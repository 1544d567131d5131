"""A run: planned (`Choices`, `make_plan`, `estimated`), carried out (`Session`), resumed (`take_up`, `why_not`)."""

from fswizard.session.doubts import left_out_text
from fswizard.session.estimating import estimated
from fswizard.session.planning import Choices, make_plan, within_budget
from fswizard.session.precedent import calibrations, settles_text
from fswizard.session.resuming import resumable, take_up, why_not
from fswizard.session.session import Session, ended_text

__all__ = [
    "Choices",
    "Session",
    "calibrations",
    "ended_text",
    "estimated",
    "left_out_text",
    "make_plan",
    "resumable",
    "settles_text",
    "take_up",
    "why_not",
    "within_budget",
]
