"""A scratch image that its owner makes, on the filesystems of this machine's kernel."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from fswizard.disks import scratch_file
from fswizard.system.process import Finished
from tests.loop.devices import Bench

pytestmark = pytest.mark.loop
IMAGE_BYTES = 32 << 20


class Filling:
    """Remembers how far the image was written."""

    def __init__(self) -> None:
        self.all_written: list[int] = []
        self.exit_codes: list[int] = []

    def begins(self, argv: tuple[str, ...]) -> None:
        pass

    def written(self, size_bytes: int) -> None:
        self.all_written.append(size_bytes)

    def ended(self, finished: Finished) -> None:
        self.exit_codes.append(finished.exit_code)


@pytest.mark.root
async def test_an_image_is_filled_where_no_room_can_be_reserved(bench: Bench) -> None:
    """ext2 and ext3 have no extents, and no fallocate()."""
    case = bench.made("mkfs.ext3", "-q")
    with closing(scratch_file.new(str(bench.mount(case.path)), IMAGE_BYTES)) as file:
        filling = Filling()
        await file.fill(filling)
        assert filling.exit_codes == [0]
        assert (await file.read()).exit_code == 0


async def test_what_is_written_never_becomes_less(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a program that has ended meanwhile, the kernel says nothing."""
    said = [IMAGE_BYTES // 2]
    filling = Filling()
    monkeypatch.setattr(scratch_file, "_position", lambda pid: said.pop() if said else 0)
    monkeypatch.setattr(scratch_file, "LOOK_S", 0.001)
    with closing(scratch_file.new(str(tmp_path), IMAGE_BYTES)) as file:
        await file.fill(filling)
    assert filling.all_written == [IMAGE_BYTES // 2]
