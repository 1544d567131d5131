"""The file of a scratch image: its space reserved, written once, and looked at where something failed."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
from collections.abc import Sequence
from pathlib import Path

from fswizard.errors import RunFailed
from fswizard.model.estimates import filling_s
from fswizard.model.plan import Plan
from fswizard.model.text import safe
from fswizard.progress.emitter import Emitter
from fswizard.progress.workload_events import Progress
from fswizard.system import clock, commands, timeouts
from fswizard.system.process import Finished
from fswizard.targets.prepared import require_no_errors

IMAGE_UNIT_BYTES = 4 << 20
"""An image is written so many bytes at a time; its size is a multiple of them."""
FILLING = "writing the whole scratch image once"
PROBE_MIB = 16
"""Written beside the image after an error, to tell a failing disk from a failing candidate."""


async def reserve(image: str, size_bytes: int, host_filesystem: str, emitter: Emitter) -> None:
    """Make the image file with all its blocks; without copy-on-write where the filesystem under it would."""
    os.close(os.open(image, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    steps = [["fallocate", "--posix", "--length", str(size_bytes), image]]
    if host_filesystem == "btrfs":
        steps.insert(0, ["chattr", "+C", image])
    for argv in steps:
        finished = await timeouts.finish(argv)
        emitter.command_ended(finished)
        if finished.exit_code:
            raise RunFailed(
                f"No space could be reserved for the scratch image ({argv[0]} failed).",
                "Choose a directory on a disk of this machine with --target image:SIZE@DIRECTORY.",
                finished.output,
            )


async def fill(image: str, plan: Plan, emitter: Emitter) -> None:
    """Write the whole image once, so that no later write has to turn reserved blocks into written ones."""
    size_bytes = plan.target.size_bytes
    emitter.begin("fill", FILLING, expected_s=expected_s(plan))
    argv = ["dd", "if=/dev/zero", f"of={image}", f"bs={IMAGE_UNIT_BYTES}", f"count={size_bytes // IMAGE_UNIT_BYTES}"]
    argv += ["conv=notrunc,fsync", "status=none"]
    finished = await _watch_writing([*argv, "oflag=direct"], size_bytes, emitter)
    if finished.exit_code:  # not every filesystem takes direct I/O
        finished = await _watch_writing(argv, size_bytes, emitter)
    if finished.exit_code:
        raise RunFailed("The scratch image could not be written.", "Its disk may be full or failing.", finished.output)


def expected_s(plan: Plan) -> float:
    """What writing one image takes."""
    return filling_s(plan.target.size_bytes, plan.drive.kind if plan.drive else "unknown")


async def _watch_writing(argv: Sequence[str], size_bytes: int, emitter: Emitter) -> Finished:
    emitter.command_begins(tuple(argv))
    process = await commands.start(argv)
    ending = asyncio.ensure_future(process.wait())
    before, silent_s = 0, 0.0
    try:
        while not await clock.ended(ending, 0.25):
            written = _written_bytes(process.pid)
            rate = max(0, written - before) / 0.25
            silent_s = 0.0 if rate else silent_s + 0.25
            if silent_s > timeouts.LIMIT_S:
                raise timeouts.no_answer(argv[0])
            before = written
            emitter.progress(FILLING, Progress(min(1.0, written / size_bytes), rate))
    finally:
        if not ending.done():
            ending.cancel()
            await timeouts.end(process, argv[0])
    emitter.command_ended(ending.result())
    return ending.result()


def _written_bytes(pid: int) -> int:
    try:
        lines = Path(f"/proc/{pid}/io").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith("wchar:")), 0)


def require_whole(image: int) -> None:
    """RunFailed where the filesystem under it keeps no blocks for zeros: later writes would have to find space."""
    status = os.fstat(image)
    if status.st_blocks * 512 < status.st_size:
        os.close(image)
        raise RunFailed(
            "The filesystem under the scratch image compresses it or doesn't store its zeros.",
            "Choose a directory on another filesystem, or one without compression.",
        )


async def write_beside(scratch: str) -> None:
    """RunFailed where the disk takes no more data, as one does that lost its connection or turned read-only."""
    probe = f"{scratch}/probe"
    argv = ["dd", "if=/dev/zero", f"of={probe}", "bs=1M", f"count={PROBE_MIB}", "conv=fsync", "status=none"]
    finished = await timeouts.finish(argv)
    with contextlib.suppress(OSError):
        os.unlink(probe)
    if os.strerror(errno.ENOSPC) in finished.output:
        raise RunFailed(
            f"The filesystem of {safe(scratch)} is full.", "Free some space there and run again.", finished.output
        )
    if finished.exit_code:
        require_no_errors([finished.output])
