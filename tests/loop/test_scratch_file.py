"""A scratch image that its owner makes, on the filesystems of this machine's kernel."""

from __future__ import annotations

from contextlib import closing

import pytest

from fswizard.disks import scratch_file
from tests.loop.devices import Bench

pytestmark = pytest.mark.loop
IMAGE_BYTES = 32 << 20


@pytest.mark.root
async def test_an_image_is_filled_where_no_room_can_be_reserved(bench: Bench) -> None:
    """ext2 and ext3 have no extents, and no fallocate()."""
    case = bench.made("mkfs.ext3", "-q")
    with closing(scratch_file.new(str(bench.mount(case.path)), IMAGE_BYTES)) as file:
        assert (await file.fill(lambda written_bytes: None)).exit_code == 0
        assert (await file.read()).exit_code == 0
