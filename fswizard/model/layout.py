"""Layers below a filesystem: layouts over several disks, their cost in space and their redundancy, and volumes on one
disk."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from fswizard.model.frozen import frozen
from fswizard.model.option import Option
from fswizard.model.units import parse_size

MD, LUKS = "md", "luks"
DMSETUP = "dmsetup"
"""Program that closes volumes."""
PROGRAMS = {MD: "mdadm", LUKS: "cryptsetup"}
"""The program that creates the layouts below a filesystem, by their maker."""
DEGRADED = "degraded"
"""In a candidate's name in results of earlier versions: one member was removed before measuring."""
CHUNK = "chunk"
_BLOCK_BYTES = 4096
"""Block size of ext4, the unit of its stride."""


@frozen
class Layout:
    """A layout of a filesystem other than directly on one device: a row of the table of layouts."""

    name: str
    """Name in candidates: `md:raid5`, `zfs:raidz`, `btrfs:raid1`, `luks`."""
    title: str
    """Displayed name, such as `RAID 5 (md)`."""
    minimum_members: int
    """1: a volume, which has exactly one member."""
    text: str
    """What it is good for, in a sentence."""
    failed: str
    """What happens when a disk fails, in a sentence or two."""
    source: str
    copies: int = 1
    """Number of copies of all data; 0: one on each member."""
    parity: int = 0
    """Redundancy, in members' worth of space."""
    pairs: bool = False
    """Members are used in pairs, so their number must be even."""
    level: str = ""
    """Level as spelled by the program that creates it: `5`, `raidz`, `raid1`."""
    kernel: str = ""
    """Kernel module required in addition to the filesystem's, such as `raid456`."""
    options: tuple[Option, ...] = ()
    """Each takes one of its values; the first one is the default."""
    replaces: tuple[str, ...] = ()
    """Options of the filesystem that cannot be combined with it."""

    @property
    def maker(self) -> str:
        """The implementation of the layout: a key of `PROGRAMS`, or the filesystem itself."""
        return self.name.partition(":")[0]

    @property
    def program(self) -> str:
        """Program that creates it below a filesystem; empty if the filesystem itself implements it."""
        return PROGRAMS.get(self.maker, "")

    @property
    def alone(self) -> bool:
        """Whether it is a volume on one device."""
        return self.minimum_members == 1

    def fits(self, members: int) -> bool:
        """Whether it can be created on `members` devices."""
        if self.alone or members < self.minimum_members:
            return self.alone and members == 1
        return not (self.pairs and members % 2)

    def usable_bytes(self, members: int, member_bytes: int) -> int:
        """Space for data and the filesystem's structures; `member_bytes` is the size of the smallest member."""
        if not self.copies:
            return member_bytes
        return members * member_bytes // self.copies - self.parity * member_bytes

    def survives(self, members: int) -> int:
        """Number of disks that may fail, in any combination."""
        return members - 1 if not self.copies else self.parity + self.copies - 1


@frozen
class Array:
    """A layout with chosen options on a number of members."""

    layout: Layout
    options: Mapping[str, str] = field(default_factory=dict)
    """By name, in the layout's order. Those that differ from the default appear in the candidate's name."""
    degraded: bool = False
    """Only in results of earlier versions, which could measure with a member missing."""
    members: int = 0
    """0 until the target is known."""

    @property
    def name(self) -> str:
        """As typed by users: `md:raid5,chunk=64K`."""
        chosen = [f"{name}={value}" for name, value in self.options.items()]
        if self.degraded:
            chosen.append(DEGRADED)
        return ",".join((self.layout.name, *chosen))

    def option(self, name: str) -> str:
        """The chosen value or the default; empty if the layout has no such option."""
        defaults = {option.name: option.values[0] for option in self.layout.options if option.values}
        return self.options.get(name, defaults.get(name, ""))

    @property
    def survives(self) -> int:
        """Number of disks that may still fail, in any combination."""
        return self.layout.survives(self.members) - self.degraded

    @property
    def stripe(self) -> str:
        """Stripes as the value of mke2fs -E; empty without stripes.

        XFS, F2FS and others query the kernel, or ignore stripes.
        """
        chunk, copies = self.option(CHUNK), self.layout.copies
        data = self.members // copies - self.layout.parity if copies else 0
        if not chunk or data < 1:
            return ""
        stride = parse_size(chunk) // _BLOCK_BYTES
        return f"stride={stride},stripe_width={stride * data}"
