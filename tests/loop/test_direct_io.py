"""Whether direct I/O is direct, seen on the filesystems of this machine's kernel."""

from __future__ import annotations

import asyncio
import platform
from pathlib import Path

import pytest

from fswizard.engines import WorkloadFailed, cached_share
from tests.fakes.local_context import LocalContext
from tests.loop.devices import Bench, make_image, run
from tests.loop.failing_host import fill, small_host
from tests.loop.loop_context import LoopContext, loop_context

pytestmark = [pytest.mark.root, pytest.mark.loop]

KERNEL = tuple(int(number) for number in platform.release().partition("-")[0].split(".")[:2])
THROUGH_CACHE = (6, 15) <= KERNEL < (7, 0)
"""So far it is certain of btrfs with checksums; stable kernels before took that over, later ones may change it."""


def share(context: LocalContext) -> float | None:
    return asyncio.run(cached_share(context))


def test_ext4_writes_directly(tmp_path: Path) -> None:
    with loop_context(tmp_path, "ext4", 64 << 20) as context:
        assert share(context) == 0.0
        assert not [*Path(context.directory).glob("direct*")]


@pytest.mark.btrfs
def test_btrfs_writes_through_the_page_cache_unless_without_checksums(tmp_path: Path) -> None:
    with loop_context(tmp_path, "btrfs", 128 << 20) as context:
        with_checksums = share(context)
        assert with_checksums is not None and (with_checksums > 0.9 or not THROUGH_CACHE)
        run("mount", "-o", "remount,nodatasum", context.directory)
        assert share(context) == 0.0


@pytest.mark.ntfs_3g
def test_what_a_fuse_program_keeps_in_memory_is_seen_by_what_the_disk_did_not_get(bench: Bench, tmp_path: Path) -> None:
    device = bench.attach(make_image(tmp_path), "--direct-io=on")
    run("mkfs.ntfs", "-Q", "-F", device)
    mount = bench.mount(device, "-t", "ntfs-3g")
    assert share(LoopContext(str(mount), str(tmp_path), (device.removeprefix("/dev/"),))) == 1.0


def test_a_filesystem_that_refuses_direct_access_says_so(bench: Bench, tmp_path: Path) -> None:
    point = bench.mount("none", "-t", "ramfs")
    assert share(LocalContext(str(point), str(tmp_path))) is None


def test_a_full_filesystem_is_no_refusal(tmp_path: Path) -> None:
    with small_host(tmp_path, 16 << 20) as host:
        fill(host)
        with pytest.raises(WorkloadFailed, match="No space left"):
            share(LocalContext(str(host), str(tmp_path)))
