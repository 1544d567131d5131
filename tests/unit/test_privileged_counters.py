"""What filesystems count as errors of their own, as each of them writes it below /sys/fs."""

from __future__ import annotations

from pathlib import Path

import pytest

from fswizard.privileged import disk_errors
from fswizard.privileged.block_device import Tree

BCACHEFS = """IO errors since filesystem creation
  read:    1
  write:   0
  checksum:3
IO errors since 7 y ago
  read:    9
  write:   9
  checksum:9
"""
COUNTED = {
    "/sys/fs/ext4/loop0/errors_count": "3\n",
    "/sys/fs/ext4/loop0/warning_count": "7\n",
    "/sys/fs/f2fs/loop1/stat/cp_status": "18\n",
    "/sys/fs/btrfs/11111111-0000-0000-0000-000000000001/devices/loop2/size": "",
    "/sys/fs/btrfs/11111111-0000-0000-0000-000000000001/devices/loop3/size": "",
    "/sys/fs/btrfs/11111111-0000-0000-0000-000000000001/devinfo/1/error_stats": "write_errs 4\nread_errs 0\n",
    "/sys/fs/btrfs/11111111-0000-0000-0000-000000000001/devinfo/2/error_stats": "write_errs 1\nread_errs 2\n",
    "/sys/fs/bcachefs/11111111-0000-0000-0000-000000000001/dev-0/io_errors": BCACHEFS,
    "/sys/fs/ext4/loop9/errors_count": "a new way\n",
}


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    tree = Tree(tmp_path)
    for path, text in COUNTED.items():
        tree.path(path).parent.mkdir(parents=True, exist_ok=True)
        tree.path(path).write_text(text)
    link = tree.path("/sys/fs/bcachefs/11111111-0000-0000-0000-000000000001/dev-0/block")
    link.symlink_to("../../../../devices/virtual/block/loop4")
    return tree


@pytest.mark.parametrize(
    ("device", "found"),
    [
        ("loop0", {"errors_count": 3}),
        ("loop1", {"checkpoint_error": 1, "needs_fsck": 1}),
        ("loop2", {"write_errs": 5, "read_errs": 2}),
        ("loop3", {"write_errs": 5, "read_errs": 2}),
        ("loop4", {"read_errors": 1, "write_errors": 0, "checksum_errors": 3}),
        ("loop5", {}),
        ("loop9", {}),
    ],
)
def test_each_filesystem_has_counters_of_its_own(tree: Tree, device: str, found: dict[str, int]) -> None:
    assert disk_errors.of_filesystem(device, tree) == found
