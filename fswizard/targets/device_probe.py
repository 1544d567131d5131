"""The probe as wizard and command line run it: on a scratch file as the user, on a device through the helper."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import queue
import threading
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass

from fswizard.drives.probe import MOMENT_S, ProbeProgress, ProbeResult, Writer, probe
from fswizard.drives.probe_target import ProbeTarget
from fswizard.errors import RunFailed
from fswizard.language import _
from fswizard.model.text import safe, safe_lines
from fswizard.privileged import block_device
from fswizard.system import clock
from fswizard.targets import privilege
from fswizard.targets.helper import Helper

_LAST_WRITE_S = 5.0
"""So long a write that is under way is waited for when the probe ends."""


def run_probe(
    target: ProbeTarget, *, stopped: Callable[[], bool] = lambda: False
) -> Iterator[ProbeProgress | ProbeResult]:
    """Carries out `target.plan` and yields how it goes: a ProbeProgress about twice a second, at last one ProbeResult.

    It blocks between two of them, so a screen iterates it in a thread of its own. `stopped` is asked after each write
    and at least twice a second, and may be, say, `threading.Event().is_set`: once it says True the probe ends, with the
    result of what was written until then. Leaving the loop early ends it as well, without a result.

    A device takes root, had directly or through sudo without a question: call `privilege.authorise(PROBE)` before.
    `target` comes from `drives.probe_target.find_target`, which writes nothing, says what would be written in
    `target.plan`, and refuses what is in use, not empty, or not confirmed by its serial number.

    Raises Missing without root's rights; Refused where the helper, looking again, finds anything against the device;
    RunFailed where the disk fails.
    """
    try:
        busy = target.watch_processor()
        yield from probe(target.plan, _opened(target), stopped=stopped, disturbed=target.watch(), busy=busy)
    except OSError as error:
        if target.device is None and error.errno in (errno.ENOSPC, errno.EDQUOT):
            text = _("{directory} has no space left for the probe.", directory=safe(target.plan.path))
            raise RunFailed(text, _("Free some space there and probe again.")) from error
        text = _(
            "{disk} failed while it was being written to: {reason}.",
            disk=target.drive.name,
            reason=error.strerror or error,
        )
        raise RunFailed(text, _("Check its health first, for example with `smartctl -a`.")) from error


@dataclass(frozen=True, slots=True)
class FileWriter:
    """Writes to an open file in a thread of its own: a disk that does not answer keeps nobody else waiting."""

    descriptor: int

    def write(self, blocks: Sequence[int], pause_s: float) -> Generator[float | None, None, None]:
        answers: queue.SimpleQueue[float | OSError | None] = queue.SimpleQueue()
        over, further = threading.Event(), threading.Semaphore(0)

        def work() -> None:
            try:
                for latency_s in block_device.write_random(self.descriptor, blocks, pause_s):
                    answers.put(latency_s)
                    further.acquire()  # nothing else runs here while a write is timed
                    if over.is_set():
                        break
                answers.put(None)
            except OSError as error:
                answers.put(error)

        writing = threading.Thread(target=work, daemon=True)
        writing.start()
        try:
            while True:
                for seconds in clock.turns(MOMENT_S):
                    with contextlib.suppress(queue.Empty):
                        answer = answers.get(timeout=seconds)
                        break
                else:
                    yield None
                    continue
                if isinstance(answer, OSError):
                    raise answer
                if answer is None:
                    return
                yield answer
                further.release()
        finally:
            over.set()
            further.release()
            for seconds in clock.turns(_LAST_WRITE_S):
                writing.join(seconds)
                if not writing.is_alive():
                    break


@contextlib.contextmanager
def _opened(target: ProbeTarget) -> Iterator[Writer]:
    """A scratch file, or the device in the helper's hands: checked as root, locked, and released afterwards.

    The helper's client is asynchronous, and this is not: it has an event loop that runs while it is waited for.
    """
    if (device := target.device) is None:
        with target.scratch_file() as descriptor:
            yield FileWriter(descriptor)
        return
    loop = asyncio.new_event_loop()
    undo = AsyncExitStack()
    try:
        helper = loop.run_until_complete(undo.enter_async_context(Helper.start(privilege.PROBE)))
        claim = helper.claim(device.number, device.diskseq, device.size_bytes, target.serial, shown="")
        attached = loop.run_until_complete(claim)
        yield _DeviceWriter(loop, helper, attached.handle)
    finally:
        loop.run_until_complete(undo.aclose())
        loop.run_until_complete(loop.shutdown_default_executor())
        loop.close()


@dataclass(frozen=True, slots=True)
class _DeviceWriter:
    loop: asyncio.AbstractEventLoop
    helper: Helper
    handle: int

    def write(self, blocks: Sequence[int], pause_s: float) -> Generator[float | None, None, None]:
        run = self.loop.run_until_complete
        job = run(self.helper.write(self.handle, blocks, pause_s))
        chunks, pending = job.chunks(), b""
        awaited: asyncio.Future[bytes] | None = None
        try:
            while True:
                awaited = awaited or asyncio.ensure_future(anext(chunks, b""), loop=self.loop)
                if not run(clock.ended(awaited, MOMENT_S)):
                    yield None
                    continue
                if not (chunk := awaited.result()):
                    break
                awaited = None
                *lines, pending = (pending + chunk).split(b"\n")
                for line in lines:
                    yield float(line)
            finished = run(job.wait())
            if finished.exit_code:
                raise OSError(finished.exit_code, safe_lines(finished.stderr).strip())
        finally:
            if awaited is not None:
                awaited.cancel()
            run(job.kill())
