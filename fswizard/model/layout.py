"""Below a filesystem: layouts over several disks, what they cost in room and what they survive, and volumes on one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from fswizard.model.option import Option
from fswizard.model.units import parse_size

MD, LUKS = "md", "luks"
DMSETUP = "dmsetup"
"""Closes volumes."""
PROGRAMS = {MD: "mdadm", LUKS: "cryptsetup"}
"""By maker of layouts that lie below any filesystem, the program that makes them."""
DEGRADED = "degraded"
"""Word for a layout from which one member was taken away before measuring."""
CHUNK = "chunk"
_BLOCK_BYTES = 4096
"""Of ext4: its stride counts in them."""


@dataclass(frozen=True, slots=True)
class Layout:
    """A way of laying a filesystem on devices, other than directly on one: a row of the table of layouts."""

    name: str
    """What people type: `md:raid5`, `zfs:raidz`, `btrfs:raid1`, `luks`."""
    title: str
    """What people read, such as `RAID 5 (md)`."""
    minimum_members: int
    """1: it lies on one device and never on more."""
    text: str
    """What it is good for, in a sentence."""
    failed: str
    """What happens when a disk fails, in a sentence or two."""
    source: str
    copies: int = 1
    """How often everything is stored; 0: once on each member."""
    parity: int = 0
    """Number of members' worth of room for what the others are checked and rebuilt with."""
    pairs: bool = False
    """Members are taken two by two, so that their number must be even."""
    level: str = ""
    """In the words of the program that makes it: `5`, `raidz`, `raid1`."""
    kernel: str = ""
    """Module of the kernel that it needs beside the filesystem's, such as `raid456`."""
    options: tuple[Option, ...] = ()
    """Each takes one of its values, the first one by default."""
    replaces: tuple[str, ...] = ()
    """The filesystem's own options that cannot stand beside it."""

    @property
    def maker(self) -> str:
        """What lays out the data: one of `PROGRAMS` under any filesystem, or the filesystem itself."""
        return self.name.partition(":")[0]

    @property
    def program(self) -> str:
        """What makes it under any filesystem; empty where the filesystem itself does."""
        return PROGRAMS.get(self.maker, "")

    @property
    def alone(self) -> bool:
        """It is a volume on one device."""
        return self.minimum_members == 1

    def fits(self, members: int) -> bool:
        """Whether it can be made of that many devices."""
        if self.alone or members < self.minimum_members:
            return self.alone and members == 1
        return not (self.pairs and members % 2)

    @property
    def word(self) -> str:
        """Its name without the maker's: `raid5`, `raidz`, `raid1`; empty where the maker has one alone."""
        return self.name.partition(":")[2]

    def usable_bytes(self, members: int, member_bytes: int) -> int:
        """Room for data and the filesystem's own structures; `member_bytes` is that of the smallest member."""
        if not self.copies:
            return member_bytes
        return members * member_bytes // self.copies - self.parity * member_bytes

    def survives(self, members: int) -> int:
        """Number of disks that may fail, whichever they are."""
        return members - 1 if not self.copies else self.parity + self.copies - 1


@dataclass(frozen=True, slots=True)
class Array:
    """A layout with chosen options on a number of members."""

    layout: Layout
    options: Mapping[str, str] = field(default_factory=dict)
    """By name, in the layout's order: those that differ from the default are named by the user."""
    degraded: bool = False
    """One member is taken away after making and before measuring."""
    members: int = 0
    """0 while the target is unknown."""

    @property
    def name(self) -> str:
        """As people type it: `md:raid5,chunk=64K,degraded`."""
        chosen = [f"{name}={value}" for name, value in self.options.items()]
        if self.degraded:
            chosen.append(DEGRADED)
        return ",".join((self.layout.name, *chosen))

    def option(self, name: str) -> str:
        """The value chosen or else the default; empty where the layout has no such option."""
        defaults = {option.name: option.values[0] for option in self.layout.options if option.values}
        return self.options.get(name, defaults.get(name, ""))

    @property
    def survives(self) -> int:
        """Number of further disks that may fail, whichever they are."""
        return self.layout.survives(self.members) - self.degraded

    @property
    def stripe(self) -> str:
        """Its stripes as the value of mke2fs's -E; empty where there are none.

        XFS, F2FS and others ask the kernel for it, or do without.
        """
        chunk, copies = self.option(CHUNK), self.layout.copies
        data = self.members // copies - self.layout.parity if copies else 0
        if not chunk or data < 1:
            return ""
        stride = parse_size(chunk) // _BLOCK_BYTES
        return f"stride={stride},stripe_width={stride * data}"
