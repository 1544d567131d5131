"""`fswizard` as people call it, with a copy of what it tells of steps and programs.

python -m tests.bench.overheard FILE run ...
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from fswizard.__main__ import main
from fswizard.cli import narration, run
from fswizard.model.codec import tagged
from fswizard.model.events import CommandFinished, Event, RoundFinished, StepStarted
from fswizard.model.run_state import RunState

KINDS = (StepStarted, CommandFinished, RoundFinished)


class Overheard(narration.Narration):
    def tell(self, event: Event, state: RunState) -> None:
        super().tell(event, state)
        if isinstance(event, KINDS):
            print(json.dumps(tagged(event)), file=COPY, flush=True)


if __name__ == "__main__":
    with Path(sys.argv.pop(1)).open("w", encoding="utf-8") as COPY:
        run.Narration = Overheard  # type: ignore[attr-defined]
        main()
