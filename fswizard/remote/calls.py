"""What one machine may ask of another, with the types of question and answer: the wizard's facade of its machine."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, get_type_hints

from fswizard import errors
from fswizard.errors import FswizardError, RunFailed
from fswizard.model.codec import from_json
from fswizard.tui import backend
from fswizard.tui.backend import Backend

CALLS = (
    "details", "place", "named_place", "mounted", "offers", "probe_target", "availability", "layout_availability",
    "draft", "make_plan", "settles", "questions", "confirmed", "purpose", "privilege", "rights_warning", "authorise",
    "ongoing", "resumable", "why_not_resumed", "history", "load", "write_note", "remove", "leftovers", "watch", "probe",
)  # fmt: skip
"""Methods of `Backend` that look at the machine."""
STREAMS = ("watch", "probe")
"""Those that tell something before they answer, until they are stopped."""
CONTEXT = ("stopped", "progress")
"""Arguments that stay where they are: functions."""


@cache
def hints(name: str) -> Mapping[str, Any]:
    """Types of a call's arguments by name, in order, and of what it returns."""
    from fswizard.drives.probe import ProbePlan, ProbeProgress, ProbeResult
    from fswizard.drives.probe_target import ProbeTarget
    from fswizard.filesystems import Availability
    from fswizard.results import Entry
    from fswizard.session import OngoingRun
    from fswizard.targets import Leftover, Offer, Question
    from fswizard.targets.privilege import Purpose, State

    known: tuple[Any, ...] = (
        Availability,
        Entry,
        Leftover,
        Offer,
        OngoingRun,
        ProbePlan,
        ProbeProgress,
        ProbeResult,
        ProbeTarget,
    )
    names = {kind.__name__: kind for kind in (*known, Question, Purpose, Path)}
    here = {"State": State, "Callable": Callable, "Iterator": Iterator, "Mapping": Mapping, "Sequence": Sequence}
    types = get_type_hints(getattr(Backend, name), {**vars(backend), **names, **here})
    return {key: kind for key, kind in types.items() if key not in CONTEXT}


def bound(name: str, *arguments: Any, **named: Any) -> Mapping[str, Any]:
    """Arguments of a call by name."""
    return inspect.signature(getattr(Backend, name)).bind_partial(None, *arguments, **named).arguments


def read(name: str, data: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments of a call as they came; ValueError where they are none of its."""
    types = hints(name)
    return {key: from_json(types[key], value) for key, value in data.items() if key in types}


def answer(name: str, data: Any) -> Any:
    """What a call returned."""
    kind = hints(name)["return"]
    return None if kind is type(None) else from_json(kind, data)


def told(error: FswizardError) -> dict[str, str]:
    return {"kind": type(error).__name__, "message": error.message, "hint": error.hint, "details": error.details}


def raised(data: Mapping[str, Any]) -> FswizardError:
    """The error that another machine told."""
    kind = getattr(errors, str(data.get("kind")), RunFailed)
    known = isinstance(kind, type) and issubclass(kind, FswizardError) and kind is not errors.OutOfMemory
    words = (str(data.get(key, "")) for key in ("message", "hint", "details"))
    return (kind if known else RunFailed)(*words)
