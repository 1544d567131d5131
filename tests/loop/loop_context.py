"""A context that is a real filesystem on a loop device, for tests that run as root."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.fakes.local_context import LocalContext

MKFS = {
    "ext4": ["mkfs.ext4", "-q", "-E", "lazy_itable_init=0,lazy_journal_init=0"],
    "xfs": ["mkfs.xfs", "-q"],
    "btrfs": ["mkfs.btrfs", "-q"],
}


@dataclass
class LoopContext(LocalContext):
    filesystem: str = "ext4"
    remounting: bool = True
    """False leaves it mounted as it is, such as read-only."""

    async def remount(self) -> None:
        self.remounts += 1
        if not self.remounting:
            return
        run("umount", self.directory)
        run("mount", "-t", self.filesystem, f"/dev/{self.devices[0]}", self.directory)


def run(*argv: str) -> str:
    return subprocess.run(argv, check=True, capture_output=True, text=True).stdout.strip()


@contextmanager
def loop_context(directory: Path, filesystem: str, size: str) -> Iterator[LoopContext]:
    """A fresh filesystem of `size` on an image in `directory`; everything is undone at the end."""
    image, mount, scratch = directory / "image", directory / "mount", directory / "scratch"
    mount.mkdir()
    scratch.mkdir()
    run("fallocate", "--length", size, str(image))
    device = run("losetup", "--direct-io=on", "--show", "--find", str(image))
    try:
        run(*MKFS[filesystem], device)
        run("mount", "-t", filesystem, device, str(mount))
        try:
            yield LoopContext(str(mount), str(scratch), (device.removeprefix("/dev/"),), filesystem=filesystem)
        finally:
            run("umount", str(mount))
    finally:
        run("losetup", "--detach", device)
        image.unlink()
