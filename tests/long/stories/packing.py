"""Recordings as they are shipped: smaller, and without what only one machine need know."""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from fswizard.demo.stories import HERE
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
    text = HOME.sub("/home/you", b"".join(map(encoded, _smaller(events_in(path), simulated))).decode())
    shipped = HERE / "recordings" / f"{name}.jsonl.gz"
    if not shipped.exists() or gzip.decompress(shipped.read_bytes()) != text.encode():
        shipped.write_bytes(gzip.compress(text.encode(), mtime=0))


def _smaller(events: Iterable[Event], simulated: bool) -> Iterator[Event]:
    last_s = 0.0
    for event in events:
        match event:
            case StepProgressed(at_s, text="") if at_s - last_s < OFTEN_S:
                continue
            case StepProgressed(at_s):
                last_s = at_s
                yield event
            case CommandFinished(output=output):
                yield replace(event, output=output[-LONGEST_OUTPUT:])
            case RunStarted(plan=plan, environment=environment):
                drive, recipe = plan.drive, replace(plan.recipe, source="this demo")
                if drive:
                    model = f"{SIMULATED} {drive.model}".strip() if simulated else drive.model
                    drive = replace(drive, model=model, serial="", pending="")
                # Whoever watches loses nothing.
                anonymous = replace(plan, drive=drive, recipe=recipe, losses=())
                yield replace(event, plan=anonymous, environment=replace(environment, host=""))
            case _:
                yield event
