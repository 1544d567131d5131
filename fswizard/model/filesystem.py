"""Filesystems, their options, and the candidates that are made from both."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from fswizard.language import _, p_
from fswizard.model.layout import DEGRADED, Array
from fswizard.model.option import Option

AGED = "aged"
"""How people type it, as if it were an option."""

TMPFS = "tmpfs"
Strain = Literal["sync", "overwrite", "stream", "small-files", "read"]
"""What a workload asks of a filesystem before all: small synced writes, changes within files, large files, many small
files, reading."""


@dataclass(frozen=True, slots=True)
class Price:
    """What in a filesystem costs speed, in a sentence."""

    strains: tuple[Strain, ...]
    """Of which work it is true."""
    text: str
    source: str


@dataclass(frozen=True, slots=True)
class Feature:
    """What a filesystem can do beside being fast."""

    name: str
    """Key that `--need` takes, such as `checksums`."""
    value: str
    """`yes`, `no`, or a word on how far, such as `metadata only`."""
    source: str = ""
    text: str = ""
    """How far it goes or what it takes, in a sentence; empty when the value says it all."""

    @property
    def present(self) -> bool:
        return self.value == "yes"


@dataclass(frozen=True, slots=True)
class Driver:
    """What mounts a filesystem, where that is not a module that comes with the kernel."""

    name: str
    """What people read, such as `NTFS-3G`."""
    kernel: str
    """Type that the kernel must know, as in /proc/filesystems: `zfs`, or `fuse` for a program."""
    program: str
    """Comes with it, and with nothing else."""
    packages: Mapping[str, str] = field(default_factory=dict)
    """What brings it, where it is not what brings the mkfs program."""
    hint: str = ""
    """What to do where the kernel lacks it, in a sentence."""
    doubt: str = ""
    """What has to be said beside figures that were measured through it, in sentences."""


@dataclass(frozen=True, slots=True)
class Filesystem:
    """A filesystem that can be made: one table of the catalogue."""

    name: str
    """What people type, such as `ext4`."""
    title: str
    """What people read, such as `Btrfs`."""
    summary: str
    """What it is good for, in a sentence or two."""
    mkfs_program: str
    doubt: str = ""
    """What has to be said beside its figures, in sentences."""
    mkfs_arguments: tuple[tuple[str, str], ...] = ()
    """(flag, value) pairs that every candidate gets; an empty value means a bare flag."""
    scratch_arguments: tuple[tuple[str, str], ...] = ()
    """Further pairs for a measured mkfs only, such as no lazy initialisation in the background."""
    scratch_mount_options: tuple[str, ...] = ()
    """Further options for a measured mount only."""
    mount_type: str = ""
    pool: bool = False
    """Made, mounted and unmounted by zpool's create, import and export; its mount options are properties."""
    driver: Driver | None = None
    """None where a module that comes with the kernel mounts it."""
    error_counters: tuple[str, ...] = ()
    """Where it counts its own errors: names of readers of the kernel's counters, such as `ext4-sysfs`."""
    packages: Mapping[str, str] = field(default_factory=dict)
    """Package of the mkfs program by distribution: debian, fedora, arch."""
    minimum_bytes: int = 0
    slow_below_bytes: int = 0
    """Below this size it is clearly slower than on a usual disk; 0 where that is unknown."""
    made_bytes: int = 0
    """Bytes that making it for a measurement writes, besides `made_share` of its size."""
    made_share: float = 0.0
    made_share_bytes: int | None = None
    """The most that this share is; None where it has no limit."""
    mkfs_options: tuple[Option, ...] = ()
    mount_options: tuple[Option, ...] = ()
    features: tuple[Feature, ...] = ()
    prices: tuple[Price, ...] = ()
    stripe_flag: str = ""
    """Flag of its mkfs that takes an array's stripes; empty where it detects them or does without."""
    fsck_pass: int = 2
    """Last column of fstab: 2 when fsck should look at it at boot, else 0."""

    @property
    def options(self) -> tuple[Option, ...]:
        return (*self.mount_options, *self.mkfs_options)

    def feature(self, name: str) -> Feature | None:
        return next((feature for feature in self.features if feature.name == name), None)

    def price(self, strain: Strain) -> str:
        """Why it may be slow at such work, in a sentence; empty where the catalogue knows nothing."""
        return next((price.text for price in self.prices if strain in price.strains), "")


@dataclass(frozen=True, slots=True)
class Candidate:
    """A filesystem with chosen options, or an existing directory that stands for the filesystem under it."""

    name: str
    """What people type, such as `btrfs:noatime,compress=zstd:1`."""
    filesystem: Filesystem
    mkfs_options: tuple[Option, ...] = ()
    mount_options: tuple[str, ...] = ()
    directory: str = ""
    """For targets that are directories: where it is. Nothing is formatted then."""
    array: Array | None = None
    """How it is spread over several devices, or what it lies on; None: it lies on the first one alone, and directly."""
    aged: bool = False
    """Files were made, changed and deleted on it before it is measured, as by years of use."""

    @property
    def as_new(self) -> str:
        """Name of the same without its age."""
        return self.name.removesuffix(AGED).rstrip(":,") if self.aged else self.name

    @property
    def tokens(self) -> tuple[str, ...]:
        """Its options as they are typed, but for those of its array and its age."""
        return (*self.mount_options, *(option.token for option in self.mkfs_options))

    @property
    def title(self) -> str:
        """What people read: `XFS`, `Btrfs (noatime, compress=zstd:1)`, `home (ext4)`, `ext4 on RAID 5 (md)`."""
        if self.directory:
            return self.name
        options = (*self.tokens, AGED) if self.aged else self.tokens
        array = self.array
        title = array.layout.title if array and not self.below else self.filesystem.title
        text = f"{title} ({', '.join(options)})" if options else title
        if array and self.below:
            text = p_("candidate", "{filesystem} on {array}", filesystem=text, array=array.layout.title)
            text = ", ".join((text, *(f"{k}={v}" for k, v in array.options.items())))
        return _("{candidate} with one disk missing", candidate=text) if array and array.degraded else text

    @property
    def unsafe_options(self) -> tuple[str, ...]:
        """Its options by which a crash, or a failed disk, may lose data, as they are typed."""
        unsafe = [option for option in self.filesystem.options if option.unsafe]
        risky = tuple(token for token in self.tokens if any(option.is_meant_by(token) for option in unsafe))
        return (*risky, DEGRADED) if self.array and self.array.degraded else risky

    @property
    def in_memory(self) -> bool:
        """A directory whose files no disk holds."""
        return bool(self.directory) and self.filesystem.mount_type == TMPFS

    @property
    def survives(self) -> int:
        """Number of its disks that may fail, whichever they are."""
        return self.array.survives if self.array else 0

    @property
    def outlives_a_run(self) -> bool:
        """The kernel keeps what is made of it, a pool, an array or a volume, when everything else of a run is gone."""
        return self.filesystem.pool or self.below is not None

    def on(self, members: int) -> Candidate:
        """The same on a target of `members` devices."""
        return replace(self, array=replace(self.array, members=members)) if self.array else self

    def lacking(self, needs: Iterable[str]) -> tuple[str, ...]:
        """Those needs that its filesystem does not meet in full, in the order asked for."""
        met = [feature.name for feature in self.filesystem.features if feature.present]
        return tuple(name for name in needs if name not in met)

    def mkfs_arguments(self, *, scratch: bool) -> tuple[str, ...]:
        """Arguments of mkfs without the device; values of the same flag joined with commas."""
        pairs = self.filesystem.mkfs_arguments + (self.filesystem.scratch_arguments if scratch else ())
        pairs += tuple((option.flag, option.argument) for option in self.mkfs_options)
        if self.filesystem.pool:
            pairs += tuple(("-O", option) for option in self.mount_options)
            return tuple(part for pair in pairs for part in pair)
        if self.below and self.filesystem.stripe_flag and (stripe := self.below.stripe):
            pairs += ((self.filesystem.stripe_flag, stripe),)
        joined: dict[str, str] = {}
        for flag, value in pairs:
            joined[flag] = ",".join(part for part in (joined.get(flag, ""), value) if part)
        return tuple(part for pair in joined.items() for part in pair if part)

    @property
    def scratch_mount_options(self) -> tuple[str, ...]:
        """What it is mounted with where it is measured, but for what every mount gets; those of a pool lie on it."""
        return () if self.filesystem.pool else (*self.filesystem.scratch_mount_options, *self.mount_options)

    @property
    def below(self) -> Array | None:
        """The array or volume that it lies on; None where it lies on devices directly."""
        return self.array if self.array and self.array.layout.program else None
