"""Disks as a run has them that was started as root, without the run."""

from __future__ import annotations

from pathlib import Path

from fswizard.disks.root import RootDisk, RootDisks
from fswizard.filesystems import parse_candidate
from fswizard.model.filesystem import Candidate
from fswizard.progress.emitter import Emitter

SIZE = 64 << 20


async def image(disks: RootDisks, directory: Path, size_bytes: int = SIZE) -> RootDisk:
    """Nobody watches how it is written."""
    return await disks.image(str(directory), size_bytes, Emitter(lambda event: None))


async def make(disk: RootDisk, name: str = "ext4") -> Candidate:
    """The filesystem of a candidate, on a disk that is wiped before."""
    candidate = parse_candidate(name).on(len(disk.parts))
    await disk.wipe()
    made = await disk.make(candidate, lambda argv: None)
    assert made[-1].exit_code == 0, f"{name}: {made[-1].output}"
    return candidate


async def mount(disk: RootDisk, candidate: Candidate) -> None:
    mounted = await disk.mount(candidate)
    assert mounted.exit_code == 0, f"{candidate.name}: {mounted.output}"


async def made_and_mounted(disk: RootDisk, name: str = "ext4") -> Candidate:
    candidate = await make(disk, name)
    await mount(disk, candidate)
    return candidate


async def umount(disk: RootDisk) -> None:
    ended = await disk.umount()
    assert ended.exit_code == 0, ended.output


async def said(disk: RootDisk, *argv: str, **env: str) -> str:
    """What a program says that runs as a workload."""
    return (await (await disk.start(argv, cwd=disk.directory, env=env)).wait()).output
