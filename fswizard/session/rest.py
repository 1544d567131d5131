"""Idle time of a disk between two candidates, the same for each, so that pending work of one does not slow down the
next."""

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
"""Upper limit, as writes of other programs may keep a disk busy forever."""
LONGEST_SHINGLED_S = 60.0
SHINGLED_REST_S = 5.0
"""Idle time of a drive-managed disk after its last request, in which it cleans up its cache."""
POLL_S = 0.2
LITTLE_BYTES = 1 << 20
"""Amount of dirty data in the whole machine that makes no difference; while they are written back, they decrease by
more."""


async def let_rest(plan: Plan, devices: Sequence[str], emitter: Emitter) -> None:
    """Write back cached data, wait until no request is in flight, and let a shingled disk clean up."""
    shingled = plan.drive is not None and plan.drive.smr.kind in ("drive-managed", "host-aware")
    if shingled:
        emitter.begin("wait", _("letting the shingled disk rest"))
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
        await clock.pause(POLL_S)
    if shingled:
        await clock.pause(SHINGLED_REST_S)
