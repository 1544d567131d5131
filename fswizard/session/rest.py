"""The rest of a disk between two candidates, the same for each: what one left undone would slow down the next."""

from __future__ import annotations

import math
from collections.abc import Sequence

from fswizard.errors import RunFailed
from fswizard.language import _
from fswizard.model.plan import Plan
from fswizard.model.text import safe
from fswizard.progress.emitter import Emitter
from fswizard.system import clock, host, timeouts
from fswizard.system.block_stats import counters

LONGEST_S = 2.0
"""What others write keeps a disk from coming to rest."""
LONGEST_SHINGLED_S = 60.0
SHINGLED_REST_S = 5.0
"""Rest on a drive-managed disk once nothing is under way: it tidies up its cache when idle."""
LOOK_S = 0.2
LITTLE_BYTES = 1 << 20
"""Unwritten data of the whole machine that make no difference; by more they come down while they are written."""


async def let_rest(plan: Plan, devices: Sequence[str], emitter: Emitter) -> None:
    """Write back what the host still holds, wait until nothing is under way, and let a shingled disk tidy up."""
    shingled = plan.drive is not None and plan.drive.smr.kind in ("drive-managed", "host-aware")
    if shingled:
        emitter.begin("wait", _("letting the shingled disk rest"), expected_s=SHINGLED_REST_S)
    if plan.target.kind == "directory":  # filesystems stay mounted; images bypass the page cache, devices have none
        directories = sorted({candidate.directory for candidate in plan.candidates})
        done = await timeouts.finish(["sync", "--file-system", *directories])
        if done.exit_code:
            text = _("The disk does not accept what was written: {output}", output=safe(done.output))
            raise RunFailed(text, _("It may be full or failing."))
    until_s = clock.monotonic() + (LONGEST_SHINGLED_S if shingled else LONGEST_S)
    before_bytes = math.inf
    while clock.monotonic() < until_s:
        now = counters(*devices) or (counters(plan.drive.name) if plan.drive else None)
        unwritten_bytes = host.this.unwritten_bytes()
        written = unwritten_bytes < LITTLE_BYTES or before_bytes - unwritten_bytes < LITTLE_BYTES
        if written and (now is None or now.in_flight == 0):
            break
        before_bytes = unwritten_bytes
        await clock.pause(LOOK_S)
    if shingled:
        await clock.pause(SHINGLED_REST_S)
