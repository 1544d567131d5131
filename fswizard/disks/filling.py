"""A scratch image: how far it is written, and whether its disk takes more where something failed."""

from __future__ import annotations

import contextlib
import errno
import os

from fswizard.disks.prepared import require_no_errors
from fswizard.errors import RunFailed
from fswizard.language import N_, _
from fswizard.model.estimates import filling_s
from fswizard.model.plan import Plan
from fswizard.model.text import safe
from fswizard.progress.emitter import Emitter
from fswizard.progress.workload_events import Progress
from fswizard.system import clock, timeouts
from fswizard.system.process import Finished

FILLING = N_("writing the whole scratch image once")
PROBE_MIB = 16
"""Written beside the image after an error, to distinguish a failing disk from a failing candidate."""


def expected_s(plan: Plan) -> float:
    """What writing one image takes."""
    return filling_s(plan.target.size_bytes, plan.drive.kind if plan.drive else "unknown")


class Filling:
    """Takes how far an image is written, and turns it into progress."""

    def __init__(self, size_bytes: int, emitter: Emitter) -> None:
        self._size_bytes = size_bytes
        self._emitter = emitter
        self._before_bytes, self._at_s = 0, clock.monotonic()

    def begins(self, argv: tuple[str, ...]) -> None:
        self._emitter.command_begins(argv)

    def ended(self, finished: Finished) -> None:
        self._emitter.command_ended(finished)

    def written(self, written_bytes: int) -> None:
        now_s = clock.monotonic()
        rate = (written_bytes - self._before_bytes) / max(now_s - self._at_s, 1e-3)
        self._emitter.progress(_(FILLING), Progress(written_bytes / self._size_bytes, rate))
        self._before_bytes, self._at_s = written_bytes, now_s


async def write_beside(scratch: str) -> None:
    """RunFailed where the disk takes no more data, as one does that lost its connection or turned read-only."""
    probe = f"{scratch}/probe"
    argv = ["dd", "if=/dev/zero", f"of={probe}", "bs=1M", f"count={PROBE_MIB}", "conv=fsync", "status=none"]
    finished = await timeouts.finish(argv)
    with contextlib.suppress(OSError):
        os.unlink(probe)
    if os.strerror(errno.ENOSPC) in finished.output:
        raise RunFailed(
            _("The filesystem of {scratch} is full.", scratch=safe(scratch)),
            _("Free some space there and run again."),
            finished.output,
        )
    if finished.exit_code:
        require_no_errors([finished.output])
