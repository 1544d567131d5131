"""Filesystems, their options, and candidates composed of both."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field, replace
from typing import Literal

from fswizard.language import _, p_
from fswizard.model.frozen import frozen
from fswizard.model.layout import DEGRADED, Array
from fswizard.model.option import Option

AGED = "aged"
"""Spelling in candidate names, where it looks like an option."""

Strain = Literal["sync", "overwrite", "stream", "small-files", "read"]
"""The dominant load of a workload: small synced writes, changes within files, large files, many small files, reading.
"""


@frozen
class Price:
    """What costs a filesystem speed, in a sentence."""

    strains: tuple[Strain, ...]
    """Loads for which this is true."""
    text: str
    source: str


@frozen
class Feature:
    """A feature of a filesystem other than speed."""

    name: str
    """Key for `--need`, such as `checksums`."""
    value: str
    """`yes`, `no`, or a qualification such as `metadata only`."""
    source: str = ""
    text: str = ""
    """Extent or requirements of the feature, in a sentence; empty if the value says it all."""

    @property
    def present(self) -> bool:
        return self.value == "yes"


@frozen
class Driver:
    """What mounts a filesystem that has no module in the mainline kernel."""

    name: str
    """Displayed name, such as `NTFS-3G`."""
    kernel: str
    """Type that the kernel must know, as in /proc/filesystems: `zfs`, or `fuse` for a program."""
    program: str
    """A program that only this driver's package installs."""
    packages: Mapping[str, str] = field(default_factory=dict)
    """Its packages by distribution, if they differ from those of the mkfs program."""
    hint: str = ""
    """What to do if the kernel lacks it, in a sentence."""
    doubt: str = ""
    """Caveat on figures that were measured through it, in sentences."""


@frozen
class Filesystem:
    """A filesystem that can be created: one table of the catalogue."""

    name: str
    """Name in candidates, such as `ext4`."""
    title: str
    """Displayed name, such as `Btrfs`."""
    summary: str
    """What it is good for, in a sentence or two."""
    mkfs_program: str
    doubt: str = ""
    """Caveat on its figures, in sentences."""
    mkfs_arguments: tuple[tuple[str, str], ...] = ()
    """(flag, value) pairs that every candidate gets; an empty value means a bare flag."""
    scratch_arguments: tuple[tuple[str, str], ...] = ()
    """Additional pairs for a measured mkfs only, such as no lazy initialisation in the background."""
    scratch_mount_options: tuple[str, ...] = ()
    """Additional options for a measured mount only."""
    mount_type: str = ""
    pool: bool = False
    """Created, mounted and unmounted by zpool create, import and export; its mount options are properties."""
    driver: Driver | None = None
    """None if a module of the mainline kernel mounts it."""
    packages: Mapping[str, str] = field(default_factory=dict)
    """Package of the mkfs program by distribution: debian, fedora, arch."""
    minimum_bytes: int = 0
    slow_below_bytes: int = 0
    """Below this size it is clearly slower than on a disk of usual size; 0 if unknown."""
    made_bytes: int = 0
    """Bytes written by a measured mkfs, in addition to `made_share` of the size."""
    made_share: float = 0.0
    made_share_bytes: int | None = None
    """Upper limit of the bytes written for `made_share`; None for no limit."""
    mkfs_options: tuple[Option, ...] = ()
    mount_options: tuple[Option, ...] = ()
    features: tuple[Feature, ...] = ()
    prices: tuple[Price, ...] = ()
    stripe_flag: str = ""
    """Flag of its mkfs that takes an array's stripes; empty if mkfs detects them or ignores them."""
    fsck_pass: int = 2
    """Last column of fstab: 2 if fsck should check it at boot, else 0."""

    @property
    def options(self) -> tuple[Option, ...]:
        return (*self.mount_options, *self.mkfs_options)

    def feature(self, name: str) -> Feature | None:
        return next((feature for feature in self.features if feature.name == name), None)

    def price(self, strain: Strain) -> str:
        """Why it may be slow under such a load, in a sentence; empty if the catalogue has no explanation."""
        return next((price.text for price in self.prices if strain in price.strains), "")


@frozen
class Candidate:
    """A filesystem with chosen options, or an existing directory that represents the filesystem it is on."""

    name: str
    """As typed by users, such as `btrfs:noatime,compress=zstd:1`."""
    filesystem: Filesystem
    mkfs_options: tuple[Option, ...] = ()
    mount_options: tuple[str, ...] = ()
    directory: str = ""
    """Path, for targets that are directories. Nothing is formatted then."""
    array: Array | None = None
    """The array or volume below or inside the filesystem; None if it uses the first device directly and alone."""
    aged: bool = False
    """Files were created, changed and deleted on it before it is measured, as by years of use."""

    @property
    def as_new(self) -> str:
        """Name of the same candidate before ageing."""
        return self.name.removesuffix(AGED).rstrip(":,") if self.aged else self.name

    @property
    def tokens(self) -> tuple[str, ...]:
        """Its options as typed, except for those of its array and its age."""
        return (*self.mount_options, *(option.token for option in self.mkfs_options))

    @property
    def title(self) -> str:
        """Displayed name: `XFS`, `Btrfs (noatime, compress=zstd:1)`, `home (ext4)`, `ext4 on RAID 5 (md)`."""
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
        """Its options, as typed, with which data may be lost in a crash or when a disk fails."""
        unsafe = [option for option in self.filesystem.options if option.unsafe]
        risky = tuple(token for token in self.tokens if any(option.is_meant_by(token) for option in unsafe))
        return (*risky, DEGRADED) if self.array and self.array.degraded else risky

    @property
    def survives(self) -> int:
        """Number of its disks that may fail, in any combination."""
        return self.array.survives if self.array else 0

    @property
    def outlives_a_run(self) -> bool:
        """Whether it leaves a pool, array or volume in the kernel after a run was killed."""
        return self.filesystem.pool or self.below is not None

    def on(self, members: int) -> Candidate:
        """The same candidate on a target of `members` devices."""
        return replace(self, array=replace(self.array, members=members)) if self.array else self

    def lacking(self, needs: Iterable[str]) -> tuple[str, ...]:
        """The `needs` that its filesystem does not meet in full, in their order."""
        met = [feature.name for feature in self.filesystem.features if feature.present]
        return tuple(name for name in needs if name not in met)

    def mkfs_arguments(self, *, scratch: bool) -> tuple[str, ...]:
        """Arguments of mkfs without the device; values of the same flag joined with commas."""
        pairs = self.filesystem.mkfs_arguments + (self.filesystem.scratch_arguments if scratch else ())
        pairs += tuple((option.flag, option.argument) for option in self.mkfs_options)
        if self.filesystem.pool:
            pairs += tuple(("-O", option) for option in self.mount_options)
            return tuple(part for pair in pairs for part in pair)
        if self.filesystem.stripe_flag and self.below and (stripe := self.below.stripe):
            pairs += ((self.filesystem.stripe_flag, stripe),)
        joined: dict[str, str] = {}
        for flag, value in pairs:
            joined[flag] = ",".join(part for part in (joined.get(flag, ""), value) if part)
        return tuple(part for pair in joined.items() for part in pair if part)

    @property
    def scratch_mount_options(self) -> tuple[str, ...]:
        """Mount options while it is measured, except for those of every mount. A pool stores its options, so it has
        none."""
        return () if self.filesystem.pool else (*self.filesystem.scratch_mount_options, *self.mount_options)

    @property
    def below(self) -> Array | None:
        """The array or volume below the filesystem; None if it uses devices directly."""
        return self.array if self.array and self.array.layout.program else None
