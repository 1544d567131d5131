"""ZFS and NTFS-3G on a real loop device: what is made and mounted in a way of its own, through the helper."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import ExitStack
from pathlib import Path

import pytest
import pytest_asyncio

from fswizard.bench import cleaning, journal
from fswizard.bench.helper import Attached, Helper
from fswizard.drives.refusals import refusals
from fswizard.drives.targets import find_device
from fswizard.errors import Refused
from fswizard.filesystems import availability, catalogue, parse_candidate
from fswizard.model.filesystem import Candidate, Filesystem
from fswizard.results import state_directory
from tests.loop.channel import children, loop_devices_of, make_image, make_mount_point
from tests.loop.devices import Bench
from tests.loop.machine_state import LIMIT_S, wait_until

pytestmark = [pytest.mark.root, pytest.mark.loop]

ZFS = pytest.mark.xdist_group("zfs")
"""Of zfs-fuse there is one on a machine."""
DRIVEN = [
    pytest.param("zfs", marks=[pytest.mark.zfs, pytest.mark.slow, ZFS]),
    pytest.param("ntfs-3g", marks=pytest.mark.ntfs_3g),
]
ROOT = Path(__file__).parents[2]
DAEMONS = ("zfs-fuse", "mount.ntfs-3g")


@pytest_asyncio.fixture
async def helper() -> AsyncIterator[Helper]:
    async with Helper.start() as helper:
        yield helper


@pytest.fixture
def image(tmp_path: Path) -> Path:
    return make_image(tmp_path, 96 << 20)


@pytest.fixture
def directory(tmp_path: Path) -> str:
    return str(make_mount_point(tmp_path))


async def make(helper: Helper, attached: Attached, candidate: Candidate) -> str:
    """What mkfs says where it fails; empty where it succeeds."""
    await helper.wipe(attached.handle)
    made = await helper.mkfs(attached.handle, candidate.filesystem.name, candidate.mkfs_arguments(scratch=True))
    return made.output or "failed" if made.exit_code else ""


async def mount(helper: Helper, attached: Attached, candidate: Candidate, directory: str) -> str:
    options = () if candidate.filesystem.pool else candidate.mount_options
    mounted = await helper.mount(attached.handle, candidate.filesystem.mount_type, options, directory)
    return mounted.output or "failed" if mounted.exit_code else ""


async def made_and_mounted(helper: Helper, image: Path, name: str, directory: str) -> Attached:
    attached = await helper.attach(str(image))
    assert await make(helper, attached, parse_candidate(name)) == ""
    assert await mount(helper, attached, parse_candidate(name), directory) == ""
    return attached


async def health(helper: Helper, attached: Attached, name: str) -> dict[str, int]:
    return await helper.health(attached.handle, catalogue()[name].error_counters)


async def said(helper: Helper, directory: str, *argv: str) -> str:
    return (await (await helper.run(argv, cwd=directory)).wait()).output


def output(*argv: str) -> str:
    return subprocess.run(argv, capture_output=True, text=True, check=True).stdout.strip()


def namespace_of(helper: Helper) -> int:
    return os.stat(f"/proc/{helper_pid(helper)}/ns/pid").st_ino


def daemons(namespace: int) -> set[str]:
    """Names of those that live in a PID namespace; of none when it is gone itself."""
    found = set()
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):  # it may end while it is looked at
            if (entry / "ns/pid").stat().st_ino == namespace:
                found.add((entry / "comm").read_text().strip())
    return found & {name[:15] for name in DAEMONS}


async def kill(helper: Helper) -> None:
    """Kill it as nothing can be caught, and wait until its daemons went with it."""
    namespace = namespace_of(helper)
    os.kill(helper_pid(helper), signal.SIGKILL)
    await asyncio.to_thread(wait_until, lambda: not daemons(namespace), LIMIT_S, "the daemon is gone")


@pytest.mark.parametrize("name", [pytest.param("zfs", marks=[pytest.mark.zfs, ZFS]), DRIVEN[1]])
async def test_it_is_made_mounted_used_checked_and_taken_away(name: str, image: Path, directory: str) -> None:
    async with Helper.start() as helper:
        for _ in range(2):  # a second time over the first
            attached = await made_and_mounted(helper, image, name, directory)
            table = await said(helper, directory, "findmnt", "-no", "FSTYPE,OPTIONS", "--target", directory)
            assert {"nosuid", "nodev"} <= set(table.split()[1].split(",")), table
            assert await said(helper, directory, "sh", "-c", "echo hello > file && stat -c %u:%g file") == (
                f"{os.getuid()}:{os.getgid()}"
            )
            assert not os.listdir(directory), "the host sees the mount"
            await helper.sync(attached.handle)
            assert await health(helper, attached, name) == {}
            assert (await helper.umount(attached.handle)).exit_code == 0
            assert await mount(helper, attached, parse_candidate(name), directory) == ""
            assert await said(helper, directory, "cat", "file") == "hello"
            assert (await helper.umount(attached.handle)).exit_code == 0
            assert not daemons(namespace_of(helper)), "a daemon outlives its mount"
            await helper.wipe(attached.handle)
            await helper.detach(attached.handle)
            assert output("wipefs", "--no-act", "--noheadings", str(image)) == ""
    assert not loop_devices_of(image)


def tokens(filesystem: Filesystem) -> list[str]:
    """Every option with each of its values."""
    mount = [
        f"{option.name}={value}" if value else option.name
        for option in filesystem.mount_options
        for value in option.values or ("",)
    ]
    return mount + [option.name for option in filesystem.mkfs_options]


@pytest.mark.parametrize("name", DRIVEN)
async def test_every_option_works(name: str, helper: Helper, image: Path, directory: str) -> None:
    """Those that the driver is said not to know are refused by it, and listed as xfail."""
    driver = availability(catalogue()[name]).driver
    assert driver is not None
    attached, refused = await helper.attach(str(image)), []
    for token in tokens(catalogue()[name]):
        candidate = parse_candidate(f"{name}:{token}")
        failed = await make(helper, attached, candidate) or await mount(helper, attached, candidate, directory)
        assert bool(failed) == bool(driver.unknown(candidate.mount_options)), f"{token}: {failed}"
        if failed:
            refused.append(token)
            continue
        assert await said(helper, directory, "sh", "-c", "echo kept > file; cat file") == "kept"
        if candidate.filesystem.pool and candidate.mount_options:
            assert await has_property(helper, directory, token), token
        assert (await helper.umount(attached.handle)).exit_code == 0
    if refused:
        pytest.xfail(f"{driver.name} does not know {', '.join(refused)}")


async def has_property(helper: Helper, directory: str, token: str) -> bool:
    """As the pool itself says, asked inside the helper's namespaces: the host's zpool does not reach the daemon."""
    option, _, value = token.partition("=")
    pool = await said(helper, directory, "findmnt", "-no", "SOURCE", "--target", directory)
    inside = ("nsenter", "--target", str(helper_pid(helper)), "--mount", "--")
    return output(*inside, "zfs", "get", "-H", "-o", "value", option, pool).lower() == value.lower()


def helper_pid(helper: Helper) -> int:
    return children(helper._process.pid)[0]


@pytest.mark.zfs
@pytest.mark.slow
@ZFS
async def test_a_pool_is_found_by_its_device_alone_and_forgotten_by_the_host(
    helper: Helper, image: Path, directory: str
) -> None:
    attached = await made_and_mounted(helper, image, "zfs", directory)
    source = await said(helper, directory, "findmnt", "-no", "SOURCE", "--target", directory)
    assert source == attached.pool
    assert re.fullmatch("fswizard-[0-9a-f]{16}", source)
    assert output("blkid", "-p", "-s", "LABEL", "-o", "value", str(image)) == attached.pool
    assert (await helper.umount(attached.handle)).exit_code == 0


@pytest.mark.zfs
@pytest.mark.slow
@ZFS
async def test_mounting_again_reads_from_the_disk(helper: Helper, image: Path, directory: str) -> None:
    """Neither ZFS's own cache nor the device's keeps what was written."""
    attached = await made_and_mounted(helper, image, "zfs", directory)
    await said(helper, directory, "dd", "if=/dev/urandom", "of=file", "bs=1M", "count=32")
    await (await helper.start_sync(attached.handle)).wait()
    assert (await helper.umount(attached.handle)).exit_code == 0
    assert await mount(helper, attached, parse_candidate("zfs"), directory) == ""
    before = sectors_read(attached.name)
    await said(helper, directory, "dd", "if=file", "of=/dev/null", "bs=1M")
    assert (sectors_read(attached.name) - before) * 512 >= 32 << 20
    assert (await helper.umount(attached.handle)).exit_code == 0


def sectors_read(device: str) -> int:
    return int(Path(f"/sys/block/{device}/stat").read_text().split()[2])


@pytest.mark.zfs
@pytest.mark.slow
@ZFS
async def test_sync_reaches_the_disk_although_fuse_does_not_pass_it_on(
    helper: Helper, image: Path, directory: str
) -> None:
    attached = await made_and_mounted(helper, image, "zfs", directory)
    before = int(Path(f"/sys/block/{attached.name}/stat").read_text().split()[6])
    await said(helper, directory, "dd", "if=/dev/urandom", "of=file", "bs=1M", "count=24")
    assert (await (await helper.start_sync(attached.handle)).wait()).exit_code == 0
    written = int(Path(f"/sys/block/{attached.name}/stat").read_text().split()[6]) - before
    assert written * 512 >= 24 << 20
    assert (await helper.umount(attached.handle)).exit_code == 0


@pytest.mark.zfs
@pytest.mark.slow
@ZFS
async def test_what_the_pool_counts_as_errors_is_told_also_after_the_mount_that_saw_it(
    helper: Helper, image: Path, directory: str
) -> None:
    attached = await made_and_mounted(helper, image, "zfs", directory)
    await said(helper, directory, "sh", "-c", "yes fswizard was here | head -c 8M > file")
    assert (await helper.umount(attached.handle)).exit_code == 0
    with image.open("r+b") as file:
        content = file.read()
        for at in (found.start() for found in re.finditer(b"fswizard was here\n" * 100, content)):
            os.pwrite(file.fileno(), b"x", at)
    assert await mount(helper, attached, parse_candidate("zfs"), directory) == ""
    await said(helper, directory, "sh", "-c", "cat file > /dev/null")
    assert (await health(helper, attached, "zfs")).get("checksum_errors", 0) > 0
    assert (await helper.umount(attached.handle)).exit_code == 0
    assert await mount(helper, attached, parse_candidate("zfs"), directory) == ""
    assert (await health(helper, attached, "zfs")).get("checksum_errors", 0) > 0
    assert (await helper.umount(attached.handle)).exit_code == 0


@pytest.mark.parametrize("name", DRIVEN)
async def test_a_killed_helper_leaves_neither_daemon_nor_mount_nor_loop_device(
    name: str, image: Path, directory: str
) -> None:
    async with Helper.start() as helper:
        await made_and_mounted(helper, image, name, directory)
        assert daemons(namespace_of(helper))
        await kill(helper)
    wait_until(lambda: not loop_devices_of(image), LIMIT_S, "the loop device is gone")
    async with Helper.start() as helper:  # and nothing of it is in the way of the next
        attached = await made_and_mounted(helper, image, name, directory)
        assert (await helper.umount(attached.handle)).exit_code == 0


@pytest.mark.zfs
@pytest.mark.slow
@ZFS
async def test_a_disk_on_which_a_killed_run_left_its_pool_can_be_given_up_again(
    image: Path, directory: str, tmp_path: Path
) -> None:
    with ExitStack() as undo:
        disk = Bench(tmp_path, undo).attach(image)
        for before in ("", "zfs_member"):
            found = find_device(disk)
            assert refusals(found, str(image)) == ()
            async with Helper.start() as helper:
                attached = await helper.claim(found.number, found.diskseq, found.size_bytes, str(image), before)
                assert await make(helper, attached, parse_candidate("zfs")) == ""
                assert await mount(helper, attached, parse_candidate("zfs"), directory) == ""
                await kill(helper)


@pytest.mark.zfs
@pytest.mark.slow
@ZFS
async def test_a_pool_that_a_program_uses_stays_and_the_program_is_named(
    helper: Helper, image: Path, directory: str
) -> None:
    attached = await made_and_mounted(helper, image, "zfs", directory)
    process = await helper.run(["sleep", "60"], cwd=directory)
    busy = await helper.umount(attached.handle)
    assert busy.exit_code != 0
    assert "sleep" in busy.output
    await process.kill()
    assert await said(helper, directory, "ls") == ""
    assert (await helper.umount(attached.handle)).exit_code == 0


@pytest.mark.zfs
@pytest.mark.slow
@ZFS
async def test_only_a_pool_is_mounted_as_one(helper: Helper, image: Path, directory: str) -> None:
    attached = await helper.attach(str(image))
    for made, other in (("ext4", "zfs"), ("zfs", "ext4")):
        assert await make(helper, attached, parse_candidate(made)) == ""
        with pytest.raises(Refused, match="is not what was made"):
            await mount(helper, attached, parse_candidate(other), directory)


STAGED = f"""
import sys
sys.path.insert(0, {str(ROOT)!r})
from fswizard.privileged import mounts, stage, system_calls
stage.prepare()
system_calls.mount("leftover", stage.MOUNT, "tmpfs", 0)
stage.prepare()
print(*(mount.source for mount in mounts.mounts().values() if mount.path.startswith(stage.DIRECTORY)))
"""


def test_the_stage_is_cleared_of_what_a_killed_program_left_there() -> None:
    assert output("unshare", "--mount", "--propagation", "slave", sys.executable, "-c", STAGED) == "fswizard"


@pytest.mark.parametrize("pool", ["fswizard-0123456789abcdef", "tank"])
def test_clean_has_root_look_for_the_pools_of_a_killed_run(
    pool: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cleaning, "ZFS_MODULE", tmp_path)
    entry = state_directory() / "unfinished/run-x.json"
    entry.parent.mkdir(parents=True)
    entry.write_text(json.dumps({"directories": [], "pools": [pool], "result": ""}))
    (leftover,) = journal.leftovers()
    if pool == "tank":
        with pytest.raises(Refused, match="is no pool of a run"):
            cleaning.clean(leftover)
    else:
        cleaning.clean(leftover)
    assert entry.exists() == (pool == "tank")


async def test_a_pool_that_is_nobodys_of_ours_is_not_reclaimed(helper: Helper) -> None:
    for name in ("tank", "fswizard-", "fswizard-0123456789abcdeg", "../fswizard-0123456789abcdef"):
        with pytest.raises(Refused, match="is no pool of a run"):
            await helper.reclaim(name)
    await helper.reclaim("fswizard-0123456789abcdef")
