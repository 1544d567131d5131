"""Encryption by a filesystem itself, with a key that is random, never leaves the helper, and ends with it.

Of ext4 and F2FS the kernel encrypts directories (fscrypt), but never the root of an ext4. So a directory below the root
is encrypted and mounted in its place: whoever measures sees nothing else. The structures are those of linux/fscrypt.h,
explained in Documentation/filesystems/fscrypt.rst. ZFS is given its key when a pool is made and imported (`pools`).
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import struct
from collections.abc import Sequence

from fswizard.privileged import commands, grammar, system_calls
from fswizard.privileged.system_calls import closing

KEY_BYTES = 32
"""AES-256, in fscrypt and in ZFS."""
ADD_KEY, SET_POLICY = 0xC0506617, 0x800C6613
"""FS_IOC_ADD_ENCRYPTION_KEY and FS_IOC_SET_ENCRYPTION_POLICY."""
BY_IDENTIFIER = 2
V2, AES_256_XTS, AES_256_CTS, PADDED_TO_32 = 2, 1, 4, 3
"""As `fscrypt encrypt` does it where nothing else is chosen."""


def new_key(arguments: Sequence[str]) -> bytes:
    """A key for what mkfs makes with these arguments; empty where that is not encrypted."""
    return os.urandom(KEY_BYTES) if grammar.encrypts(arguments) else b""


def encrypt(root: str, key: bytes) -> None:
    """Mount an encrypted directory of the filesystem at `root` in its place; OSError where that can't be.

    The kernel forgets the key with each unmount, so each mount does this again. At no moment is more than one mounted.
    """
    path = commands.encrypted_directory(root)
    with contextlib.suppress(FileExistsError):
        os.mkdir(path, 0o700)
    with closing(os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)) as directory:
        try:
            _set_policy(directory, key)
        except OSError as error:
            if error.errno in (errno.EOPNOTSUPP, errno.ENOTTY):
                raise OSError(error.errno, "this kernel can't encrypt it: it needs CONFIG_FS_ENCRYPTION") from error
            raise
        mount = system_calls.clone_mount(directory)
    with closing(mount):
        system_calls.unmount(root)
        system_calls.move_mount(mount, root)


def _set_policy(directory: int, key: bytes) -> None:
    """Encrypt an empty directory from now on; the same key opens it again."""
    added = bytearray(struct.pack("=I36xI36x", BY_IDENTIFIER, len(key)) + key)
    fcntl.ioctl(directory, ADD_KEY, added)
    identifier = added[8:24]  # written there by the kernel
    policy = struct.pack("=4B4x16s", V2, AES_256_XTS, AES_256_CTS, PADDED_TO_32, identifier)
    fcntl.ioctl(directory, SET_POLICY, policy)
