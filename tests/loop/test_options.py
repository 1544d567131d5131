"""Every filesystem and option of the catalogue, formatted and mounted for real where this kernel has it."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from fswizard.advice.commands import making
from fswizard.disks import exact_commands
from fswizard.filesystems import catalogue, parse_candidate
from fswizard.model.filesystem import Candidate, Filesystem
from fswizard.model.plan import FORMAT, MOUNTING
from fswizard.system import commands, host
from tests.loop.devices import Bench, run

pytestmark = pytest.mark.loop

IMAGE_BYTES = 4 << 30
PLAIN = [filesystem for filesystem in catalogue().values() if not filesystem.driver]
"""Made and mounted by commands that anybody may type; the others are tried in test_root_disks."""
MOUNTABLE = [filesystem for filesystem in PLAIN if host.this.kernel_supports(filesystem.mount_type)]
ASKING = [filesystem for filesystem in MOUNTABLE if filesystem.name not in ("exfat", "fat32", "ntfs")]
"""Whose mkfs asks before it overwrites; the others do not know the question."""
NOT_IN_DEBIAN = ("bcachefs",)
"""Whose mkfs neither the developers' machine nor CI can install."""
AT_BOTH_ENDS = [
    "ext4:block=1k,inode-ratio=4k,journal=4",
    "ext4:block=4k,inode-ratio=64m,stride=1,stripe-width=1",
    "ext4:stride=128,stripe-width=384,journal=1024,reserved=50",
    "xfs:agcount=2",
    "xfs:agcount=32,dirblock=64k,inode=2048",
    "xfs:block=1k,dirblock=4k,log=64m",
    "xfs:stripe=4kx2",
    "xfs:stripe=1mx12",
    "xfs:log=512m",
    "btrfs:nodesize=4k",
    "btrfs:nodesize=64k",
    "exfat:cluster=4k",
    "exfat:cluster=32m",
    "fat32:cluster=1",
    "fat32:cluster=128",
    "ext2:reserved=50",
    "jfs:log=1",
    "nilfs2:reserved=49",
]
CASES = [
    *((filesystem.name, "", filesystem.minimum_bytes) for filesystem in PLAIN),
    *(
        (f"{filesystem.name}:{token}", option.needs, IMAGE_BYTES)
        for filesystem in PLAIN
        for option in filesystem.options
        if option.flag or filesystem in MOUNTABLE
        for token in option.tokens
    ),
    *((name, "", IMAGE_BYTES) for name in AT_BOTH_ENDS),
]
"""The smallest of each filesystem, and every option with each value; what it needs beyond an ordinary kernel.

Options of mounting only where this kernel mounts it: they change nothing of how it is made.
"""


def planned(candidate: Candidate, text: str, device: str) -> tuple[str, ...]:
    """The command of a plan that makes or mounts it, its own cleaner not among them."""
    return next(c.argv for c in exact_commands.making(candidate, (device,)) if c.text == text)


def checked(*argv: str) -> None:
    """Raises CalledProcessError where a program fails; nobody answers its questions."""
    subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=True)


@contextmanager
def mounted(candidate: Candidate, device: str, directory: Path) -> Iterator[Path]:
    checked(*planned(candidate, MOUNTING, device)[:-1], str(directory))
    try:
        yield directory / "file"
    finally:
        run("umount", str(directory))


def require_mkfs(filesystem: Filesystem) -> None:
    """Where Debian has its mkfs, a test without it is skipped, which fails where everything is required."""
    if commands.find(filesystem.mkfs_program) is None:
        lack = pytest.xfail if filesystem.name in NOT_IN_DEBIAN else pytest.skip
        lack(f"{filesystem.mkfs_program} is not installed: {filesystem.packages}")


@pytest.mark.parametrize(("name", "needs", "size_bytes"), CASES, ids=[name for name, _, _ in CASES])
def test_it_is_made_and_used_where_this_kernel_has_it(
    name: str, needs: str, size_bytes: int, bench: Bench, tmp_path: Path
) -> None:
    candidate, device = parse_candidate(name), bench.disk(size_bytes).path
    filesystem = candidate.filesystem
    require_mkfs(filesystem)
    try:
        checked(*planned(candidate, FORMAT, device))
        if filesystem in MOUNTABLE:
            with mounted(candidate, device, tmp_path) as file:
                file.write_bytes(b"kept" * 5000)
            with mounted(candidate, device, tmp_path) as file:
                assert file.read_bytes() == b"kept" * 5000
    except subprocess.CalledProcessError as error:
        if not needs:
            raise AssertionError(f"{error}\n{error.stdout}{error.stderr}") from error
        pytest.xfail(f"{name} needs {needs}: {' '.join(error.stderr.split())}")
    kind = run("blkid", "--probe", "--output", "value", "--match-tag", "TYPE", device).strip()
    assert kind in (filesystem.name, filesystem.mount_type)


@pytest.mark.parametrize("filesystem", ASKING, ids=lambda filesystem: filesystem.name)
def test_a_command_to_be_copied_leaves_an_existing_filesystem_alone(filesystem: Filesystem, bench: Bench) -> None:
    """On a terminal, where its question is answered with no."""
    require_mkfs(filesystem)
    device = bench.disk(IMAGE_BYTES).path
    run(*planned(parse_candidate("btrfs" if filesystem.name == "ext4" else "ext4"), FORMAT, device))
    before = run("blkid", "--probe", device)
    leader, follower = os.openpty()
    os.write(leader, b"n\n")
    (command,) = making(parse_candidate(filesystem.name))
    subprocess.run((*command[:-1], device), stdin=follower, stdout=follower, stderr=follower, timeout=60, check=False)
    os.close(follower)
    os.close(leader)
    assert run("blkid", "--probe", device) == before
