"""Every option of the catalogue, formatted and mounted for real; what this kernel refuses is listed as xfail."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from fswizard.advice.commands import making
from fswizard.disks import exact_commands
from fswizard.filesystems import availability, catalogue, parse_candidate
from fswizard.model.filesystem import Candidate, Filesystem
from fswizard.model.plan import FORMAT, MOUNTING
from fswizard.system import commands, host
from tests.loop.devices import Bench, run

pytestmark = pytest.mark.loop

IMAGE_BYTES = 2 << 30
PLAIN = [filesystem for filesystem in catalogue().values() if not filesystem.driver]
"""Made and mounted by commands that anybody may type; the others are tried in test_root_disks."""
MOUNTABLE = [filesystem for filesystem in PLAIN if host.this.kernel_supports(filesystem.mount_type)]
ASKING = [filesystem for filesystem in MOUNTABLE if filesystem.name not in ("exfat", "fat32", "ntfs")]
"""Whose mkfs asks before it overwrites; the others do not know the question."""
NOT_IN_DEBIAN = ("bcachefs",)
"""Whose mkfs neither the developers' machine nor CI can install."""


EVERY_OPTION = [
    pytest.param(f"{filesystem.name}:{token}", option.needs, id=f"{filesystem.name}:{token}")
    for filesystem in MOUNTABLE
    for option in filesystem.options
    for token in option.tokens
]
"""With each of its values, and what it needs beyond an ordinary kernel."""


def planned(candidate: Candidate, text: str, device: str) -> tuple[str, ...]:
    """The command of a plan that makes or mounts it, its own cleaner not among them."""
    return next(c.argv for c in exact_commands.making(candidate, (device,)) if c.text == text)


def make_and_use(candidate: Candidate, device: str, directory: Path) -> None:
    """Format, mount, write, mount again, read."""
    directory.mkdir()
    checked(*planned(candidate, FORMAT, device))
    with mounted(candidate, device, directory):
        (directory / "file").write_bytes(b"kept" * 5000)
    with mounted(candidate, device, directory):
        assert (directory / "file").read_bytes() == b"kept" * 5000


@contextmanager
def mounted(candidate: Candidate, device: str, directory: Path) -> Iterator[None]:
    checked(*planned(candidate, MOUNTING, device)[:-1], str(directory))
    try:
        yield
    finally:
        run("umount", str(directory))


def checked(*argv: str) -> None:
    """Raises CalledProcessError where a program fails; nobody answers its questions."""
    subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=True)


def require(filesystem: Filesystem) -> None:
    state = availability(filesystem)
    if not state.usable:
        pytest.skip(f"{filesystem.name}: {state.reason} {state.hint}")


@pytest.mark.parametrize(("name", "needs"), EVERY_OPTION)
def test_an_option_works(name: str, needs: str, bench: Bench, tmp_path: Path) -> None:
    candidate = parse_candidate(name)
    require(candidate.filesystem)
    try:
        make_and_use(candidate, bench.disk(IMAGE_BYTES).path, tmp_path / "mount")
    except subprocess.CalledProcessError as error:
        if not needs:
            raise AssertionError(f"{error}\n{error.stdout}{error.stderr}") from error
        pytest.xfail(f"{name} needs {needs}: {' '.join(error.stderr.split())}")


@pytest.mark.parametrize("filesystem", MOUNTABLE, ids=lambda filesystem: filesystem.name)
def test_the_smallest_size_works(filesystem: Filesystem, bench: Bench, tmp_path: Path) -> None:
    require(filesystem)
    device = bench.disk(filesystem.minimum_bytes).path
    make_and_use(parse_candidate(filesystem.name), device, tmp_path / "mount")


def require_mkfs(filesystem: Filesystem) -> None:
    """Where Debian has its mkfs, a test without it is skipped, which fails where everything is required."""
    if commands.find(filesystem.mkfs_program) is None:
        lack = pytest.xfail if filesystem.name in NOT_IN_DEBIAN else pytest.skip
        lack(f"{filesystem.mkfs_program} is not installed: {filesystem.packages}")


@pytest.mark.parametrize(
    "filesystem", [fs for fs in PLAIN if fs not in MOUNTABLE], ids=lambda filesystem: filesystem.name
)
def test_what_this_kernel_cannot_mount_is_formatted_at_least(filesystem: Filesystem, bench: Bench) -> None:
    require_mkfs(filesystem)
    names = [filesystem.name, *(f"{filesystem.name}:{t}" for option in filesystem.mkfs_options for t in option.tokens)]
    device, kinds = bench.disk(IMAGE_BYTES).path, (filesystem.name, filesystem.mount_type)
    for name in names:
        run(*planned(parse_candidate(name), FORMAT, device))
        assert run("blkid", "--probe", "--output", "value", "--match-tag", "TYPE", device).strip() in kinds
    small = bench.attach(bench.file("small", filesystem.minimum_bytes))
    run(*planned(parse_candidate(filesystem.name), FORMAT, small))
    pytest.xfail("this kernel cannot mount it, and so with none of its options")


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


@pytest.mark.parametrize("name", AT_BOTH_ENDS)
def test_values_at_both_ends_are_taken_by_mkfs_and_by_a_kernel_that_has_it(
    name: str, bench: Bench, tmp_path: Path
) -> None:
    candidate, device = parse_candidate(name), bench.disk(4 << 30).path
    require_mkfs(candidate.filesystem)
    if candidate.filesystem in MOUNTABLE:
        make_and_use(candidate, device, tmp_path / "mount")
    else:
        run(*planned(candidate, FORMAT, device))


@pytest.mark.parametrize("filesystem", ASKING, ids=lambda filesystem: filesystem.name)
def test_a_command_to_be_copied_leaves_an_existing_filesystem_alone(filesystem: Filesystem, bench: Bench) -> None:
    """On a terminal, where its question is answered with no."""
    require(filesystem)
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
