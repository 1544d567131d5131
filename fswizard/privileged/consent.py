"""The user's yes to erasing a disk: kept by root for a quarter of an hour, and used up by the first claim of that disk.

One file for each user and device, in a directory that root alone can look into. It is gone with the next boot.
"""

from __future__ import annotations

import contextlib
import os
import stat
import time

from fswizard.privileged.block_device import Device
from fswizard.privileged.protocol import Refusal

DIRECTORY = "/run/fswizard-consent"
MAXIMUM_AGE_S = 15 * 60
ROOT = 0


def give(uid: int, device: Device, diskseq: int, size_bytes: int, *, directory: str = DIRECTORY) -> None:
    """User `uid` said yes just now, instead of whatever was said before."""
    with contextlib.suppress(FileExistsError):
        os.mkdir(directory, 0o700)
    place = _open(directory)
    try:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(_name(uid, device), dir_fd=place)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        file = os.open(_name(uid, device), flags, 0o600, dir_fd=place)
        try:
            os.write(file, f"{diskseq} {size_bytes} {time.clock_gettime_ns(time.CLOCK_BOOTTIME)}".encode())
        finally:
            os.close(file)
    finally:
        os.close(place)


def take(
    uid: int, device: Device, diskseq: int, size_bytes: int, *, directory: str = DIRECTORY,
    maximum_age_s: float = MAXIMUM_AGE_S,
) -> None:  # fmt: skip
    """Use up the user's yes to exactly this disk; Refusal where there is none."""
    with contextlib.suppress(OSError, ValueError):
        *said, then_ns = _taken(directory, _name(uid, device))
        age_s = (time.clock_gettime_ns(time.CLOCK_BOOTTIME) - then_ns) / 1e9
        if said == [diskseq, size_bytes] and 0 <= age_s <= maximum_age_s:
            return
    minutes = f"{MAXIMUM_AGE_S // 60} minutes"
    raise Refusal("refused", f"nobody confirmed on a terminal within the last {minutes} that {device.name} be erased")


def _taken(directory: str, name: str) -> tuple[int, ...]:
    """Disk sequence number, size and time. Of several helpers, the one that could unlink the file has it."""
    place = _open(directory)
    try:
        file = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=place)
        try:
            os.unlink(name, dir_fd=place)
            return tuple(map(int, os.read(file, 100).split()))
        finally:
            os.close(file)
    finally:
        os.close(place)


def _name(uid: int, device: Device) -> str:
    return f"{uid}-{device.number}"


def _open(directory: str) -> int:
    """Descriptor of the directory; Refusal unless it is root's alone, and so is what lies in it."""
    place = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    status = os.fstat(place)
    if status.st_uid != ROOT or stat.S_IMODE(status.st_mode) & 0o077:
        os.close(place)
        raise Refusal("refused", f"{directory} is not root's alone")
    return place
