"""System calls that Python 3.10 has no function for."""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import os
import signal
import struct
from collections.abc import Iterator, Mapping

CLONE_NEWPID = 0x20000000
PR_SET_PDEATHSIG, PR_CAPBSET_READ, PR_CAPBSET_DROP, PR_SET_NO_NEW_PRIVS, PR_CAP_AMBIENT = 1, 23, 24, 38, 47
PR_CAP_AMBIENT_CLEAR_ALL = 4
CAPABILITY_HEADER = struct.pack("=Ii", 0x20080522, 0)
"""linux/capability.h: version 3, this process."""
CAPABILITIES: Mapping[str, int] = {
    "chown": 0,  # give the root of a new filesystem to the user
    "dac_read_search": 2,  # mount points lie in directories of the user's
    "fowner": 3,  # set the mode of what was given to the user; ZFS asks for it where others ask for chown
    "setgid": 6,  # open files, and start workloads, as the user
    "setuid": 7,
    "setpcap": 8,  # take away what is not listed here, and from workloads the rest
    "sys_rawio": 17,  # ask a disk for its health (smartctl)
    "sys_ptrace": 19,  # see which process has a disk or a mount open
    "sys_admin": 21,  # mount; loop devices, arrays, pools; namespaces
    "mknod": 27,  # nodes of loop devices, arrays and pools
    "syslog": 34,  # read the kernel's log
}
"""All that the helper keeps, and whatever it starts can have. Without sys_resource it gets no blocks that are reserved
for root, and passes no limit."""
BLKFLSBUF = 0x1261
MS_NOSUID, MS_NODEV, MS_REMOUNT, MS_BIND = 2, 4, 32, 4096
MNT_DETACH, UMOUNT_NOFOLLOW = 2, 8

_libc = ctypes.CDLL(None, use_errno=True)


@contextlib.contextmanager
def closing(descriptor: int) -> Iterator[int]:
    """Close `descriptor` at the end."""
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def syncfs(descriptor: int) -> None:
    """Write back the filesystem of `descriptor`; OSError also where an earlier write-back failed unseen (syncfs(2))."""
    _check(_libc.syncfs(descriptor))


def unshare_pid() -> None:
    """The next child starts a PID namespace of its own (unshare(2))."""
    _check(_libc.unshare(CLONE_NEWPID))


def rejoin_pid(namespace: int) -> None:
    """Children after this one belong to PID namespace `namespace` again (setns(2))."""
    _check(_libc.setns(namespace, CLONE_NEWPID))


def die_with_parent() -> None:
    """Be killed when the parent ends. Every change of user takes that back (PR_SET_PDEATHSIG in prctl(2))."""
    _check(_libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0))


def keep_capabilities() -> None:
    """Give up for good, here and in all that is started from now on, every right that is not in `CAPABILITIES`."""
    _check(_libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
    _check(_libc.prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0))
    number = 0
    while (there := _libc.prctl(PR_CAPBSET_READ, number, 0, 0, 0)) >= 0:  # up to the last one that the kernel has
        if there and number not in CAPABILITIES.values():
            _check(_libc.prctl(PR_CAPBSET_DROP, number, 0, 0, 0))
        number += 1
    data = ctypes.create_string_buffer(24)
    _check(_libc.capget(CAPABILITY_HEADER, data))
    # effective, permitted and inheritable: of the numbers below 32, then of those above
    _, low, _, _, high, _ = struct.unpack("=6I", data.raw)
    kept = sum(1 << number for number in CAPABILITIES.values()) & (high << 32 | low)
    low, high = kept & 0xFFFFFFFF, kept >> 32
    _check(_libc.capset(CAPABILITY_HEADER, struct.pack("=6I", low, low, 0, high, high, 0)))


def mount(source: str, target: str, kind: str, flags: int, data: str = "") -> None:
    """mount(2)."""
    _check(_libc.mount(*map(os.fsencode, (source, target, kind)), ctypes.c_ulong(flags), os.fsencode(data)))


def unmount(target: str) -> None:
    """umount2(2): OSError EBUSY while anything uses it."""
    _check(_libc.umount2(os.fsencode(target), UMOUNT_NOFOLLOW))


def detach_mount(target: str) -> None:
    """umount2(2), also where whoever served it is gone."""
    _check(_libc.umount2(os.fsencode(target), MNT_DETACH))


def drop_buffers(device: int) -> None:
    """Forget what the kernel keeps of an open block device."""
    fcntl.ioctl(device, BLKFLSBUF)


def _check(result: int) -> None:
    if result:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
