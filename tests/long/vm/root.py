"""The systems that the test machine boots: Debian, made once by mmdebstrap and kept in the cache."""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "fswizard-vm"
ROOM = "12G"
"""Size of the root filesystem; sparse."""
PACKAGES = (
    *("linux-image-amd64", "initramfs-tools", "zstd", "systemd-sysv", "udev", "qemu-guest-agent", "python3", "sudo"),
    *("smartmontools", "util-linux", "fdisk", "fio", "e2fsprogs", "xfsprogs", "btrfs-progs", "f2fs-tools"),
    *("nilfs-tools", "jfsutils", "exfatprogs", "dosfstools", "ntfs-3g", "mdadm", "sqlite3", "borgbackup", "rsync"),
    *("cryptsetup-bin", "dmsetup", "udisks2", "polkitd", "libpam-systemd", "dbus-user-session"),
)
Kind = Literal["usual", "newer", "zfs"]
KINDS: Mapping[Kind, tuple[str, str, tuple[str, ...]]] = {
    "usual": ("bookworm", "main", ()),
    # The newer Python cannot take it from the packages of the tests, which are compiled for the one of bookworm.
    "newer": ("trixie", "main", ("python3-msgspec",)),
    # OpenZFS, whose module is built in the root: many minutes that only the tests of ZFS pay.
    "zfs": ("bookworm", "main,contrib", ("linux-headers-amd64", "zfs-dkms", "zfsutils-linux")),
}
"""Suite, components and further packages."""
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


def build(kind: Kind) -> Root:
    """The root of this kind, from the cache where it is there. Roots of other recipes are removed."""
    root = Root(_directory(kind))
    CACHE.mkdir(parents=True, exist_ok=True)
    with (CACHE / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not root.directory.exists():
            for old in {*CACHE.glob("*/")} - {*map(_directory, KINDS)}:
                shutil.rmtree(old)
            new = Root(CACHE / "new")
            new.directory.mkdir()
            subprocess.run(_command(kind), cwd=new.directory, check=True)
            subprocess.run(["resize2fs", new.image, ROOM], check=True)
            new.directory.rename(root.directory)
    return root


def _directory(kind: Kind) -> Path:
    return CACHE / hashlib.sha256("\0".join((*_command(kind), ROOM)).encode()).hexdigest()[:16]


def _command(kind: Kind) -> list[str]:
    suite, components, further = KINDS[kind]
    packages = ",".join((*PACKAGES, *further))
    command = ["mmdebstrap", "--quiet", "--variant=minbase", "--format=ext2", f"--include={packages}"]
    command += [f"--components={components}", *(f"--dpkgopt=path-exclude={path}" for path in LEFT_OUT)]
    for stage, hooks in _HOOKS.items():
        command += [f"--{stage}-hook={hook}" for hook in hooks]
    return [*command, suite, "root.ext2"]
