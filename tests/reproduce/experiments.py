"""Where published experiments are run again: on this machine, or in the test machine on disks made for them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.simulated.disks import Disk as Model
from tests.simulated.disks import Mechanics, archive_disk
from tests.vm.disks import GIB, SLOW, Disk, sata, virtio
from tests.vm.runs import link

MIB = 1 << 20
FLASH = "FLASH"
OTHER = virtio("OTHER", size_bytes=GIB)
MEMBERS = tuple(virtio(f"MEMBER{number}", size_bytes=GIB).as_slow_as(**SLOW) for number in range(1, 5))
LARGE_STRIPE_CACHE = (
    'SUBSYSTEM=="block", ATTR{md/level}=="raid[56]", ATTR{md/stripe_cache_size}="1024"\n'
    'SUBSYSTEM=="block", ATTR{md/level}=="raid[56]", ATTR{queue/read_ahead_kb}="1024"\n'
)
"""As the document sets both for md, at the scale of its files: 32,768 pages and 32 MiB for 10 GB."""


@dataclass(frozen=True, slots=True)
class Place:
    """A test machine with its disks; what is measured on is one of them, all of them, or an image on one."""

    disks: tuple[Disk, ...] = ()
    model: Model | None = None
    """What the first disk costs; None for one that is as fast as QEMU is asked to be."""
    image: str = ""
    """Size of the image, where the disk gets ext4 and an image on that."""
    zfs: bool = False
    memory_limit: str = ""
    rules: str = ""
    """For udev, which sets what fswizard leaves to the administrator."""

    @property
    def links(self) -> list[str]:
        return [
            link(disk) if "model" in disk.devices[-1] else f"/dev/disk/by-id/virtio-{disk.serial}"
            for disk in self.disks
        ]

    @property
    def target(self) -> tuple[str, ...]:
        """Options of `fswizard` that name it."""
        if self.image:
            return ("--target", f"image:{self.image}@/srv")
        kind = "devices" if len(self.disks) > 1 else "device"
        return (
            *("--target", f"{kind}:{','.join(self.links)}", "--erase", ",".join(disk.serial for disk in self.disks)),
            *(("--memory-limit", self.memory_limit) if self.memory_limit else ()),
        )


def _shingled(size_bytes: int, cache_bytes: int, *others: Disk) -> Place:
    """On a disk that is called what it simulates, so that it rests between candidates as a real one would."""
    disk = sata("SHINGLED", 0, "ST8000AS0002-1NA17Z", size_bytes=size_bytes, rpm=5980, firmware="AR13")
    return Place((disk, *others), archive_disk(size_bytes, cache_bytes))


def _conventional(size_bytes: int) -> Place:
    disk = sata("PLAIN", 0, "MD04ACA400", size_bytes=size_bytes, rpm=7200, firmware="FP2A")
    return Place((disk,), Mechanics(size_bytes))


def place(name: str) -> Place | None:
    """Of an experiment; None for this machine itself. A simulated disk is a new one each time."""
    make = _PLACES[name]
    return make() if make else None


_PLACES = {
    "fio-f2fs": lambda: Place((virtio(FLASH, size_bytes=8 * GIB).as_slow_as(**SLOW),), image="512M"),
    "trees-ssd": None,
    "trees-ssd-quarter": None,
    "trees-ssd-zfs": lambda: Place((virtio(FLASH, size_bytes=4 * GIB).as_slow_as(**SLOW),), zfs=True),
    "trees-ssd-large": None,
    "ssd-arrays": lambda: Place(MEMBERS, zfs=True, memory_limit="none", rules=LARGE_STRIPE_CACHE),
    "smr-fileserver": lambda: _shingled(GIB, 100 * MIB),
    "pmr-fileserver": lambda: _conventional(GIB),
    "smr-nilfs2": lambda: _shingled(40 * 10**9, 100 * MIB),
    "smr-attic": lambda: _shingled(40 * 10**9, 100 * MIB),
    "smr-rsync": lambda: _shingled(40 * 10**9, 8 * MIB),
    "smr-remount": lambda: _shingled(2 * GIB, 8 * MIB, OTHER),
    "smr-image": lambda: _shingled(2 * GIB, 100 * MIB, OTHER),
}
DOCUMENTS: Mapping[str, tuple[str, ...]] = {
    "shingled": (
        "smr-fileserver",
        "pmr-fileserver",
        "smr-nilfs2",
        "smr-attic",
        "smr-rsync",
        "smr-remount",
        "smr-image",
    ),
    "f2fs": ("fio-f2fs",),
    "trees": ("trees-ssd", "trees-ssd-quarter", "trees-ssd-zfs", "trees-ssd-large"),
    "arrays": ("ssd-arrays",),
}
"""By what `make reproduce DOCUMENT=` names; the question and its translation are one document with two answers."""

NOT_RUN: Mapping[str, tuple[str, ...]] = {
    "arrays": ("sequential reads of 200 GB for 60 s, for which the test machine is too small.",),
}
"""What the documents did and nothing here does yet, in the middle of a sentence."""


def socket_of(directory: Path) -> str:
    return str(directory / "nbd.sock")
