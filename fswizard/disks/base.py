"""What every disk does in the same way, whoever has the rights for the rest."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace

from fswizard.disks import disk_errors
from fswizard.disks.disk import DiskFailed
from fswizard.disks.disk_errors import DiskErrors
from fswizard.engines import BareSample, require_unkilled
from fswizard.errors import RunFailed
from fswizard.language import _
from fswizard.model.filesystem import Candidate
from fswizard.model.text import safe
from fswizard.system import block_stats
from fswizard.system.block_device import HERE
from fswizard.system.process import Finished

READS = ("read", "randread")
DISTINCT_BYTES = 128 << 10
"""From this size on, fio's few buffers differ enough from one another."""


class BaseDisk:
    """Writes back, and asks for errors."""

    names: tuple[str, ...] = ()
    directory = ""

    def __init__(self, finish: Callable[[Sequence[str]], Awaitable[Finished]], errors: DiskErrors) -> None:
        """`finish` runs a program to its end, with the rights by which the disk is mounted."""
        self._finish = finish
        self._errors = errors

    async def sync(self) -> Finished:
        finished = await self._finish(("sync", "--file-system", self.directory))
        require_unkilled(finished)
        succeeded(finished)
        room = os.statvfs(self.directory)
        return replace(finished, stdout=b"%d" % ((room.f_blocks - room.f_bfree) * room.f_frsize))

    async def errors(self, candidate: Candidate) -> Mapping[str, int]:
        counted: dict[str, int] = {}
        for kind in candidate.filesystem.error_counters:
            counted |= await self._count(kind)
        self._errors.note(counted)
        return {name: count for name, count in counted.items() if count}

    async def _count(self, kind: str) -> dict[str, int]:
        """What a mounted filesystem has counted, by one of its kinds of counters."""
        return disk_errors.KINDS[kind](self.names[0], HERE)

    def _device_bytes(self) -> int | None:
        """Bytes written to the block devices since they appeared; None where nobody counts."""
        counted = block_stats.counters(*self.names)
        return counted.written_bytes if counted else None

    async def disk_errors(self) -> Sequence[str]:
        return tuple(safe(line) for line in self._errors.of_disks())


def succeeded(finished: Finished, error: type[RunFailed] = DiskFailed) -> Finished:
    """What has ended; `error` where it failed."""
    if finished.exit_code:
        raise error(_("{program} failed.", program=finished.argv[0]), _("The disk may be failing."), finished.output)
    return finished


def users(directory: str) -> bytes:
    """A line with the programs that use something below `directory`, as far as they can be looked at.

    By the links of /proc alone: what they lead to may be on a disk or server that does not answer.
    """
    found = []
    for pid in filter(str.isdecimal, HERE.names("/proc")):
        process = f"/proc/{pid}"
        links = ("cwd", *(f"fd/{number}" for number in HERE.names(f"{process}/fd")))
        if any(_leads_below(f"{process}/{link}", directory) for link in links):
            found.append(f"{HERE.text(f'{process}/comm')} ({pid})")
    return f"\nused by {', '.join(found)}".encode() if found else b""


def _leads_below(link: str, directory: str) -> bool:
    try:
        return f"{os.readlink(link)}/".startswith(f"{directory}/")
    except OSError:  # another user's, or it has ended
        return False


def fio_command(path: str, sample: BareSample) -> tuple[str, ...]:
    """The fio command for a sample; one that writes overwrites the device or image at `path`."""
    writes = sample.rw not in READS
    repeats = writes and not (sample.direct and sample.block_bytes >= DISTINCT_BYTES)
    escaped = path.replace("\\", "\\\\").replace(":", "\\:")
    return (
        "fio", f"--name={sample.rw}", f"--filename={escaped}", f"--rw={sample.rw}", f"--bs={sample.block_bytes}",
        f"--size={sample.size_bytes}", f"--io_size={max(sample.io_bytes // sample.jobs, 512)}",
        f"--runtime={sample.milliseconds}ms", f"--ioengine={sample.io_engine}", f"--iodepth={sample.depth}",
        f"--numjobs={sample.jobs}", f"--direct={int(sample.direct)}", "--randrepeat=0", f"--randseed={sample.seed}",
        "--invalidate=0", "--thread", "--group_reporting", "--clat_percentiles=0", "--lat_percentiles=1",
        "--output-format=json", "--status-interval=250ms", *(["--end_fsync=1"] if writes else []),
        *(["--refill_buffers"] if repeats else []),
    )  # fmt: skip
