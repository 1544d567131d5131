"""A scratch image that its owner makes, on the filesystems of this machine's kernel."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from fswizard.disks import scratch_file
from fswizard.model.events import Event, StepProgressed
from fswizard.progress.emitter import Emitter
from tests.loop.devices import Bench

pytestmark = pytest.mark.loop
IMAGE_BYTES = 32 << 20


@pytest.mark.root
async def test_an_image_is_filled_where_no_room_can_be_reserved(bench: Bench) -> None:
    """ext2 and ext3 have no extents, and no fallocate()."""
    case = bench.made("mkfs.ext3", "-q")
    events: list[Event] = []
    with closing(scratch_file.new(str(bench.mount(case.path)), IMAGE_BYTES)) as file:
        await file.fill(Emitter(events.append))
        assert [event.fraction for event in events if isinstance(event, StepProgressed)] == [1.0]
        assert (await file.read()).exit_code == 0


async def test_both_ends_are_wiped_and_the_rest_stays(tmp_path: Path) -> None:
    with closing(scratch_file.new(str(tmp_path), IMAGE_BYTES)) as file:
        Path(file.path).write_bytes(b"x" * IMAGE_BYTES)
        await file.wipe()
        content, edge = Path(file.path).read_bytes(), scratch_file.EDGE_BYTES
    assert content == bytes(edge) + b"x" * (IMAGE_BYTES - 2 * edge) + bytes(edge)
