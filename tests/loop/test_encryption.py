"""Encryption by the filesystem itself: what the disk shows, that each mount opens it again, and nobody has the key."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from fswizard.errors import Refused
from fswizard.filesystems import parse_candidate
from fswizard.targets.helper import Attached, Helper
from tests.loop.channel import AS_NOBODY, NOBODY, Channel
from tests.loop.orders import attach, made_and_mounted, make, mount, said, umount

pytestmark = [pytest.mark.root, pytest.mark.loop]

WORDS, NAME = "nobody else reads this", "a-name-that-nobody-else-reads"
ENCRYPTED = "ext4:encrypt"
WRITE = ("sh", "-c", f"mkdir in && yes '{WORDS}' | head -c 1M > in/{NAME}")


def shown(attached: Attached) -> tuple[bool, bool]:
    """Whether contents and names can be read on the disk."""
    disk = Path(attached.paths[0]).read_bytes()
    return (f"{WORDS}\n{WORDS}\n".encode() in disk, NAME.encode() in disk)


@pytest.mark.parametrize(("name", "readable"), [("ext4", (True, True)), (ENCRYPTED, (False, False))])
async def test_the_disk_shows_neither_contents_nor_names_and_each_mount_opens_them(
    name: str, readable: tuple[bool, bool], tmp_path: Path
) -> None:
    async with Helper.start() as helper:
        attached = await attach(helper, tmp_path)
        directory = await made_and_mounted(helper, attached, name)
        await said(helper, directory, *WRITE)
        await umount(helper, attached)
        assert shown(attached) == readable
        for _ in range(2):
            await mount(helper, attached, name)
            assert await said(helper, directory, "head", "--lines=1", f"in/{NAME}") == WORDS
            mounts = await said(helper, directory, "grep", "--count", f" {directory} ", "/proc/self/mountinfo")
            assert mounts == "1", "the root is mounted, too"
            await umount(helper, attached)


async def test_a_copy_opens_with_the_key_that_it_was_made_with(tmp_path: Path) -> None:
    async with Helper.start() as helper:
        one, copied = await attach(helper, tmp_path), await attach(helper, tmp_path)
        await said(helper, await made_and_mounted(helper, one, ENCRYPTED), *WRITE)
        await umount(helper, one)
        await helper.copy(one.handle, copied.handle)
        assert await said(helper, await made_and_mounted(helper, one, ENCRYPTED), "ls", "-A") == ""
        await mount(helper, copied, ENCRYPTED)
        assert await said(helper, copied.directory, "head", "--lines=1", f"in/{NAME}") == WORDS
        for attached in (one, copied):
            await umount(helper, attached)


async def test_one_that_is_in_use_stays_mounted_and_its_user_is_named(tmp_path: Path) -> None:
    async with Helper.start() as helper:
        attached = await attach(helper, tmp_path)
        directory = await made_and_mounted(helper, attached, ENCRYPTED)
        process = await helper.run(["sleep", "600"], cwd=directory)
        busy = await helper.umount(attached.handle)
        assert busy.exit_code != 0 and "sleep" in busy.output
        with pytest.raises(Refused, match="is mounted"):
            await helper.wipe(attached.handle)
        await process.kill()
        await umount(helper, attached)


async def test_what_cannot_be_encrypted_is_told_and_left_unmounted(tmp_path: Path) -> None:
    """A read-only mount, in which no directory can be made."""
    async with Helper.start() as helper:
        attached = await attach(helper, tmp_path)
        await make(helper, attached, ENCRYPTED)
        failed = await helper.order("mount", attached.handle, filesystem="ext4", options=["ro"])
        assert failed.exit_code != 0 and "Read-only file system" in failed.output
        await mount(helper, attached, ENCRYPTED)
        await umount(helper, attached)


def test_the_directory_is_that_of_a_user_who_is_not_root_at_each_mount(tmp_path: Path) -> None:
    for directory in (tmp_path, *tmp_path.parents[:3]):
        directory.chmod(directory.stat().st_mode | 0o711)
    os.chown(tmp_path, NOBODY, NOBODY)
    arguments = [*parse_candidate(ENCRYPTED).mkfs_arguments(scratch=True)]
    with Channel(before=AS_NOBODY, SUDO_UID=str(NOBODY)) as channel:
        handle = channel.attach(tmp_path)
        directory = f"/run/fswizard/{handle}"
        assert channel.ask("mkfs", handle=handle, filesystem="ext4", arguments=arguments)["ended"]["exit_code"] == 0
        for _ in range(2):
            mounted = channel.ask("mount", handle=handle, filesystem="ext4", options=[])["ended"]
            assert mounted["exit_code"] == 0, mounted
            argv = [
                "sh",
                "-c",
                f"test $(stat -c %u:%a .) = {NOBODY}:700 && echo {WORDS} >> file && grep -q nobody file",
            ]
            ran = channel.ask("run", argv=argv, cwd=directory, env={}, memory_bytes=0)["ended"]
            assert ran["exit_code"] == 0, ran
            assert channel.ask("umount", handle=handle)["ended"]["exit_code"] == 0
