"""Recordings as they are shipped: smaller, and without what only one machine need know."""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from fswizard.demo.stories import HERE
from fswizard.model.drive import Drive
from fswizard.model.events import CommandFinished, Event, RunStarted, StepProgressed
from fswizard.model.result_file import encoded
from tests.recording import events_in

SIMULATED = "simulated"
OFTEN_S = 0.5
"""Progress that comes sooner after the last one than that is left out."""
LONGEST_OUTPUT = 1500
HOME = re.compile(r"(?<![\w./-])/(?:root|home/\w+)(?=[/\"' ])")


def pack(name: str, path: Path, *, simulated: bool) -> None:
    """Make what is shipped of a recording; a disk that is `simulated` says so by its name."""
    text = b"".join(map(encoded, _smaller(events_in(path), simulated))).decode()
    _write(f"{name}.jsonl.gz", HOME.sub("/home/you", text))


def _write(name: str, text: str) -> None:
    """The same bytes for the same text."""
    data = gzip.compress(text.encode(), mtime=0)
    path = HERE / "recordings" / name
    if not path.exists() or gzip.decompress(path.read_bytes()) != text.encode():
        path.write_bytes(data)


def _smaller(told: Iterable[Event], simulated: bool) -> Iterator[Event]:
    last_s = 0.0
    for event in told:
        match event:
            case StepProgressed(at_s, text="") if at_s - last_s < OFTEN_S:
                continue
            case StepProgressed(at_s):
                last_s = at_s
                yield event
            case CommandFinished(output=output):
                yield replace(event, output=output[-LONGEST_OUTPUT:])
            case RunStarted(plan=plan, environment=environment):
                drive, recipe = plan.drive and _shown(plan.drive, simulated), replace(plan.recipe, source="this demo")
                # Whoever watches loses nothing.
                nameless = replace(environment, host="")
                yield replace(event, plan=replace(plan, drive=drive, recipe=recipe, losses=()), environment=nameless)
            case _:
                yield event


def _shown(drive: Drive, simulated: bool) -> Drive:
    model = drive.model if not simulated or SIMULATED in drive.model else f"{SIMULATED} {drive.model}".strip()
    return replace(drive, model=model, serial="", pending="")
