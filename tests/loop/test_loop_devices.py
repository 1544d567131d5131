"""Loop devices as the helper makes them, without the helper."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from fswizard.privileged import loop_device
from fswizard.privileged.images import Image
from tests.loop.channel import make_image, nameless

pytestmark = [pytest.mark.root, pytest.mark.loop]


@pytest.mark.parametrize("block_bytes", [0, 4096])
@pytest.mark.parametrize("configure", [loop_device._configure, loop_device._configure_in_steps])
def test_loop_devices_are_had_from_old_kernels_and_for_disks_of_large_sectors(
    configure: Callable[[int, int, int], None], block_bytes: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loop_device, "_configure", configure)
    size_bytes = 64 << 20
    image = Image(nameless(make_image(tmp_path, size_bytes)), size_bytes)
    device = loop_device._attach(image, block_bytes)
    image.close()
    sysfs = Path("/sys/block") / device.name
    assert device.direct_io
    assert (sysfs / "loop/autoclear").read_text() == "1\n"
    assert int((sysfs / "queue/logical_block_size").read_text()) == (block_bytes or 512)
    assert int((sysfs / "size").read_text()) * 512 == size_bytes
    os.close(device.descriptor)  # as when the helper is killed
