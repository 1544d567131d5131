"""What candidates are made on in turn: an image or a device, or several as one; and who is to blame for a failure."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace

from fswizard.disks import disk_errors
from fswizard.disks.disk_errors import DiskErrors
from fswizard.drives.disk_facts import programs
from fswizard.engines import BareSample, require_unkilled
from fswizard.errors import RunFailed
from fswizard.language import _
from fswizard.model.filesystem import Candidate
from fswizard.model.text import safe
from fswizard.system import block_stats
from fswizard.system.block_device import HERE
from fswizard.system.process import Finished, Process

READS = ("read", "randread")
DISTINCT_BYTES = 128 << 10
"""From this size on, fio's few buffers differ enough from one another."""
Begun = Callable[[tuple[str, ...]], None]
"""Gets each command of a mkfs as it begins."""


class CandidateFailed(Exception):
    """A candidate could not be made, mounted or unmounted, or its own counters report errors."""

    def __init__(self, kind: str, text: str, details: str = "") -> None:
        super().__init__(text)
        self.kind = kind
        """`mkfs`, `mount`, `umount`, `health`, `memory`."""
        self.text = text
        self.details = details


class DiskFailed(RunFailed):
    """Something that was asked of a disk failed; it may be asked again."""


class Disk:
    """What can be asked of a disk, whoever carries it out. Nothing is mounted on it at first."""

    as_root = False
    """Whether root carries out what is asked of it."""
    names: tuple[str, ...] = ()
    """Kernel names of its block devices, such as `loop0`; empty while it has none."""
    direct_io = False
    """As read back from the kernel: an image is not cached a second time."""
    pool = ""
    """What a ZFS pool, an array or a volume of it is called, if one is made."""
    directory = ""
    """Where the user's files go while it is mounted; programs that `start` starts see it."""

    def __init__(self, finish: Callable[[Sequence[str]], Awaitable[Finished]], errors: DiskErrors) -> None:
        """`finish` runs a program to its end, with the rights by which the disk is mounted."""
        self._finish = finish
        self._errors = errors

    async def wipe(self) -> Sequence[Finished]:
        """Take away every signature, and zero both ends, of each device."""
        raise NotImplementedError

    async def make(self, candidate: Candidate, begun: Begun) -> Sequence[Finished]:
        """Make a candidate on it when it is wiped. The last exit code says whether that failed."""
        raise NotImplementedError

    async def copy_to(self, other: Disk) -> Finished:
        """Write a scratch image, with the filesystem that is on it, over another one of the same kind and size."""
        raise NotImplementedError

    async def mount(self, candidate: Candidate) -> Finished:
        """Mount what was made; the exit code says whether that failed."""
        raise NotImplementedError

    async def umount(self) -> Finished:
        """Never lazily: while something is open the exit code is not 0 and the output says `busy`."""
        raise NotImplementedError

    async def require_same(self) -> None:
        """RunFailed where the disk is not as it was."""
        raise NotImplementedError

    async def read(self) -> Finished:
        """Read every block of an image from the disk below; the exit code says whether that failed."""
        raise NotImplementedError

    async def sample(self, sample: BareSample) -> Process:
        """Start fio on the wiped disk, or the first of several; what it writes stays there."""
        raise NotImplementedError

    async def start(self, argv: Sequence[str], *, cwd: str, env: Mapping[str, str], memory_bytes: int = 0) -> Process:
        """Start a program as the user, without capabilities.

        With `memory_bytes`, all that have it share so much memory, page cache included, where memory can be limited.
        """
        raise NotImplementedError

    async def detach(self) -> None:
        """Give the disk back."""
        raise NotImplementedError

    async def sync(self) -> Finished:
        """Write everything back; standard output is the bytes in use, the filesystem's own structures included.

        Raises DiskFailed where that, or an earlier write-back, failed.
        """
        finished = await self._finish(("sync", "--file-system", self.directory))
        require_unkilled(finished)
        succeeded(finished)
        room = os.statvfs(self.directory)
        return replace(finished, stdout=b"%d" % ((room.f_blocks - room.f_bfree) * room.f_frsize))

    async def errors(self, candidate: Candidate) -> Mapping[str, int]:
        """Counts above 0 of the candidate's own errors, by name."""
        counted: dict[str, int] = {}
        for kind in candidate.filesystem.error_counters:
            counted |= await self._count(kind)
        self._errors.note(counted)
        return {name: count for name, count in counted.items() if count}

    async def _count(self, kind: str) -> dict[str, int]:
        """What a mounted filesystem has counted, by one of its kinds of counters."""
        return disk_errors.KINDS[kind](self.names[0], HERE)

    async def disk_errors(self) -> Sequence[str]:
        """In words, every error that the disks below have reported since the run began."""
        return tuple(safe(line) for line in self._errors.of_disks())

    def written_bytes(self) -> int | None:
        """Bytes written to it since some moment before the run; None where nobody counts."""
        counted = block_stats.counters(*self.names)
        return counted.written_bytes if counted else None


def succeeded(finished: Finished, error: type[RunFailed] = DiskFailed) -> Finished:
    """What has ended; `error` where it failed."""
    if finished.exit_code:
        raise error(_("{program} failed.", program=finished.argv[0]), _("The disk may be failing."), finished.output)
    return finished


def require_no_errors(reported: Sequence[str]) -> None:
    """RunFailed with what the disk `reported`, where that is anything: then no candidate is to blame."""
    if reported:
        raise RunFailed(
            _("The disk reported errors."),
            _("Check its health first, for example with `smartctl -a`. The figures so far are kept."),
            "\n".join(reported),
        )


def users(directory: str) -> str:
    """A line with the programs that use something below `directory`, as far as they can be looked at.

    By the links of /proc alone: what they lead to may be on a disk or server that does not answer.
    """

    def leads_below(link: str) -> bool:
        try:
            return f"{os.readlink(link)}/".startswith(f"{directory}/")
        except OSError:  # another user's, or it has ended
            return False

    found = ", ".join(f"{program} ({pid})" for program, pid in programs(leads_below))
    return f"\nused by {found}" if found else ""


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
