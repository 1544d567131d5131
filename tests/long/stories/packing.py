"""Recordings as they are shipped: smaller, and without what identifies the machine.

    python -m tests.long.stories.packing STORY FILE [simulated]

FILE is the result of a run with `--seed 1`, which is packed into fswizard/demo/recordings. The recorded runs:
xfs-searching: quick --candidates "ext4; xfs; btrfs:noatime" --rounds 2..12
smr-fileserver: smr.toml --rounds 2..2 on the disk `shingled(100, "size_bytes=2G")` of tests/long/reproduce; simulated
ssd-tie: tie.toml --rounds 3..5 on a disk of the virtual machine: 2 GiB, 80 MiB/s, 800 requests a second; simulated
"""

from __future__ import annotations

import gzip
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from fswizard.demo.stories import HERE
from fswizard.model.events import CommandFinished, Event, RunStarted, StepProgressed
from fswizard.model.result_file import encoded
from tests.recording import events_in

SIMULATED = "simulated"
"""Stands before the model of a disk that is."""
OFTEN_S = 0.5
"""Progress that comes sooner after the last one than that is left out."""
LONGEST_OUTPUT = 1500
HOME = re.compile(r"(?<![\w./-])/(?:root|home/\w+)(?=[/\"' ])")


def pack(name: str, path: Path, kind: str = "") -> None:
    """Make what is shipped of a recording; `kind` is `SIMULATED` or empty."""
    text = HOME.sub("/home/you", b"".join(map(encoded, _smaller(events_in(path), kind))).decode())
    (HERE / "recordings" / f"{name}.jsonl.gz").write_bytes(gzip.compress(text.encode(), mtime=0))


def _smaller(events: Iterable[Event], kind: str) -> Iterator[Event]:
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
                drive = plan.drive
                if drive:
                    drive = replace(drive, model=f"{kind} {drive.model}".strip(), serial="", pending="")
                # Whoever watches loses nothing.
                recipe = replace(plan.recipe, source="this demo")
                anonymous = replace(plan, drive=drive, recipe=recipe, losses=())
                yield replace(event, plan=anonymous, environment=replace(environment, host=""))
            case _:
                yield event


if __name__ == "__main__":
    pack(sys.argv[1], Path(sys.argv[2]), *sys.argv[3:])
