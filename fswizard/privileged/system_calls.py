"""System calls that Python 3.10 has no function for."""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import os
import signal
import struct
from collections.abc import Collection, Iterator, Mapping, Sequence

CLONE_NEWNS, CLONE_NEWPID = 0x00020000, 0x20000000
PR_SET_PDEATHSIG, PR_SET_NAME, PR_CAPBSET_READ, PR_CAPBSET_DROP, PR_SET_SECUREBITS = 1, 15, 23, 24, 28
PR_SET_NO_NEW_PRIVS, PR_CAP_AMBIENT = 38, 47
NO_ROOT = 0b11
"""SECBIT_NOROOT and its lock: uid 0 gets no capabilities from the next program (capabilities(7))."""
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
KEEP_SIZE, PUNCH_HOLE = 1, 2
MS_NOSUID, MS_NODEV, MS_REMOUNT, MS_BIND, MS_REC, MS_SLAVE = 2, 4, 32, 4096, 16384, 1 << 19
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


def unshare(namespaces: int) -> None:
    """Leave those namespaces for new ones; a new PID namespace starts with the next child (unshare(2))."""
    _check(_libc.unshare(namespaces))


def rejoin_pid(namespace: int) -> None:
    """Children after this one belong to PID namespace `namespace` again (setns(2))."""
    _check(_libc.setns(namespace, CLONE_NEWPID))


def die_with_parent() -> None:
    """Be killed when the parent ends. Every change of user takes that back (PR_SET_PDEATHSIG in prctl(2))."""
    _check(_libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0))


def set_name(name: str) -> None:
    """What this process is called in lists of processes, 15 characters at most."""
    _check(_libc.prctl(PR_SET_NAME, os.fsencode(name), 0, 0, 0))


def reset_personality() -> None:
    """Be an ordinary Linux program, whatever setarch(8) set (personality(2))."""
    _libc.personality(0)


def keep_capabilities() -> None:
    """Give up for good, here and in all that is started from now on, every right that is not in `CAPABILITIES`."""
    _check(_libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
    _keep(CAPABILITIES.values())


def become(uid: int, gid: int, groups: Sequence[int]) -> None:
    """Be that user, for good and without any capability; as uid 0, too, which then owns files and can do no more."""
    _keep(())
    _check(_libc.prctl(PR_SET_SECUREBITS, NO_ROOT, 0, 0, 0))
    os.setgroups(groups)
    os.setresgid(gid, gid, gid)
    os.setresuid(uid, uid, uid)
    _set_capabilities(0)


def _keep(numbers: Collection[int]) -> None:
    """Drop all other capabilities from the bounding set, and, unless that leaves none, from those that it has."""
    _check(_libc.prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0))
    number = 0
    while (there := _libc.prctl(PR_CAPBSET_READ, number, 0, 0, 0)) >= 0:  # up to the last one that the kernel has
        if there and number not in numbers:
            _check(_libc.prctl(PR_CAPBSET_DROP, number, 0, 0, 0))
        number += 1
    if numbers:
        _set_capabilities(sum(1 << number for number in numbers))


def _set_capabilities(wanted: int) -> None:
    """Have those of them that this process has already, and no others."""
    data = ctypes.create_string_buffer(24)
    _check(_libc.capget(CAPABILITY_HEADER, data))
    # effective, permitted and inheritable: of the numbers below 32, then of those above
    _, low, _, _, high, _ = struct.unpack("=6I", data.raw)
    kept = wanted & (high << 32 | low)
    low, high = kept & 0xFFFFFFFF, kept >> 32
    _check(_libc.capset(CAPABILITY_HEADER, struct.pack("=6I", low, low, 0, high, high, 0)))


def filesystem_type(descriptor: int) -> int:
    """Number of the type of filesystem that an open file lies on (`f_type` in statfs(2))."""
    status = ctypes.create_string_buffer(256)
    _check(_libc.fstatfs(descriptor, status))
    return ctypes.c_ulong.from_buffer(status).value


def punch_hole(descriptor: int, offset: int, length: int) -> None:
    """Give back the room of a part of a file or device, which then reads as zeros (fallocate(2))."""
    _check(_libc.fallocate64(descriptor, KEEP_SIZE | PUNCH_HOLE, ctypes.c_int64(offset), ctypes.c_int64(length)))


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
