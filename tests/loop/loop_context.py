"""A context that is a real filesystem on a loop device, for tests that run as root."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.fakes.local_context import LocalContext
from tests.loop.devices import Bench, make_image, run

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
        if not self.remounting:
            return
        run("umount", self.directory)
        run("mount", "-t", self.filesystem, f"/dev/{self.devices[0]}", self.directory)


@contextmanager
def loop_context(directory: Path, filesystem: str, size_bytes: int) -> Iterator[LoopContext]:
    """A fresh filesystem on an image in `directory`; everything is undone at the end."""
    scratch = directory / "scratch"
    scratch.mkdir()
    with ExitStack() as undo:
        bench, image = Bench(directory, undo), make_image(directory, size_bytes)
        undo.callback(image.unlink)
        device = bench.attach(image, "--direct-io=on")
        run(*MKFS[filesystem], device)
        mount = bench.mount(device, "-t", filesystem, name="mount")
        yield LoopContext(str(mount), str(scratch), (device.removeprefix("/dev/"),), filesystem=filesystem)
