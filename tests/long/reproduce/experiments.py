"""Where published experiments are run again: here, on disks in simulated time, or in a virtual machine with ZFS."""

from __future__ import annotations

import shlex
import shutil
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.long.reproduce.published import ROOT
from tests.long.uml import machine
from tests.long.uml.machine import SimulatedDisk
from tests.long.vm.disks import GIB, Disk, virtio
from tests.long.vm.machine import booted
from tests.long.vm.runs import run_from_checkout

LONGEST_S = 4 * 3600.0
SLOW = {"bytes_per_s": 10 << 20, "requests_per_s": 200}
"""So that the emulated processor waits for the disks most of the time."""
SIMULATED = "UML"
"""What User-Mode Linux calls its processor; experiments run there on a clock that only disks move."""
OTHER = SimulatedDisk("other", "memory", "size_bytes=8G")
"""Where data come from or go to that must cost nothing."""


def erased(paths: Sequence[str], serials: Sequence[str]) -> tuple[str, ...]:
    """Options of `fswizard` that measure on these devices."""
    kind = "devices" if len(paths) > 1 else "device"
    return ("--target", f"{kind}:{','.join(paths)}", "--erase", ",".join(serials))


@dataclass(frozen=True, slots=True)
class Simulated:
    """The simulated machine: the clock stands still while it computes."""

    disks: tuple[SimulatedDisk, ...]
    """The first is measured; all of them as members of one array."""
    array: bool = False
    image: str = ""
    """Size of the image, where the disk gets ext4 and an image on that."""
    memory: str = "512M"
    before: str = ""
    """Shell commands as root."""
    rounds: int = 3

    @property
    def target(self) -> tuple[str, ...]:
        """Options of `fswizard` that name what is measured."""
        if self.image:
            return ("--target", f"image:{self.image}@/srv")
        names = [disk.name for disk in (self.disks if self.array else self.disks[:1])]
        return erased([f"/dev/{name}" for name in names], names)

    def run(self, words: Sequence[str], path: Path) -> None:
        """`fswizard` with these words there; its result is copied to `path`. Raises RuntimeError if it fails."""
        disk = self.disks[0].name
        image = f"mkfs.ext4 -q -F /dev/{disk}; mount /dev/{disk} /srv\n" if self.image else ""
        argv = (sys.executable, "-m", "fswizard", *words, "--output", "/run/out/result.jsonl")
        script = f"{self.before}\nset -e\n{image}cd {ROOT}\n{shlex.join(argv)}"
        with tempfile.TemporaryDirectory(dir="/var/tmp") as directory:
            into = Path(directory)
            ended = machine.run(script, self.disks, memory=self.memory, into=into, limit_s=LONGEST_S)
            if ended.returncode:
                raise RuntimeError(f"it ended with {ended.returncode}:\n{ended.stdout[-2000:]}")
            shutil.copy(into / "result.jsonl", path)


@dataclass(frozen=True, slots=True)
class Emulated:
    """The virtual machine with OpenZFS and an emulated processor."""

    disks: tuple[Disk, ...]
    rules: str = ""
    """For udev, which sets what fswizard leaves to the administrator."""
    options: tuple[str, ...] = ()
    """Further options of `fswizard run`."""
    rounds: int = 6

    def run(self, words: Sequence[str], path: Path) -> None:
        """`fswizard` with these words there; its result is copied to `path`. Raises RuntimeError if it fails."""
        with (
            tempfile.TemporaryDirectory(dir=machine.MEMORY) as memory,
            booted(Path(memory), self.disks, kind="zfs", counts_instructions=True) as vm,
        ):
            vm.ok("udevadm", "wait", "--timeout=600", *self._links)
            if self.rules:
                vm.write("/etc/udev/rules.d/90-published.rules", self.rules)
                vm.ok("udevadm", "control", "--reload")
            run_from_checkout(vm, (*words, *self.options), path, LONGEST_S)

    @property
    def target(self) -> tuple[str, ...]:
        """Options of `fswizard` that name what is measured."""
        return erased(self._links, [disk.serial for disk in self.disks])

    @property
    def _links(self) -> list[str]:
        return [f"/dev/disk/by-id/virtio-{disk.serial}" for disk in self.disks]


Place = Simulated | Emulated | None
"""None is this machine itself; an experiment without a recipe was done by hand in the simulated machine."""


def shingled(scale: int, figures: str, *others: SimulatedDisk, before: str = "", rounds: int = 3) -> Simulated:
    """A part of the 8 TB disk: distances and the cache are as much smaller."""
    scaled = f"span_bytes={8000 // scale}G,cache_bytes={34 * 1024 // scale}M"
    disk = SimulatedDisk("archive", "shingled", f"model=ST8000AS0002-1NA17Z,{scaled},{figures}")
    return Simulated((disk, *others), before=f"{DEADLINE.format('archive')}\n{before}", rounds=rounds)


DEADLINE = "echo mq-deadline > /sys/block/{}/queue/scheduler"
"""What distributions set for hard disks, by a rule of udev."""
ELSEWHERE = "mkfs.ext4 -q /dev/other && mount /dev/other /run/home"
SSDS = tuple(SimulatedDisk(f"ssd{number}", "ssd", "size_bytes=4G") for number in range(1, 5))
STRIPE_CACHE = """
while sleep 1; do
	for cache in /sys/block/md*/md/stripe_cache_size; do echo 4096 > $cache; done
	for array in /dev/md/* /dev/md[0-9]*; do blockdev --setra 8192 $array; done
done 2> /dev/null &"""
"""As the document sets both for md, at the scale of its files: 32,768 pages and 32 MiB for 10 GB."""
STRIPE_CACHE_RULES = (
    'SUBSYSTEM=="block", ATTR{md/level}=="raid[56]", ATTR{md/stripe_cache_size}="1024"\n'
    'SUBSYSTEM=="block", ATTR{md/level}=="raid[56]", ATTR{queue/read_ahead_kb}="1024"\n'
)

DOCUMENTS: Mapping[str, Mapping[str, Place]] = {
    "shingled": {
        "smr-fileserver": shingled(25, "size_bytes=8G"),
        "smr-fileserver-quick": shingled(25, "size_bytes=8G,clean_us=250000"),
        "smr-fileserver-slow": shingled(25, "size_bytes=8G,clean_us=1000000"),
        "pmr-fileserver": Simulated(
            (SimulatedDisk("plain", "conventional", "model=MD04ACA400,size_bytes=8G,span_bytes=160G"),),
            before=DEADLINE.format("plain"),
        ),
        "smr-nilfs2": shingled(25, "size_bytes=12G", rounds=8),
        "smr-attic": shingled(25, "size_bytes=64G", OTHER, before=ELSEWHERE, rounds=6),
        "smr-rsync": shingled(25, "size_bytes=64G", OTHER, before=ELSEWHERE, rounds=6),
        "smr-remount": None,
        "smr-image": None,
    },
    "f2fs": {
        "fio-f2fs": Simulated(
            (SimulatedDisk("card", "card", "size_bytes=8G,unit_bytes=16M,open_units=64,random_write_us=2000"),),
            image="1G",
            rounds=6,
        ),
        "fio-f2fs-five-units": Simulated((SimulatedDisk("card", "card", "size_bytes=8G"),), image="1G"),
    },
    "trees": {
        "trees-ssd-quarter": Simulated((SimulatedDisk("ssd", "ssd", "size_bytes=8G"),), memory="2G", rounds=5),
        "trees-ssd-zfs": Emulated((virtio("FLASH", size_bytes=4 * GIB).as_slow_as(**SLOW),)),
        "trees-ssd-zfs-memory": Emulated(
            (virtio("FLASH", size_bytes=4 * GIB).as_slow_as(bytes_per_s=100 << 20, requests_per_s=2000),),
            options=("--memory-limit", "none"),
            rounds=12,
        ),
        "trees-ssd-large": None,
    },
    "arrays": {
        "ssd-arrays": Simulated(SSDS, array=True, before=STRIPE_CACHE),
        "ssd-arrays-zfs": Emulated(
            tuple(virtio(f"MEMBER{number}", size_bytes=GIB).as_slow_as(**SLOW) for number in range(1, 5)),
            rules=STRIPE_CACHE_RULES,
        ),
    },
}
"""By what `make reproduce DOCUMENT=` names; the question and its translation are one document with two answers."""
PLACES = {name: place for places in DOCUMENTS.values() for name, place in places.items()}
NOT_RUN = {"arrays": "Not run yet: sequential reads of 200 GB for 60 s, for which no disk here is large enough."}
"""What the documents did and nothing here does yet."""
