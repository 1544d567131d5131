"""System calls that Python 3.10 has no function for."""

from __future__ import annotations

import ctypes
import fcntl
import os
import signal

CLONE_NEWPID = 0x20000000
PR_SET_PDEATHSIG = 1
BLKFLSBUF = 0x1261
MS_NOSUID, MS_NODEV, MS_REMOUNT, MS_BIND, MS_MOVE = 2, 4, 32, 4096, 8192
MNT_DETACH, UMOUNT_NOFOLLOW = 2, 8

_libc = ctypes.CDLL(None, use_errno=True)


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
