"""The privileged helper and its client, with real filesystems on a real loop device."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import suppress
from pathlib import Path

import psutil
import pytest
import pytest_asyncio

from fswizard.errors import Missing, Refused, RunFailed
from fswizard.filesystems import catalogue
from fswizard.targets.channel import HelperFailed
from fswizard.targets.helper import Attached, Helper
from tests.loop.channel import children, helper_pid
from tests.loop.devices import run
from tests.loop.failing_host import failing_host
from tests.loop.machine_state import LIMIT_S, descendants, loops_below, wait_until, wait_until_gone
from tests.loop.orders import attach, made_and_mounted, make, said, umount

pytestmark = [pytest.mark.root, pytest.mark.loop, pytest.mark.asyncio(loop_scope="module")]

MKFS = {
    "ext4": ("-q", "-F", "-E", "lazy_itable_init=0,lazy_journal_init=0,nodiscard", "-O", "inline_data,^dir_nlink"),
    "xfs": ("-q", "-f", "-K", "-m", "reflink=0", "-n", "size=16k"),
    "btrfs": ("-q", "-f", "-K", "--csum", "xxhash", "-m", "single"),
}
OPTIONS = {"ext4": ("noatime", "commit=30"), "xfs": ("logbsize=256k",), "btrfs": ("noatime", "compress=zstd:1")}
FILESYSTEMS = ["ext4", pytest.param("xfs", marks=pytest.mark.xfs), pytest.param("btrfs", marks=pytest.mark.btrfs)]
SIZE = 64 << 20


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def helper() -> AsyncIterator[Helper]:
    """One for all tests, started with a variable in the environment that is nobody's business."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LD_BIND_NOW", "1")
        async with Helper.start() as helper:
            yield helper


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def mounted(helper: Helper, tmp_path_factory: pytest.TempPathFactory) -> str:
    """Where an ext4 is mounted that all tests share."""
    return await made_and_mounted(helper, await attach(helper, tmp_path_factory.mktemp("mounted")))


@pytest_asyncio.fixture(loop_scope="module")
async def attached(helper: Helper, tmp_path: Path) -> AsyncIterator[Attached]:
    """An empty image of a test's own."""
    attached = await attach(helper, tmp_path)
    yield attached
    await helper.detach(attached.handle)


async def until(reached: Callable[[], bool]) -> None:
    """Wait for what the kernel does a moment later."""
    await asyncio.to_thread(wait_until, reached, LIMIT_S, "the kernel is done")


@pytest.mark.parametrize("filesystem", FILESYSTEMS)
async def test_a_filesystem_is_made_mounted_used_checked_and_taken_away(
    filesystem: str, helper: Helper, tmp_path: Path
) -> None:
    known = catalogue()[filesystem]
    attached = await attach(helper, tmp_path, max(SIZE, known.minimum_bytes))
    directory = attached.directory
    assert loops_below(tmp_path) == [f"{attached.name} on {os.readlink(opened_as(helper, tmp_path))}"]
    for _ in range(2):  # a second time over the first
        await helper.wipe(attached.handle)
        assert (
            await helper.order("mkfs", attached.handle, filesystem=filesystem, arguments=[*MKFS[filesystem]])
        ).exit_code == 0
        mounted = await helper.order("mount", attached.handle, filesystem=filesystem, options=[*OPTIONS[filesystem]])
        assert mounted.exit_code == 0, mounted.output
        table = await said(helper, directory, "findmnt", "-no", "FSTYPE,OPTIONS", directory)
        assert table.startswith(filesystem)
        assert {"nosuid", "nodev"} <= set(table.split()[1].split(","))
        assert "noatime" in table or filesystem == "xfs"
        assert await said(helper, directory, "sh", "-c", "echo hello > file && echo done") == "done"
        assert not Path(directory).exists(), "the host sees the mount"
        await helper.sync(attached.handle)
        assert await helper.health(attached.handle, known.error_counters) == {}
        await umount(helper, attached)
    assert (await helper.order("mount", attached.handle, filesystem=filesystem, options=[])).exit_code == 0
    assert await said(helper, directory, "cat", "file") == "hello"
    await umount(helper, attached)
    await helper.detach(attached.handle)
    await until(lambda: not loops_below(tmp_path))


async def test_wiping_leaves_nothing_at_either_end(helper: Helper, tmp_path: Path) -> None:
    attached = await attach(helper, tmp_path)
    Path(attached.path).write_bytes(b"x" * SIZE)
    await helper.wipe(attached.handle)
    device = os.open(attached.path, os.O_RDONLY)
    for offset in (0, SIZE - (1 << 20)):
        assert not any(os.pread(device, 1 << 20, offset))
    os.close(device)
    await helper.detach(attached.handle)


async def test_workloads_have_no_capability_and_cannot_get_one(helper: Helper, mounted: str) -> None:
    process = await helper.run(["sleep", "60"], cwd=mounted)
    await until(lambda: Path(f"/proc/{process.pid}/exe").resolve().name == "sleep")
    status = dict(line.split(":\t", 1) for line in Path(f"/proc/{process.pid}/status").read_text().splitlines())
    for capabilities in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"):
        assert int(status[capabilities], 16) == 0, capabilities
    assert status["NoNewPrivs"] == "1"
    assert set(status["Uid"].split()) == {str(os.getuid())}
    assert Path(f"/proc/{process.pid}/cwd").readlink() == Path(mounted)
    await process.kill()
    for argv in (["umount", mounted], ["mknod", "disk", "b", "7", "0"], ["chown", "1", "."]):
        assert (await (await helper.run(argv, cwd=mounted)).wait()).exit_code != 0, argv


async def test_a_workload_gets_a_clean_environment(helper: Helper, mounted: str, tmp_path: Path) -> None:
    given = await said(helper, mounted, "env", TMPDIR=str(tmp_path))
    names = {line.partition("=")[0] for line in given.splitlines()}
    assert names == {"PATH", "HOME", "LC_ALL", "TMPDIR"}
    assert f"TMPDIR={tmp_path}" in given
    with pytest.raises(Refused, match="LD_PRELOAD"):
        await helper.run(["true"], cwd=mounted, env={"LD_PRELOAD": "/tmp/evil.so"})


async def test_arguments_reach_the_program_as_they_are(helper: Helper, mounted: str) -> None:
    hostile = ("$(touch evil)", "`id`", "; rm -rf .", "--help", "a\nb", "ü\u202e")
    process = await helper.run(["printf", "%s\\0", *hostile], cwd=mounted)
    assert (await process.wait()).stdout.decode().split("\0")[:-1] == list(hostile)
    assert "evil" not in await said(helper, mounted, "ls")
    with pytest.raises(Missing):  # else it would be an option of the one that takes the rights away
        await (await helper.run(["--keep-groups", "id"], cwd=mounted)).wait()


async def test_output_comes_while_the_program_runs_and_whole(helper: Helper, mounted: str, tmp_path: Path) -> None:
    going = tmp_path / "going"
    os.mkfifo(going)
    script = f"echo first; cat {going}; head -c 3000000 /dev/zero; echo err >&2; exit 3"
    process = await helper.run(["sh", "-c", script], cwd=mounted)
    received = b""
    async for chunk in process.chunks():
        if not received:
            going.write_bytes(b"")  # until then the program goes no further
        received += chunk
    finished = await process.wait()
    assert received == b"first\n" + bytes(3_000_000)
    assert (finished.exit_code, finished.stdout, finished.stderr) == (3, b"", b"err\n")


async def test_the_end_tells_the_signal_time_and_processor_time_of_children_too(helper: Helper, mounted: str) -> None:
    burn = "import time\nwhile time.process_time() < 0.1: pass"
    script = f"/usr/bin/python3 -c '{burn}' & sleep 0.2; wait"
    finished = await (await helper.run(["sh", "-c", script], cwd=mounted)).wait()
    assert finished.cpu_s >= 0.1
    assert finished.wall_s >= 0.2
    slept = await (await helper.run(["sleep", "0.2"], cwd=mounted)).wait()
    assert slept.cpu_s < 0.2 <= slept.wall_s
    assert (await (await helper.run(["sh", "-c", "kill -TERM $$"], cwd=mounted)).wait()).exit_code == -15


async def test_nothing_that_a_program_started_outlives_it(helper: Helper, attached: Attached) -> None:
    mounted = await made_and_mounted(helper, attached)
    escape = "setsid sh -c 'setsid sleep 61 & echo started; exec sleep 62' & exec sleep 63"
    process = await helper.run(["sh", "-c", escape], cwd=mounted)
    assert await anext(process.chunks()) == b"started\n"
    await process.kill()
    assert (await process.wait()).exit_code == -9
    left = await (await helper.run(["sh", "-c", "setsid sleep 61 & exit 0"], cwd=mounted)).wait()
    assert left.exit_code == 0
    await umount(helper, attached)


async def test_a_mounted_device_is_neither_wiped_nor_formatted_nor_detached_and_its_user_is_named(
    helper: Helper, attached: Attached
) -> None:
    mounted = await made_and_mounted(helper, attached)
    handle = attached.handle
    make = helper.order("mkfs", handle, filesystem="ext4", arguments=[])
    orders = helper.wipe(handle), make, helper.detach(handle)
    for order in (*orders, helper.order("mount", attached.handle, filesystem="ext4", options=[])):
        with pytest.raises(Refused, match="is mounted"):
            await order
    process = await helper.run(["sleep", "60"], cwd=mounted)
    failed = await helper.umount(attached.handle)
    assert failed.exit_code != 0
    assert f"(process {process.pid}): {mounted}" in failed.output
    await process.kill()
    await helper.sync(attached.handle)
    await umount(helper, attached)


async def test_what_was_not_made_here_and_what_was_wiped_is_not_mounted(helper: Helper, tmp_path: Path) -> None:
    """A superblock of somebody else's could tell the kernel to panic, or hold what another user wrote."""
    attached = await attach(helper, tmp_path)
    run("mkfs.ext4", "-q", "-F", "-e", "panic", "-E", "nodiscard", attached.path)
    for _ in range(2):
        with pytest.raises(Refused, match="no filesystem that was made in this run"):
            await helper.order("mount", attached.handle, filesystem="ext4", options=[])
        await made_and_mounted(helper, attached)
        await umount(helper, attached)
        with pytest.raises(Refused, match="'xfs' is not what was made: ext4"):
            await helper.order("mount", attached.handle, filesystem="xfs", options=[])
        await helper.wipe(attached.handle)
    await helper.detach(attached.handle)


async def test_a_mkfs_and_a_mount_that_fail_tell_why_and_leave_the_device_free(
    helper: Helper, attached: Attached
) -> None:
    failed = await helper.order("mkfs", attached.handle, filesystem="ext4", arguments=["-b", "999"])
    assert failed.exit_code > 0 and "block size" in failed.output
    assert (await helper.order("mkfs", attached.handle, filesystem="ext4", arguments=["-q", "-F"])).exit_code == 0
    device = os.open(attached.path, os.O_WRONLY)
    os.pwrite(device, bytes(4096), 0)
    os.fsync(device)
    os.close(device)
    failed = await helper.order("mount", attached.handle, filesystem="ext4", options=[])
    assert failed.exit_code != 0
    assert "superblock" in failed.output
    if os.access("/dev/kmsg", os.R_OK):
        assert f"({attached.name}): VFS: Can't find ext4 filesystem" in failed.output


@pytest.fixture
def small_host(tmp_path: Path) -> Iterator[Path]:
    """In memory, with room for an image and next to nothing else."""
    directory = tmp_path / "host"
    directory.mkdir()
    run("mount", "-t", "tmpfs", "-o", "size=66m", "tmpfs", str(directory))
    yield directory
    run("umount", str(directory))


async def test_sync_tells_that_the_device_lost_what_was_written(small_host: Path, tmp_path: Path) -> None:
    """The program itself ends without any error, as its writes stay in memory until later, if nobody else syncs.

    Root took the image's blocks away, and somebody else has them, so that the device fails when 16 MiB are used up.
    """
    async with Helper.start() as helper:
        attached = await attach(helper, small_host)
        run("fallocate", "--punch-hole", "--length", str(SIZE), opened_as(helper, small_host))
        with (small_host / "ballast").open("wb") as ballast:
            os.posix_fallocate(ballast.fileno(), 0, 50 << 20)
        await helper.order("mkfs", attached.handle, filesystem="ext4", arguments=["-q", "-F", "-O", "^has_journal"])
        assert (await helper.order("mount", attached.handle, filesystem="ext4", options=[])).exit_code == 0
        argv = ["dd", "if=/dev/zero", "of=file", "bs=1M", "count=32"]
        ended = await (await helper.run(argv, cwd=attached.directory)).wait()
        reasons = ("Input/output error", "No space left on device", "Read-only file system")  # a matter of moments
        assert ended.exit_code == 0 or any(reason in ended.stderr.decode() for reason in reasons), ended
        with pytest.raises(HelperFailed) as failed:
            await helper.sync(attached.handle)
        assert failed.value.details.removeprefix("syncfs: ") in reasons
        health = await helper.health(attached.handle, ["ext4-sysfs"])
        assert health.get("kernel_errors", 0) == len(helper.kernel_log)
        assert all(attached.name in line for line in helper.kernel_log)
        await helper.umount(attached.handle)
    await until(lambda: not loops_below(tmp_path))


async def test_the_image_is_blank_and_nobody_but_the_helper_has_it_or_can_open_it(
    helper: Helper, tmp_path: Path
) -> None:
    attached = await attach(helper, tmp_path)
    image = opened_as(helper, tmp_path)
    status = os.stat(image)
    assert (status.st_nlink, status.st_mode & 0o777, status.st_size) == (0, 0, SIZE)
    assert status.st_blocks * 512 >= SIZE
    assert list(tmp_path.iterdir()) == []
    users = [each for each in psutil.process_iter() if _has_open(each.pid, status)]
    assert [each.pid for each in users] == [helper_pid(helper)]
    assert Path(attached.path).read_bytes() == bytes(SIZE)
    await helper.detach(attached.handle)


def _has_open(pid: int, wanted: os.stat_result) -> bool:
    with suppress(OSError):
        for link in Path(f"/proc/{pid}/fd").iterdir():
            with suppress(OSError):
                if os.path.samestat(link.stat(), wanted):
                    return True
    return False


def opened_as(helper: Helper, directory: Path) -> str:
    """The image below a directory, as root finds it again at the helper."""
    links = Path(f"/proc/{helper_pid(helper)}/fd").iterdir()
    return next(str(link) for link in links if os.readlink(link).startswith(f"{directory}/#"))


@pytest.mark.parametrize("cancelled_after_s", [(0,), (0, 0), (0.01,), (0.01, 0)])
async def test_whoever_stops_waiting_for_a_program_of_the_helper_ends_it_and_can_order_the_next(
    helper: Helper, attached: Attached, cancelled_after_s: tuple[float, ...]
) -> None:
    """Also where it was not yet begun, and where whoever ends it is stopped again."""
    before = children(helper_pid(helper))
    order = asyncio.ensure_future(helper.wipe(attached.handle))
    for seconds in cancelled_after_s:
        await asyncio.sleep(seconds)
        order.cancel()
    with pytest.raises(asyncio.CancelledError):
        await order
    assert (await helper.order("mkfs", attached.handle, filesystem="ext4", arguments=["-q", "-F"])).exit_code == 0
    assert children(helper_pid(helper)) == before


@pytest.fixture
def stick(tmp_path: Path) -> Iterator[Path]:
    """Something that is mounted before the helper starts, on a host that shares its mounts as systemd does."""
    outer, inner = tmp_path / "outer", tmp_path / "outer" / "stick"
    outer.mkdir()
    run("mount", "-t", "tmpfs", "tmpfs", str(outer))
    run("mount", "--make-rshared", str(outer))
    inner.mkdir()
    run("mount", "-t", "tmpfs", "tmpfs", str(inner))
    yield inner
    run("umount", "--recursive", str(outer))


async def test_a_host_that_shares_its_mounts_sees_none_of_the_helpers_which_sees_what_the_user_unmounts(
    stick: Path,
) -> None:
    """Else a stick that looks unmounted would still be mounted here, with data not yet written to it."""
    async with Helper.start() as helper:
        table = Path(f"/proc/{helper_pid(helper)}/mountinfo")
        directory = await made_and_mounted(helper, await attach(helper, stick.parent))
        assert directory in table.read_text()
        assert directory not in Path("/proc/self/mountinfo").read_text()
        assert str(stick) in table.read_text()
        await asyncio.to_thread(run, "umount", str(stick))
        assert str(stick) not in table.read_text()
    await until(lambda: not loops_below(stick.parent))


async def test_when_the_helper_dies_everybody_who_waits_is_told(tmp_path: Path) -> None:
    async with Helper.start() as helper:
        process = await helper.run(["sleep", "60"], cwd=str(tmp_path))
        waiting = asyncio.ensure_future(process.wait())
        await asyncio.sleep(0)
        os.kill(helper_pid(helper), 9)
        with pytest.raises(RunFailed, match="helper ended"):
            await asyncio.wait_for(waiting, LIMIT_S)
        assert [chunk async for chunk in process.chunks()] == []
        await process.kill()
        with pytest.raises(RunFailed, match="helper ended"):
            await helper.run(["true"], cwd=str(tmp_path))


@pytest.mark.nbd
async def test_a_job_that_was_killed_lasts_as_long_as_the_kernel_keeps_a_program_of_it(tmp_path: Path) -> None:
    """A mount(8) that it keeps still mounts afterwards, below whatever comes next. Starts a disk that can hang."""
    with failing_host(tmp_path, "--filter=delay") as host:
        async with Helper.start() as helper:
            attached = await attach(helper, host.directory)
            await make(helper, attached)  # so that there is something to wipe, and to read without the disk
            Path(attached.path).read_bytes()
            host.hang()
            try:
                job = await helper.ask("wipe", handle=attached.handle)
                wipefs = waiting_for_its_device(helper, "wipefs")
                await helper.ask("kill", job=job._number)
                wait_until(lambda: wipefs.ppid() == helper_pid(helper), LIMIT_S, "whoever started it is gone")
                with pytest.raises(HelperFailed, match="wipe is still in progress"):
                    await helper.detach(attached.handle)
            finally:
                host.recover()
            assert (await job.wait()).exit_code != 0
            await helper.wipe(attached.handle)


def waiting_for_its_device(helper: Helper, program: str) -> psutil.Process:
    """The helper's program of that name, once the kernel flushes its device for it: a busy machine keeps it before."""
    found: list[psutil.Process] = []

    def elsewhere() -> list[str]:
        """Where in the kernel it is instead, if it is there."""
        places = []
        for each in descendants(helper_pid(helper)):
            with suppress(psutil.NoSuchProcess, OSError):  # it may end while it is looked at
                stack = Path(f"/proc/{each.pid}/stack").read_text()
                if each.name() == program and "blkdev_fsync" in stack:
                    found.append(each)
                places.append(f"{each.name()} in {stack.split()[1:2]}")
        return [] if found else places or ["not started"]

    wait_until_gone(elsewhere, f"{program} waits for its disk", LIMIT_S)
    return found[0]
