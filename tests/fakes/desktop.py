"""A recorded machine in place of this one: `tests/recorded/sysfs/desktop.txt`, asked by the real code."""

from __future__ import annotations

import atexit
import json
import os
import shutil
import stat
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import psutil
import pytest

from fswizard import drives as drives_of_this_machine
from fswizard.disks import choice, locations, rights, way
from fswizard.drives import drive_of, inventory, smartctl
from fswizard.drives.devices import find_device
from fswizard.errors import Missing
from fswizard.model.drive import Drive, Partition
from fswizard.session import planning
from fswizard.system import commands, host, mounts
from fswizard.system.block_device import Tree
from fswizard.system.mounts import Mount
from fswizard.system.process import Finished
from tests.fakes.host import ModelHost, use
from tests.recorded.machines import machine

HOME = "/home/ada"
WRITABLE = {HOME: True, "/var/tmp": True, "/srv/scratch": True, "/mnt/archive": True,
            "/": False, "/home": False, "/boot/efi": False, "/media/[/]": False}  # fmt: skip
"""Directories that are there, and whether the user may write to them."""
FREE_BYTES = {
    "/": 312_000_000_000,
    "/boot/efi": 1_060_000_000,
    "/home": 519_000_000_000,
    "/mnt/archive": 5_090_000_000_000,
    "/media/[/]": 100_000_000_000,
}
"""By mount point."""
VERSIONS = {
    "mkfs.ext2": "1.47.0", "mkfs.ext3": "1.47.0", "mkfs.ext4": "1.47.0", "mkfs.xfs": "6.1.0", "mkfs.btrfs": "6.2",
    "mdadm": "4.2", "fio": "3.33", "cp": "9.1", "rm": "9.1", "sync": "9.1", "mkdir": "9.1", "tar": "1.34",
    "find": "4.9.0", "sqlite3": "3.40.1", "dpkg": "1.21.22", "/usr/bin/python3": "3.11.2",
}  # fmt: skip
"""Programs that are installed."""
_RECORDED = Path(__file__).parents[1] / "recorded"
SAID = {
    **json.loads((_RECORDED / "sysfs/desktop.smartctl.json").read_text("utf-8")),
    "nvme0n1": json.loads((_RECORDED / "smartctl/INTEL_SSDPE2KE020T7.json").read_text("utf-8")),
}
"""What smartctl says of each disk."""
_UNKNOWN_BRIDGE = {"smartctl": {"version": [7, 3], "messages": [{"string": "Unknown USB bridge [0x174c:0x55aa]"}]}}
"""And of the others."""


@cache
def desktop() -> Tree:
    """Laid out once for all tests of a process."""
    folder = tempfile.mkdtemp(prefix="fswizard-desktop-")
    atexit.register(shutil.rmtree, folder)
    return machine("desktop", Path(folder))


class _Host(ModelHost):
    """Has what the recorded machine has, filesystem by filesystem."""

    def space_bytes(self, directory: str | Path) -> int:
        return FREE_BYTES[_mount(str(directory)).path]


@cache
def drives() -> dict[str, Drive]:
    """The disks with all that smartctl tells, by kernel name."""
    with at_the_desktop():
        found = (smartctl.details(drive, tree=desktop()) for drive in inventory(desktop()))
        return {drive.name: replace(drive, partitions=tuple(map(_with_room, drive.partitions))) for drive in found}


def _with_room(part: Partition) -> Partition:
    """As on a machine that runs: a recorded one has no filesystems to ask."""
    return replace(part, free_bytes=FREE_BYTES.get(part.mount_point))


@contextmanager
def at_the_desktop() -> Iterator[None]:
    """Everything that the wizard asks of its machine is asked of the recorded one."""
    recorded = desktop()
    here: dict[str, Any] = {
        "details": partial(smartctl.details, tree=recorded),
        "drive_of": lambda path: drive_of(recorded.real(path), recorded),
        "find_device": partial(find_device, tree=recorded),
        "mounts": SimpleNamespace(current=lambda: mounts.current(recorded), mount_of=mounts.mount_of),
    }
    with use(_Host(root=recorded.root)), pytest.MonkeyPatch.context() as patch:
        for room in (locations, choice):
            for name, function in here.items():
                if hasattr(room, name):
                    patch.setattr(room, name, function)
        patch.setattr("fswizard.drives.devices.is_blank", lambda device, tree: True)
        patch.setattr(drives_of_this_machine, "details", here["details"])  # imported when they are called
        patch.setattr(drives_of_this_machine, "inventory", lambda: inventory(recorded))
        patch.setattr(rights, "state", lambda: "root")
        patch.setattr(way, "why_root", lambda candidates: "")
        patch.setattr(way, "why_no_udisks", lambda: "no D-Bus")
        patch.setattr(smartctl, "query", _smartctl)
        patch.setattr(host, "tool_version", lambda program: VERSIONS.get(program, ""))
        for room in (commands, planning):
            patch.setattr(room, "find", lambda program: f"/usr/bin/{program}" if program in VERSIONS else None)
        patch.setattr(psutil, "disk_partitions", _partitions)
        patch.setattr(os, "stat", partial(_stat, os.stat))
        if sys.version_info < (3, 11):  # its pathlib keeps the function that os had at first
            patch.setattr("pathlib._NormalAccessor.stat", os.stat)
        patch.setattr(os, "access", partial(_access, os.access))
        patch.setenv("HOME", HOME)
        patch.setenv("XDG_CACHE_HOME", f"{HOME}/.cache")
        yield


@contextmanager
def mounted(name: str, directory: str) -> Iterator[None]:
    """Mount a partition, as another program may at any time."""
    recorded = desktop()
    table = recorded.path("/proc/self/mountinfo")
    before = table.read_text("utf-8")
    number = recorded.text(f"/sys/class/block/{name}/dev")
    table.write_text(f"{before}99 22 {number} / {directory} rw - ext4 /dev/{name} rw\n", "utf-8")
    try:
        yield
    finally:
        table.write_text(before, "utf-8")


@contextmanager
def twin(name: str) -> Iterator[None]:
    """Attach a disk with the serial number of another one, and another name in /dev/disk/by-id."""
    root, serial = desktop().root, desktop().properties(name)["ID_SERIAL_SHORT"]
    record, block, listed = root / "run/udev/data/b65:144", root / "sys/block/sdz", root / "sys/class/block/sdz"
    record.write_text(f"S:disk/by-id/usb-Other\nE:ID_SERIAL_SHORT={serial}")
    block.mkdir()
    (block / "size").write_text("2048")
    (block / "dev").write_text("65:144")
    listed.symlink_to(block)
    try:
        yield
    finally:
        listed.unlink()
        shutil.rmtree(block)
        record.unlink()


def _mount(path: str) -> Mount:
    found = mounts.mount_of(path, mounts.current(desktop()))
    assert found is not None
    return found


def _partitions(*, all: bool = False) -> list[SimpleNamespace]:
    return [SimpleNamespace(mountpoint=m.path, fstype=m.kind) for m in mounts.current(desktop())]


def _stat(real: Callable[..., os.stat_result], path: Any, *args: Any, **kwargs: Any) -> os.stat_result:
    if (name := str(path)) in WRITABLE:
        major, _, minor = _mount(name).device.partition(":")
        return _status(stat.S_IFDIR | 0o755, os.makedev(int(major), int(minor)))
    if name.startswith("/dev/") and desktop().path(name).exists():
        return _status(stat.S_IFBLK | 0o660, 5)
    return real(path, *args, **kwargs)


def _status(mode: int, device: int) -> os.stat_result:
    return os.stat_result((mode, 2, device, 1, 0, 0, 0, 0, 0, 0))


def _access(real: Callable[..., bool], path: Any, *args: Any, **kwargs: Any) -> bool:
    return WRITABLE[str(path)] if str(path) in WRITABLE else real(path, *args, **kwargs)


def _smartctl(argv: Sequence[str], *, timeout_s: float = 10.0) -> Finished:
    if argv[0] != "smartctl":
        raise Missing(f"{argv[0]} is not installed.")
    name = argv[-1].removeprefix("/dev/")
    output = json.dumps(SAID.get(name, _UNKNOWN_BRIDGE)).encode()
    return Finished(tuple(argv), int(name not in SAID), output, b"", 0.01)
