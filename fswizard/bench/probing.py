"""The probe as wizard and command line run it: on a scratch file as the user, on a device through the helper."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from fswizard.drives.probe import ProbeProgress, ProbeResult, probe
from fswizard.drives.probe_target import ProbeTarget


def run_probe(
    target: ProbeTarget, *, stopped: Callable[[], bool] = lambda: False
) -> Iterator[ProbeProgress | ProbeResult]:
    """Carries out `target.plan` and tells how it goes: a ProbeProgress about twice a second, at last one ProbeResult.

    It blocks between two of them, so a screen iterates it in a thread of its own. `stopped` is asked before each
    of them and may be, say, `threading.Event().is_set`: once it says True the probe ends within about a second, with
    the result of what was written until then. Leaving the loop early ends it as well, without a result.

    A device takes root, had directly or through sudo without a question: call `privilege.authorise()` before (no full
    screen, or inside `App.suspend()`). `target` comes from `drives.probe_target.find_target`, which writes nothing,
    says what would be written in `target.plan`, and refuses what is in use, not empty, or not confirmed by its serial.

    Raises Missing without root's rights; Refused where the helper, looking again, finds anything against the device;
    RunFailed where the disk fails.
    """
    yield from probe(target.plan, target.opened(), stopped=stopped, disturbed=target.watch())
