"""ZFS, whose pools have their own way: made with zpool, exported and imported where others are unmounted and mounted.

A pool lies on one device or on several, has a name that nobody else's has, is looked for on those devices alone, and is
imported only while it is mounted. Nothing of it but the root dataset is ever mounted, by its name: whoever can write to
the devices could put in another dataset, whose mountpoint is a directory of the system.
"""

from __future__ import annotations

import contextlib
import os
import re
import stat
import subprocess
from dataclasses import dataclass, field

from fswizard.privileged import commands, names, programs
from fswizard.privileged.jobs import Work
from fswizard.privileged.protocol import Refusal

MODULE = "/sys/module/zfs"
"""There while the kernel's module is loaded."""
OPENZFS = "mount.zfs"
"""Comes with OpenZFS alone; the abandoned zfs-fuse brings a zpool, too."""
BUSY_LIMIT_S = 10.0
"""Whoever asks after pools, OpenZFS's own event daemon above all, holds them for a moment."""
ANSWER_LIMIT_S = 10
COUNTERS = ("read_errors", "write_errors", "checksum_errors")


@dataclass(slots=True)
class Pool:
    """What `zpool create` makes of a device."""

    name: str
    device: int
    """Descriptor of the block device it lies on."""
    others: tuple[int, ...] = ()
    """Of further ones that it is spread over."""
    counted: dict[str, int] = field(default_factory=dict)
    """Errors of earlier mounts: the pool forgets them at every export."""

    @property
    def directory(self) -> str:
        """Holds its devices' nodes."""
        return commands.pool_directory(self.name)

    @property
    def devices(self) -> dict[str, int]:
        """Each device's node, and its descriptor."""
        nodes = commands.pool_nodes(self.name, 1 + len(self.others))
        return dict(zip(nodes, (self.device, *self.others)))


def new(device: int) -> Pool:
    return Pool(names.new(), device)


def create(pool: Pool, orders: commands.Commands) -> Work:
    """Make the pool by these commands, the last of which exports it. Refusal where there is no OpenZFS."""
    programs.find(OPENZFS)

    def body() -> int:
        _make_nodes(pool)
        failed = (code for order in orders[:-1] if (code := programs.call(order)))
        return next(failed, 0) or export_pool(pool)

    return Work(orders, body)


def import_pool(pool: Pool) -> int:
    """Import the pool; the exit code."""
    _make_nodes(pool)
    return programs.call(commands.import_pool(pool.name))


def export_pool(pool: Pool) -> int:
    """Export the pool, which forgets all that is cached of it; the exit code."""
    return programs.run_until_free(commands.export_pool(pool.name), (b"busy",), BUSY_LIMIT_S)


def destroy_if_imported(pool: Pool) -> None:
    """Whatever became of it, the pool is imported nowhere from here on."""
    if is_imported(pool.name):
        destroy(pool.name)


def remove_nodes(pool: Pool) -> None:
    """Take the devices' nodes away."""
    with contextlib.suppress(OSError):
        for name in os.listdir(pool.directory):
            os.unlink(f"{pool.directory}/{name}")
        os.rmdir(pool.directory)


def is_imported(name: str) -> bool:
    return name in _output("zpool", "list", "-H", "-o", "name").split()


def destroy(name: str) -> int:
    return programs.call(("zpool", "destroy", "-f", name))


def reclaim(name: str) -> None:
    """Destroy a pool that a killed run left imported; Refusal where it may be another's."""
    names.require(name)
    pool = Pool(name, -1)
    if os.path.exists(MODULE) and is_imported(name):
        mark = _output("zfs", "get", "-H", "-o", "value", commands.POOL_MARK, name).strip()
        if mark != name or next(iter(pool.devices)) not in _output("zpool", "status", "-P", name):
            raise Refusal("refused", f"{name} was not made by a run")
        if destroy(name):
            raise Refusal("failed", f"{name} cannot be destroyed")
    remove_nodes(pool)


def counters(pool: Pool) -> dict[str, int]:
    """Errors since the pool was made, as `zpool status` has them."""
    now = errors(_output("zpool", "status", "-p", pool.name))
    return {name: pool.counted.get(name, 0) + now.get(name, 0) for name in (*COUNTERS, "data_errors")}


def keep_errors(pool: Pool) -> None:
    """Remember what the pool has counted, before it is exported."""
    with contextlib.suppress(OSError):  # it is asked again when the candidate is checked
        pool.counted |= counters(pool)


def errors(status: str) -> dict[str, int]:
    """The figures in the output of `zpool status -p`: of each column its highest, and how many files are damaged."""
    rows = re.findall(r"^\t\s*\S+\s+[A-Z]+\s+(\d+)\s+(\d+)\s+(\d+)", status, re.MULTILINE)
    counters = {name: max((int(row[column]) for row in rows), default=0) for column, name in enumerate(COUNTERS)}
    damaged = re.search(r"^errors: (\d+) data errors", status, re.MULTILINE)
    return {**counters, "data_errors": int(damaged[1]) if damaged else 0}


def _make_nodes(pool: Pool) -> None:
    os.makedirs(pool.directory, 0o700, exist_ok=True)
    for node, device in pool.devices.items():
        if not os.path.exists(node):
            os.mknod(node, stat.S_IFBLK | 0o600, os.fstat(device).st_rdev)


def _output(*argv: str) -> str:
    """What a program says; OSError where it fails or does not answer."""
    try:
        done = programs.run(argv, ANSWER_LIMIT_S)
        done.check_returncode()
        return done.stdout.decode("utf-8", "replace")
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
        raise OSError(f"{' '.join(argv[:2])} failed: {(error.stderr or b'').decode('utf-8', 'replace')}") from error
