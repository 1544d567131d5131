"""The systems that the test machine boots: Debian, made once by mmdebstrap and kept in the cache."""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "fswizard-vm"
SUITE, NEWER = "bookworm", "trixie"
"""What all tests use, and what has the kernel that a few of them need."""
ROOM = "12G"
"""Size of the root filesystem; sparse."""
PACKAGES = (
    *("linux-image-amd64", "initramfs-tools", "zstd", "systemd-sysv", "udev", "qemu-guest-agent", "python3", "sudo"),
    *("smartmontools", "util-linux", "fdisk", "fio", "e2fsprogs", "xfsprogs", "btrfs-progs", "f2fs-tools"),
    *("nilfs-tools", "jfsutils", "exfatprogs", "dosfstools", "ntfs-3g", "mdadm", "sqlite3", "borgbackup", "rsync"),
    *("cryptsetup-bin", "dmsetup", "udisks2", "polkitd", "libpam-systemd", "dbus-user-session"),
)
NEWER_PACKAGES = ("python3-msgspec",)
"""What the newer Python cannot take from the packages of the tests, which are compiled for the one of `SUITE`."""
ZFS_PACKAGES = ("linux-headers-amd64", "zfs-dkms", "zfsutils-linux")
"""OpenZFS, whose module is built in the root: many minutes that only the tests of ZFS pay."""
LEFT_OUT = (
    *("/usr/share/doc/*", "/usr/share/man/*", "/usr/share/locale/*"),
    *(f"/lib/modules/*/kernel/{kind}/*" for kind in ("drivers/gpu", "drivers/media", "drivers/net", "sound")),
)
"""Half of the kernel's modules, for hardware that QEMU does not show."""
SHARES = {"checkout": "/mnt/checkout", "packages": "/mnt/packages"}
"""Where directories of the host appear, by the tag that QEMU gives them."""

_HOOKS = {
    "setup": (
        'mkdir -p "$1/etc/initramfs-tools/conf.d" "$1/usr/share/initramfs-tools/modules.d"',
        'echo MODULES=list > "$1/etc/initramfs-tools/conf.d/test-machine"',  # an initrd that unpacks in no time
        'printf "%s\\n" virtio_pci virtio_blk ext4 > "$1/usr/share/initramfs-tools/modules.d/test-machine"',
    ),
    "customize": (
        f"mkdir {' '.join(f'$1{point}' for point in SHARES.values())}",
        *(
            f'echo "{tag} {point} 9p trans=virtio,ro,cache=loose,msize=262144,nofail 0 0" >> "$1/etc/fstab"'
            for tag, point in SHARES.items()
        ),
        f'printf "%s\\n" {" ".join(SHARES.values())} > "$1/usr/lib/python3/dist-packages/shares.pth"',
        """printf '%s\\n' '#!/bin/sh' 'exec python3 -m fswizard "$@"' > "$1/usr/local/bin/fswizard" """,
        'chmod 755 "$1/usr/local/bin/fswizard"',
        'echo test-machine > "$1/etc/hostname"',
        'chroot "$1" passwd --delete root',
        'chroot "$1" systemctl --quiet disable udisks2',  # D-Bus starts it for those who ask
        "copy-out /boot .",
    ),
}


@dataclass(frozen=True)
class Root:
    """What QEMU boots."""

    directory: Path

    @property
    def image(self) -> Path:
        return self.directory / "root.ext2"

    @property
    def kernel(self) -> Path:
        return next(self.directory.glob("boot/vmlinuz-*"))

    @property
    def initrd(self) -> Path:
        return next(self.directory.glob("boot/initrd.img-*"))


def build(suite: str = SUITE, *, zfs: bool = False) -> Root:
    """The root of this recipe, from the cache where it is there. Roots of other recipes are removed."""
    command = _command(suite, zfs)
    root = _root(command)
    if not root.directory.exists():
        CACHE.mkdir(parents=True, exist_ok=True)
        with (CACHE / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not root.directory.exists():
                _make(root, command)
    return root


def _make(root: Root, command: Sequence[str]) -> None:
    known = {_root(_command(*recipe)).directory for recipe in ((SUITE, False), (SUITE, True), (NEWER, False))}
    for old in {*CACHE.glob("*/")} - known:
        shutil.rmtree(old)
    new = Root(CACHE / "new")
    new.directory.mkdir()
    subprocess.run(command, cwd=new.directory, check=True)
    subprocess.run(["resize2fs", new.image, ROOM], check=True)
    new.directory.rename(root.directory)


def _root(command: Sequence[str]) -> Root:
    return Root(CACHE / hashlib.sha256("\0".join((*command, ROOM)).encode()).hexdigest()[:16])


def _command(suite: str, zfs: bool) -> tuple[str, ...]:
    return tuple(_words(suite, zfs))


def _words(suite: str, zfs: bool) -> Iterable[str]:
    further = NEWER_PACKAGES if suite == NEWER else ZFS_PACKAGES if zfs else ()
    packages = PACKAGES + further
    yield from ("mmdebstrap", "--quiet", "--variant=minbase", "--format=ext2", f"--include={','.join(packages)}")
    yield f"--components={'main,contrib' if zfs else 'main'}"
    yield from (f"--dpkgopt=path-exclude={path}" for path in LEFT_OUT)
    yield from (f"--{stage}-hook={hook}" for stage, hooks in _HOOKS.items() for hook in hooks)
    yield from (suite, "root.ext2")
