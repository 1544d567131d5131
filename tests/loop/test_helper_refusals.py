"""What the helper refuses although it could do it, and that nothing was changed by asking."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.loop.channel import BARE, HELPER, Channel, attached, make_image, opened, refused
from tests.loop.machine_state import device_of, loops_below

pytestmark = [pytest.mark.root, pytest.mark.loop]

SIZE = 64 << 20
NOBODY = 65534
ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("given", "size_bytes", "words"),
    [
        (opened, SIZE - 1, "smaller than 64 MiB"),
        (opened, 1 << 52, ""),
        (lambda directory: os.open(make_image(directory), os.O_RDWR), SIZE, "isn't a directory"),
        (lambda directory: os.open("/dev/null", os.O_RDWR), SIZE, "isn't a directory"),
        (lambda directory: socket.socket(socket.AF_UNIX).detach(), SIZE, "isn't a directory"),
        (lambda directory: os.open("/proc/self", os.O_PATH), SIZE, "no image can be made there"),
    ],
    ids=["too small", "too large", "a file", "a device", "a socket", "no files"],
)
def test_an_image_is_made_below_a_directory_that_takes_it(
    given: Callable[[Path], int], size_bytes: int, words: str, shared: tuple[Channel, int, Path, bytes], tmp_path: Path
) -> None:
    channel = shared[0]
    descriptors = len(os.listdir(f"/proc/{channel.helper_pid}/fd"))
    answer = channel.ask("attach", given=given(tmp_path), size_bytes=size_bytes)
    assert answer.get("ended", {}).get("exit_code", 1) != 0
    assert "error" not in answer or words in answer["error"]["text"], answer
    assert "error" in answer or not words, answer
    refused(channel.ask("attach", size_bytes=SIZE), "no descriptor came with it")
    assert not loops_below(tmp_path)
    assert len(os.listdir(f"/proc/{channel.helper_pid}/fd")) == descriptors


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Channel, int, Path, bytes]]:
    """A helper, the handle of an image, its device, and what is in it."""
    directory, content = tmp_path_factory.mktemp("shared"), os.urandom(1 << 20) * 64
    with attached(directory) as (channel, handle):
        device_of(directory).write_bytes(content)
        yield channel, handle, device_of(directory), content


@pytest.fixture
def volume(shared: tuple[Channel, int, Path, bytes], tmp_path: Path) -> Iterator[tuple[Channel, int, Path]]:
    """A helper, the handle of an image that must not change, and a directory for the test."""
    channel, handle, device, content = shared
    yield channel, handle, tmp_path
    assert device.read_bytes() == content, "the image was changed"


MKFS: dict[str, list[list[str]]] = {
    "ext4": [
        ["-d", "/etc"], ["-d", "etc"], ["-J", "device=/dev/sda"], ["-J", "size=4,device=UUID=x"], ["-O", "journal_dev"],
        ["-z", "undo"], ["-l", "badblocks"], ["-E", "root_owner=0:0"], ["-E", "offset=0"], ["-E", "discard,offset=1"],
        ["-L", "backup"], ["-L", "-d"], ["-U", "clear"], ["-U", "0f0e0d0c-0b0a-0908-0706-050403020100"],
        ["-e", "panic"], ["-M", "x"], ["/dev/sda"], ["--"],
        ["-E"], ["-qF"], ["-E", "nodiscard\n"], ["-b", "٤٠٩٦"], ["-q", "-F", "1000"], ["-n"], ["-t", "ext2"],
    ],
    "xfs": [
        ["-l", "logdev=/dev/sda"], ["-l", "logdev=sda"], ["-l", "size=64m,logdev=x"], ["-r", "rtdev=/dev/sda"],
        ["-d", "name=/dev/sda"], ["-d", "file=1"], ["-d", "agcount=4,file"], ["-p", "/etc/passwd"], ["-p", "proto"],
        ["-c", "options=/etc/passwd"], ["-N"], ["-L", "x"],
        ["-m", "uuid=0f0e0d0c-0b0a-0908-0706-050403020100"],
    ],
    "btrfs": [
        ["--rootdir", "/etc"], ["-r", "/etc"], ["-r", "etc"], ["--rootdir=/etc"], ["--shrink"], ["/dev/sda"],
        ["-d", "raid1"], ["-m", "raid0", "/dev/sda"], ["-L", "x"],
        ["--label", "x"], ["--uuid", "x"], ["-O", "list-all"], ["-f", "/dev/sda"],
    ],
    "f2fs": [["-c", "/dev/sda"], ["-l", "/x"], ["-d", "1"]],
    "nilfs2": [["-c"], ["-L", "a/b"]],
    "swap": [[]],
    "../../bin/sh": [[]],
    "ext4\0": [[]],
    "": [[]],
}  # fmt: skip


OPTIONS = [
    ["suid"], ["dev"], ["exec"], ["loop"], ["loop=/dev/loop0"], ["X-mount.mkdir"], ["x-systemd.automount"],
    ["bind"], ["remount"], ["user"], ["offset=1"], ["journal_path=/dev/sda"], ["journal_dev=0x801"],
    ["logdev=/dev/sda"], ["device=/dev/sda"], ["errors=panic"], ["noatime,suid"], ["noatime,"], [""],
    ["uid=0"], ["context=x"],
    ["fscontext=x"], ["usrjquota=f"], ["test_dummy_encryption"], ["dax"], ["sb=1"], ["-o"], ["noatime\n"], ["move"],
]  # fmt: skip


def test_mkfs_gets_nothing_that_is_not_on_the_list(volume: tuple[Channel, int, Path]) -> None:
    channel, handle, _ = volume
    for filesystem, table in MKFS.items():
        for arguments in table:
            refused(channel.ask("mkfs", handle=handle, filesystem=filesystem, arguments=arguments))


BARE_FIELDS: list[dict[str, Any]] = [
    {"rw": "trim"}, {"rw": "write --filename=/dev/sda"}, {"rw": ""}, {"io_engine": "external:/x.so"},
    {"io_engine": "sg"}, {"block_bytes": 0}, {"block_bytes": 65 << 20}, {"size_bytes": SIZE + 1}, {"size_bytes": 0},
    {"size_bytes": 1 << 50}, {"io_bytes": 0}, {"milliseconds": 0}, {"milliseconds": 60_001}, {"depth": 0},
    {"depth": 1025}, {"jobs": 0}, {"jobs": 257}, {"seed": 1 << 31}, {"depth": 1024, "jobs": 2},
    {"block_bytes": 32 << 20},
]  # fmt: skip


def test_what_is_measured_on_the_bare_device_keeps_to_its_bounds(volume: tuple[Channel, int, Path]) -> None:
    channel, handle, _ = volume
    for fields in BARE_FIELDS:
        refused(channel.ask("bare", handle=handle, **{**BARE, **fields}))
    for extra in ("filename", "exec_prerun", "ioengine", "directory", "argv"):
        refused(channel.ask("bare", handle=handle, **BARE, **{extra: "x"}), "unknown field", code="invalid")


@pytest.mark.fio
def test_the_bare_device_is_measured_before_a_filesystem_is_made_and_never_below_one(tmp_path: Path) -> None:
    with attached(tmp_path, content := 64 << 20) as (channel, handle):
        device = device_of(tmp_path)
        refused(channel.ask("bare", handle=handle + 1, **BARE), "no such handle")
        for direct in (True, False):
            before = device.read_bytes()
            assert channel.ask("bare", handle=handle, **{**BARE, "direct": direct})["ended"]["exit_code"] == 0
            after = device.read_bytes()
            assert after[: 4 << 20] != before[: 4 << 20] and after[16 << 20 :] == before[16 << 20 :]
        assert len(after) == content
        refused(channel.ask("mount", handle=handle, filesystem="ext4", options=[]), "holds no filesystem")
        for verb, fields in (("mkfs", {"filesystem": "ext4", "arguments": ["-q"]}),
                             ("mount", {"filesystem": "ext4", "options": []})):  # fmt: skip
            assert channel.ask(verb, handle=handle, **fields)["ended"]["exit_code"] == 0
            refused(channel.ask("bare", handle=handle, **BARE), "bare: ")
        for verb in ("umount", "wipe"):
            assert channel.ask(verb, handle=handle)["ended"]["exit_code"] == 0
        assert channel.ask("bare", handle=handle, **{**BARE, "rw": "randread"})["ended"]["exit_code"] == 0
        refused(channel.ask("mount", handle=handle, filesystem="ext4", options=[]), "holds no filesystem")


def test_mount_gets_nothing_that_is_not_on_the_list(tmp_path: Path) -> None:
    with attached(tmp_path) as (channel, handle):
        assert channel.ask("mkfs", handle=handle, filesystem="ext4", arguments=["-q"])["ended"]["exit_code"] == 0
        for options in OPTIONS:
            refused(channel.ask("mount", handle=handle, filesystem="ext4", options=options), "not allowed")
        for filesystem in ("tmpfs", "overlay", "proc", "fuse", "nfs", "auto", "none", "ext4,xfs", "zfs", ""):
            refused(channel.ask("mount", handle=handle, filesystem=filesystem, options=[]), "not what was made")


def test_only_what_was_attached_and_is_mounted_can_be_named(volume: tuple[Channel, int, Path]) -> None:
    channel, handle, _ = volume
    for verb in ("wipe", "umount", "detach", "sync"):
        refused(channel.ask(verb, handle=handle + 1), "no such handle")
    for verb in ("umount", "sync"):
        refused(channel.ask(verb, handle=handle), "holds no filesystem")


def test_a_workload_gets_no_other_variable_and_starts_where_the_user_could_start_it(
    volume: tuple[Channel, int, Path],
) -> None:
    channel, _, directory = volume
    order: dict[str, Any] = {"argv": ["true"], "cwd": str(directory), "env": {}, "memory_bytes": 0}
    for name in ("LD_PRELOAD", "LD_LIBRARY_PATH", "PATH", "GCONV_PATH", "BASH_ENV", "A=B", ""):
        refused(channel.ask("run", **{**order, "env": {name: "x"}}), "is not passed on")
    os.chown(directory, NOBODY, NOBODY)
    for cwd in (str(directory), "/etc/passwd", "/dev/sda", "/proc/1/mem", f"{directory}/none"):
        refused(channel.ask("run", **{**order, "cwd": cwd}), f"{cwd}: ")


def test_the_helper_runs_in_namespaces_of_its_own() -> None:
    """Else its mounts would be the machine's, and would stay."""
    with Channel() as channel:
        channel.ask("hello")
        for kind in ("mnt", "pid"):
            assert os.readlink(f"/proc/{channel.helper_pid}/ns/{kind}") != os.readlink(f"/proc/self/ns/{kind}")


@pytest.mark.parametrize("words", [[], [""], ["everything"], ["images", "erase"], ["-images"], ["confirm 8:16"]])
def test_the_helper_is_started_for_exactly_one_right(words: list[str]) -> None:
    done = subprocess.run([*HELPER, *words], input="", capture_output=True, check=False, text=True)
    assert done.returncode == 1
    assert "is started for one right (images, erase, erase-unattended, set-up), not for" in done.stderr


@pytest.mark.parametrize("lost", ["sys_admin", "sys_resource,-mknod,-sys_admin"])
def test_root_without_the_right_to_mount_is_told_so(lost: str) -> None:
    script = """
import asyncio
from fswizard import privileged
from fswizard.targets import privilege
from fswizard.targets.helper import Helper
async def main():
    async with Helper.start():
        print("started")
try:
    asyncio.run(main())
except Exception as error:
    print(type(error).__name__, error, error.hint, error.details)
"""
    argv = ["setpriv", f"--bounding-set=-{lost}", sys.executable, "-c", script]
    said = subprocess.run(argv, capture_output=True, text=True, check=True, cwd=ROOT).stdout
    assert said.startswith("Missing The privileged helper could not be started.")
    assert "--target dir:" in said
    assert "Operation not permitted" in said


# Orders of verbs that once went wrong: each was found by reading or by `test_helper_sequences`


@pytest.fixture
def joined(tmp_path: Path) -> Iterator[tuple[Channel, int]]:
    """A helper, and the handle of two images that are one."""
    with Channel() as channel:
        yield channel, channel.join(tmp_path, 128 << 20)["handle"]


def test_a_group_is_no_part_of_another_one(joined: tuple[Channel, int], tmp_path: Path) -> None:
    """Else its devices took orders again once the other one was detached."""
    channel, group = joined
    other = channel.attach(tmp_path)
    refused(channel.ask("join", handles=[group, other]), "be part of another")
    assert "ok" in channel.ask("detach", handle=group)


@pytest.mark.btrfs
def test_after_a_btrfs_that_failed_another_filesystem_is_made_and_mounted(joined: tuple[Channel, int]) -> None:
    """Without the options that say where a btrfs has its further devices."""
    channel, group = joined

    def exit_code(verb: str, **fields: Any) -> int:
        return int(channel.ask(verb, handle=group, **fields)["ended"]["exit_code"])

    assert exit_code("build", filesystem="btrfs", arguments=["-f", "-n", "3"], level="raid1", missing=1)
    assert exit_code("mkfs", filesystem="ext4", arguments=["-q"]) == 0
    assert exit_code("mount", filesystem="ext4", options=[]) == 0
